"""Utility theorems as checks: inequalities, guarantees, consistency, rates, lower bounds, packings."""

from audit.checks.utility.guarantee import GuaranteeCheck, check_guarantee
from audit.checks.utility.inequality import InequalityCheck, check_inequality
from audit.checks.utility.packing import PackingCheck, PackingResult, check_packing
from audit.checks.utility.rate import RateCheck, check_rate
from audit.checks.utility.risk import ConsistencyCheck, LowerBoundCheck, check_consistency, check_lower_bound
