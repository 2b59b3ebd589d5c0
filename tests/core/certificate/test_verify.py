"""Verification: a certificate as written is whole; any changed leaf is noticed, by the digests or by the evidence."""

import copy
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import audit
from audit import GuaranteeCheck, PrivacyCheck, PrivacyClaim, RandomnessCheck
from audit.certificate.document import certificate_path, chain_of, digest, load_certificate, schema, seal_of
from audit.certificate.verify import broken_rules, problems_of, require_form

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])
SAVED = Path(__file__).with_name("certificate.json")
REFERENCE = Path(__file__).parents[3] / "reports"


def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)


CHECKS = [
    PrivacyCheck(name="good", mechanism=laplace, claim=PrivacyClaim(1.5, source="by hand"), pairs=[PAIR]),
    PrivacyCheck(name="leak", mechanism=laplace, claim=PrivacyClaim(0.5, 1e-3), pairs=[PAIR]),
    RandomnessCheck(name="fresh", mechanism=laplace, dataset=PAIR[0]),
    GuaranteeCheck(name="kept", trials=lambda n, rng: rng.random(n) > 0.01, beta=0.1),
]


@pytest.fixture(scope="module")
def written():
    return json.loads(json.dumps(audit.run(CHECKS, budget=20_000, workers=0).certificate))


@pytest.fixture
def certificate(written):
    return copy.deepcopy(written)


def places(part, way=()):
    """Every leaf of plain data, as the way to it."""
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    if not isinstance(part, (dict, list)):
        yield way
    for key, value in entries:
        yield from places(value, (*way, key))


def change(certificate, way):
    """Change the leaf at the end of a way, keeping its type."""
    *path, last = way
    part = certificate
    for key in path:
        part = part[key]
    value = part[last]
    swaps = {"PASS": "FAIL", "FAIL": "PASS", None: 0.5, True: False, False: True}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        part[last] = value + 1 if isinstance(value, int) else value * 0.998 + 1e-9
    else:
        part[last] = swaps.get(value, f"{value}x")


def sealed(certificate):
    return {**certificate, "seal": seal_of(certificate)}


def chained(certificate):
    chain = chain_of(certificate["settings"], certificate["checks"], certificate["plan"])
    return sealed({**certificate, "chain": chain})


def test_what_a_run_writes_is_whole(certificate):
    assert problems_of(certificate) == []


def test_every_change_of_any_leaf_is_noticed(certificate):
    ways = list(places(certificate))
    assert len(ways) > 200
    for way in ways:
        changed = copy.deepcopy(certificate)
        change(changed, way)
        if changed != certificate:  # 1 and 1.0 are one number
            assert seal_of(changed) != changed["seal"] or way == ("seal",), way
    assert len({seal_of(certificate), certificate["seal"]}) == 1


@pytest.mark.parametrize("part", ["settings", "plan", "checks"])
def test_the_chain_covers_settings_plan_and_checks(certificate, part):
    """Whoever computes the seal again, and not the chain, is noticed at any leaf of these."""
    for way in places(certificate[part], (part,)):
        changed = copy.deepcopy(certificate)
        change(changed, way)
        assert chain_of(changed["settings"], changed["checks"], changed["plan"]) != changed["chain"], way


@pytest.mark.parametrize(
    ("way", "says"),
    [
        (("settings", "seed"), "chain: the settings"),
        (("plan", "checks", 0, "share"), "chain: the settings or the plan"),
        (("checks", 1, "claim", "epsilon"), "chain: broken at leak"),
        (("checks", 0, "evidence", "ways", 0, "counts", "left_plus"), "chain: broken at good"),
        (("checks", 3, "verdict"), "chain: broken at kept"),
        (("provenance", "time"), "seal:"),
    ],
)
def test_the_digests_name_the_place(certificate, way, says):
    change(certificate, way)
    assert any(line.startswith(says) for line in problems_of(certificate))


@pytest.mark.parametrize(
    ("way", "says"),
    [
        (("checks", 1, "verdict"), "replay: leak: verdict"),
        (("checks", 1, "epsilon_lower_bound"), "replay: leak: epsilon_lower_bound"),
        (("checks", 1, "claim", "epsilon"), "replay: leak: reason"),
        (("checks", 1, "evidence", "ways", 0, "counts", "left_plus"), "replay: leak"),
        (("checks", 3, "evidence", "looks", -1, "failures"), "replay: kept"),
        (("counts", "PASS"), "counts: says"),
        (("audited", "draws"), "audited: says"),
        (("settings", "significance"), "significance_spent: adds up"),
        (("significance_spent", 0, "tests", 0), "significance_spent: does not list"),
        (("checks", 0, "settings", "significance"), "significance_spent: does not list"),
        (("checks", 0, "evidence", "ways", 0, "pair"), "good: speaks of a pair"),
    ],
)
def test_a_forger_of_the_digests_meets_the_evidence(certificate, way, says):
    change(certificate, way)
    assert any(line.startswith(says) for line in problems_of(chained(certificate))), problems_of(chained(certificate))


def test_lost_repeated_and_reordered_checks_are_noticed(certificate):
    lost = {**certificate, "checks": certificate["checks"][:-1]}
    assert any("chain" in line for line in problems_of(lost))
    turned = sealed({**certificate, "checks": certificate["checks"][::-1]})
    assert any("chain" in line for line in problems_of(turned))
    twice = [*certificate["checks"], certificate["checks"][0]]
    assert any("listed 2 times" in line for line in problems_of(chained({**certificate, "checks": twice})))


def test_what_breaks_the_schema_is_examined_no_further(certificate):
    certificate["checks"][0]["evidence"]["samples"] = -1
    (line,) = problems_of(certificate)
    assert line.startswith("schema: $.checks[0]")


@pytest.mark.parametrize(("broken", "listed"), [(10, 10), (12, 11)])
def test_ten_breaches_of_the_schema_are_listed_and_more_are_told(certificate, broken, listed):
    certificate["checks"][0]["evidence"]["samples"] = -1
    certificate["checks"] = [certificate["checks"][0]] * broken
    found = problems_of(certificate)
    assert (len(found), found[-1] == "schema: and more") == (listed, broken > 10)


def test_a_second_look_at_fresh_outputs_has_a_budget_of_its_own():
    """True epsilon 1, claimed 0.8: 5,000 outputs make it suspect, and only the long look confirms it (fixed seed)."""
    late = PrivacyCheck(name="late", mechanism=laplace, claim=PrivacyClaim(0.8), pairs=[PAIR])
    report = audit.run([late], budget=5_000, workers=0)
    assert report.results[0].verdict is audit.Verdict.FAIL
    assert report.results[0].evidence.confirmation.game.counts.runs > 2 * 5_000
    assert problems_of(report.certificate) == []


def test_where_both_events_show_as_much_the_witness_is_the_one_of_the_left(certificate):
    """As many guesses of `right` are moved from abstentions as make the two differences equal."""
    check = certificate["checks"][1]
    (game,) = (way for way in check["evidence"]["ways"] if way["way"] == "guess game")
    counts, told = game["counts"], "leak: its witness is not the event by which a game refuted it"
    behind = counts["left_plus"] - counts["right_plus"] - (counts["right_minus"] - counts["left_minus"])
    counts["right_minus"] += behind
    counts["right_abstain"] -= behind
    check["witness"].update(direction="left", event=game["plus"])
    assert told not in broken_rules(certificate, require_form(certificate))
    check["witness"].update(direction="right", event=game["minus"])
    assert told in broken_rules(certificate, require_form(certificate))


def test_digests_do_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [1.5, None]}) == digest({"b": [1.5, None], "a": 1})
    assert digest([1], [2]) != digest([1, 2])
    with pytest.raises(ValueError, match="JSON compliant"):
        digest(float("nan"))


@pytest.mark.parametrize("path", [SAVED, REFERENCE], ids=["saved", "reference"])
def test_committed_certificates_are_whole(path):
    """Their schema, their sums and all their verdicts hold.

    The tests above show that `problems_of` names a broken schema, and a verdict that the replay does not give.
    """
    assert problems_of(load_certificate(path)) == []


@pytest.mark.parametrize("path", [SAVED, REFERENCE], ids=["saved", "reference"])
def test_the_reason_of_a_pass_is_one_clause(path):
    certificate = load_certificate(path)
    passed = [check for check in certificate["checks"] if check["verdict"] == "PASS"]
    assert [check["name"] for check in passed if len(check["reason"]) > 120] == []
    assert certificate_path(path).read_text().count("\n") == len(certificate["checks"]) + len(certificate) + 3


@pytest.mark.parametrize("name", ["chain", "seal", "audited", "plan"])
def test_no_part_of_a_certificate_may_be_left_out(certificate, name):
    without = {key: part for key, part in certificate.items() if key != name}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(without, schema())
