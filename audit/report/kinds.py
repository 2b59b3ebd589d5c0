"""List the kinds of checks: import a check and its function, and name them in `Kinds`.

All that must know every kind follows from this list: exports of the package, records and their schema, pictures, the
methods of the pytest fixture, the reference page.
"""

from audit.checks.precision import PrecisionCheck as PrecisionCheck
from audit.checks.precision import check_precision as check_precision
from audit.checks.privacy.check import PrivacyCheck as PrivacyCheck
from audit.checks.privacy.check import check_privacy as check_privacy
from audit.checks.privacy.result import PrivacyResult as PrivacyResult
from audit.checks.randomness import RandomnessCheck as RandomnessCheck
from audit.checks.randomness import check_randomness as check_randomness
from audit.extensions.estimators.check import EstimatorCheck as EstimatorCheck
from audit.extensions.estimators.check import EstimatorResult as EstimatorResult
from audit.extensions.estimators.check import check_estimator as check_estimator
from audit.extensions.estimators.check import estimator_checks as estimator_checks
from audit.extensions.interactive.check import InteractiveCheck as InteractiveCheck
from audit.extensions.interactive.check import InteractiveResult as InteractiveResult
from audit.extensions.interactive.check import check_interactive as check_interactive
from audit.extensions.stability.check import StabilityCheck as StabilityCheck
from audit.extensions.stability.check import check_stability as check_stability
from audit.extensions.training.accountants.check import AccountingCheck as AccountingCheck
from audit.extensions.training.accountants.check import check_accounting as check_accounting
from audit.extensions.training.canaries.check import CanaryCheck as CanaryCheck
from audit.extensions.training.canaries.check import CanaryResult as CanaryResult
from audit.extensions.training.canaries.check import check_canaries as check_canaries
from audit.extensions.training.runs.check import TrainingCheck as TrainingCheck
from audit.extensions.training.runs.check import TrainingResult as TrainingResult
from audit.extensions.training.runs.check import check_training as check_training
from audit.extensions.utility.guarantee import GuaranteeCheck as GuaranteeCheck
from audit.extensions.utility.guarantee import check_guarantee as check_guarantee
from audit.extensions.utility.inequality import InequalityCheck as InequalityCheck
from audit.extensions.utility.inequality import check_inequality as check_inequality
from audit.extensions.utility.packing import PackingCheck as PackingCheck
from audit.extensions.utility.packing import PackingResult as PackingResult
from audit.extensions.utility.packing import check_packing as check_packing
from audit.extensions.utility.rate import RateCheck as RateCheck
from audit.extensions.utility.rate import check_rate as check_rate
from audit.extensions.utility.risk import ConsistencyCheck as ConsistencyCheck
from audit.extensions.utility.risk import LowerBoundCheck as LowerBoundCheck
from audit.extensions.utility.risk import check_consistency as check_consistency
from audit.extensions.utility.risk import check_lower_bound as check_lower_bound
from audit.report.kind import Kind


class Kinds:
    """The kinds of checks, by the names of their functions `check_...`; an auditor has them as methods."""

    privacy = Kind(PrivacyCheck, check_privacy)
    precision = Kind(PrecisionCheck, check_precision)
    estimator = Kind(EstimatorCheck, check_estimator)
    interactive = Kind(InteractiveCheck, check_interactive)
    randomness = Kind(RandomnessCheck, check_randomness)
    stability = Kind(StabilityCheck, check_stability)
    inequality = Kind(InequalityCheck, check_inequality)
    guarantee = Kind(GuaranteeCheck, check_guarantee)
    consistency = Kind(ConsistencyCheck, check_consistency)
    rate = Kind(RateCheck, check_rate)
    lower_bound = Kind(LowerBoundCheck, check_lower_bound)
    packing = Kind(PackingCheck, check_packing)
    canaries = Kind(CanaryCheck, check_canaries)
    accounting = Kind(AccountingCheck, check_accounting)
    training = Kind(TrainingCheck, check_training)
