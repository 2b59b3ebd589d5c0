"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds, packings."""

from audit.checks.utility.guarantee import GuaranteeCheck, check_guarantee
from audit.checks.utility.inequality import InequalityCheck, check_inequality
from audit.checks.utility.packing import PackingCheck, PackingResult, check_packing
from audit.checks.utility.rate import RateCheck, check_rate
from audit.checks.utility.risk import ConsistencyCheck, LowerBoundCheck, check_consistency, check_lower_bound

__all__ = [
    "ConsistencyCheck", "GuaranteeCheck", "InequalityCheck", "LowerBoundCheck", "PackingCheck", "PackingResult",
    "RateCheck", "check_consistency", "check_guarantee", "check_inequality", "check_lower_bound", "check_packing",
    "check_rate",
]  # fmt: skip
