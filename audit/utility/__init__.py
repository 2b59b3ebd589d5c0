"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds."""

from audit.utility.base import Interval, UtilityCheck, UtilityJudgement, UtilityResult
from audit.utility.consistency import ConsistencyCheck
from audit.utility.guarantee import GuaranteeCheck
from audit.utility.inequality import InequalityCheck
from audit.utility.lower_bound import LowerBoundCheck
from audit.utility.packing import PackingCheck
from audit.utility.rate import RateCheck

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
