"""Two certificates compared: what is worse, and what is merely other."""

import copy

import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim
from audit.certificate.verify import Change, list_changes
from tests.core.mechanisms import PAIR, NoisySum, laplace

CHECKS = [
    PrivacyCheck(name="drawn", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], tolerance=1.0, method="fixed"),
    PrivacyCheck(name="exact", mechanism=NoisySum(), claim=PrivacyClaim(1.0), pairs=[PAIR]),
]


@pytest.fixture(scope="module")
def written():
    return audit.run(CHECKS, budget=20_000, workers=0).certificate


@pytest.fixture
def old(written):
    return copy.deepcopy(written)


def of(certificate, **wanted):
    """The first check whose fields are these."""
    return next(check for check in certificate["checks"] if all(check[key] == value for key, value in wanted.items()))


def check_of(certificate, name):
    return of(certificate, name=name)


def worse(old, new):
    return [change.what for change in list_changes(old, new) if change.is_regression]


def test_a_certificate_is_no_different_from_itself(old):
    assert list_changes(old, copy.deepcopy(old)) == []


def test_lost_and_new_checks(old):
    new = copy.deepcopy(old)
    gone = new["checks"].pop(0)
    assert list_changes(old, new) == [Change(gone["name"], "no longer checked")]
    assert list_changes(new, old) == [Change(gone["name"], "is new", False)]


@pytest.mark.parametrize(
    ("was", "now", "is_worse"),
    [
        (("PASS", "law", "PASS"), ("FAIL", "law", "PASS"), True),
        (("PASS", "law", "PASS"), ("PASS", "outputs", "PASS"), True),
        (("PASS", "outputs", "PASS"), ("PASS", "law", "PASS"), False),
        (("INCONCLUSIVE", "none", "PASS"), ("FAIL", "law", "PASS"), True),
        (("FAIL", "law", "PASS"), ("PASS", "law", "PASS"), False),
        (("FAIL", "law", "FAIL"), ("PASS", "law", "FAIL"), True),
    ],
)
def test_verdicts(old, was, now, is_worse):
    new = copy.deepcopy(old)
    for certificate, (verdict, basis, expected) in ((old, was), (new, now)):
        certificate["checks"][0].update(verdict=verdict, basis=basis, expected=expected)
    (change,) = list_changes(old, new)
    assert change.is_regression is is_worse
    assert f"{was[0]} ({was[1]}) became {now[0]} ({now[1]})" in change.what


def test_expecting_a_fail_is_worse(old):
    new = copy.deepcopy(old)
    check = of(new, verdict="PASS", kind="privacy")
    check["expected"] = "FAIL"
    assert "expected PASS, now expected FAIL" in worse(old, new)


def test_another_claim_or_tolerance(old):
    """A claim has to be looked at, whatever it was; a larger tolerance is worse."""
    new = copy.deepcopy(old)
    check = of(new, verdict="PASS", kind="privacy", basis="outputs")
    check["claim"]["epsilon"] = 8.0
    check["settings"]["tolerance"] = 2.0
    claimed = "claimed (1.5, 0) substitution, now (8, 0) substitution"
    assert worse(old, new) == [claimed, "tolerance was 1.0, is 2.0"]
    assert "tolerance was 2.0, is 1.0" not in worse(new, old)
