"""Forged proofs: refused by `verify`, or, where all agrees with itself, found in the code."""

import copy
import itertools
import json
import math

import pytest

import audit
from audit.certificate.verify import list_problems
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


def upgraded(record):
    record["verdict"], record["basis"] = "PASS", "proof"


def a_smaller_ratio(record):
    for side in way_of(record)["laws"]:
        side["law"] = [[text, "1/2"] for text, _ in side["law"]]


def more_than_one(record):
    way_of(record)["laws"][0]["law"].append(["more", "1/2"])


def a_pair_left_out(record):
    way_of(record)["pairs"].pop()


def a_law_left_out(record):
    way_of(record)["laws"].pop()


def another_dataset(record):
    pairs = way_of(record)["pairs"]
    pairs[0], pairs[1] = pairs[1], pairs[0]


def an_output_twice(record):
    law = way_of(record)["laws"][0]["law"]
    law.append([law[0][0], "0"])


def an_output_renamed(record):
    way_of(record)["laws"][0]["law"][0][0] = "None"


def below_zero(record):
    way_of(record)["laws"][0]["law"][0][1] = "-1/4"


def a_row_of_three(record):
    way_of(record)["laws"][0]["law"][0].append("0")


def an_assumption(record):
    for side in way_of(record)["laws"]:
        side["assumed"] = ["something"]


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


def a_pair_twice(record):
    pairs = way_of(record)["pairs"]
    pairs[1] = pairs[0]


def even_counts(record):
    for side in way_of(record)["laws"]:
        side["outputs"] = [[text, 5000] for text, _ in side["outputs"]]


def half_of_the_counts(record):
    for side in way_of(record)["laws"]:
        side["outputs"] = [[text, count // 2] for text, count in side["outputs"]]


def other_outputs(record):
    for side in way_of(record)["laws"]:
        (text, count), *rest = side["outputs"]
        side["outputs"] = [[text, count - 5], *rest, ["", 5]]


def no_outputs(record):
    for side in way_of(record)["laws"]:
        side["outputs"] = []


def a_merge_that_nobody_tested(record):
    way_of(record)["laws"][0]["merges"] = 1


REFUSED = [
    *[("wrong", upgraded), ("off", upgraded), ("right", a_smaller_ratio)],
    *[("right", more_than_one), ("bits", a_pair_left_out), ("right", an_output_twice), ("right", an_output_renamed)],
    *[("right", below_zero), ("right", a_row_of_three), ("right", beyond_all_bounds), ("right", beyond_all_numbers)],
    *[("right", in_words), ("right", a_pure_claim), ("right", no_proof), ("right", even_counts)],
    *[("right", half_of_the_counts), ("right", other_outputs), ("right", no_outputs)],
    *[("right", a_merge_that_nobody_tested)],
    *[("bits", another_dataset), ("bits", a_law_left_out)],
    *[("bits", a_pair_twice), ("right", an_assumption)],
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
