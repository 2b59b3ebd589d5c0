"""Samplers of the encoders against their laws, vectorized releases against one label at a time, and closed forms.

Null of the sampler tests: outputs follow the stated law; 20,000 outputs, false alarm 1e-8 a number that is compared.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit import AuditError
from mechanisms.labels import decoys
from mechanisms.labels.laplace import LaplaceOneHotEncoder, literal_posterior
from mechanisms.labels.response import KaryRandomizedResponse, RandomizedResponseWithPrior, release_with_priors
from mechanisms.labels.unary import OptimizedUnaryLabelEncoder, SymmetricUnaryLabelEncoder

N, ALARM = 20_000, 1e-8
UNARY = [SymmetricUnaryLabelEncoder(4, 1.0), SymmetricUnaryLabelEncoder(60, 0.3), OptimizedUnaryLabelEncoder(5, 2.0)]
RESPONSES = [
    KaryRandomizedResponse(5, 1.0),
    RandomizedResponseWithPrior(5, 2.0, prior=(0.6, 0.2, 0.1, 0.05, 0.05)),
    RandomizedResponseWithPrior(3, 1.0, prior=(6, 2, 0)),
]
ENCODERS = [*UNARY, *RESPONSES, LaplaceOneHotEncoder(4, 1.0)]


def named(encoder):
    return f"{type(encoder).__name__} K={encoder.n_classes}"


@pytest.mark.parametrize("encoder", UNARY, ids=named)
@pytest.mark.false_alarm(2e-08)
def test_bits_have_their_probabilities_and_are_independent(encoder):
    """Exact binomial tests at 1e-8 / K; Hoeffding on products of centered bits at 1e-8 over all pairs."""
    label = encoder.n_classes - 1
    bits = encoder(label, N, np.random.default_rng(5))
    assert bits.dtype == np.int8
    assert set(np.unique(bits)) == {0, 1}
    wanted = np.where(np.arange(encoder.n_classes) == label, encoder.p_keep, encoder.q_flip)
    for ones, p in zip(bits.sum(axis=0), wanted, strict=True):
        assert stats.binomtest(int(ones), N, p).pvalue > ALARM / encoder.n_classes
    products = np.triu((bits - wanted).T @ (bits - wanted) / N, k=1)
    assert np.max(np.abs(products)) <= math.sqrt(2 * math.log(2 * products.size / ALARM) / N)


@pytest.mark.parametrize("encoder", RESPONSES, ids=named)
@pytest.mark.parametrize("label", [0, 2])
@pytest.mark.false_alarm(1e-07)
def test_responses_follow_their_law(encoder, label):
    counts = np.bincount(encoder(label, N, np.random.default_rng(6)), minlength=encoder.n_classes)
    law = encoder.law(label).pmf
    for value, count in enumerate(counts.tolist()):
        p = law.get(value, 0.0)
        assert count == 0 if p == 0 else stats.binomtest(count, N, min(p, 1.0)).pvalue > ALARM / 5


@pytest.mark.false_alarm(1e-07)
def test_laplace_release_follows_its_law():
    released = LaplaceOneHotEncoder(3, 0.5)(1, N, np.random.default_rng(7))
    width = math.sqrt(math.log(2 * 3 / ALARM) / (2 * N))
    for j, column in enumerate(released.T):
        assert stats.kstest(column, stats.laplace(float(j == 1), 4.0).cdf).statistic <= width


@pytest.mark.parametrize("encoder", ENCODERS, ids=named)
def test_evidence_is_the_log_likelihood_up_to_a_constant(encoder):
    released = encoder(0, 50, np.random.default_rng(8))
    laws = [encoder.law(c) for c in range(encoder.n_classes)]
    exact = np.column_stack([law.log_likelihood(released) for law in laws])
    evidence = encoder.log_evidence(released)
    np.testing.assert_allclose(evidence - evidence[:, :1], exact - exact[:, :1], atol=1e-9)
    np.testing.assert_allclose(encoder.posterior(released).sum(axis=1), 1)


@pytest.mark.parametrize("encoder", ENCODERS, ids=named)
def test_labels_are_checked(encoder):
    rng = np.random.default_rng(0)
    assert len(encoder(0, 0, rng)) == 0
    for wrong in (-1, encoder.n_classes, 0.5, "a", None):
        for use in (encoder.law, lambda label: encoder(label, 3, rng)):
            with pytest.raises(AuditError, match="`y` must hold integers"):
                use(wrong)
    with pytest.raises(AuditError, match="`label` must be one of 0"):
        encoder([0, 1], 3, rng)


@pytest.mark.parametrize("kind", [SymmetricUnaryLabelEncoder, OptimizedUnaryLabelEncoder, LaplaceOneHotEncoder])
def test_parameters_are_checked(kind):
    for epsilon in (0.0, -1.0, math.inf, math.nan, "1"):
        with pytest.raises(AuditError, match="`epsilon`"):
            kind(3, epsilon)
    for classes in (1, 2.5, None):
        with pytest.raises(AuditError, match="`n_classes`"):
            kind(classes, 1.0)


@pytest.mark.parametrize("prior", [(1, 2), (1, 2, -1), (0, 0, 0), (1, 2, math.nan), (1, 2, math.inf)])
def test_priors_are_checked(prior):
    with pytest.raises(AuditError, match="`prior` must be 3 numbers"):
        RandomizedResponseWithPrior(3, 1.0, prior=prior)


# delta at epsilon / 2 and at 0, computed independently, by another implementation; digits as printed
PROFILE = {0.5: (0.0699, 0.1244), 1.0: (0.1525, 0.2449), 2.0: (0.3378, 0.4621)}


@pytest.mark.parametrize("epsilon", PROFILE)
def test_profile_of_the_vector_mechanism(epsilon):
    encoder = SymmetricUnaryLabelEncoder(4, epsilon)
    loss = encoder.law(1).loss_against(encoder.law(3))
    for at, known in zip((epsilon / 2, 0.0), PROFILE[epsilon], strict=True):
        assert loss.delta(at) == pytest.approx(known, abs=6e-5)
        assert encoder.delta(at) == pytest.approx(known, abs=6e-5)
    assert encoder.delta(0.0) == pytest.approx(math.tanh(epsilon / 4))
    assert encoder.delta(epsilon + 1) == 0


@pytest.mark.parametrize(
    ("epsilon", "half", "zero"), [(0.5, 0.0623, 0.1238), (1.0, 0.1238, 0.2418), (2.0, 0.2418, 0.4482)]
)
def test_profile_of_the_laplace_release(epsilon, half, zero):
    encoder = LaplaceOneHotEncoder(10, epsilon)
    loss = encoder.law(0).loss_against(encoder.law(1))
    assert loss.delta(epsilon / 2) == pytest.approx(half, abs=6e-5)
    assert loss.delta(0.0) == pytest.approx(zero, abs=6e-5)
    assert loss.epsilon(0.0) == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.false_alarm(1e-07)
def test_frequencies_are_unbiased():
    """Null: unbiased. 200,000 labels, 6 standard errors (each at most 0.5 / tanh(1/4) / n^0.5), alarm 1e-8."""
    rng = np.random.default_rng(9)
    labels = rng.choice(4, p=(0.5, 0.3, 0.2, 0.0), size=200_000)
    encoder = SymmetricUnaryLabelEncoder(4, 1.0)
    found = encoder.frequencies(encoder.release(labels, rng))
    assert np.max(np.abs(found - np.bincount(labels, minlength=4) / 200_000)) < 6 * 0.5 / math.tanh(0.25) / 200_000**0.5


def test_posterior_by_hand():
    # K = 2, b = 2: V = (1, 0) has clip(2 V - 1) = (1, -1), odds e^(2/b) = e
    posterior = LaplaceOneHotEncoder(2, 1.0).posterior(np.array([[1.0, 0.0], [7.0, -7.0]]))
    np.testing.assert_allclose(posterior[:, 0] / posterior[:, 1], [math.e, math.e])
    flat = literal_posterior(np.array([[1.0, 0.0]]), np.array([[1.0, 3.0]]), 2.0)
    assert flat[0, 0] / flat[0, 1] == pytest.approx(math.e / 3)


def test_which_classes_are_kept():
    def kept(prior, epsilon):
        return RandomizedResponseWithPrior(len(prior), epsilon, prior=prior).kept_classes

    # w_1 = 3/4, w_2 = e / (e + 1) = 0.731; with counts (5, 3, 0): w_1 = 0.625 < 0.731
    assert kept((6, 2, 0), 1.0) == (0,)
    assert kept((5, 3, 0), 1.0) == (0, 1)
    assert kept((0, 3, 5), 1.0) == (2, 1)
    assert len(kept(np.ones(10), 0.2)) == 10
    assert len(kept((0.6, 0.2, 0.1, 0.05, 0.05), 2.0)) == 3


@pytest.mark.false_alarm(1e-07)
def test_priors_row_by_row_give_the_law_of_each_row():
    """Null: each row follows its own law. 20,000 draws a row, exact binomial tests, 1e-8 a cell."""
    priors = np.array([[5, 3, 0, 0], [1, 1, 1, 1], [0, 0, 2, 9]]) / np.array([[8], [4], [11]])
    labels = np.array([1, 2, 0])
    rng = np.random.default_rng(3)
    drawn = release_with_priors(np.tile(labels, N), np.tile(priors, (N, 1)), 1.0, rng).reshape(N, 3)
    for column, label, prior in zip(drawn.T, labels, priors, strict=True):
        law = RandomizedResponseWithPrior(4, 1.0, prior=prior).law(label).pmf
        for value, count in enumerate(np.bincount(column, minlength=4).tolist()):
            p = law.get(value, 0.0)
            assert count == 0 if p == 0 else stats.binomtest(count, N, min(p, 1.0)).pvalue > ALARM


def test_stated_privacy_of_decoys():
    def exact(mechanism, a=0, b=1):
        return mechanism.law(a).loss_against(mechanism.law(b)).epsilon(0.0)

    assert exact(decoys.OneOfTheSetBits(10, 1.0)) == pytest.approx(0.568, abs=6e-4)
    assert exact(decoys.Normalized(4, 1.0)) == pytest.approx(1)
    assert exact(decoys.RejectsAllButOneHot(4, 1.0)) == pytest.approx(1)
    assert exact(decoys.DropsLastBit(4, 1.0), 0, 3) == pytest.approx(0.5)
    # by quadrature: the largest of one Laplace(1, b) and nine Laplace(0, b)
    x = np.linspace(-60, 60, 1_200_001)
    own, other = stats.laplace(1, 2), stats.laplace(0, 2)
    right = np.trapezoid(own.pdf(x) * other.cdf(x) ** 9, x)
    assert math.log(right / ((1 - right) / 9)) == pytest.approx(0.566, abs=6e-4)
