"""The side of every bound is the one in its name."""

import math

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from audit import AuditError
from audit.statistics.binomial import (
    proportion_lower_bound,
    proportion_upper_bound,
)
from benchmarks.bound import two_proportion_epsilon_lower_bound


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


def test_the_baseline_is_a_lower_bound():
    # 0.7311 against 0.2689 in 1e5 runs each: epsilon 1, and the two bounds lose about 0.015
    bound = two_proportion_epsilon_lower_bound(73106, 100_000, 26894, 100_000, 0.05)
    assert 0.975 < bound < 1.0
    assert two_proportion_epsilon_lower_bound(0, 100, 50, 100, 0.05) == 0.0


def test_impossible_counts_raise():
    with pytest.raises(AuditError, match="`successes` must"):
        proportion_lower_bound(11, 10, 0.05)


def test_the_baseline_is_two_bounds_at_half_the_level():
    low, high = stats.beta.ppf(0.01, 60, 41), stats.beta.ppf(0.99, 21, 60)
    found = two_proportion_epsilon_lower_bound(60, 100, 20, 80, 0.02, delta=0.1)
    assert found == pytest.approx(math.log((low - 0.1) / high), abs=1e-9)
