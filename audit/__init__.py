"""Audit differential privacy: does the code that runs keep the promise, with a stated error probability?"""

from audit.base.errors import AuditError
from audit.base.verdict import Verdict
from audit.checks.precision import PrecisionCheck, check_precision
from audit.checks.privacy.check import PrivacyCheck
from audit.checks.privacy.function import check_privacy
from audit.checks.privacy.result import PrivacyResult
from audit.checks.randomness import RandomnessCheck, RandomnessResult, check_randomness
from audit.checks.theorems import check_consistency, check_guarantee, check_inequality, check_lower_bound, check_rate
from audit.checks.utility import (
    ConsistencyCheck,
    GuaranteeCheck,
    InequalityCheck,
    LowerBoundCheck,
    PackingCheck,
    RateCheck,
    UtilityResult,
)
from audit.claims import GaussianClaim, PiecewiseLinear, RenyiClaim, TradeOffClaim, ZeroConcentratedClaim
from audit.claims.approximate import PrivacyClaim
from audit.claims.relations import AddRemove, Group, Labeled, LabelFlip, Local, Substitution
from audit.game.canaries import canary_epsilon_lower_bound
from audit.game.confusion import epsilon_interval
from audit.game.delta_bound import delta_lower_bound
from audit.game.packing import check_packing, packing_epsilon_lower_bound
from audit.report.certificate import Report
from audit.runs.suite import run
from audit.subjects import per_call

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
