"""The kinds of checks that a run may mix: how each is examined, and what it is when it brought no evidence.

A new kind of check needs a line in `KINDS`, and one in `audit.checks.record` for the judge of its records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from audit.base.errors import InvalidArgument
from audit.checks.contract import Check, Result
from audit.checks.precision import PrecisionCheck, examine_precision
from audit.checks.privacy.check import PrivacyCheck
from audit.checks.privacy.evidence import Evidence
from audit.checks.privacy.judge import judge
from audit.checks.privacy.result import PrivacyResult
from audit.checks.privacy.run import run_check
from audit.checks.randomness import RandomnessCheck, RandomnessResult
from audit.checks.utility import UtilityCheck, UtilityResult
from audit.claims import claim_record
from audit.subjects import Stream


@dataclass(frozen=True)
class Kind:
    """What is done with the checks of one class.

    Parameters
    ----------
    checks : type
        The class.
    require : callable
        `(check)`: raises before anything is drawn when no certificate can hold the check.
    examine : callable
        `(check, budget, significance, stream) -> Result`, in this process.
    failed : callable
        `(check, budget, significance, cause, reason, seconds) -> Result` of a check that brought no evidence.
    returned : callable
        `(result, check) -> Result`: a result from another process, with the check that was sent there.
    subject : str
        What a reason calls the code under audit.
    """

    checks: type[Any]
    require: Callable[[Any], Any]
    examine: Callable[..., Result]
    failed: Callable[[Any, int, float, str, str, float], Result]
    returned: Callable[[Any, Any], Result]
    subject: str


def kind_of(check: object) -> Kind:
    """The kind of a check.

    Raises
    ------
    InvalidArgument
        When `check` is no check.
    """
    for kind in KINDS:
        if isinstance(check, kind.checks):
            return kind
    raise InvalidArgument.of("checks", "hold checks only, such as PrivacyCheck or RateCheck", check)


def examine(check: Check, budget: int, significance: float, stream: Stream) -> Result:
    """Run one check of any kind in this process."""
    return kind_of(check).examine(check, budget, significance, stream)


def failed(check: Check, budget: int, significance: float, cause: str, reason: str, seconds: float) -> Result:
    """The result of a check that brought no evidence."""
    return kind_of(check).failed(check, budget, significance, cause, reason, seconds)


def _privacy_failed(
    check: PrivacyCheck, budget: int, significance: float, cause: str, reason: str, seconds: float
) -> PrivacyResult:
    evidence = Evidence(0, oddities={cause: 1}, failure=reason)
    judgement = judge(check.claim, evidence, significance, check.tolerance)
    return PrivacyResult(check, check.budget or budget, significance, evidence, judgement, seconds)


def _privacy_returned(result: PrivacyResult, check: PrivacyCheck) -> PrivacyResult:
    """Keep the pairs that a search found."""
    return replace(result, check=replace(check, pairs=result.check.pairs, datasets=None))


def _utility_failed(
    check: UtilityCheck, budget: int, significance: float, cause: str, reason: str, seconds: float
) -> UtilityResult:
    return check.failed(budget, significance, reason, seconds)


def _randomness_failed(
    check: RandomnessCheck, budget: int, significance: float, cause: str, reason: str, seconds: float
) -> RandomnessResult:
    return check.failed(budget, significance, reason, seconds)


def _privacy_require(check: PrivacyCheck) -> None:
    claim_record(check.claim)


def _always_recorded(check: Any) -> None:
    """A certificate can hold every check of the kind."""


PRECISION = Kind(
    PrecisionCheck, _privacy_require, examine_precision, _privacy_failed, _privacy_returned, "the mechanism"
)
PRIVACY = Kind(PrivacyCheck, _privacy_require, run_check, _privacy_failed, _privacy_returned, "the mechanism")
RANDOMNESS = Kind(
    RandomnessCheck, _always_recorded, RandomnessCheck.examine, _randomness_failed, RandomnessResult.of, "the mechanism"
)
UTILITY = Kind(UtilityCheck, _always_recorded, UtilityCheck.examine, _utility_failed, UtilityResult.of, "the learner")
KINDS = (PRECISION, PRIVACY, RANDOMNESS, UTILITY)  # the first that fits: a precision check is a privacy check too
