"""Outputs that hold one released value among flags: what the events chosen on them are worth, by the exact output law.

A sparse vector that releases the very value that it compared (Lyu, Su & Li 2017, Algorithm 3 with c = 1). Its ratio
depends on where the value stands and how low it is; given both, the hidden threshold is integrated out. And one that
releases the answer with noise of its own (Algorithm 1, c = 1, and a Laplace mechanism): how low the value is then says
nothing of the flags.
"""

from statistics import mean

import numpy as np
import pytest
from scipy import special, stats

from audit.events.candidates import choose_events
from audit.events.thresholds import TestDesign, critical_value
from audit.outputs.encode import encode
from audit.scorers import Training
from tests.core.scorers.exact_value import value_of

JUDGING = 50_000  # outputs per dataset: their ratios are exact, so that even rare events are judged closely
TEN_ONES, HALF_TWOS, TEN_TWOS = np.ones(10), np.repeat([2.0, 0.0], 5), np.full(10, 2.0)


def first_above(noisy, epsilon, rng):
    """Index of the first query above the threshold, which is noisy too; 10 where there is none. Shape (size, 1)."""
    above = noisy >= 1 + rng.laplace(scale=2 / epsilon, size=(len(noisy), 1))
    return np.where(above.any(axis=1), above.argmax(axis=1), 10)[:, None]


def released(first, values):
    """-inf at the queries below, the value at the first one above, inf behind it."""
    place = np.arange(10)
    return np.where(place < first, -np.inf, np.where(place == first, values, np.inf))


def thresholds(epsilon):
    """A grid of noisy thresholds, and the density there."""
    grid = 1 + np.linspace(-60, 60, 120_001) / epsilon
    return grid, stats.laplace(1, 2 / epsilon).pdf(grid)


class Compared:
    """ReleasedValues the value that was compared."""

    @staticmethod
    def draw(answers, epsilon, size, rng):
        noisy = answers + rng.laplace(scale=2 / epsilon, size=(size, 10))
        return released(first_above(noisy, epsilon, rng), noisy)

    @staticmethod
    def log_density(rows, answers, epsilon):
        """Up to what both sides share."""
        grid, still = thresholds(epsilon)
        density = np.empty(len(rows))
        for place, answer in enumerate(answers):
            noise = stats.laplace(answer, 2 / epsilon)
            here = np.flatnonzero(np.isfinite(rows[:, place]))
            values = rows[here, place]
            density[here] = np.log(np.interp(values, grid, np.cumsum(still))) + noise.logpdf(values)
            still = still * noise.cdf(grid)
        density[~np.isfinite(rows).any(axis=1)] = np.log(still.sum())
        return density


class Afresh:
    """ReleasedValues the answer with noise of its own."""

    @staticmethod
    def draw(answers, epsilon, size, rng):
        first = first_above(answers + rng.laplace(scale=4 / epsilon, size=(size, 10)), epsilon, rng)
        return released(first, answers + rng.laplace(scale=2 / epsilon, size=(size, 10)))

    @staticmethod
    def log_density(rows, answers, epsilon):
        """Up to what both sides share."""
        grid, still = thresholds(epsilon)
        density = np.empty(len(rows))
        for place, answer in enumerate(answers):
            here = np.flatnonzero(np.isfinite(rows[:, place]))
            above = still * stats.laplace(answer, 4 / epsilon).sf(grid)
            density[here] = np.log(above.sum()) + stats.laplace(answer, 2 / epsilon).logpdf(rows[here, place])
            still = still - above
        density[~np.isfinite(rows).any(axis=1)] = np.log(still.sum())
        return density


def judges(mechanism, pair, epsilon):
    """Outputs of both sides together, and the share of each side's law that each of them stands for."""
    rng = np.random.default_rng(1_000_000)
    rows = np.concatenate([mechanism.draw(answers, epsilon, JUDGING, rng) for answers in pair])
    ratios = mechanism.log_density(rows, pair[0], epsilon) - mechanism.log_density(rows, pair[1], epsilon)
    return encode(rows, len(rows)), [special.expit(sign * ratios) / JUDGING for sign in (1, -1)]


def value(mechanism, pair, epsilon, size, runs, seed, judging):
    """Return the bound that events chosen on `size` outputs per dataset give at the expected counts of `runs` runs."""
    outputs, laws = judging
    rng = np.random.default_rng(seed)
    sides = [encode(mechanism.draw(answers, epsilon, size, rng), size) for answers in pair]
    events = choose_events(
        Training(*sides, None, pair), TestDesign(0.0, critical_value(0.05), 2 * size, runs), slow_scorers=()
    )
    return value_of(events, outputs, laws, runs)


@pytest.mark.parametrize(
    ("mechanism", "pair", "epsilon", "size", "certifying", "seeds", "least"),
    [
        pytest.param(Compared, (TEN_ONES, HALF_TWOS), 1.0, 32_500, 135_000, 4, 2.08, id="compared, much is learned"),
        pytest.param(Compared, (TEN_ONES, TEN_TWOS), 0.1, 150_000, 700_000, 1, 0.11, id="compared, little is learned"),
        pytest.param(Afresh, (TEN_ONES, HALF_TWOS), 1.0, 12_500, 56_250, 4, 1.1, id="released afresh"),
    ],
)
def test_a_released_value_and_the_flags_before_it_are_read(mechanism, pair, epsilon, size, certifying, seeds, least):
    """Together where the value was compared, apart where it was not. Nothing here is a hypothesis test.

    Where little is learned, ten seeds gave 0.117 to 0.165, and 0.039 without the scorer of released values.
    """
    judging = judges(mechanism, pair, epsilon)
    found = [value(mechanism, pair, epsilon, size, certifying, seed, judging) for seed in range(seeds)]
    assert mean(found) >= least
