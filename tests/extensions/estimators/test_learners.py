"""Learners as mechanisms: what is released, and under which randomness."""

from __future__ import annotations

import numpy as np
import pytest

from audit import Labeled, Predictions
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


def test_predictions_of_fresh_fits():
    rng = np.random.default_rng(0)
    votes = np.array(Predictions(build, np.zeros(3))(DATA, 200, rng))
    assert votes.shape == (200, 3)
    assert set(np.unique(votes)) == {0, 1}


def test_a_random_state_makes_a_learner_repeatable():
    first, again = (np.array(Predictions(build, np.zeros(3))(DATA, 5, np.random.default_rng(7))) for _ in range(2))
    assert np.array_equal(first, again)
    assert not Predictions(build, [0]).own_randomness
    assert Predictions(lambda: NoisyMajority(), [0]).own_randomness


def test_a_learner_that_raises_gives_the_exception_as_output():
    def fragile():
        raise RuntimeError("no luck")

    outputs = Predictions(fragile, np.zeros(1))(DATA, 2, np.random.default_rng(0))
    assert [str(output) for output in outputs] == ["raised RuntimeError: no luck"] * 2
    with pytest.raises(InvalidArgument, match="`build` must be callable"):
        Predictions(3, np.zeros(1))
