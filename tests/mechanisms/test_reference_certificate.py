"""The committed certificate of the catalog is whole."""

from pathlib import Path

from audit.certificate.document import load_certificate
from audit.certificate.verify import problems_of

REFERENCE = Path(__file__).parents[2] / "reports"


def test_the_committed_certificate_is_whole():
    """Its schema, its sums and all its verdicts hold; tests/core/certificate/test_verify.py shows what is refused."""
    assert problems_of(load_certificate(REFERENCE)) == []
