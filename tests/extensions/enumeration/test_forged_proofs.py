"""Forged proofs: refused by `verify`, or, where all agrees with itself, found in the code."""

import copy
import hashlib
import itertools
import json
import math

import pytest

import audit
from audit.certificate.verify import list_problems
from audit.cli import main
from audit.extensions.enumeration.method import replay_code
from tests.core.certificate.forging import Forged, completed

LN3 = math.nextafter(math.log(3), 2)
BITS = list(itertools.product((0, 1), repeat=2))


def flipped(data, rng):
    return bool(data) ^ (rng.random() < 0.25)


def each_flipped(data, rng):
    return tuple(int(flipped(bit, rng)) for bit in data)


def plain(data, rng):
    return 1


def raising(data, rng):
    raise KeyError(data)


def peeking(data, rng):
    return flipped(data, rng) ^ (id(data) < 0)


def check(name, function, epsilon, relation=None, **more):
    claim = audit.PrivacyClaim(epsilon, more.pop("delta", 0.0), relation or audit.Local())
    mechanism = audit.per_call(function)
    return audit.PrivacyCheck(name=name, mechanism=mechanism, claim=claim, method="enumerate", **more)


PAIR = [(False, True)]
CHECKS = [
    check("right", flipped, LN3, pairs=PAIR),
    check("wrong", flipped, 1.0, pairs=PAIR, expected=audit.Verdict.FAIL),
    check("off", peeking, 1.0, pairs=PAIR),
    check("raises", raising, 1.0, pairs=PAIR),
    check("still", plain, 0.0, pairs=PAIR),
    check("bits", each_flipped, LN3, audit.Substitution(), datasets=BITS),
    check("labels", flipped, LN3, datasets=[False, True]),
]
BY_NAME = {each.name: each for each in CHECKS}


@pytest.fixture(scope="module")
def certificate():
    return json.loads(json.dumps(audit.run(CHECKS, workers=0).certificate))


def way_of(record):
    return record["evidence"]["ways"][0]


def forged(certificate, name, forge):
    """Return a certificate in which one check was forged, with all that follows computed anew, and the check."""
    found = Forged(copy.deepcopy(certificate))
    record = found.check(name)
    forge(record)
    completed(found)
    found.plan_again()
    completed(found, judged=False)
    return found, record


def test_proofs_replay(certificate):
    assert list_problems(certificate) == []
    for record in certificate["checks"]:
        assert record["evidence"]["ways"] or record["name"] == "raises"
        if record["name"] == "raises":
            continue
        found = replay_code(BY_NAME[record["name"]], record, seed=1)
        assert found.problems == ()
        assert (found.laws > 0, record["name"] == "off" or found.outputs == 10_000 * found.laws) == (True, True)


def upgraded(record):
    record["verdict"], record["basis"] = "PASS", "proof"


def without_anything_seen(record):
    upgraded(record)
    way_of(record)["laws"][0]["behind"] = []


def a_smaller_ratio(record):
    law = way_of(record)["laws"][0]["law"]
    law[0][1:], law[1][1:] = ["1/2", "1/2"], ["1/2", "1/2"]


def more_than_one(record):
    way_of(record)["laws"][0]["law"].append(["more", "1/2", "0"])


def a_pair_left_out(record):
    way_of(record)["laws"].pop()


def an_output_twice(record):
    law = way_of(record)["laws"][0]["law"]
    law.append([law[0][0], "0", "0"])


def an_output_renamed(record):
    way_of(record)["laws"][0]["law"][0][0] = "None"


def below_zero(record):
    way_of(record)["laws"][0]["law"][0][1] = "-1/4"


def a_row_of_four(record):
    way_of(record)["laws"][0]["law"][0].append("0")


def an_assumption(record):
    for proof in way_of(record)["laws"]:
        proof["assumed"] = ["something"]


def beyond_all_bounds(record):
    """Claim an epsilon whose exponential has 14 million bits."""
    record["claim"]["epsilon"] = 1e7


def beyond_all_numbers(record):
    record["claim"]["epsilon"] = 1e308


def in_words(record):
    record["claim"]["epsilon"] = "1"


def a_pure_claim(record):
    record["claim"]["kind"] = "pure"


def no_proof(record):
    record["evidence"]["ways"] = []


def fewer_records_than_the_relation(record):
    way_of(record)["covers"]["neighbors"] = []


def another_digest(record):
    way_of(record)["covers"]["datasets"][0] = "(7, 7)"


def a_dataset_twice(record):
    domain = way_of(record)["covers"]
    domain["datasets"][1] = domain["datasets"][0]


def a_pair_twice(record):
    neighbors = way_of(record)["covers"]["neighbors"]
    neighbors[1] = neighbors[0]


def even_counts(record):
    for each in way_of(record)["outputs"]:
        each["counts"] = [[text, 5000] for text, _ in each["counts"]]


def half_of_the_counts(record):
    for each in way_of(record)["outputs"]:
        each["counts"] = [[text, count // 2] for text, count in each["counts"]]


def other_outputs(record):
    for each in way_of(record)["outputs"]:
        (text, count), *rest = each["counts"]
        each["counts"], each["others"] = [[text, count - 5], *rest], 5


def no_outputs(record):
    way_of(record)["outputs"].clear()


REFUSED = [
    *[("wrong", upgraded), ("off", upgraded), ("right", a_smaller_ratio)],
    *[("right", more_than_one), ("bits", a_pair_left_out), ("right", an_output_twice), ("right", an_output_renamed)],
    *[("right", below_zero), ("right", a_row_of_four), ("right", beyond_all_bounds), ("right", beyond_all_numbers)],
    *[("right", in_words), ("right", a_pure_claim), ("right", no_proof), ("right", even_counts)],
    *[("right", half_of_the_counts), ("right", other_outputs), ("right", no_outputs)],
    *[("labels", fewer_records_than_the_relation), ("bits", another_digest)],
    *[("bits", a_dataset_twice), ("bits", a_pair_twice), ("right", an_assumption)],
]
NOT_JUDGED_AGAIN = (
    upgraded,
    a_smaller_ratio,
    an_output_renamed,
    even_counts,
    half_of_the_counts,
    other_outputs,
    no_outputs,
    an_assumption,
    beyond_all_bounds,
    beyond_all_numbers,
    no_proof,
)  # INCONCLUSIVE, if they are


@pytest.mark.parametrize(("name", "forge"), REFUSED)
def test_verify_refuses(certificate, name, forge):
    found = copy.deepcopy(certificate) if forge in NOT_JUDGED_AGAIN else forged(certificate, name, forge)[0]
    if forge in NOT_JUDGED_AGAIN:
        forge(Forged(found).check(name))
        completed(found, judged=False)
    assert list_problems(found)


def invented(record):
    """State fair coins, in tables and counts."""
    even_counts(record)
    a_smaller_ratio(record)


def invented_outputs(record):
    way = way_of(record)
    for each in way["outputs"]:
        each["counts"] = [[text.replace("True", "None"), count] for text, count in each["counts"]]
    for row in way["laws"][0]["law"]:
        row[0] = row[0].replace("True", "None")


def another_mechanism(record):
    record["mechanism"] = "tests.extensions.enumeration.test_forged_proofs.flipped_much"


def another_pair(record):
    record["pairs"][0]["right"] = "False"


def a_looser_claim(record):
    record["claim"]["epsilon"] = 2.0


def a_smaller_domain(record):
    """Leave out the last dataset, and its pairs."""
    way, domain = way_of(record), way_of(record)["covers"]
    kept = [at for at, pair in enumerate(domain["neighbors"]) if 3 not in pair]
    domain["datasets"].pop()
    domain["neighbors"] = [domain["neighbors"][at] for at in kept]
    whole = "".join(f"{text}\n" for text in domain["datasets"])
    domain["digest"] = hashlib.sha256(whole.encode()).hexdigest()
    way["laws"] = [{**way["laws"][at], "pair": number} for number, at in enumerate(kept)]
    record["pairs"] = [record["pairs"][at] for at in kept]
    used = sorted({side for proof in way["laws"] for side in proof["datasets"]})
    way["outputs"] = [way["outputs"][side] for side in used]
    for proof in way["laws"]:
        proof["datasets"] = [used.index(side) for side in proof["datasets"]]


FOUND_BY_THE_CODE = [
    *[("right", invented), ("right", invented_outputs), ("wrong", invented)],
    *[("right", another_mechanism), ("right", another_pair), ("wrong", a_looser_claim), ("bits", a_smaller_domain)],
    ("off", without_anything_seen),
]


@pytest.mark.parametrize(("name", "forge"), FOUND_BY_THE_CODE)
def test_the_code_tells(certificate, name, forge):
    found, record = forged(certificate, name, forge)
    assert list_problems(found) == []
    assert replay_code(BY_NAME[name], record, seed=2).problems


def test_replay_runs_code_only_when_it_is_asked_to(tmp_path, monkeypatch, capsys):
    (tmp_path / "audited_proofs.py").write_text(
        "import audit\nprint('the code was imported')\n"
        "def flipped(data, rng):\n    return bool(data) ^ (rng.random() < 0.25)\n"
        "claim = audit.PrivacyClaim(1.2, relation=audit.Local())\n"
        "CHECKS = [audit.PrivacyCheck(name='flip', mechanism=audit.per_call(flipped), claim=claim,\n"
        "    pairs=[(False, True)], method='enumerate')]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path), *__import__("sys").path])

    def called(*arguments):
        __import__("sys").modules.pop("audited_proofs", None)
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        return stop.value.code, capsys.readouterr().out

    assert called("run", "audited_proofs", "--out", "out", "--workers", "0")[0] == 0
    status, said = called("replay", "out")
    assert (status, "imported" in said) == (0, False)
    status, said = called("replay", "out", "--code", "--seed", "3")
    assert status == 0
    assert "imports and runs audited_proofs, with seed 3" in said
    assert "the code was imported" in said
    assert "flip: 2 laws enumerated again, 20,000 outputs drawn" in said
    edited = (tmp_path / "audited_proofs.py").read_text().replace("0.25", "0.2625")  # another length: no stale bytecode
    (tmp_path / "audited_proofs.py").write_text(edited)
    status, said = called("replay", "out", "--code", "--seed", "3")
    assert status == 65
    assert "has probability 0.2625, stated is 0.25" in said
