"""Forged proofs: refused by the checker and the package, or, where all agrees with itself, found in the code."""

import copy
import itertools
import json
import math

import pytest

import audit
from audit.certificate.record import from_plain
from audit.certificate.verify import problems_of
from audit.cli import main
from audit.extensions.enumeration import checker
from audit.extensions.enumeration.code_replay import replay_code
from audit.extensions.enumeration.enumerated import Enumerated
from tests.core.certificate.forging import Forged, completed

LN3 = math.nextafter(math.log(3), 2)
BITS = list(itertools.product((0, 1), repeat=2))


def flipped(data, rng):
    return bool(data) ^ (rng.random() < 0.25)


def each_flipped(data, rng):
    return tuple(int(flipped(bit, rng)) for bit in data)


def steps(rng):
    """Return a number of 0 ... 9, whose law is found by itself when it was asked for often."""
    number = 0
    while number < 9 and rng.random() < 0.5:
        number += 1
    return number


def first_above(answers, rng):
    level = steps(rng)
    for index, answer in enumerate(answers):
        if answer + steps(rng) >= level:
            return index
    return len(answers)


def moved(answer, rng):
    return answer + int(rng.integers(3))


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
    check("above", first_above, 3.0, audit.Distance("linf", 1), pairs=[((0, 1, 0, 1), (1, 0, 1, 0))], delta=0.5),
    check("moved", moved, 1.0, audit.Distance("l1", 2), datasets="integers", delta=0.7),
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


def outcomes_of_the_checker(found, tmp_path, capsys):
    (tmp_path / "certificate.json").write_text(json.dumps(found))
    status = checker.main([str(tmp_path / "certificate.json")])
    return status, capsys.readouterr().out


def test_proofs_replay_by_all_three(certificate, tmp_path, capsys):
    status, said = outcomes_of_the_checker(certificate, tmp_path, capsys)
    assert (status, {line.split()[0] for line in said.splitlines()}) == (0, {"holds"}), said
    assert problems_of(certificate) == []
    assert "~" in json.dumps(way_of(next(c for c in certificate["checks"] if c["name"] == "above")))
    for record in certificate["checks"]:
        assert record["evidence"]["ways"] or record["name"] == "raises"
        if record["name"] == "raises":
            continue
        found = replay_code(BY_NAME[record["name"]], record, 200, seed=1)
        assert found.problems == ()
        assert found.tested >= 0.9 * found.edges, record["name"]


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


def nodes(record, graph=0, part=0):
    return way_of(record)["graphs"][graph]["parts"][part]["nodes"]


def other_weights(record):
    nodes(record)[0] = "4 2=0 2=1"


def other_ends(record):
    """Let both branches of the graph end with one output."""
    nodes(record)[0] = nodes(record)[0].replace("=1", "=0")


def too_much_weight(record):
    nodes(record)[0] = "4 3=0 3=1"


def out_of_the_graph(record):
    nodes(record)[0] = "4 3>7 1=1"


def no_node(record):
    nodes(record)[0] = "of four one"


def a_call_that_explains_itself(record):
    part = way_of(record)["graphs"][0]["parts"][1]
    part["nodes"] = ["@1 " + " ".join(f"={number}" for number in range(len(part["outputs"])))]


def a_call_that_runs_in_circles(record):
    part = way_of(record)["graphs"][0]["parts"][1]
    part["nodes"] = [nodes(record, part=1)[0].partition(" ")[0] + " 1>0"]


def another_law_of_a_call(record):
    part = way_of(record)["graphs"][0]["parts"][1]
    total, first, second, *rest = part["law"].split()
    part["law"] = " ".join([total, second, first, *rest])


def fewer_records_than_the_relation(record):
    way_of(record)["covers"]["neighbors"] = []


def another_digest(record):
    way_of(record)["covers"]["datasets"][0] = "(7, 7)"


def a_dataset_twice(record):
    domain = way_of(record)["covers"]
    domain["datasets"][1] = domain["datasets"][0]


def integers_further_apart(record):
    record["claim"]["relation"] = "l1 distance 1000"


def a_pair_twice(record):
    neighbors = way_of(record)["covers"]["neighbors"]
    neighbors[1] = neighbors[0]


REFUSED = [
    *[("wrong", upgraded), ("off", upgraded), ("right", a_smaller_ratio)],
    *[("right", more_than_one), ("bits", a_pair_left_out), ("right", an_output_twice), ("right", an_output_renamed)],
    *[("right", below_zero), ("right", a_row_of_four), ("right", beyond_all_bounds), ("right", beyond_all_numbers)],
    *[("right", in_words), ("right", a_pure_claim), ("right", no_proof), ("right", other_weights)],
    *[("right", other_ends), ("right", too_much_weight), ("right", out_of_the_graph), ("right", no_node)],
    *[("above", a_call_that_explains_itself), ("above", a_call_that_runs_in_circles)],
    *[("above", another_law_of_a_call), ("labels", fewer_records_than_the_relation), ("bits", another_digest)],
    *[("bits", a_dataset_twice), ("moved", integers_further_apart), ("bits", a_pair_twice), ("right", an_assumption)],
]
NOT_JUDGED_AGAIN = (
    upgraded,
    an_assumption,
    beyond_all_bounds,
    beyond_all_numbers,
    no_proof,
)  # INCONCLUSIVE, if they are


@pytest.mark.parametrize(("name", "forge"), REFUSED)
def test_both_checkers_refuse(certificate, name, forge, tmp_path, capsys):
    found = copy.deepcopy(certificate) if forge in NOT_JUDGED_AGAIN else forged(certificate, name, forge)[0]
    if forge in NOT_JUDGED_AGAIN:
        forge(Forged(found).check(name))
        completed(found, judged=False)
    status, said = outcomes_of_the_checker(found, tmp_path, capsys)
    assert status == 1
    assert f"WRONG  {name!r}" in said
    assert problems_of(found)


def even_counts(record):
    for each in way_of(record)["outputs"]:
        each["counts"] = [[text, 5000] for text, _ in each["counts"]]


def invented(record):
    """State fair coins, in graphs, tables and counts."""
    even_counts(record)
    for number in (0, 1):
        nodes(record, number)[0] = "2 1=0 1=1"
    a_smaller_ratio(record)


def invented_outputs(record):
    way = way_of(record)
    for each in way["outputs"]:
        each["counts"] = [[text.replace("True", "None"), count] for text, count in each["counts"]]
    for graph in way["graphs"]:
        outputs = graph["parts"][0]["outputs"]
        graph["parts"][0]["outputs"] = [text.replace("True", "None") for text in outputs]
    for row in way["laws"][0]["law"]:
        row[0] = row[0].replace("True", "None")


def invented_beside_no_graph(record):
    for graph in way_of(record)["graphs"]:
        graph["parts"] = []
    a_smaller_ratio(record)
    even_counts(record)


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
    domain["digest"] = checker.hashlib.sha256(whole.encode()).hexdigest()
    way["laws"] = [{**way["laws"][at], "pair": number} for number, at in enumerate(kept)]
    record["pairs"] = [record["pairs"][at] for at in kept]
    used = sorted({side for proof in way["laws"] for side in proof["graphs"]})
    for part in ("graphs", "outputs"):
        way[part] = [way[part][side] for side in used]
    for proof in way["laws"]:
        proof["graphs"] = [used.index(side) for side in proof["graphs"]]


def a_node_too_many(record):
    """Lead to a second node that gives the same law: the code draws once."""
    way = way_of(record)
    for graph in way["graphs"]:
        first = graph["parts"][0]["nodes"][0]
        graph["parts"][0]["nodes"] = ["1 1>1", first]
        graph["states"] += 1
    way["laws"][0]["states"] += 2


def another_call(record):
    """Say that the draws are those of another function."""
    for graph in way_of(record)["graphs"]:
        for part in graph["parts"][1:]:
            part["call"] = part["call"].replace(":steps(", ":moved(0, ")


FOUND_BY_THE_CODE = [
    *[("right", invented), ("right", invented_outputs), ("wrong", invented), ("right", invented_beside_no_graph)],
    *[("right", another_mechanism), ("right", another_pair), ("wrong", a_looser_claim), ("bits", a_smaller_domain)],
    *[("right", a_node_too_many), ("above", another_call), ("off", without_anything_seen)],
]


@pytest.mark.parametrize(("name", "forge"), FOUND_BY_THE_CODE)
def test_the_code_tells(certificate, name, forge, tmp_path, capsys):
    found, record = forged(certificate, name, forge)
    assert outcomes_of_the_checker(found, tmp_path, capsys)[0] == 0
    assert problems_of(found) == []
    assert replay_code(BY_NAME[name], record, 50, seed=2).problems


def test_there_are_enough_forgeries():
    assert len({*REFUSED, *FOUND_BY_THE_CODE}) >= 30


def test_what_is_too_large_is_not_stored(monkeypatch):
    monkeypatch.setattr("audit.extensions.enumeration.stated_graph.LARGEST", 40)
    result = audit.check_privacy(
        audit.per_call(each_flipped), audit.PrivacyClaim(LN3), datasets=BITS, method="enumerate", workers=0
    )
    (way,) = result.to_dict()["evidence"]["ways"]
    stated = from_plain(Enumerated, json.loads(json.dumps(way)))
    assert {graph.parts for graph in stated.graphs} == {()}
    assert "not stored" in "; ".join(result.scope)
    found = replay_code(BY_NAME["bits"], json.loads(json.dumps(result.to_dict())), 10, seed=0)
    assert (found.problems, found.enumerated, found.edges) == ((), 4, 0)


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
    assert "flip: 4 of 4 edges run" in said
    (tmp_path / "audited_proofs.py").write_text((tmp_path / "audited_proofs.py").read_text().replace("0.25", "0.26"))
    status, said = called("replay", "out", "--code", "--seed", "3")
    assert status == 65
    assert "the code has other branches than are stated" in said
