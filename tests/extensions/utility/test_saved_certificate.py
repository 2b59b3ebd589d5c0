"""A saved certificate of many kinds: whole, and compared with one whose claims or findings differ."""

import copy
from pathlib import Path

import pytest

from audit.certificate.document import load_certificate
from audit.certificate.verify import list_problems
from tests.core.certificate.test_diff import of, worse

SAVED = Path(__file__).with_name("certificate.json")  # 21 checks of the catalog, of all kinds of utility too


@pytest.fixture
def old():
    return load_certificate(SAVED)


def test_a_saved_certificate_is_whole(old):
    """Its schema, sums and verdicts hold; tests/core/certificate/test_forgeries.py shows what is refused."""
    assert list_problems(old) == []


def test_other_terms_of_a_utility_claim(old):
    new = copy.deepcopy(old)
    of(new, kind="guarantee", verdict="PASS")["claim"]["terms"]["slack"] *= 2.0
    (found,) = worse(old, new)
    assert found.startswith("claimed")
