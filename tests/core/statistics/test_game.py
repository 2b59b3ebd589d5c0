"""The guess game and the bounds that decide FAIL: exact type-I error, the ceiling, a slow computation by definition.

Mutation testing found that the statistical tests leave room for errors of one count or of one ulp. Those that compare
values to 1e-9 leave none. A resolution has the stated power; the side of each bound is that of its name.
"""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from statsmodels.stats.proportion import proportion_confint

from audit import AuditError
from audit.statistics import bounds
from audit.statistics.bounds import (
    POWER,
    GameCounts,
    GameTest,
    _critical_count,
    _upper_tail,
    blind_spot,
    game_delta_lower_bound,
    game_epsilon_lower_bound,
    game_resolution,
    proportion_lower_bound,
    proportion_upper_bound,
    runs_to_resolve,
    smallest_uniforms,
)
from tests.offenders import for_each

counts = st.builds(GameCounts, *[st.integers(0, 5000)] * 6)


def symmetric(correct, wrong, abstained=0):
    return GameCounts(correct, 0, abstained, wrong, 0, 0)


@pytest.mark.parametrize("guesses", [1, 2, 7, 40])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("significance", [0.05, 0.001])
def test_type_one_error_is_exact(guesses, epsilon, significance):
    """Sum the binomial probabilities of all outcomes whose bound exceeds the truth: no simulation."""
    theta = 1 / (1 + math.exp(-epsilon))
    wrong_fail = sum(
        stats.binom.pmf(c, guesses, theta)
        for c in range(guesses + 1)
        if game_epsilon_lower_bound(symmetric(c, guesses - c), 0.0, significance) > epsilon
    )
    assert wrong_fail <= significance * (1 + 1e-12)


@given(counts, st.floats(0, 1), st.floats(1e-9, 0.5), st.integers(0, 3))
@settings(max_examples=300, deadline=None)
def test_however_the_counts_fall_the_bound_stays_below_the_ceiling(outcome, delta, significance, seed):
    bound = game_epsilon_lower_bound(outcome, delta, significance, np.random.SeedSequence(seed))
    assert bound >= 0.0
    if outcome.runs:
        assert bound <= game_epsilon_lower_bound(symmetric(outcome.runs, 0), 0.0, significance) + 1e-9


def test_the_ceiling_is_reached_and_is_the_formula():
    for runs in (10, 1000, 200_000):
        b = 0.05 ** (1 / runs)
        bound = game_epsilon_lower_bound(symmetric(runs, 0), 0.0, 0.05)
        assert bound == pytest.approx(math.log(b) - math.log(1 - b), rel=1e-9)


@pytest.mark.parametrize("delta", [0.3, 0.02])
@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.false_alarm(1e-06)
def test_type_one_error_with_delta(delta, one_sided):
    """Null: exactly (1, delta). 4,000 games of 400 runs; the chance that a valid test exceeds the limit is < 1e-6."""
    games, runs, significance = 4000, 400, 0.05
    rng = np.random.default_rng(20)
    theta = math.e / (1 + math.e)
    share = delta / 2 if one_sided else delta
    used = 0.5 if one_sided else 1.0  # only half of the runs can show the mark
    p_right = share + (1 - delta) * used * theta
    p_wrong = (1 - delta) * used * (1 - theta)
    failures = 0
    for game in range(games):
        right, wrong, idle = rng.multinomial(runs, [p_right, p_wrong, 1 - p_right - p_wrong])
        bound = game_epsilon_lower_bound(
            symmetric(int(right), int(wrong), int(idle)), share, significance, np.random.SeedSequence([7, game])
        )
        failures += bound > 1.0
    assert failures <= stats.binom.isf(1e-6, games, significance)
    assert failures >= stats.binom.ppf(1e-3, games, 0.6 * significance)  # it has power at the edge


@pytest.mark.parametrize(("count", "most"), [(1, 0.5), (50, 0.9), (1000, 0.01), (0, 0.3), (300, 1e-9)])
@pytest.mark.false_alarm(2e-06, seeded=True)
def test_smallest_uniforms_have_their_law(count, most):
    """Their number is Binomial(count, most), and they are uniform below `most`: false alarms below 1e-6 each."""
    draws = [smallest_uniforms(count, most, np.random.default_rng(seed)) for seed in range(400)]
    total = sum(map(len, draws))
    assert stats.binomtest(total, 400 * count, most).pvalue > 1e-6 if count else total == 0
    pooled = np.concatenate(draws)
    assert np.all(pooled < most)
    if len(pooled) > 50:
        assert stats.kstest(pooled / most, "uniform").pvalue > 1e-6
    assert all(np.all(np.diff(d) >= 0) for d in draws)


def test_coins_are_needed_for_delta_and_repeat():
    with pytest.raises(AuditError, match="needs `coins`: give"):
        game_epsilon_lower_bound(symmetric(90, 10), 0.1, 0.05)
    bounds = [game_epsilon_lower_bound(symmetric(900, 100), 0.1, 0.05, np.random.SeedSequence(3)) for _ in range(2)]
    assert bounds[0] == bounds[1]


def test_more_runs_than_memory_holds_are_refused():
    counts, seed = GameCounts(10**11, 0, 0, 0, 10**11, 0), np.random.SeedSequence(0, spawn_key=(7, 3))
    with pytest.raises(AuditError, match="at this delta"):
        game_epsilon_lower_bound(counts, 0.01, 0.05, seed)
    with pytest.raises(AuditError, match="at this delta"):
        game_delta_lower_bound(counts.correct, counts.correct + counts.wrong, 0, 0.5, 0.05, 1, False)


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


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.0, 0.01)])
def test_planned_runs_resolve_their_target_and_half_of_them_do_not(epsilon, delta):
    runs = runs_to_resolve(epsilon, 1.25 * epsilon, delta, 0.01)
    found = [game_resolution(epsilon, delta, part, 0.01) for part in (runs, runs // 2)]
    assert found[0] <= 1.25 * epsilon + 1e-4 < found[1]


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
    ("successes", lambda: proportion_lower_bound(11, 10, 0.05)),
]


@for_each(REFUSED)
def test_refusals_name_the_argument_and_show_the_value(name, call):
    with pytest.raises(AuditError, match=rf"^`{name}` must \w+.*, got .+ \(\w+\)$"):
        call()


@pytest.mark.parametrize("inflation", [1.0, 1.7, 4.0])
def test_dependence_lowers_a_bound_of_epsilon_alike_at_every_delta(inflation):
    """At a delta by which no guess is replaced, the bound is that of no delta."""
    seed, outcome = np.random.SeedSequence(3), symmetric(900, 100, 50)
    plain, tiny = (game_epsilon_lower_bound(outcome, delta, 0.01, seed, inflation) for delta in (0.0, 1e-12))
    wanted = stats.beta.ppf(0.01, 900 / inflation, 100 / inflation + 1)
    assert plain == pytest.approx(special.logit(wanted), rel=1e-9)
    assert tiny == pytest.approx(plain, rel=1e-9)


@for_each(product((0, 3, 9), repeat=4), str)
def test_the_side_that_leads_has_the_event_that_is_further_ahead(left_plus, left_minus, right_plus, right_minus):
    game = GameCounts(left_plus, left_minus, 7, right_plus, right_minus, 1)
    assert game.leads_left == (left_plus - right_plus >= right_minus - left_minus)
    assert (game.correct, game.wrong, game.abstained) == (left_plus + right_minus, left_minus + right_plus, 8)
    assert (game.runs, game.runs_on_left) == (game.correct + game.wrong + 8, left_plus + left_minus + 7)


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
