"""The resolution is honest: a violation of that size is caught with the stated power."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.statistics.bounds import (
    POWER,
    GameCounts,
    GameTest,
    _critical_count,
    _upper_tail,
    blind_spot,
    game_epsilon_lower_bound,
    game_resolution,
)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.1, 0.0), (1.0, 0.05), (3.0, 0.0)])
@pytest.mark.false_alarm(1e-05, seeded=True)
def test_power_at_the_resolution(epsilon, delta):
    """400 games with the violating event; power below 0.8 by more than the noise would fail (chance < 1e-5)."""
    runs, significance, games = 100_000, 0.01, 400
    found = game_resolution(epsilon, delta, runs, significance)
    assert epsilon < found < epsilon + 2
    rng = np.random.default_rng(1)
    p, q = 0.01 + delta, 0.01 * math.exp(-found)
    caught = 0
    for game in range(games):
        hits = rng.multinomial(runs, [p / 2, q / 2, 1 - (p + q) / 2])
        counts = GameCounts(int(hits[0]), 0, int(hits[2]), int(hits[1]), 0, 0)
        bound = game_epsilon_lower_bound(counts, delta / 2, significance, np.random.SeedSequence([3, game]))
        caught += bound > epsilon
    assert caught >= stats.binom.ppf(1e-5, games, POWER - 0.03)
    assert caught <= stats.binom.isf(1e-5, games, POWER + 0.06)  # and it is not understated either


def test_guesses_that_are_never_wrong_have_power_where_all_of_them_refute():
    """At epsilon log 3, of three guesses all are right with probability 27 / 64, and of twenty with 0.0032."""
    test = GameTest(math.log(3), 0.0, 0.01)
    assert [test.power(2 * guesses, 0.5, 0.0) for guesses in (3, 20)] == [0.0, 1.0]


def test_where_nothing_is_caught_and_where_chance_alone_catches_it():
    assert game_resolution(0.5, 1e-3, 1, 0.05) == math.inf
    assert game_resolution(1.0, 0.0, 10**6, 0.9) == 1.0  # such a test rejects by chance alone with that power
    assert (blind_spot(0), blind_spot(1), blind_spot(2000)) == (1.0, 1.0, 0.01)


@pytest.mark.parametrize("trials", [1, 7, 1000, 10**8])
@pytest.mark.parametrize("level", [1e-9, 0.01, 0.3])
def test_the_critical_count_is_that_of_scipy(trials, level):
    for probability in (0.02, 0.5, 0.9):
        count = _critical_count(level, trials, probability)
        assert count == stats.binom.isf(level, trials, probability)
        assert _upper_tail(count, trials, probability) == pytest.approx(stats.binom.sf(count, trials, probability))
