"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds."""

from audit.checks.utility.base import Interval, UtilityCheck, UtilityJudgement, UtilityResult
from audit.checks.utility.consistency import ConsistencyCheck
from audit.checks.utility.guarantee import GuaranteeCheck
from audit.checks.utility.inequality import InequalityCheck
from audit.checks.utility.lower_bound import LowerBoundCheck
from audit.checks.utility.packing import PackingCheck
from audit.checks.utility.rate import RateCheck

__all__ = [
    "ConsistencyCheck",
    "GuaranteeCheck",
    "InequalityCheck",
    "Interval",
    "LowerBoundCheck",
    "PackingCheck",
    "RateCheck",
    "UtilityCheck",
    "UtilityJudgement",
    "UtilityResult",
]
