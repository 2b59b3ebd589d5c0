"""Faults of the catalog in their low-order bits, which are convicted, and its remedies, which are not.

Null of a FAIL: the claim holds; false alarm at most 1e-6 a subject, seeds fixed.
"""

import numpy as np
import pytest

from audit import PrivacyClaim, Verdict, check_precision
from audit.checks.run import run_check
from audit.evidence.allowance import Allowance
from audit.execution.seeds import Stream
from mechanisms.faults import precision
from mechanisms.queries import count_positive
from mechanisms.snapping import GridLaplace, SnappedLaplace

PAIR = [(np.zeros(5), np.r_[1.0, np.zeros(4)])]
PURE, BUDGET, FEW, STRICT = PrivacyClaim(0.1), 10_000, 2_000, 1e-6


@pytest.mark.parametrize("fault", precision.CHECKS, ids=lambda fault: fault.name)
def test_faults_are_convicted(fault):
    result = run_check(fault, Allowance(BUDGET, STRICT, Stream(1)))
    assert result.verdict is fault.expected is Verdict.FAIL
    assert result.epsilon_lower_bound > 3
    assert "True privacy:" in type(fault.mechanism).__doc__


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
