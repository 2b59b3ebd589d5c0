"""Forged proofs: refused by `verify`, or, where all agrees with itself, found in the code."""

import copy
import itertools
import json

import pytest

import audit
from audit.certificate.verify import list_problems
from tests.core.certificate.forging import Forged, completed
from tests.extensions.enumeration.test_proofs import LN3, each_flipped, flipped

BITS = list(itertools.product((0, 1), repeat=2))


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


@pytest.fixture(scope="module")
def certificate():
    return json.loads(json.dumps(audit.run(CHECKS, workers=0).certificate))


def way_of(record):
    return record["evidence"]["ways"][0]


def forged(certificate, name, forge):
    """Return a certificate in which one check was forged, with all that follows computed anew."""
    found = Forged(copy.deepcopy(certificate))
    forge(found.check(name))
    completed(found)
    found.plan_again()
    completed(found, judged=False)
    return found


def test_proofs_replay(certificate):
    assert list_problems(certificate) == []


def put(record, *way):
    """Set the part at the end of a way through the evidence to the last argument."""
    *path, last, value = way
    place = way_of(record)
    for key in path:
        place = place[key]
    place[last] = value


def recount(change):
    """Return a forgery that changes the outputs of both sides, as rows of a text and a count."""

    def forge(record):
        for side in way_of(record)["laws"]:
            side["outputs"] = change(side["outputs"])

    return forge


def a_smaller_ratio(record):
    for side in way_of(record)["laws"]:
        side["law"] = [[text, "1/2"] for text, _ in side["law"]]


def first_law(record):
    return way_of(record)["laws"][0]["law"]


def pairs_of(record):
    return way_of(record)["pairs"]


REFUSED = {  # the check, and what is done to its record; it would be INCONCLUSIVE where it is judged again
    "upgraded": ("wrong", lambda record: record.update(verdict="PASS", basis="proof")),
    "upgraded from none": ("off", lambda record: record.update(verdict="PASS", basis="proof")),
    "a smaller ratio": ("right", a_smaller_ratio),
    "an output renamed": ("right", lambda record: first_law(record)[0].__setitem__(0, "None")),
    "even counts": ("right", recount(lambda rows: [[text, 5000] for text, _ in rows])),
    "half of the counts": ("right", recount(lambda rows: [[text, count // 2] for text, count in rows])),
    "other outputs": ("right", recount(lambda rows: [[rows[0][0], rows[0][1] - 5], *rows[1:], ["", 5]])),
    "no outputs": ("right", recount(lambda rows: [])),
    "an assumption": ("right", lambda record: [put(record, "laws", side, "assumed", ["something"]) for side in (0, 1)]),
    "beyond all bounds": ("right", lambda record: record["claim"].update(epsilon=1e7)),  # e^1e7 has 14 million bits
    "beyond all numbers": ("right", lambda record: record["claim"].update(epsilon=1e308)),
    "no proof": ("right", lambda record: record["evidence"].update(ways=[])),
}
REFUSED_AS_JUDGED = {
    "more than one": ("right", lambda record: first_law(record).append(["more", "1/2"])),
    "a pair left out": ("bits", lambda record: pairs_of(record).pop()),
    "a law left out": ("bits", lambda record: way_of(record)["laws"].pop()),
    "another dataset": ("bits", lambda record: pairs_of(record).insert(0, pairs_of(record).pop(1))),
    "an output twice": ("right", lambda record: first_law(record).append([first_law(record)[0][0], "0"])),
    "below zero": ("right", lambda record: first_law(record)[0].__setitem__(1, "-1/4")),
    "a row of three": ("right", lambda record: first_law(record)[0].append("0")),
    "in words": ("right", lambda record: record["claim"].update(epsilon="1")),
    "a pure claim": ("right", lambda record: record["claim"].update(kind="pure")),
    "a pair twice": ("bits", lambda record: pairs_of(record).__setitem__(1, pairs_of(record)[0])),
    "a merge that nobody tested": ("right", lambda record: put(record, "laws", 0, "merges", 1)),
}


@pytest.mark.parametrize("forgery", REFUSED)
def test_verify_refuses(certificate, forgery):
    name, forge = REFUSED[forgery]
    found = copy.deepcopy(certificate)
    forge(Forged(found).check(name))
    completed(found, judged=False)
    assert list_problems(found)


@pytest.mark.parametrize("forgery", REFUSED_AS_JUDGED)
def test_verify_refuses_what_is_judged_again(certificate, forgery):
    assert list_problems(forged(certificate, *REFUSED_AS_JUDGED[forgery]))
