"""Confusion matrices: exact size on small tables, the published example, slow computations by the definition."""

import math
import warnings
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.stats import binom

import audit
from audit import AuditError, epsilon_interval
from audit.extensions.files.confusion import _ExtremeTables, event_epsilon_lower_bound
from audit.statistics.bounds import proportion_lower_bound, proportion_upper_bound
from tests.offenders import for_each


@pytest.mark.parametrize(("n1", "n0", "delta"), [(3, 4, 0.0), (6, 2, 0.1), (1, 7, 0.0)])
def test_lower_bound_has_its_size_on_every_null(n1, n0, delta):
    level = 0.2  # large, so that small tables reject
    table = range(n1 + 1), range(n0 + 1)
    bounds = np.array(
        [[event_epsilon_lower_bound(x, n1, y, n0, delta=delta, significance=level) for y in table[1]] for x in table[0]]
    )
    assert bounds.max() > 0
    for epsilon in (0.0, 0.4, 1.0, 2.0):
        for p0 in np.linspace(0, 1, 201):
            p1 = min(1.0, math.exp(epsilon) * p0 + delta)
            size = binom.pmf(table[0], n1, p1) @ (bounds > epsilon) @ binom.pmf(table[1], n0, p0)
            assert size <= level


@pytest.mark.parametrize(
    ("hits", "other"), [((18, 20), (2, 20)), ((20, 20), (0, 20)), ((5, 10), (5, 10)), ((9, 9), (1, 30))]
)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_event_bound_is_no_worse_than_two_bounds_and_no_better_than_the_estimate(hits, other, delta):
    found = event_epsilon_lower_bound(*hits, *other, delta=delta, significance=0.05)
    low, high = proportion_lower_bound(*hits, 0.025), proportion_upper_bound(*other, 0.025)
    assert found >= (math.log((low - delta) / high) if low > delta else 0.0) - 1e-9
    if other[0] > 0:
        assert found <= max(0.0, math.log(max(hits[0] / hits[1] - delta, 1e-9) / (other[0] / other[1])))


def test_published_example():
    interval = of_matrix(487, 1, 512, 0, delta=1e-5, significance=0.1)
    # from two Clopper-Pearson bounds "said positive" alone would give log((p1L - delta) / p0U) < 4.5
    assert 4.47 < interval.positives[0] < math.log(487 / 487 / (1 / 513))
    assert interval.lower == max(interval.positives[0], interval.negatives[0]) > 4.8
    assert interval.upper == math.inf  # no false negative: its probability may be 0
    assert interval.positives[1] == pytest.approx(math.log(1 / (1 - 0.975 ** (1 / 513))), rel=1e-4)  # p0L of 1 in 513


@pytest.mark.parametrize("counts", [(90, 20, 80, 10), (np.array([[80, 20], [10, 90]]),), ([[80, 20], [10, 90]],)])
def test_counts_without_names_are_refused_with_the_call_to_type(counts):
    """In the order of scikit-learn, which is another one, they gave (0, 1.38) in place of (1.44, 3.00)."""
    with pytest.raises(AuditError) as refused:
        epsilon_interval(*counts)
    unpacked, call = str(refused.value).splitlines()[1:]
    names = {"matrix": np.array([[80, 20], [10, 90]])}  # as `confusion_matrix` of scikit-learn returns it
    exec(unpacked.strip(), names)
    found = eval(call.strip(), {"audit": audit, **names})
    assert (round(found.lower, 2), round(found.upper, 2)) == (1.44, 3.0)


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


@for_each([
    ("true_positives", {"tp": -1}),
    ("false_positives", {"fp": -1}),
    ("true_negatives", {"tn": -1}),
    ("false_negatives", {"fn": -1}),
    ("delta", {"delta": -0.1}),
    ("significance", {"significance": 1.0}),
])  # fmt: skip
def test_refusals_name_the_argument_and_show_the_value(name, wrong):
    with pytest.raises(AuditError, match=rf"^`{name}` must \w+.*, got .+ \(\w+\)$"):
        of_matrix(**{"tp": 1, "fp": 1, "tn": 1, "fn": 1, **wrong})


@for_each(
    [
        ("correct", lambda: audit.delta_lower_bound(-1, 0, epsilon=1.0, seed=0)),
        ("wrong", lambda: audit.delta_lower_bound(1, -1, epsilon=1.0, seed=0)),
        ("abstained", lambda: audit.delta_lower_bound(1, 0, -1, epsilon=1.0, seed=0)),
        ("epsilon", lambda: audit.delta_lower_bound(1, 0, epsilon=-1.0, seed=0)),
        ("significance", lambda: audit.delta_lower_bound(1, 0, epsilon=1.0, significance=0.0, seed=0)),
    ]
)
def test_a_bound_of_delta_refuses_what_is_no_game(name, call):
    with pytest.raises(AuditError, match=rf"^`{name}` must "):
        call()


def test_a_bound_of_delta_is_that_of_the_game():
    """60 of 2,000 runs show their dataset, which is delta = .03 at least; one event that is empty doubles the bound."""
    found = audit.delta_lower_bound(60, 0, 1940, epsilon=1.0, seed=1)
    assert 0.015 < found < 0.03
    assert audit.delta_lower_bound(60, 0, 1940, epsilon=1.0, seed=1, one_sided=True) == pytest.approx(2 * found)
