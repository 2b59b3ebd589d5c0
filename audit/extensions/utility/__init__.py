"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds, packings."""

from audit.extensions.utility.guarantee import GuaranteeCheck, check_guarantee
from audit.extensions.utility.inequality import InequalityCheck, check_inequality
from audit.extensions.utility.packing import PackingCheck, PackingResult, check_packing
from audit.extensions.utility.rate import RateCheck, check_rate
from audit.extensions.utility.risk import ConsistencyCheck, LowerBoundCheck, check_consistency, check_lower_bound

__all__ = [
    "ConsistencyCheck", "GuaranteeCheck", "InequalityCheck", "LowerBoundCheck", "PackingCheck", "PackingResult",
    "RateCheck", "check_consistency", "check_guarantee", "check_inequality", "check_lower_bound", "check_packing",
    "check_rate",
]  # fmt: skip
