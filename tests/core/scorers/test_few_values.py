"""Noise of few values is refuted or named with its number; true claims stay.

Runs are seeded. A FAIL here needs one of at least 500 fresh outputs of each dataset that an event names, each with
probability 0.01 or more: it fails to come with probability below 1e-2 in none of 1,000 runs.
"""

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, Verdict
from audit.scorers.counts import CollisionCounts, SeenScore

PAIR = (np.array([0.1234567]), np.array([0.7654321]))


def laplace_of(uniform):
    return -np.sign(uniform) * np.log1p(-2 * np.abs(uniform))


def of_bits(bits):
    def noisy(data, size, rng):
        uniform = (rng.integers(0, 2**bits, size) + 0.5) / 2**bits - 0.5
        return data.sum() + laplace_of(uniform)

    return noisy


def audited(mechanism, budget="auto", tolerance=None):
    """By the game alone: followed noise says nothing of the values that come again."""
    settings = dict(budget=budget, tolerance=tolerance, method="fixed", workers=0)
    return audit.check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], **settings)


@pytest.mark.parametrize(("bits", "least"), [(15, 5), (18, 5), (24, 3)])
@pytest.mark.false_alarm(1e-9)
def test_noise_of_few_values_is_refuted(bits, least):
    result = audited(of_bits(bits))
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower_bound > least


HONEST = {
    "laplace": lambda data, size, rng: data.sum() + rng.laplace(size=size),
    "rounded": lambda data, size, rng: np.round(data.sum() + rng.laplace(size=size), 4),
    "clipped": lambda data, size, rng: np.clip(data.sum() + rng.laplace(size=size), 0, 1),
    "integers": lambda data, size, rng: np.round(data.sum()) + rng.geometric(0.5, size) - rng.geometric(0.5, size),
}


@pytest.mark.parametrize("mechanism", HONEST.values(), ids=HONEST)
def test_a_grid_that_both_datasets_share_passes(mechanism):
    assert audited(mechanism).verdict is Verdict.PASS


def test_pairs_are_counted_by_hand():
    left, right = np.array([1.0, 1.0, 1.0, 2.0, 5.0, 5.0]), np.array([2.0, 2.0, 5.0, 7.0])
    assert CollisionCounts.of(left, right) == CollisionCounts(
        within=3 + 1 + 1, repeated=3, across=1 * 2 + 2 * 1, size=4
    )


def test_an_event_names_its_values_while_they_are_few():
    names = SeenScore(0, np.array([0.5]), np.arange(9.0)).describe(1.0, -1.0)
    assert names == ("coordinate 0: output in {0.5}", "coordinate 0: output in 9 numbers seen in training")
