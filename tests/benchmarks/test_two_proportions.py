"""The baseline of two proportions: its formula, and no better than the bound of the package."""

import math

import pytest

from audit.extensions.files.confusion import event_epsilon_lower_bound
from audit.statistics.binomial import proportion_lower_bound, proportion_upper_bound
from benchmarks.bound import two_proportion_epsilon_lower_bound


@pytest.mark.parametrize(
    ("p", "q", "delta"), [((40, 50), (9, 60), 0.0), ((40, 50), (9, 60), 0.1), ((3, 50), (9, 60), 0.3)]
)
def test_the_baseline_is_its_formula(p, q, delta):
    low, high = proportion_lower_bound(*p, 0.025), proportion_upper_bound(*q, 0.025)
    expected = math.log((low - delta) / high) if low > delta else 0.0
    assert two_proportion_epsilon_lower_bound(*p, *q, 0.05, delta) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("hits", "other"), [((18, 20), (2, 20)), ((20, 20), (0, 20)), ((5, 10), (5, 10)), ((9, 9), (1, 30))]
)
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_event_bound_is_no_worse_than_the_baseline_and_no_better_than_the_estimate(hits, other, delta):
    found = event_epsilon_lower_bound(*hits, *other, delta=delta, significance=0.05)
    assert found >= two_proportion_epsilon_lower_bound(*hits, *other, 0.05, delta) - 1e-9
    if other[0] > 0:
        assert found <= max(0.0, math.log(max(hits[0] / hits[1] - delta, 1e-9) / (other[0] / other[1])))
