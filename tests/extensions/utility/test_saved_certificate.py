"""A saved certificate of many kinds: whole, and compared with one whose claims or findings differ."""

import copy
from pathlib import Path

import pytest

from audit.certificate.document import load_certificate
from audit.certificate.verify import changes, problems_of
from tests.core.certificate.test_diff import of, worse

SAVED = Path(__file__).with_name("certificate.json")  # 21 checks of the catalog, of all kinds of utility too


@pytest.fixture
def old():
    return load_certificate(SAVED)


def test_a_saved_certificate_is_whole(old):
    """Its schema, its sums and all its verdicts hold; tests/core/certificate/test_verify.py shows what is refused."""
    assert problems_of(old) == []


@pytest.mark.parametrize(("factor", "is_worse"), [(2.0, True), (0.5, False)])
def test_terms_of_a_utility_claim(old, factor, is_worse):
    new = copy.deepcopy(old)
    of(new, kind="guarantee", verdict="PASS")["claim"]["terms"]["slack"] *= factor
    (found,) = changes(old, new)
    assert found.is_regression is is_worse
    assert found.what.startswith("slack of the claim")


def test_a_risk_that_grew(old):
    new = copy.deepcopy(old)
    part = of(new, kind="consistency", basis="outputs", verdict="PASS")["found"][-1]
    part["lower"], part["upper"] = part["upper"] * 1.1, part["upper"] * 1.2
    (what,) = worse(old, new)
    assert what.startswith("risk at n")
    assert worse(new, old) == []


def test_an_exponent_that_shrank(old):
    new = copy.deepcopy(old)
    part = of(new, kind="rate", basis="outputs")["found"][0]
    part["lower"], part["upper"] = part["lower"] - 0.2, part["upper"] - 0.2
    assert any(what.startswith("exponent was") for what in worse(old, new))
