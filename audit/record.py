"""Records: one check of a certificate as plain data, and back to what the judge needs."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from audit.claims import PrivacyClaim
from audit.errors import AuditError, InvalidCertificate
from audit.evidence import Evidence
from audit.judge import Judgement, judge
from audit.privacy import PrivacyResult, name_of
from audit.verdict import Verdict


def record_of(result: PrivacyResult) -> dict[str, Any]:
    """A result as plain data. The same evidence gives the same record, whenever and wherever it was gathered."""
    check, claim, evidence = result.check, result.check.claim, result.evidence
    return {
        "name": check.name,
        "kind": "privacy",
        "mechanism": describe_mechanism(check.mechanism),
        "expected": check.expected.value,
        "claim": {
            "epsilon": claim.epsilon,
            "delta": claim.delta,
            "relation": claim.relation.name,
            "source": claim.source,
        },
        "settings": {
            "method": check.method,
            "budget": result.budget,
            "significance": result.significance,
            "tolerance": check.tolerance,
        },
        "pairs": [{"left": show(left), "right": show(right)} for left, right in check.pairs],
        "evidence": evidence.to_dict(),
        **judgement_record(result.judgement),
    }


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
        claim = PrivacyClaim(record["claim"]["epsilon"], record["claim"]["delta"])
        settings = record["settings"]
        evidence = Evidence.from_dict(record["evidence"])
        return judge(claim, evidence, float(settings["significance"]), settings["tolerance"])
    except InvalidCertificate:
        raise
    except (AuditError, KeyError, TypeError, ValueError) as error:
        raise InvalidCertificate(f"the record of a check does not have its form: {error!r}") from error


def expected_of(record: Mapping[str, Any]) -> Verdict:
    """The verdict that the check's author expects."""
    return Verdict(record["expected"])


def describe_mechanism(mechanism: Any) -> str:
    """Module and name of a callable; never its memory address."""
    inner = getattr(mechanism, "function", mechanism)
    kind = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{kind.__module__}.{kind.__qualname__}" if hasattr(kind, "__module__") else name_of(mechanism)


def show(dataset: Any, limit: int = 200) -> str:
    """A dataset in a line, shortened."""
    if isinstance(dataset, np.ndarray):
        body = np.array2string(dataset, threshold=12, edgeitems=3, separator=", ").replace("\n", "")
        return f"array of shape {dataset.shape}: {body}"[:limit]
    return reprlib.repr(dataset)[:limit]


def _finite_or_text(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else str(value)
