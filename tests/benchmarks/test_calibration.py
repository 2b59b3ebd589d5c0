"""The calibration suite and the bug benchmark: claims at their edge, counts, laws by hand, and a page of counts."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from benchmarks.bugs import BUGS
from benchmarks.bugs.at_one import BUDGET, certified_bound
from benchmarks.bugs.event_values import checks, draw_reference, value_of_events
from benchmarks.bugs.noise_mechanisms import TruncatedGeometric
from benchmarks.bugs.rappor import Rappor
from benchmarks.bugs.sparse_vector import ABOVE, svt1
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


BY_NAME = {bug.name: bug for bug in BUGS}


def test_truncated_geometric_by_hand():
    """n = 5, k = 3: D = 17 * 9^4; from 0, P(0) = 9/17, and from 1, P(0) = 8/17: ratio 9/8."""
    mechanism, total = TruncatedGeometric(), 17 * 9**4
    assert mechanism.cumulative(0)[[0, -1]].tolist() == [9 * 9**4, total]
    assert mechanism.cumulative(1)[0] == 8 * 9**4
    laws = [np.diff(mechanism.cumulative(c), prepend=0) / total for c in range(6)]
    worst = max(np.abs(np.log(a / b)).max() for a, b in pairwise(laws))
    assert worst == pytest.approx(math.log(9 / 8), abs=1e-12)


@pytest.mark.false_alarm(1e-07)
def test_six_bits_differ_and_each_is_sent_at_its_rate():
    """RAPPOR sends a set bit with 0.5125; 160,000 draws, each bit within 6 standard errors (miss below 1e-7)."""
    mechanism = Rappor(0.75, (0.55, 0.45))
    assert np.sum(mechanism.bloom(0) != mechanism.bloom(1)) == 6
    sent = mechanism(np.array([0.0]), 160_000, np.random.default_rng(0)).mean(axis=0)
    assert np.all(np.abs(sent - np.where(mechanism.bloom(0), 0.5125, 0.4875)) < 6 * 0.5 / 400)


@pytest.mark.false_alarm(1e-06)
def test_first_query_above_at_its_probability():
    """SVT1 on a_1 = 1, t = 0.5: P(above) = P(Lap(40) - Lap(20) >= -0.5), by quadrature; exact test at 1e-6."""
    flags = svt1(0.1)(np.ones(1), 50_000, np.random.default_rng(0))
    grid = np.linspace(-600, 600, 240_001)
    chance = np.trapezoid(stats.laplace.pdf(grid, scale=20) * stats.laplace.sf(grid - 0.5, scale=40), grid)
    assert stats.binomtest(int((flags == ABOVE).sum()), 50_000, float(chance)).pvalue > 1e-6


@pytest.mark.false_alarm(0.05, seeded=True)
def test_the_certified_bound_stays_below_the_truth():
    """NoisyHist2 (epsilon 10); the bound is also above 1 (miss below 1e-6)."""
    bug = BY_NAME["NoisyHist2"]
    assert 1.0 < certified_bound(bug.mechanism, bug.pair, 20_000, 0) < bug.epsilon


def test_the_value_of_chosen_events():
    """Laplace, epsilon 1: below the truth by more than the sample's error; judged where nothing leaks, nothing."""
    check = next(iter(checks(BUDGET)))
    left, right = draw_reference(check, 200_000)
    judged = value_of_events(check, 5000, 0, [left, right])
    assert judged.scorer == "monotone"
    assert 0.85 < judged.bound < 1 - 3 * judged.error
    assert value_of_events(check, 5000, 0, [left, left]).bound == 0.0
