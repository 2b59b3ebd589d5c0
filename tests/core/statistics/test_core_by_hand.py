"""The bounds that decide FAIL, each against a slow computation by its definition; the side of each is that of its name.

Mutation testing found that the statistical tests leave room for errors of one count or of one ulp. These tests
compare values to 1e-9 and leave none.
"""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from audit import AuditError
from audit.statistics import bounds
from audit.statistics.bounds import (
    GameCounts,
    game_delta_lower_bound,
    game_epsilon_lower_bound,
    proportion_lower_bound,
    proportion_upper_bound,
    smallest_uniforms,
)
from tests.offenders import for_each


def delta_lower_bound(correct, wrong, abstained=0, *, epsilon, significance=0.05, seed, one_sided=False):
    guesses = correct + wrong
    return game_delta_lower_bound(correct, guesses, abstained, epsilon, significance, seed, one_sided)


GAMES = [(9, 1, 0), (60, 0, 40), (30, 10, 60), (200, 80, 20), (5, 0, 0), (1, 0, 3), (2000, 300, 900)]


def uniforms(correct, abstained, most, seed):
    """Return the uniforms of the runs that some parameter replaces, as the code under test draws them."""
    rng = np.random.default_rng(seed)
    return smallest_uniforms(correct, most, rng), smallest_uniforms(abstained, most, rng)


def rejected(counts, epsilon, delta, level, right, idle):
    """Return whether the binomial test rejects (epsilon, delta), run by run as docs/method.md defines it."""
    correct, wrong, _ = counts
    eta = delta * math.exp(-epsilon) / (1 + delta * math.exp(-epsilon))
    lost, added = int(np.sum(right <= eta)), int(np.sum(idle <= eta))
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    return stats.binom.sf(correct - lost - 1, correct + wrong + added, theta) <= level


@for_each(product(GAMES, [0.0, 1e-3, 0.05, 0.4], [0, 1]))
def test_the_epsilon_bound_is_the_first_epsilon_that_is_not_rejected(counts, delta, seed):
    correct, wrong, abstained = counts
    found = game_epsilon_lower_bound(
        GameCounts(correct, wrong, abstained, 0, 0, 0), delta, 0.05, np.random.SeedSequence(seed)
    )
    right, idle = uniforms(correct, abstained, delta / (1 + delta), np.random.SeedSequence(seed))
    below = np.linspace(0, found, 50)[:-1] if found else []
    assert all(rejected(counts, x, delta, 0.05, right, idle) for x in below)
    assert not rejected(counts, found + 1e-9, delta, 0.05, right, idle)


@for_each(product(GAMES, [0.0, 0.5, 2.0], [False, True]))
def test_the_delta_bound_is_the_first_delta_that_is_not_rejected(counts, epsilon, one_sided):
    correct, _, abstained = counts
    found = delta_lower_bound(*counts, epsilon=epsilon, significance=0.05, seed=7, one_sided=one_sided)
    right, idle = uniforms(correct, abstained, 1 / (1 + math.exp(epsilon)), 7)
    share = found / (2 if one_sided else 1)
    assert 0 <= found <= 1
    below = np.linspace(0, share, 50)[:-1] if found else []
    assert all(rejected(counts, epsilon, x, 0.05, right, idle) for x in below)
    if share < 1 and found < 1:
        assert not rejected(counts, epsilon, share * (1 + 1e-9), 0.05, right, idle)


@for_each(product([(1, 0, 40), (2, 0, 40)], [0.3, 0.6], range(8)))
def test_the_delta_bound_of_one_or_two_guesses_stops_where_none_is_right_any_more(counts, level, seed):
    found = delta_lower_bound(*counts, epsilon=0.0, significance=level, seed=seed)
    right, idle = uniforms(counts[0], counts[2], 0.5, seed)
    assert (found > 0) == rejected(counts, 0.0, 0.0, level, right, idle)
    below = np.linspace(0, found, 50)[:-1] if found else []
    assert all(rejected(counts, 0.0, x, level, right, idle) for x in below)


def test_a_one_sided_delta_is_at_most_one():
    assert delta_lower_bound(200, 0, epsilon=0.0, seed=0) > 0.5
    assert delta_lower_bound(200, 0, epsilon=0.0, seed=0, one_sided=True) == 1.0


class SmallUniforms:
    """Draw uniforms that are all small: the first batch then ends below the limit, which chance alone hardly does."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def random(self, count):
        return 0.3 * self.rng.random(count)


@pytest.mark.parametrize(("count", "most"), [(500, 0.2), (500, 0.5), (1000, 0.9)])
def test_the_smallest_uniforms_of_several_batches_are_one_sequence(count, most, monkeypatch):
    """Each batch is drawn in chunks, of which the sums go on."""
    monkeypatch.setattr(bounds, "_CHUNK", 50)
    with np.errstate(all="raise"):
        found = smallest_uniforms(count, most, SmallUniforms(4))
    levels = np.cumsum(-np.log1p(-SmallUniforms(4).random(count)) / (count - np.arange(count)))
    expected = -np.expm1(-levels)
    assert len(found) > 64 + 1.1 * count * most or len(found) == count
    assert found == pytest.approx(expected[expected < most], rel=1e-12)


REFUSED = [
    ("delta", lambda: game_epsilon_lower_bound(GameCounts(1, 0, 0, 0, 0, 0), 1.5, 0.05)),
    ("right_plus", lambda: GameCounts(0, 0, 0, -1, 0, 0)),
    ("left_abstain", lambda: GameCounts(0, 0, True, 0, 0, 0)),
]


@for_each(REFUSED)
def test_refusals_name_the_argument_and_show_the_value(name, call):
    with pytest.raises(AuditError, match=rf"^`{name}` must \w+.*, got .+ \(\w+\)$"):
        call()


def test_dependence_divides_all_guesses_of_a_bound_of_delta():
    """60 of 80 fair guesses right have probability 5e-6, and 15 of 20 have 0.02: at 0.01 the latter refute nothing."""
    free, shared = (game_delta_lower_bound(60, 80, 0, 0.0, 0.01, 0, True, inflation) for inflation in (1.0, 4.0))
    assert free > 0.1
    assert shared == 0.0


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (500, 1000)])
def test_against_scipy_and_statsmodels(k, n):
    """scipy's `greater` is a lower bound; statsmodels' two-sided beta interval has both."""
    low, high = proportion_lower_bound(k, n, 0.025), proportion_upper_bound(k, n, 0.025)
    assert low == pytest.approx(stats.binomtest(k, n, alternative="greater").proportion_ci(0.975).low, abs=1e-9)
    beta = proportion_confint(k, n, alpha=0.05, method="beta")
    assert (low, high) == pytest.approx(beta, abs=1e-9)
    assert low <= k / n <= high


def test_coverage_is_at_least_nominal_exactly():
    n, p = 25, 0.3
    wrong = sum(stats.binom.pmf(k, n, p) for k in range(n + 1) if proportion_lower_bound(k, n, 0.05) > p)
    assert wrong <= 0.05


def test_impossible_counts_raise():
    with pytest.raises(AuditError, match="`successes` must"):
        proportion_lower_bound(11, 10, 0.05)
