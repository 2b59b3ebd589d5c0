"""Audit differential privacy: does the code that runs keep the promise, with a stated error probability?"""

from audit.checks import PrivacyCheck
from audit.claim_kinds import GaussianClaim, PiecewiseLinear, RenyiClaim, TradeOffClaim, ZeroConcentratedClaim
from audit.claims import PrivacyClaim
from audit.empirical.canaries import canary_epsilon_lower_bound
from audit.empirical.confusion import epsilon_interval
from audit.empirical.delta_bound import delta_lower_bound
from audit.empirical.packing import check_packing, packing_epsilon_lower_bound
from audit.errors import AuditError
from audit.precision import PrecisionCheck, check_precision
from audit.privacy import check_privacy
from audit.randomness import RandomnessCheck, RandomnessResult, check_randomness
from audit.relations import AddRemove, Group, Labeled, LabelFlip, Local, Substitution
from audit.report.certificate import Report
from audit.result import PrivacyResult
from audit.sampling import per_call
from audit.suite import run
from audit.theorems import check_consistency, check_guarantee, check_inequality, check_lower_bound, check_rate
from audit.utility import (
    ConsistencyCheck,
    GuaranteeCheck,
    InequalityCheck,
    LowerBoundCheck,
    PackingCheck,
    RateCheck,
    UtilityResult,
)
from audit.verdict import Verdict

__all__ = [
    "AddRemove",
    "AuditError",
    "ConsistencyCheck",
    "GaussianClaim",
    "Group",
    "GuaranteeCheck",
    "InequalityCheck",
    "LabelFlip",
    "Labeled",
    "Local",
    "LowerBoundCheck",
    "PackingCheck",
    "PiecewiseLinear",
    "PrecisionCheck",
    "PrivacyCheck",
    "PrivacyClaim",
    "PrivacyResult",
    "RandomnessCheck",
    "RandomnessResult",
    "RateCheck",
    "RenyiClaim",
    "Report",
    "Substitution",
    "TradeOffClaim",
    "UtilityResult",
    "Verdict",
    "ZeroConcentratedClaim",
    "canary_epsilon_lower_bound",
    "check_consistency",
    "check_guarantee",
    "check_inequality",
    "check_lower_bound",
    "check_packing",
    "check_precision",
    "check_privacy",
    "check_randomness",
    "check_rate",
    "delta_lower_bound",
    "epsilon_interval",
    "packing_epsilon_lower_bound",
    "per_call",
    "run",
]
