"""Faults of the catalog in their low-order bits, which are convicted, and its remedies, which are not.

Null of a FAIL: the claim holds; false alarm at most 1e-6 a subject, seeds fixed.
"""

import numpy as np
import pytest

from audit import PrivacyClaim, Verdict, check_precision
from audit.checks.base import run_check
from audit.evidence.base import Allowance
from audit.mechanism.call import Stream
from mechanisms.faults.textbook import PRECISION
from mechanisms.queries import count_positive
from mechanisms.snapping import GridLaplace, SnappedLaplace, _round_half_up

PAIR = [(np.zeros(5), np.r_[1.0, np.zeros(4)])]
PURE, BUDGET, FEW, STRICT = PrivacyClaim(0.1), 10_000, 2_000, 1e-6


@pytest.mark.parametrize("fault", PRECISION, ids=lambda fault: fault.name)
def test_faults_are_convicted(fault):
    result = run_check(fault, Allowance(BUDGET, STRICT, Stream(1)))
    assert result.verdict is fault.expected is Verdict.FAIL
    assert result.epsilon_lower_bound > 3


@pytest.mark.parametrize(
    "mechanism",
    [SnappedLaplace(count_positive, 0.1, 200.0), GridLaplace(count_positive, 1.0, 0.1, places=6, steps=2**14)],
    ids=["snapped", "grid"],
)
@pytest.mark.false_alarm(1e-06)
def test_what_hides_its_bits_is_not_convicted(mechanism):
    result = check_precision(mechanism, PURE, PAIR, budget=FEW, significance=STRICT)
    assert result.verdict is not Verdict.FAIL
    assert result.epsilon_lower_bound <= 0.1


@pytest.mark.parametrize(("epsilon", "grid"), [(0.1, 16.0), (0.3, 4.0), (1.0, 2.0), (3.0, 0.5)])
def test_the_snapping_grid_is_the_power_of_two_from_the_scale_on(epsilon, grid):
    """The scale (1 + 2^-49 bound) / epsilon lies just above 10, 3.3, 1 and 0.33."""
    assert SnappedLaplace(count_positive, epsilon, 40.0).grid == grid


def test_rounding_to_the_grid_is_paid_for():
    """Answers 1.49 steps apart are rounded to 2 steps apart, or to 1: the rate covers both."""
    mechanism = GridLaplace(float, 1.49 * 2.0**-6, 1.0, places=6, steps=64)
    left, right = (mechanism.law(steps * 2.0**-6) for steps in (0.49, 1.98))
    assert mechanism.rate == pytest.approx(1 / 3)
    assert left.loss_against(right).epsilon(0.0) == pytest.approx(2 / 3)


def test_snapping_rounds_ties_up():
    """Mironov 2012: of the two nearest multiples of the grid, the larger one."""
    assert _round_half_up(np.array([-1.5, -0.5, 0.5, 0.49, 2.5])).tolist() == [-1.0, 0.0, 1.0, 0.0, 3.0]
