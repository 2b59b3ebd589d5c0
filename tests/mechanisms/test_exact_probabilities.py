"""Exact probabilities of mechanisms against independent computations."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import integrate, stats

from audit.errors import InvalidArgument
from audit.laws import GaussianLoss
from mechanisms.exponential import (
    ExponentialMechanism,
    complementary_pair,
    label_mistakes,
)
from mechanisms.gaussian import analytic_deviation, classical_deviation, gaussian_delta
from mechanisms.noisy_max import ExponentialNoisyMax, LaplaceNoisyMax
from mechanisms.parts.sparse_vector import TOP, Noise, transcript_law
from mechanisms.quadrature import laplace_cdf, laplace_density, panelled_nodes
from mechanisms.queries import column_sums
from mechanisms.snapping import SnappedLaplace

GRID = [(e, d) for e in (0.01, 0.25, 1.0, 5.0, 20.0) for d in (1e-12, 1e-6, 0.01, 0.5, 0.9)]


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_analytic_deviation_is_the_smallest_and_on_the_safe_side(epsilon, delta):
    deviation = analytic_deviation(epsilon, delta)
    assert gaussian_delta(epsilon, 1 / deviation) <= delta
    assert GaussianLoss(1 / deviation).delta(epsilon) <= delta
    assert gaussian_delta(epsilon, 1 / (deviation * (1 - 1e-6))) > delta


def test_gaussian_profile_is_the_hockey_stick_integral():
    density = stats.norm.pdf
    for epsilon, shift in ((0.5, 1.0), (1.0, 0.7), (2.0, 2.0)):

        def positive_part(x, s=shift, e=epsilon):
            return max(density(x - s) - math.exp(e) * density(x), 0)

        value, _ = integrate.quad(positive_part, -9, 12)
        assert gaussian_delta(epsilon, shift) == pytest.approx(value, abs=1e-7)


def test_textbook_deviation_is_larger_for_small_epsilon_and_wrong_for_large():
    assert classical_deviation(0.5, 1e-5) > analytic_deviation(0.5, 1e-5)
    assert classical_deviation(30.0, 1e-5) < analytic_deviation(30.0, 1e-5)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
@pytest.mark.parametrize(("records", "expected"), [(1, 0.5), (2, 0.620), (5, 0.8775), (10, 0.9886), (20, 0.9999)])
def test_exponential_mechanism_on_two_complementary_hypotheses(epsilon, records, expected):
    """Bousquet et al. (2022), Theorem 4.10: log[(1 + e^(eps m/2)) / (1 + e^(eps (m-2)/2))], to four digits at 1."""
    left, right = complementary_pair(records)
    mechanism = ExponentialMechanism(label_mistakes, (0, 1), 1.0, epsilon)
    loss = mechanism.law(left).loss_against(mechanism.law(right))
    assert loss.epsilon(0.0) == pytest.approx(
        math.log1p(math.exp(epsilon * records / 2)) - math.log1p(math.exp(epsilon * (records - 2) / 2)), abs=1e-12
    )
    if epsilon == 1.0:
        assert loss.epsilon(0.0) == pytest.approx(expected, abs=6e-4)


ANSWERS = [np.array([0.0, 0.0]), np.array([0.0, -1.3, -0.4, -7.0]), np.linspace(-30.0, 0.0, 9)]


@pytest.mark.parametrize("answers", ANSWERS, ids=len)
def test_exponential_noise_is_permute_and_flip(answers):
    """Inclusion-exclusion over the sets of rivals that are visited before and refuse."""
    accept = np.exp(answers - answers.max())
    expected = []
    for i in range(answers.size):
        rivals = np.delete(np.arange(answers.size), i)
        terms = [
            (-1) ** k / (k + 1) * np.prod(accept[list(chosen)])
            for k in range(rivals.size + 1)
            for chosen in combinations(rivals, k)
        ]
        expected.append(accept[i] * math.fsum(terms))
    found = ExponentialNoisyMax(column_sums, 1.0)._probabilities(answers)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("gap", [0.0, 0.3, 2.0, 40.0])
def test_laplace_noisy_max_of_two_has_a_closed_form(gap):
    """P(the lower of two wins) = P(difference of two Laplace > gap) = e^-gap (2 + gap) / 4."""
    found = LaplaceNoisyMax(column_sums, 1.0)._probabilities(np.array([0.0, -gap]))
    assert found[1] == pytest.approx(math.exp(-gap) * (2 + gap) / 4, rel=1e-12, abs=1e-17)


def test_quadrature_integrates_products_of_laplace_terms():
    nodes, weights = panelled_nodes(np.array([0.0, 1.0]), -45.0, 45.0, 0.5)
    assert weights @ laplace_density(nodes) == pytest.approx(1.0, abs=1e-14)
    assert weights @ (laplace_density(nodes) * laplace_cdf(nodes - 1)) == pytest.approx(3 * math.exp(-1) / 4, rel=1e-13)


def transcripts(levels, most_bottoms, is_renewed=True):
    return dict(transcript_law(Noise(1.0, 0.0, most_bottoms, is_renewed=is_renewed), np.array(levels)).pmf)


@pytest.mark.parametrize("gap", [0.0, 0.7, 3.0])
def test_one_query_has_the_closed_form_of_the_text(gap):
    """P[Lap(2) + Lap(1) > t] = (4 e^(-t/2) - e^-t) / 6 for t >= 0."""
    law = transcripts((-gap,), 1)
    assert law[(TOP,)] == pytest.approx((4 * math.exp(-gap / 2) - math.exp(-gap)) / 6, rel=1e-13)


def test_near_worst_epoch_of_the_text():
    """lam = 21.03, 12 queries at -0.15 lam -/+ 1/2, one at -0.04 lam +/- 1/2: 0.0946 of the 0.0951 allowed."""
    lam = 21.03
    moves = np.r_[np.full(11, -0.5), 0.5] / lam  # one prefix query fewer: the law covers twelve queries
    base = np.r_[np.full(11, -0.15), -0.04]
    left = transcripts(base + moves, 1)
    right = transcripts(base - moves, 1)
    ratio = max(abs(math.log(left[t] / right[t])) for t in left)
    assert 0.0935 < ratio < 2 / lam


def test_a_bound_beyond_the_digits_of_the_noise_is_refused():
    assert SnappedLaplace(np.asarray, 1.0, 2.0**45).bound == 2.0**45
    with pytest.raises(InvalidArgument, match="strictly between"):
        SnappedLaplace(np.asarray, 1.0, 2.0**47)
