"""The side of every bound is the one in its name."""

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from audit import AuditError
from audit.statistics.bounds import (
    proportion_lower_bound,
    proportion_upper_bound,
)


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
