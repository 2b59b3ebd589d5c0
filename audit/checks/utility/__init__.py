"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds."""

from audit.checks.utility.consistency import ConsistencyCheck, check_consistency
from audit.checks.utility.guarantee import GuaranteeCheck, check_guarantee
from audit.checks.utility.inequality import InequalityCheck, check_inequality
from audit.checks.utility.lower_bound import LowerBoundCheck, check_lower_bound
from audit.checks.utility.packing import PackingCheck
from audit.checks.utility.rate import RateCheck, check_rate
from audit.checks.utility.theorem import Interval, UtilityCheck, UtilityJudgment, UtilityResult

__all__ = [
    "ConsistencyCheck",
    "GuaranteeCheck",
    "InequalityCheck",
    "Interval",
    "LowerBoundCheck",
    "PackingCheck",
    "RateCheck",
    "UtilityCheck",
    "UtilityJudgment",
    "UtilityResult",
    "check_consistency",
    "check_guarantee",
    "check_inequality",
    "check_lower_bound",
    "check_rate",
]
