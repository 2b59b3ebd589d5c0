"""Judge records of any kind anew, by the class that a plugin registers for their kind."""

from collections.abc import Mapping
from typing import Any

from audit import plugins
from audit.checks.base import Check
from audit.checks.view import RecordView
from audit.errors import InvalidArgument, InvalidCertificate


def require_check(check: object) -> None:
    """Raise unless `check` is a check that a certificate can hold."""
    if not isinstance(check, Check):
        raise InvalidArgument.of("checks", "hold checks only, such as PrivacyCheck or RateCheck", check)
    check.recorded_claim()


def view_of(record: Mapping[str, Any]) -> RecordView:
    """Return how a record is shown; one of a kind that is not listed, or of none, as those with stated terms are."""
    kind = str(record.get("kind"))
    check = plugins.find_check(kind) if kind in plugins.list_keys("kinds") else Check
    view: RecordView = check.record_view(record)
    return view


def evidence_of(record: Mapping[str, Any]) -> Any:
    """Return the evidence of a record of a known kind; raise InvalidCertificate unless it has its form."""
    return plugins.find_check(record["kind"]).evidence_of(record["evidence"])


def judged_part(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judged part of a record of any kind, computed from its claim and its evidence alone."""
    kind, known = str(record.get("kind")), plugins.list_keys("kinds")
    if kind not in known:
        raise InvalidCertificate(f"a check of kind {kind!r} is not known; the kinds are {', '.join(known)}")
    judged: dict[str, Any] = plugins.find_check(kind).judge_record(record).record()
    return judged
