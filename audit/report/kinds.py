"""Register the kinds of checks, one line each. Whatever must know all kinds reads this list."""

from collections.abc import Mapping
from typing import Any

from audit.base.errors import InvalidArgument, InvalidCertificate
from audit.checks import utility
from audit.checks.base import Check
from audit.checks.precision import PrecisionCheck
from audit.checks.privacy.check import PrivacyCheck
from audit.checks.randomness import RandomnessCheck
from audit.training.accountants.check import AccountingCheck
from audit.training.canaries.check import CanaryCheck
from audit.training.runs.check import TrainingCheck

CHECKS: Mapping[str, type[Check]] = {  # by the name of the function `audit.check_...` and of the fixture's method
    "privacy": PrivacyCheck,
    "precision": PrecisionCheck,
    "randomness": RandomnessCheck,
    "inequality": utility.InequalityCheck,
    "guarantee": utility.GuaranteeCheck,
    "consistency": utility.ConsistencyCheck,
    "rate": utility.RateCheck,
    "lower_bound": utility.LowerBoundCheck,
    "canaries": CanaryCheck,
    "accounting": AccountingCheck,
    "packing": utility.PackingCheck,  # its records are those of a guarantee
    "training": TrainingCheck,
}
# by the kind of a record
KINDS: Mapping[str, type[Check]] = {check.kind: check for check in reversed(list(CHECKS.values()))}


def require_check(check: object) -> None:
    """Raise unless `check` is a check that a certificate can hold."""
    if not isinstance(check, Check):
        raise InvalidArgument.of("checks", "hold checks only, such as PrivacyCheck or RateCheck", check)
    check.recorded_claim()


def judged_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judged part of a record of any kind, computed from its claim and its evidence alone."""
    kind = str(record.get("kind"))
    if kind not in KINDS:
        raise InvalidCertificate(f"a check of kind {kind!r} is not known; the kinds are {', '.join(KINDS)}")
    return KINDS[kind].judge_record(record).record()
