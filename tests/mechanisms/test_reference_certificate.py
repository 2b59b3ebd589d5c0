"""The committed certificate of the catalog is whole, and its reasons are short."""

from pathlib import Path

from audit.certificate.document import find_certificate, load_certificate
from audit.certificate.summary import find_view
from audit.certificate.verify import judge_record, list_problems

LONGEST_BRIEF = 180  # characters of a reason with its numbers
REFERENCE = Path(__file__).parents[2] / "reports"


def test_the_committed_certificate_is_whole():
    """Its schema, sums and verdicts hold; tests/core/certificate/test_forgeries.py shows what is refused."""
    assert list_problems(load_certificate(REFERENCE)) == []


def test_the_reasons_of_the_catalog_are_short():
    """Those that the judges give today for the evidence of the committed certificate."""
    checks = load_certificate(REFERENCE)["checks"]
    assert len(checks) > 500
    judged = [{**check, **judge_record(check)} for check in checks]
    long = {check["name"]: brief for check in judged if len(brief := find_view(check).reason) > LONGEST_BRIEF}
    assert not long


def test_the_reason_of_a_pass_is_one_clause():
    certificate = load_certificate(REFERENCE)
    passed = [check for check in certificate["checks"] if check["verdict"] == "PASS"]
    assert [check["name"] for check in passed if len(check["reason"]) > 120] == []
    assert find_certificate(REFERENCE).read_text().count("\n") == len(certificate["checks"]) + len(certificate) + 3
