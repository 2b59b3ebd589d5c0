"""Any changed leaf is noticed; a forgery is refused, unless it agrees with itself: another seal shows that."""

import copy
import json

import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict
from audit.certificate.document import chain_checks, compute_seal, digest, load_certificate
from audit.certificate.verify import list_notes, list_problems
from audit.checks.result import ways_of
from audit.errors import InvalidCertificate
from tests.core.certificate.forging import Forged, completed
from tests.core.kinds import DivisibleCheck
from tests.core.mechanisms import PAIR, NoisySum, laplace


def vector(data, size, rng):
    return data + rng.laplace(size=(size, 3))


def stamped(data, rng):
    return {"sum": float(data.sum() + rng.laplace()), "id": f"{rng.random()}"}


LOOSE = {"claim": PrivacyClaim(1.5), "pairs": [PAIR], "tolerance": 3.0, "method": "fixed"}
CHECKS = [
    PrivacyCheck(name="good", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], tolerance=1),
    PrivacyCheck(name="leak", mechanism=laplace, claim=PrivacyClaim(0.5, 1e-3), pairs=[PAIR]),
    PrivacyCheck(name="exact", mechanism=NoisySum(), claim=PrivacyClaim(1.0), pairs=[PAIR], method="exact"),
    DivisibleCheck(name="six", function=lambda: 6, by=3),
    PrivacyCheck(name="vector", mechanism=vector, **LOOSE),
    PrivacyCheck(name="text", mechanism=audit.per_call(stamped), **LOOSE),
    PrivacyCheck(name="short", mechanism=laplace, claim=PrivacyClaim(1.0), pairs=[PAIR], method="fixed"),
    PrivacyCheck(name="long", mechanism=laplace, budget=130_000, **LOOSE),
]


@pytest.fixture(scope="module")
def written():
    return json.loads(json.dumps(audit.run(CHECKS, budget=20_000, workers=0).certificate))


def reread(tmp_path, text):
    """Return the certificate with this text, as a reader loads it from a file."""
    path = tmp_path / "certificate.json"
    path.write_text(text)
    return load_certificate(path)


def drop_planned(c):
    c.drop("leak")
    c["plan"]["checks"] = [entry for entry in c["plan"]["checks"] if entry["check"] != "leak"]


def repeat(c):
    c["checks"][1] = c.check("good")
    c.plan_again()


def put(name, *where, **changes):
    """Return the edit that changes parts of a check; "game" stands for its guess game, or that of fresh outputs."""

    def edit(c):
        part = c.check(name)
        for key in where:
            part = ways_of(part.get("evidence", part))["guess game"] if key == "game" else part[key]
        part.update({key: value(part[key]) if callable(value) else value for key, value in changes.items()})

    return edit


def multiply_all(c):
    """Play a game a thousand times as long, in whole calls."""
    way = c.way("vector", "guess game")
    calls, counts = way["calls"], way["counts"]
    calls["parts"] = [[1000 * number for number in part] for part in calls["parts"]]
    for side in ("left", "right"):
        calls[side] = {key: 1000 * number for key, number in calls[side].items()}
        plus, minus = calls[side]["plus"], calls[side]["minus"]
        rest = calls[side]["calls"] * calls["size"] - plus - minus
        counts.update({f"{side}_plus": plus, f"{side}_minus": minus, f"{side}_abstain": rest})


def more(number):
    return number + 1


def fewer(number):
    return number - 1


FORM = "schema: {} does not have its form"
GAME, FORM_OF_GAME, TEXT = "game", ("game", "plants", "form"), ("game", "plants", "form", "texts", 'output["id"]')
FAMILY = {"name": "any leak whatsoever", "planted": 20, "found": 20, "shift": 0.0}
COUNTED = {"outputs": 9, "different": 1, "rare": 0, "least": 5}
TWICE = {"significance": lambda share: 2 * share, "confirmation": lambda share: 2 * share}
REPLANNED = {  # the plan, too
    "a wider tolerance": (put("short", "settings", tolerance=5.0), "short: its claim and tolerance"),
    "another claim": (put("good", "claim", delta=0.5), "schema: the evidence tested"),
    "no claim that was tested": (put("good", "evidence", tested=None), "good: it tested another"),
    "an end before the evidence": (put("good", "evidence", failure="it raised"), "good: it ended early, and has"),
    "one column more": (put("vector", *FORM_OF_GAME, columns=4), "vector: its plants have other columns"),
    "no confirmation": (put("leak", "settings", confirmation=None), "leak: its shares of the"),
    "more significance for one check": (put("good", "settings", **TWICE), "significance: its checks had more than"),
}
PLANNED = {  # the verdicts, sums and digests are computed again
    "a failing check deleted": (lambda c: c.drop("leak"), "plan: "),
    "a failing check deleted, from the plan too": (drop_planned, "plan: "),
    "a passing check in place of a failing one": (repeat, "listed 2 times"),
    "checks in another order": (lambda c: c["checks"].reverse(), "plan: "),
    "a refuted claim that is now expected to FAIL": (put("leak", expected="FAIL"), "plan: "),
    "a weaker claim": (put("leak", "claim", epsilon=9.0), "schema: the evidence tested"),
    "another relation": (put("leak", "claim", relation="local"), "plan: "),
    "a smaller significance of one check": (put("leak", "settings", significance=1e-9), "plan: "),
    "a larger significance of the run": (lambda c: c["settings"].update(significance=0.5), "plan: "),
    "floats that nobody audited": (put("good", GAME, floats="audited"), "good: its game says 'audited' of floating-"),
    "a vector that was counted": (put("vector", *FORM_OF_GAME, values=COUNTED), FORM.format("vector")),
    "violations of a kind that nobody plants": (
        put("vector", GAME, "plants", families=lambda listed: [*listed, FAMILY]),
        FORM.format("vector"),
    ),
    "a text that nobody reads left out": (put("text", *FORM_OF_GAME, texts={}), FORM.format("text")),
    "a text that hardly repeats, counted by ones": (put("text", *TEXT, rare=0, least=1), FORM.format("text")),
    "a text of more outputs than trained": (put("text", *TEXT, outputs=10**9), "text: its game read other outputs"),
    "numbers without fractions": (put("vector", GAME, floats="none"), "vector: its game says 'none' of floating-point"),
    "more guesses than in the calls": (
        put("vector", GAME, counts=lambda seen: {key: 1000 * many for key, many in seen.items()}),
        "vector: its game counts other guesses",
    ),
    "more calls than the budget has": (multiply_all, "vector: its games took other outputs"),
    "another output": (put("vector", "evidence", samples=more), "vector: its training and its runs took other outputs"),
    "more outputs than a budget": (put("vector", "evidence", samples=10**6), "vector: its games took other outputs"),
    "another guess": (put("vector", GAME, "counts", left_plus=more), "vector: its budget gives another number of runs"),
    "a guess on the other dataset": (
        put("vector", GAME, "counts", left_plus=more, right_plus=fewer),
        "vector: its coins gave other runs on left",
    ),
    "fresh outputs on the other dataset": (
        put("leak", "evidence", "confirmation", GAME, "counts", left_minus=fewer, right_minus=more),
        "leak: its coins gave other runs on left",
    ),
    "another square": (put("vector", GAME, "calls", "left", plus_squares=more), FORM.format("vector")),
    "the whole share, beside an interval": (put("vector", GAME, share=1.0), "vector: its game has a"),
    "an unknown part": (lambda c: c.update(note="audited by us"), "schema: the certificate has note"),
    "an unknown setting of a check": (put("good", "settings", note="x"), FORM.format("good")),
    "text that no check printed": (lambda c: c["printed"].update(another="x"), "printed: names other checks"),
    "training outputs of a part of a call": (
        put("vector", GAME, training=fewer),
        "vector: its game has a share or a number of training outputs",
    ),
    "a share that no game has": (put("vector", GAME, share=0.9), "vector: its game has a share"),
    "a long call that was not made": (put("long", GAME, "calls", long=[]), "long: its game had the budget for a long"),
    "the digests removed": (lambda c: (c.pop("chain"), c.pop("seal")), "schema: lacks chain, seal"),
    "a count beyond 2^53": (put("good", GAME, "counts", left_plus=10**30), FORM.format("good")),
}
EDITED = {  # only the digests are computed again
    "a verdict": (put("leak", verdict="PASS", witness=None), "replay: leak: verdict"),
    "a bound": (put("leak", epsilon_lower_bound=0.1), "replay: leak: epsilon_lower_bound"),
    "the verdict of the run": (lambda c: c.update(verdict="PASS"), "verdict: says"),
    "the list of what was spent": (lambda c: c["significance_spent"][0].update(allotted=1e-3), "significance_spent"),
    "durations of other checks": (lambda c: c.update(timing={"other": 1.0}), "timing: names other checks"),
    "counts of the evidence": (put("leak", GAME, "counts", left_plus=10), "replay: leak"),
    "what a division left over": (put("six", "evidence", rest=1), "replay: six"),
    "what was audited": (lambda c: c["audited"].update(draws=3), "audited: says"),
    "a significance": (put("good", "settings", significance=0.04), "significance_spent: says"),
    "no plan": (lambda c: c.pop("plan"), "schema: lacks plan"),
    "no coins": (put("good", GAME, coins=[]), "schema: "),
    "a check that is a number": (lambda c: c["checks"].append(1), "schema: "),
}


def test_the_certificate_that_is_forged_is_whole(written, tmp_path):
    same = completed(Forged(copy.deepcopy(written)), written["checks"])
    assert list_problems(reread(tmp_path, json.dumps(same))) == []
    assert [check["verdict"] for check in written["checks"]].count("FAIL") >= 1


@pytest.mark.parametrize("name", [*REPLANNED, *PLANNED, *EDITED])
def test_refused(written, tmp_path, name):
    forge, says = {**REPLANNED, **PLANNED, **EDITED}[name]
    certificate = Forged(copy.deepcopy(written))
    forge(certificate)
    if name in REPLANNED:
        certificate.plan_again()
    found = list_problems(reread(tmp_path, json.dumps(completed(certificate, written["checks"], name not in EDITED))))
    assert any(says in line for line in found), found


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('{"name"', '{"verdict": "PASS", "name"', "a key is repeated"),
        ('"left_plus": ', '"left_plus": NaN, "left_minus": ', "is not a number of JSON"),
        ('"schema_version": "3.0"', '"schema_version": "3.1"', "not a certificate of schema version 3"),
    ],
)
def test_json_that_readers_would_read_in_two_ways_is_not_read(written, tmp_path, old, new, says):
    with pytest.raises(InvalidCertificate, match=says):
        reread(tmp_path, json.dumps(written).replace(old, new, 1))


def places(part, way=()):
    """Every leaf of plain data, as the way to it."""
    if not isinstance(part, (dict, list)):
        yield way
        return
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        yield from places(value, (*way, key))


def with_change(certificate, way):
    """A copy with another leaf of the same type at the end of a way."""
    changed = part = copy.deepcopy(certificate)
    for key in way[:-1]:
        part = part[key]
    value, swaps = part[way[-1]], {"PASS": "FAIL", "FAIL": "PASS", None: 0.5, True: False, False: True}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        part[way[-1]] = value + 1 if isinstance(value, int) else value * 0.998 + 1e-9
    else:
        part[way[-1]] = swaps.get(value, f"{value}x")
    return changed


def test_every_change_of_any_leaf_is_noticed(written):
    """By the seal; and by the chain in the settings, the plan and the checks, where the seal is computed again."""
    ways = list(places(written))
    assert len(ways) > 200
    for way in ways:
        changed = with_change(written, way)
        if changed == written:  # 1 and 1.0 are one number
            continue
        assert way == ("seal",) or compute_seal(changed) != changed["seal"], way
        if way[0] in ("settings", "plan", "checks"):
            assert chain_checks(changed["settings"], changed["checks"], changed["plan"]) != changed["chain"], way
    assert compute_seal(written) == written["seal"]


@pytest.mark.parametrize(
    ("way", "says"),
    [
        (("settings", "seed"), "chain: the settings"),
        (("plan", "checks", 0, "share"), "chain: the settings or the plan"),
        (("checks", 1, "claim", "source"), "chain: broken at leak"),
        (("provenance", "time"), "seal:"),
    ],
)
def test_the_digests_name_the_place(written, way, says):
    found = list_problems(with_change(written, way))
    assert any(line.startswith(says) for line in found), found


def expect_a_fail(c):
    c.check("leak")["expected"] = "FAIL"
    c.plan_again()


def state_another_law(c):
    c.way("exact", "stated law")["laws"][0].update(epsilon_upper_bound=0.5, epsilon_lower_bound=0.5, fit_pvalue=0.9)


@pytest.mark.parametrize("forge", [expect_a_fail, state_another_law])
def test_what_agrees_with_itself_has_another_seal(written, tmp_path, forge):
    """A plan that was changed has another digest as well, which is known before a run."""
    certificate = Forged(copy.deepcopy(written))
    forge(certificate)
    found = reread(tmp_path, json.dumps(completed(certificate, written["checks"])))
    assert list_problems(found) == []
    assert found["seal"] != written["seal"]
    plans = [digest(each["settings"], each["plan"]) for each in (found, written)]
    assert [each["chain"]["start"] for each in (found, written)] == plans
    assert (plans[0] != plans[1]) == (found["plan"] != written["plan"])


def test_notes_name_what_a_verdict_hides(written):
    certificate = Forged(copy.deepcopy(written))
    assert list(list_notes(certificate)) == []
    certificate.check("leak")["expected"] = Verdict.FAIL.value
    certificate["plan"]["unspent"] = 0.01
    first, second = list_notes(certificate)
    assert "leak" in first
    assert "0.01" in second
