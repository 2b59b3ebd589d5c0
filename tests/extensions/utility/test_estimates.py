"""Estimates beside the bounds: by the formulas, computed by hand; nothing is decided or recorded by them."""

import math
import re
import sys

import numpy as np
import pytest
from scipy import stats

import audit
from audit.extensions.utility.estimates import MISSING, Coefficient, fit_log_log
from audit.extensions.utility.rate_judge import RateTerms

SCALES, MEANS, WEIGHTS = [10, 20, 50, 100, 400], [0.31, 0.23, 0.138, 0.102, 0.0497], [4.0, 1.0, 2.0, 3.0, 0.5]


@pytest.mark.parametrize("power", [1, 2])
def test_the_fit_and_its_errors_are_those_of_the_formulas(power):
    """Weighted least squares, and the sandwich of MacKinnon and White (1985) with residuals over 1 - leverage."""
    logs = np.log(SCALES) - np.mean(np.log(SCALES))
    root = np.sqrt(WEIGHTS)
    table = np.vander(logs, power + 1, increasing=True) * root[:, None]
    inverse = np.linalg.inv(table.T @ table)
    fitted = inverse @ table.T @ (np.log(MEANS) * root)
    residuals = np.log(MEANS) * root - table @ fitted
    leverage = np.einsum("ij,jk,ik->i", table, inverse, table)
    meat = (table * ((residuals / (1 - leverage)) ** 2)[:, None]).T @ table
    found = fit_log_log(SCALES, MEANS, WEIGHTS, power)
    assert found.value == pytest.approx(fitted[-1])
    assert found.error == pytest.approx(math.sqrt((inverse @ meat @ inverse)[-1, -1]))
    assert found.freedom == 5 - power - 1


def test_equivalence_is_two_tests_and_a_least_exponent_is_one():
    found = Coefficient(0.52, 0.02, 3)
    low, high = stats.t.sf(0.12 / 0.02, 3), stats.t.cdf(-0.08 / 0.02, 3)
    assert found.test_against(RateTerms(0.5, 0.1, "equivalent", None, 0.1)) == pytest.approx(max(low, high))
    assert found.test_against(RateTerms(0.5, 0.1, "at_least", None, 0.1)) == pytest.approx(low)


def rate(sizes):
    return audit.check_rate(
        lambda n, replicates, rng: rng.random(replicates) * n**-0.5,
        sizes,
        0.5,
        margin=0.1,
        support=lambda n: (0.0, n**-0.5),
        budget=5_000,
    )


def guarantee():
    return audit.check_guarantee(lambda replicates, rng: np.arange(replicates) % 10 > 0, 0.2, budget=1_000)


def test_a_rate_shows_its_regression_and_the_record_does_not():
    result = rate([64, 128, 256, 512, 1024])
    (line,) = result.details()
    exponent = re.match(r"estimates, which decide nothing: exponent (0.[45]\d+) \(standard error", line)[1]
    assert float(exponent) == pytest.approx(0.5, abs=0.05)
    assert "curvature" in line
    assert "hypothesis of a miss has p = 0.0" in line
    assert line in str(result)
    assert "decide nothing" not in str(result.record())
    (short,) = rate([64, 128, 256, 512]).details()
    assert "curvature" not in short
    assert not list(rate([64, 128, 512]).details())


@pytest.mark.parametrize("audited", [guarantee, lambda: rate([64, 128, 256, 512])])
def test_without_statsmodels_a_line_says_what_to_install(audited, monkeypatch):
    expected = audited().record()
    for name in ("statsmodels", "statsmodels.stats.proportion", "statsmodels.regression.linear_model"):
        monkeypatch.setitem(sys.modules, name, None)
    result = audited()
    assert list(result.details()) == [MISSING]
    assert result.record() == expected
