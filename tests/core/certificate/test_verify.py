"""Verification: a certificate as written is whole; any changed leaf is noticed, by the digests or by the evidence."""

import copy
import json

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, RandomnessCheck
from audit.certificate.document import chain_checks, compute_seal, digest
from audit.certificate.verify import list_problems
from tests.core.kinds import DivisibleCheck
from tests.core.mechanisms import laplace

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])


CHECKS = [
    PrivacyCheck(name="good", mechanism=laplace, claim=PrivacyClaim(1.5, source="by hand"), pairs=[PAIR]),
    PrivacyCheck(name="leak", mechanism=laplace, claim=PrivacyClaim(0.5, 1e-3), pairs=[PAIR]),
    RandomnessCheck(name="fresh", mechanism=laplace, dataset=PAIR[0]),
    DivisibleCheck(name="kept", function=lambda: 6, by=3),
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
    return {**certificate, "seal": compute_seal(certificate)}


def chained(certificate):
    chain = chain_checks(certificate["settings"], certificate["checks"], certificate["plan"])
    return sealed({**certificate, "chain": chain})


def test_what_a_run_writes_is_whole(certificate):
    assert list_problems(certificate) == []


def test_every_change_of_any_leaf_is_noticed(certificate):
    ways = list(places(certificate))
    assert len(ways) > 200
    for way in ways:
        changed = copy.deepcopy(certificate)
        change(changed, way)
        if changed != certificate:  # 1 and 1.0 are one number
            assert compute_seal(changed) != changed["seal"] or way == ("seal",), way
    assert len({compute_seal(certificate), certificate["seal"]}) == 1


@pytest.mark.parametrize("part", ["settings", "plan", "checks"])
def test_the_chain_covers_settings_plan_and_checks(certificate, part):
    """Whoever computes the seal again, and not the chain, is noticed at any leaf of these."""
    for way in places(certificate[part], (part,)):
        changed = copy.deepcopy(certificate)
        change(changed, way)
        assert chain_checks(changed["settings"], changed["checks"], changed["plan"]) != changed["chain"], way


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
    assert any(line.startswith(says) for line in list_problems(certificate))


@pytest.mark.parametrize(
    ("way", "says"),
    [
        (("checks", 1, "verdict"), "replay: leak: verdict"),
        (("checks", 1, "epsilon_lower_bound"), "replay: leak: epsilon_lower_bound"),
        (("checks", 1, "claim", "epsilon"), "replay: leak: reason"),
        (("checks", 1, "evidence", "ways", 0, "counts", "left_plus"), "replay: leak"),
        (("checks", 3, "evidence", "divisors", 0, "rest"), "replay: kept"),
        (("counts", "PASS"), "counts: says"),
        (("audited", "draws"), "audited: says"),
        (("settings", "significance"), "plan: says"),
        (("significance_spent", 0, "tests", 0), "significance_spent: says"),
        (("checks", 0, "settings", "significance"), "significance_spent: says"),
    ],
)
def test_a_forger_of_the_digests_meets_the_evidence(certificate, way, says):
    change(certificate, way)
    assert any(line.startswith(says) for line in list_problems(chained(certificate))), list_problems(
        chained(certificate)
    )


def test_lost_repeated_and_reordered_checks_are_noticed(certificate):
    lost = {**certificate, "checks": certificate["checks"][:-1]}
    assert any("chain" in line for line in list_problems(lost))
    turned = sealed({**certificate, "checks": certificate["checks"][::-1]})
    assert any("chain" in line for line in list_problems(turned))
    twice = [*certificate["checks"], certificate["checks"][0]]
    assert any("listed 2 times" in line for line in list_problems(chained({**certificate, "checks": twice})))


def test_what_breaks_the_schema_is_examined_no_further(certificate):
    certificate["checks"][0]["evidence"]["samples"] = -1
    (line,) = list_problems(certificate)
    assert line.startswith("schema: good does not have its form")


def test_a_second_look_at_fresh_outputs_has_a_budget_of_its_own():
    """True epsilon 1, claimed 0.8: 5,000 outputs make it suspect, and only the long look confirms it (fixed seed)."""
    late = PrivacyCheck(name="late", mechanism=laplace, claim=PrivacyClaim(0.8), pairs=[PAIR])
    report = audit.run([late], budget=5_000, workers=0)
    assert report.results[0].verdict is audit.Verdict.FAIL
    assert report.results[0].evidence.confirmation.game.counts.runs > 2 * 5_000
    assert list_problems(report.certificate) == []


def test_digests_do_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [1.5, None]}) == digest({"b": [1.5, None], "a": 1})
    assert digest([1], [2]) != digest([1, 2])
    with pytest.raises(ValueError, match="JSON compliant"):
        digest(float("nan"))


@pytest.mark.parametrize("name", ["chain", "seal", "audited", "plan"])
def test_no_part_of_a_certificate_may_be_left_out(certificate, name):
    without = {key: part for key, part in certificate.items() if key != name}
    assert list_problems(without) == [f"schema: lacks {name}"]
