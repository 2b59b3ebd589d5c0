"""One released value among flags: what the events chosen on such outputs are worth, by the exact output law.

A sparse vector that releases the very value that it compared (Lyu, Su & Li 2017, Algorithm 3 with c = 1). Its ratio
depends on where the value stands and how low it is; given both, the hidden threshold is integrated out.
"""

from statistics import mean

import numpy as np
from scipy import special, stats

from audit.events.candidates import TestDesign, choose_events
from audit.outputs.encode import encode
from audit.scorers import Training
from tests.core.scorers.exact_value import value_of

JUDGING = 50_000  # outputs per dataset: their ratios are exact, so that even rare events are judged closely
PAIR = np.ones(10), np.repeat([2.0, 0.0], 5)


def draw(answers, size, rng):
    """Return -inf at the queries below the noisy threshold, the value at the first one above, and inf behind it."""
    noisy = answers + rng.laplace(scale=2, size=(size, 10))
    above = noisy >= 1 + rng.laplace(scale=2, size=(size, 1))
    first = np.where(above.any(axis=1), above.argmax(axis=1), 10)[:, None]
    place = np.arange(10)
    return np.where(place < first, -np.inf, np.where(place == first, noisy, np.inf))


def log_density(rows, answers):
    """Return the density of outputs, up to what both sides share."""
    grid = 1 + np.linspace(-60, 60, 120_001)
    still = stats.laplace(1, 2).pdf(grid)
    density = np.empty(len(rows))
    for place, answer in enumerate(answers):
        noise = stats.laplace(answer, 2)
        here = np.flatnonzero(np.isfinite(rows[:, place]))
        values = rows[here, place]
        density[here] = np.log(np.interp(values, grid, np.cumsum(still))) + noise.logpdf(values)
        still = still * noise.cdf(grid)
    density[~np.isfinite(rows).any(axis=1)] = np.log(still.sum())
    return density


def test_a_released_value_and_the_flags_before_it_are_read_together():
    """The bound that events chosen on 32,500 outputs per dataset give at the expected counts of 135,000 runs."""
    rng = np.random.default_rng(1_000_000)
    rows = np.concatenate([draw(answers, JUDGING, rng) for answers in PAIR])
    ratios = log_density(rows, PAIR[0]) - log_density(rows, PAIR[1])
    laws = [special.expit(sign * ratios) / JUDGING for sign in (1, -1)]
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sides = [encode(draw(answers, 32_500, rng), 32_500) for answers in PAIR]
        design = TestDesign(0.0, TestDesign.critical_value(0.05), 65_000, 135_000)
        events = choose_events(Training(*sides, None, PAIR), [design], slow_scorers=())[0]
        found.append(value_of(events, encode(rows, len(rows)), laws, 135_000))
    assert mean(found) >= 2.08
