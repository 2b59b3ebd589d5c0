"""Learners and array functions as mechanisms: what is released, under which randomness, and right verdicts.

A true claim fails with probability at most the significance, 1e-6; the broken ones promise a quarter of what they
keep, which the game misses at these budgets with probability below 1e-9. Seeds are fixed.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from audit import Labeled, LabelFlip, PrivacyClaim, Substitution, Verdict, check_privacy
from audit.adapters import Coefficients, Elementwise, Predictions
from audit.errors import InvalidArgument

DATA = Labeled(np.arange(4.0), np.array([0, 0, 1, 1]))
FLIPPED = Labeled(np.arange(4.0), np.array([1, 0, 1, 1]))


class NoisyMajority:
    """Predicts the majority label everywhere, from a count with Laplace(1) noise: 1-DP under a label flip."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        noise = np.random.default_rng(self.random_state).laplace()
        self.coef_ = np.array([np.sum(y) + noise])
        self.intercept_ = -len(y) / 2
        return self

    def predict(self, X):
        return np.full(len(X), int(self.coef_[0] + self.intercept_ > 0))


def build(random_state):
    return NoisyMajority(random_state)


class Mean:
    """A learner without labels and without noise."""

    def fit(self, X):
        self.coef_, self.intercept_ = np.mean(X, axis=0), 0.0
        return self


def test_predictions_and_coefficients_of_fresh_fits():
    rng = np.random.default_rng(0)
    votes = np.array(Predictions(build, np.zeros(3))(DATA, 200, rng))
    assert votes.shape == (200, 3)
    assert set(np.unique(votes)) == {0, 1}
    released = np.array(Coefficients(build)(DATA, 50, rng))
    assert released.shape == (50, 2)
    assert len(np.unique(released[:, 0])) == 50
    assert np.all(released[:, 1] == -2)
    assert np.array_equal(Coefficients(Mean)(np.eye(2), 1, rng)[0], [0.5, 0.5, 0.0])


def test_a_random_state_makes_a_learner_repeatable():
    first, again = (np.array(Coefficients(build)(DATA, 5, np.random.default_rng(7))) for _ in range(2))
    assert np.array_equal(first, again)
    assert not Coefficients(build).own_randomness
    assert Coefficients(lambda: NoisyMajority()).own_randomness


@pytest.mark.parametrize(("epsilon", "verdict"), [(1.0, Verdict.PASS), (0.25, Verdict.FAIL)])
@pytest.mark.false_alarm(1e-06)
def test_verdicts_on_a_learner(epsilon, verdict):
    claim = PrivacyClaim(epsilon, 0.0, LabelFlip())
    mechanism = Coefficients(build, ("coef_",))
    budget = 20_000 if verdict is Verdict.PASS else 5_000
    result = check_privacy(mechanism, claim, [(DATA, FLIPPED)], budget=budget, significance=1e-6, tolerance=2.0)
    assert result.verdict is verdict


def test_a_learner_that_raises_gives_the_exception_as_output():
    def fragile():
        raise RuntimeError("no luck")

    outputs = Predictions(fragile, np.zeros(1))(DATA, 2, np.random.default_rng(0))
    assert [str(output) for output in outputs] == ["raised RuntimeError: no luck"] * 2
    with pytest.raises(InvalidArgument, match="`build` must be callable"):
        Predictions(3, np.zeros(1))


def add_laplace(values, rng):
    return values + rng.laplace(size=values.shape)


def add_own_noise(values):
    return values + np.random.default_rng().laplace(size=values.shape)


def one_noise(values, rng):
    return values + rng.laplace()


def test_elementwise_releases_copies():
    rng = np.random.default_rng(0)
    assert Elementwise(add_laplace, np.sum)(np.ones(3), 7, rng).shape == (7,)
    vectors = Elementwise(add_laplace)(np.ones(3), 7, rng)
    assert vectors.shape == (7, 3)
    assert len(np.unique(vectors)) == 21
    assert not Elementwise(add_laplace).own_randomness
    assert Elementwise(add_own_noise).own_randomness
    assert Elementwise(np.negative).own_randomness


@pytest.mark.parametrize(
    ("release", "verdict"),
    [(add_laplace, Verdict.PASS), (add_own_noise, Verdict.PASS), (one_noise, Verdict.INCONCLUSIVE)],
)
@pytest.mark.false_alarm(1e-06)
def test_verdicts_on_array_functions(release, verdict):
    """Noise that entries share makes releases dependent: the reason names it, and the verdict is never PASS."""
    pair = (np.zeros(3), np.array([0.0, 0.0, 1.0]))
    claim = PrivacyClaim(1.0, 0.0, Substitution())
    result = check_privacy(Elementwise(release, np.sum), claim, [pair], budget=50_000, significance=1e-6, tolerance=1.0)
    assert result.verdict is verdict


@pytest.mark.parametrize(
    ("release", "query", "message"),
    [
        (3, np.sum, "`release` must be callable"),
        (add_laplace, None, "`query` must be callable"),
        (add_laplace, partial(str), "`query` must answer with a number or a vector"),
        (np.sum, np.sum, "`release` must keep the shape"),
    ],
)
def test_elementwise_refuses(release, query, message):
    with pytest.raises(InvalidArgument, match=message):
        Elementwise(release, query)(np.ones(2), 3, np.random.default_rng(0))
