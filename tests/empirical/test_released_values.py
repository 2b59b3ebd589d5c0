"""Outputs that hold one released value among flags: what the events chosen on them are worth, by the exact output law.

A sparse vector that releases the very value that it compared (Lyu, Su & Li 2017, Algorithm 3 with c = 1). Its ratio
depends on where the value stands and how low it is; given both, the hidden threshold is integrated out.
"""

from statistics import mean

import numpy as np
import pytest
from scipy import special, stats

from audit.empirical.events import choose_events
from audit.empirical.scorers import Training
from audit.empirical.thresholds import Stakes
from audit.sampling import encode
from tests.empirical.exact_worth import worth_of

JUDGING = 200_000  # outputs a side: their ratios are exact, so that even rare events are judged closely
TEN_ONES, HALF_TWOS, TEN_TWOS = np.ones(10), np.repeat([2.0, 0.0], 5), np.full(10, 2.0)


def compared_and_released(answers, epsilon, size, rng):
    """-inf at the queries below, the value at the first one above, inf behind it."""
    noisy = answers + rng.laplace(scale=2 / epsilon, size=(size, 10))
    above = noisy >= 1 + rng.laplace(scale=2 / epsilon, size=(size, 1))
    first = np.where(above.any(axis=1), above.argmax(axis=1), 10)[:, None]
    place = np.arange(10)
    return np.where(place < first, -np.inf, np.where(place == first, noisy, np.inf))


def log_density(rows, answers, epsilon):
    """Up to what both sides share, by sums over a grid of thresholds."""
    noise = stats.laplace(scale=2 / epsilon)
    grid = 1 + np.linspace(-60, 60, 120_001) / epsilon
    still = noise.pdf(grid - 1)
    density = np.empty(len(rows))
    for place, answer in enumerate(answers):
        here = np.flatnonzero(np.isfinite(rows[:, place]))
        values = rows[here, place]
        density[here] = np.log(np.interp(values, grid, np.cumsum(still))) + noise.logpdf(values - answer)
        still = still * noise.cdf(grid - answer)
    density[~np.isfinite(rows).any(axis=1)] = np.log(still.sum())
    return density


def judges(pair, epsilon):
    """Outputs of both sides together, and the share of each side's law that each of them stands for."""
    rng = np.random.default_rng(1_000_000)
    rows = np.concatenate([compared_and_released(answers, epsilon, JUDGING, rng) for answers in pair])
    ratios = log_density(rows, pair[0], epsilon) - log_density(rows, pair[1], epsilon)
    return encode(rows, len(rows)), [special.expit(sign * ratios) / JUDGING for sign in (1, -1)]


def worth(pair, epsilon, size, runs, seed, judging):
    """The bound that the events chosen on `size` outputs a side give in the mean of so many certifying runs."""
    outputs, laws = judging
    rng = np.random.default_rng(seed)
    sides = [encode(compared_and_released(answers, epsilon, size, rng), size) for answers in pair]
    events = choose_events(Training(*sides, None, pair), Stakes(0.0, 0.05, 2 * size, runs), last_resort=())
    return worth_of(events, outputs, laws, runs)


@pytest.mark.parametrize(
    ("pair", "epsilon", "size", "certifying", "seeds", "least"),
    [
        pytest.param((TEN_ONES, HALF_TWOS), 1.0, 32_500, 135_000, 16, 2.08, id="much is learned"),
        pytest.param((TEN_ONES, TEN_TWOS), 0.1, 300_000, 1_400_000, 6, 0.177, id="little is learned"),
    ],
)
def test_a_released_value_and_the_flags_before_it_are_read_together(pair, epsilon, size, certifying, seeds, least):
    """A low value after many refusals tells most. Fixed seeds; nothing here is a hypothesis test."""
    judging = judges(pair, epsilon)
    assert mean(worth(pair, epsilon, size, certifying, seed, judging) for seed in range(seeds)) >= least
