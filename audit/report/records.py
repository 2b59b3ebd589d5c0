"""Find the kind of a check or of a record in the list of all, and judge records anew."""

from collections.abc import Mapping
from typing import Any

from audit.base.errors import InvalidArgument, InvalidCertificate
from audit.checks.base import Check
from audit.checks.view import RecordView
from audit.report.kind import Kind
from audit.report.kinds import Kinds


def listed_kinds() -> dict[str, Kind[..., Any]]:
    """Return the kinds of checks by the names of their functions."""
    return {name: part for name, part in vars(Kinds).items() if isinstance(part, Kind)}


def checks_by_kind() -> dict[str, type[Check]]:
    """Return the classes of checks by their names in records."""
    return {part.check.kind: part.check for part in listed_kinds().values()}


def require_check(check: object) -> None:
    """Raise unless `check` is a check that a certificate can hold."""
    if not isinstance(check, Check):
        raise InvalidArgument.of("checks", "hold checks only, such as PrivacyCheck or RateCheck", check)
    check.recorded_claim()


def view_of(record: Mapping[str, Any]) -> RecordView:
    """Return how a record is shown; one of a kind that is not listed, or of none, as those with stated terms are."""
    return checks_by_kind().get(str(record.get("kind")), Check).record_view(record)


def evidence_of(record: Mapping[str, Any]) -> Any:
    """Return the evidence of a record of a known kind; raise InvalidCertificate unless it has its form."""
    return checks_by_kind()[record["kind"]].evidence_of(record["evidence"])


def judged_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judged part of a record of any kind, computed from its claim and its evidence alone."""
    kind, known = str(record.get("kind")), checks_by_kind()
    if kind not in known:
        raise InvalidCertificate(f"a check of kind {kind!r} is not known; the kinds are {', '.join(known)}")
    return known[kind].judge_record(record).record()
