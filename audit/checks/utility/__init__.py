"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds, packings."""

from audit.checks.utility.consistency import ConsistencyCheck, check_consistency
from audit.checks.utility.guarantee import GuaranteeCheck, check_guarantee
from audit.checks.utility.inequality import InequalityCheck, check_inequality
from audit.checks.utility.lower_bound import LowerBoundCheck, check_lower_bound
from audit.checks.utility.packing_check import PackingCheck, PackingResult, check_packing
from audit.checks.utility.rate import RateCheck, check_rate
from audit.checks.utility.theorem import Interval, UtilityCheck, UtilityJudgment, UtilityResult

__all__ = [
    "ConsistencyCheck",
    "GuaranteeCheck",
    "InequalityCheck",
    "Interval",
    "LowerBoundCheck",
    "PackingCheck",
    "PackingResult",
    "RateCheck",
    "UtilityCheck",
    "UtilityJudgment",
    "UtilityResult",
    "check_consistency",
    "check_guarantee",
    "check_inequality",
    "check_lower_bound",
    "check_packing",
    "check_rate",
]
