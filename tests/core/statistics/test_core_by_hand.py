"""The bounds that decide FAIL, each against a slow computation by its definition; refusals name their argument.

Mutation testing found that the statistical tests leave room for errors of one count or of one ulp. These tests
compare values to 1e-9 and leave none.
"""

import math
import warnings
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from audit import AuditError, delta_lower_bound, epsilon_interval
from audit.statistics import guess_game
from audit.statistics.binomial import (
    _ExtremeTables,
    event_epsilon_lower_bound,
    proportion_lower_bound,
    proportion_upper_bound,
)
from audit.statistics.guess_game import (
    GameCounts,
    blind_spot,
    game_delta_lower_bound,
    game_epsilon_lower_bound,
    game_resolution,
    smallest_uniforms,
)
from tests.offenders import for_each

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


@for_each(product(GAMES, [1e-3, 0.05, 0.4], [0, 1]))
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


@pytest.mark.parametrize("seed", range(10))
def test_a_game_without_abstentions_needs_none_stated(seed):
    assert delta_lower_bound(9, 2, epsilon=0.0, seed=seed) == delta_lower_bound(9, 2, 0, epsilon=0.0, seed=seed)


class SmallUniforms:
    """Draw uniforms that are all small: the first batch then ends below the limit, which chance alone hardly does."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def random(self, count):
        return 0.3 * self.rng.random(count)


@pytest.mark.parametrize(("count", "most"), [(500, 0.2), (500, 0.5), (1000, 0.9)])
def test_the_smallest_uniforms_of_several_batches_are_one_sequence(count, most, monkeypatch):
    """Each batch is drawn in chunks, of which the sums go on."""
    monkeypatch.setattr(guess_game, "_CHUNK", 50)
    with np.errstate(all="raise"):
        found = smallest_uniforms(count, most, SmallUniforms(4))
    levels = np.cumsum(-np.log1p(-SmallUniforms(4).random(count)) / (count - np.arange(count)))
    expected = -np.expm1(-levels)
    assert len(found) > 64 + 1.1 * count * most or len(found) == count
    assert found == pytest.approx(expected[expected < most], rel=1e-12)


def score_by_definition(x, n, y, m, epsilon, delta):
    """Return standardized p1 - e^epsilon p0 - delta of a table; the null's fit is where its likelihood is level."""
    ratio = math.exp(epsilon)

    def slope(p0):
        p1 = ratio * p0 + delta
        return ratio * (x / p1 - (n - x) / (1 - p1)) + y / p0 - (m - y) / (1 - p0)

    low, high = 1e-13, (1 - delta) / ratio * (1 - 1e-13)
    p0 = low if slope(low) <= 0 else high if slope(high) >= 0 else optimize.brentq(slope, low, high, xtol=1e-15)
    p1 = ratio * p0 + delta
    return (x / n - ratio * y / m - delta) / math.sqrt(p1 * (1 - p1) / n + ratio**2 * p0 * (1 - p0) / m)


def event_bound_by_definition(x, n, y, m, delta, level):
    """Return where the p-value, the largest over a grid of p0, passes the level, less the share of the nuisance."""
    critical = stats.norm.isf(level)
    lacking = lambda epsilon: score_by_definition(x, n, y, m, epsilon, delta) - critical  # noqa: E731
    if lacking(0.0) < 0:
        return 0.0
    limit = optimize.brentq(lacking, 0.0, 20.0, xtol=1e-13) - 1e-9
    extreme = np.array(
        [[score_by_definition(a, n, b, m, limit, delta) >= critical for b in range(m + 1)] for a in range(n + 1)]
    )
    extreme[x:, : y + 1] = True
    p0 = np.linspace(proportion_lower_bound(y, m, 0.01 * level), proportion_upper_bound(y, m, 0.01 * level), 2001)[
        :, None
    ]

    def excess(epsilon):
        p1 = np.minimum(math.exp(epsilon) * p0 + delta, 1.0)
        joint = stats.binom.pmf(range(n + 1), n, p1) @ extreme * stats.binom.pmf(range(m + 1), m, p0)
        return joint.sum(axis=1).max() - 0.98 * level

    return optimize.brentq(excess, 0.0, 20.0, xtol=1e-9) if excess(0.0) < 0 else 0.0


@pytest.mark.parametrize(("table", "delta", "level"), [
    ((5, 5, 3, 10), 0.0, 0.2), ((12, 12, 4, 5), 0.0, 0.2), ((8, 8, 0, 1), 0.0, 0.2), ((7, 8, 1, 2), 0.0, 0.2),
    ((5, 6, 1, 9), 0.05, 0.2), ((20, 30, 6, 25), 0.1, 0.05), ((4, 6, 3, 9), 0.0, 0.7), ((30, 30, 3, 5), 0.0, 0.2),
])  # fmt: skip
def test_the_event_bound_is_where_the_largest_probability_of_its_extreme_tables_passes_the_level(table, delta, level):
    found = event_epsilon_lower_bound(*table, delta=delta, significance=level)
    expected = event_bound_by_definition(*table, delta, level)
    assert expected - 0.002 <= found <= expected + 2e-5


@pytest.mark.parametrize(("runs", "other_runs", "delta"), [(5, 10, 0.0), (8, 3, 0.05), (4, 4, 0.5)])
def test_the_order_of_tables_is_the_score_at_the_null_fit(runs, other_runs, delta):
    tables = _ExtremeTables(runs, runs, 0, other_runs, delta, 0.05)
    for epsilon, x, y in product([0.0, 0.7, 2.0], range(runs + 1), range(other_runs + 1)):
        expected = score_by_definition(x, runs, y, other_runs, epsilon, delta)
        if abs(expected) < 1e3:  # the variance vanishes at the corners
            assert float(tables.score(x, y, epsilon)) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_probability_of_the_extreme_tables_is_not_understated():
    tables, p0, epsilon = _ExtremeTables(18, 20, 5, 20, 0.0, 0.05), 0.3, 0.5
    exact = math.fsum(
        stats.binom.pmf(y, 20, p0) * stats.binom.sf(least - 1, 20, math.exp(epsilon) * p0)
        for y, least in zip(tables.counts, tables.fewest, strict=True)
    )
    found = float(tables._probability(np.array([p0]), np.array([p0]), epsilon)[0])
    assert exact + 0.9e-12 < found < exact + 1.1e-12  # 1e-12 for the counts that are left out


def of_matrix(tp, fp, tn, fn, **settings):
    """The interval of the counts in this order."""
    counts = {"true_positives": tp, "false_positives": fp, "true_negatives": tn, "false_negatives": fn}
    return epsilon_interval(**counts, **settings)


def test_the_interval_from_a_matrix_is_symmetric_and_names_its_ends():
    found = of_matrix(18, 2, 17, 3, delta=0.01, significance=0.1)
    turned = of_matrix(17, 3, 18, 2, delta=0.01, significance=0.1)
    assert (found.lower, found.upper) == pytest.approx((turned.lower, turned.upper))
    assert (*found.positives, *found.negatives) == pytest.approx((*turned.negatives, *turned.positives))
    assert found.lower == max(found.positives[0], found.negatives[0])
    assert found.upper == max(found.positives[1], found.negatives[1])
    assert (found.delta, found.significance) == (0.01, 0.1)
    p1 = [bound(18, 21, 0.025) for bound in (proportion_lower_bound, proportion_upper_bound)]
    p0 = [bound(2, 19, 0.025) for bound in (proportion_lower_bound, proportion_upper_bound)]
    assert found.positives[1] == pytest.approx(math.log((p1[1] - 0.01) / p0[0]), rel=1e-12)
    assert found.negatives[1] == pytest.approx(math.log((1 - p0[0] - 0.01) / (1 - p1[1])), rel=1e-12)
    assert of_matrix(5, 0, 5, 0).upper == math.inf
    for empty in ((0, 0, 0, 0), (5, 0, 0, 0), (0, 5, 0, 0)):
        assert (of_matrix(*empty).lower, of_matrix(*empty).upper) == (0.0, math.inf)


@pytest.mark.parametrize("matrix", [(2, 17, 3, 18), (40, 170, 30, 60), (2510, 2480, 2520, 2490)])
def test_the_upper_end_of_a_classifier_that_is_no_better_than_chance_is_of_the_other_direction(matrix):
    tp, fp, tn, fn = matrix
    found = of_matrix(*matrix, delta=0.01, significance=0.1)
    p1 = [bound(tp, tp + fn, 0.025) for bound in (proportion_lower_bound, proportion_upper_bound)]
    p0 = [bound(fp, fp + tn, 0.025) for bound in (proportion_lower_bound, proportion_upper_bound)]
    positives = (p1[1] - 0.01) / p0[0], (p0[1] - 0.01) / p1[0]
    negatives = (1 - p0[0] - 0.01) / (1 - p1[1]), (1 - p1[0] - 0.01) / (1 - p0[1])
    assert found.positives[1] == pytest.approx(math.log(max(positives)), rel=1e-9)
    assert found.negatives[1] == pytest.approx(math.log(max(negatives)), rel=1e-9)


@pytest.mark.parametrize("matrix", [(5, 0, 5, 0), (3, 1, 2, 2), (0, 4, 0, 4), (0, 0, 6, 6)])
def test_delta_one_allows_everything_and_warns_of_nothing(matrix):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = of_matrix(*matrix, delta=1.0)
    assert (found.lower, found.upper) == (0.0, 0.0)


@pytest.mark.parametrize(("claimed", "delta", "runs"), [
    (1.0, 0.0, 10_000), (0.5, 1e-3, 100_000), (3.0, 0.05, 10**6), (0.5, 0.8, 100_000), (0.0, 0.995, 10**7),
])  # fmt: skip
def test_the_resolution_is_where_the_binomial_test_has_its_power(claimed, delta, runs):
    def power(epsilon, probability=0.01, significance=0.05):
        odds = delta / 2 * math.exp(-claimed)
        eta = odds / (1 + odds)
        right = (1 - eta) * min(1.0, probability + delta) / 2
        wrong = (1 - eta) * probability * math.exp(-epsilon) / 2 + eta
        guesses = int(runs * (right + wrong))
        theta = math.exp(claimed) / (1 + math.exp(claimed))
        least = stats.binom.isf(significance, guesses, theta) + 1
        return stats.binom.sf(least - 1, guesses, right / (right + wrong))

    found = game_resolution(claimed, delta, runs, 0.05)
    if math.isfinite(found):
        assert power(found + 0.05) >= 0.78  # the power jumps where the number of guesses changes
        assert power(max(claimed, found - 0.05)) <= 0.82
    assert game_resolution(claimed, delta, 1, 0.05) == math.inf
    assert game_resolution(1.0, 0.0, 10**6, 0.9) == 1.0  # such a test rejects by chance alone with that power
    assert blind_spot(0) == 1.0
    assert blind_spot(1) == 1.0
    assert blind_spot(2000) == 0.01


REFUSED = [
    ("correct", lambda: delta_lower_bound(-1, 0, epsilon=1.0, seed=0)),
    ("wrong", lambda: delta_lower_bound(1, -1, epsilon=1.0, seed=0)),
    ("abstained", lambda: delta_lower_bound(1, 0, -1, epsilon=1.0, seed=0)),
    ("epsilon", lambda: delta_lower_bound(1, 0, epsilon=-1.0, seed=0)),
    ("significance", lambda: delta_lower_bound(1, 0, epsilon=1.0, significance=0.0, seed=0)),
    ("delta", lambda: game_epsilon_lower_bound(GameCounts(1, 0, 0, 0, 0, 0), 1.5, 0.05)),
    ("right_plus", lambda: GameCounts(0, 0, 0, -1, 0, 0)),
    ("left_abstain", lambda: GameCounts(0, 0, True, 0, 0, 0)),
    ("true_positives", lambda: of_matrix(-1, 0, 0, 0)),
    ("false_positives", lambda: of_matrix(0, -1, 0, 0)),
    ("true_negatives", lambda: of_matrix(0, 0, -1, 0)),
    ("false_negatives", lambda: of_matrix(0, 0, 0, -1)),
    ("delta", lambda: of_matrix(1, 1, 1, 1, delta=-0.1)),
    ("significance", lambda: of_matrix(1, 1, 1, 1, significance=1.0)),
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
