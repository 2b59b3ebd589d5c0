"""The calibration suite: mechanisms at the edge of their claims, counts, and a page that says what was counted."""

import json
import math
from pathlib import Path

import pytest

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from benchmarks.calibrate import DATA
from benchmarks.calibration.cases import METHODS, SIGNIFICANCE, Case
from benchmarks.calibration.decoys import innocent, repeat
from benchmarks.calibration.families import FAMILIES, Response
from benchmarks.calibration.measure import cells_of, measure
from benchmarks.calibration.page import data_of, page_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "calibration.md"


def kept(family, factor):
    mechanism = family.build(factor)
    left, right = family.pairs[0]
    loss = mechanism.law(left).loss_against(mechanism.law(right))
    if family.claim.is_curve:
        return family.claim.judge_exactly(loss).keeps
    return loss.delta(family.claim.epsilon) <= family.claim.delta * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.kind} {family.name}")
def test_a_family_keeps_its_claim_at_factor_1_and_breaks_it_just_beyond(family):
    assert kept(family, 1.0)
    assert kept(family, 1.0001) is False


def case(rate, name="x"):
    """Alarms on the first `rate` of every ten seeds."""
    return Case("fixed", "pure", name, "none", lambda factor, seed: seed % 10 < 10 * rate)


def test_alarms_are_counted_and_a_rate_above_the_significance_is_seen():
    cells = cells_of([case(0.0, "quiet"), case(0.2, "loud")])
    measure(cells, audits=1000, minutes=1.0)
    data = data_of(cells)
    assert [(row["audits"], row["alarms"]) for row in data["rows"]] == [(1000, 0), (1000, 200)]
    assert data["rows"][1]["rate_lower_bound"] > SIGNIFICANCE
    page = page_of(data)
    assert page.count("**NO**") == 1
    assert "0.20 (250)" in page


def test_the_committed_page_is_the_committed_data_and_holds():
    data = json.loads(DATA.read_text())
    assert PAGE.read_text() == page_of(data)
    assert {row["method"] for row in data["rows"]} == set(METHODS)
    for row in data["rows"]:
        assert row["rate_lower_bound"] <= data["significance"], row
    assert data["catalogue"]["fails"] == 0


def test_the_catalogue_s_innocents_are_played_and_a_guilty_one_is_named():
    assert all(check.expected is Verdict.PASS and check.method != "exact" for check in innocent())
    claim = PrivacyClaim(1.0, 0.0, Local())
    good = PrivacyCheck(name="good", mechanism=Response(1.0), claim=claim, pairs=[(0, 1)])
    bad = PrivacyCheck(name="bad", mechanism=Response(math.log(400)), claim=claim, pairs=[(0, 1)])
    found = repeat([good, bad], audits=4, minutes=1.0)
    assert (found.audits, found.failed) == (4, ["bad (seed 0)", "bad (seed 1)"])
