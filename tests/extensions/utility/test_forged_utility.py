"""What a forger changes in the evidence of utility checks is refused, and the page on threats lists it."""

import json
from functools import partial
from pathlib import Path

import pytest

import audit
from audit import GuaranteeCheck, InequalityCheck
from audit.certificate.verify import problems_of
from tests.core.certificate import forging

PAGE = (Path(__file__).parents[3] / "docs" / "threat-model.md").read_text()
REFUSED = {}
CHECKS = [
    GuaranteeCheck(name="kept", trials=lambda n, rng: rng.random(n) > 0.05, beta=0.1),
    InequalityCheck(name="mean", losses=lambda n, rng: rng.random(n), bound=0.6),
    InequalityCheck(name="cases", values=lambda: [("n = 3", 1.3, 1.4)]),
]
refused = partial(forging.refused, among=REFUSED)


@pytest.fixture(scope="module")
def written():
    return json.loads(json.dumps(audit.run(CHECKS, budget=20_000, workers=0).certificate))


def test_the_certificate_that_is_forged_is_whole(written, tmp_path):
    assert problems_of(forging.reread(tmp_path, forging.forged(written, lambda c: None))) == []
    assert len(written["checks"][0]["evidence"]["looks"]) > 1


@refused("looks are not those that its budget plans")
def _(c):
    """more looks planned, so that each has a smaller share"""
    c.check("kept")["evidence"]["planned"] = 99


@refused("looks are not those that its budget plans")
def _(c):
    """a look at a number of trials that was not planned"""
    c.check("kept")["evidence"]["looks"][-1]["trials"] += 1


@refused("fails more often than it was tried")
def _(c):
    """more failures than trials"""
    c.check("kept")["evidence"]["looks"][0]["failures"] = 10**6


@refused("loses failures")
def _(c):
    """fewer failures at a later look"""
    first, *_, last = c.check("kept")["evidence"]["looks"]
    first["failures"] = last["failures"] + 1


@refused("bets do not fit the mean")
def _(c):
    """bets that grew beyond what losses with this mean can bring"""
    bets = c.check("mean")["evidence"]["sample"]["below_high"]
    bets["growth"] = [2 * growth for growth in bets["growth"]]


@refused("bets do not fit the mean")
def _(c):
    """a mean outside the support"""
    c.check("mean")["evidence"]["sample"]["mean"] = 1.5


@refused("uses more losses than were drawn")
def _(c):
    """more losses behind a mean than were drawn"""
    c.check("mean")["evidence"]["sample"]["count"] *= 100


@refused("has more trials than were drawn")
def _(c):
    """no trials at all under a look"""
    c.check("kept")["evidence"]["samples"] = 0


@refused("has more cases than values")
def _(c):
    """more cases than values were computed"""
    c.check("cases")["evidence"]["cases"] *= 5


@pytest.mark.parametrize("name", REFUSED)
def test_refused(written, tmp_path, name):
    forging.assert_refused(written, tmp_path, *REFUSED[name])


def test_the_page_lists_every_forgery():
    assert len(REFUSED) >= 9
    assert [name for name in REFUSED if name not in PAGE] == []
