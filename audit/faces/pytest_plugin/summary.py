"""What the plugin prints: why a test failed and how to repeat it alone, and the session's audits, worst first."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audit.base.errors import AuditError
from audit.base.verdict import Verdict
from audit.checks.base import Result
from audit.faces.pytest_plugin.session import Session
from audit.runs.checkpoint import Recorded

_SHOWN = 20  # audits that came out as expected


def explain(result: Any, test: str, session: Session) -> str:
    """What a failing test prints."""
    return f"{result}; the same audit alone:\n  {repeat(test, session)}"


def repeat(test: str, session: Session) -> str:
    """The command that gives a test the same seeds, budgets and share of the significance when it runs alone."""
    return (
        f"pytest {shlex.quote(test)} --dp-significance={session.significance / session.tests!r} "
        f"--dp-budget={session.budget} --dp-seed={session.seed}"
    )


def sent(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Results as plain data for `received`, in the report of a test."""
    return [_plain(result) for result in results]


def _plain(result: Result) -> dict[str, Any]:
    try:
        return result.to_dict()
    except AuditError:  # a claim of the user's own kind, which no certificate can hold; the summary can
        return {
            "name": result.name,
            "verdict": result.verdict.value,
            "reason": result.reason,
            "expected": result.check.expected.value,
            "settings": {"significance": result.significance},
            "evidence": {"samples": result.samples},
            "seconds": result.seconds,
        }


def received(records: Sequence[Mapping[str, Any]]) -> Iterator[Recorded]:
    """Results that another process, or this one, put into the report of a test."""
    for record in records:
        document = dict(record)
        seconds = float(document.pop("seconds"))
        yield Recorded.of_record(document, seconds)


def lines(results: Sequence[Any], significance: float) -> Iterator[str]:
    """One line an audit, the worst evidence first; of those that came out as expected, a few."""
    ordered = sorted(results, key=_standing)
    unmet = sum(not result.met for result in ordered)
    for result in ordered[: unmet + _SHOWN]:
        yield f"{result.verdict.value:12} {result.name}: {result.reason}"
    rest = ordered[unmet + _SHOWN :]
    if rest:
        counts = Counter(result.verdict.value for result in rest)
        yield f"and {len(rest)} more as expected: " + ", ".join(f"{n} {name}" for name, n in sorted(counts.items()))
    spent = sum(result.significance for result in results)
    yield f"significance {spent:.3g} of {significance:g} used by {len(results)} audits"


def _standing(result: Any) -> tuple[bool, int, float, str]:
    """Unexpected ones first, then by verdict, then by how much of the claim was certified."""
    severity = [Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS].index(result.verdict)
    return result.met, severity, -_certified_share(result.record()), str(result.name)


def _certified_share(record: Mapping[str, Any]) -> float:
    """Certified epsilon over the claimed one; 0 where the record has neither."""
    bound, claimed = record.get("epsilon_lower_bound"), record.get("claim", {}).get("epsilon")
    if not isinstance(bound, (int, float)) or not isinstance(claimed, (int, float)) or claimed <= 0:
        return 0.0
    return bound / claimed
