"""Records: the judged part of a check as plain data, and a recorded check back to what the judge needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from audit.base.errors import AuditError, InvalidCertificate
from audit.base.verdict import Verdict
from audit.checks.privacy.evidence import Evidence
from audit.checks.privacy.judge import Judgement, judge
from audit.checks.randomness import randomness_judged_again
from audit.checks.utility.records import FORMS, judged_again
from audit.claims import claim_of


def judgement_record(judgement: Judgement) -> dict[str, Any]:
    """The judged part of a record."""
    return {
        "verdict": judgement.verdict.value,
        "basis": judgement.basis,
        "reason": judgement.reason,
        "epsilon_lower_bound": judgement.epsilon_lower_bound,
        "exact_epsilon": _finite_or_text(judgement.exact_epsilon),
        "resolution": _finite_or_text(judgement.resolution),
        "blind_spot": judgement.blind_spot,
    }


def judge_again(record: Mapping[str, Any]) -> Judgement:
    """Judge a record's evidence anew: nothing of the recorded verdict is used, nothing is imported or run."""
    try:
        claim = claim_of(record["claim"])
        settings = record["settings"]
        evidence = Evidence.from_dict(record["evidence"])
        return judge(claim, evidence, float(settings["significance"]), settings["tolerance"])
    except InvalidCertificate:
        raise
    except (AuditError, KeyError, TypeError, ValueError) as error:
        raise InvalidCertificate(f"the record of a check does not have its form: {error!r}") from error


def judged_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """The judged part of a record of any kind, computed from its claim and its evidence alone.

    Raises
    ------
    InvalidCertificate
        When the record does not have its form, or is of no known kind.
    """
    kind = record.get("kind")
    if kind not in _JUDGES:
        raise InvalidCertificate(f"a check of kind {kind!r} is not known; the kinds are {', '.join(_JUDGES)}")
    return _JUDGES[kind](record)


def expected_of(record: Mapping[str, Any]) -> Verdict:
    """The verdict that the check's author expects."""
    return Verdict(record["expected"])


def _finite_or_text(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)


def _privacy_judged_again(record: Mapping[str, Any]) -> dict[str, Any]:
    return judgement_record(judge_again(record))


_JUDGES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "privacy": _privacy_judged_again,
    "precision": _privacy_judged_again,
    "randomness": randomness_judged_again,
    **dict.fromkeys(FORMS, judged_again),
}
