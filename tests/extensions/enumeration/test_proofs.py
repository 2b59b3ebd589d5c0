"""PASS and FAIL (proved): verdicts by the law of the code, and their records."""

import itertools
import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

import audit
from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from audit.claims import Point
from audit.extensions.enumeration.enumerated import TOLERANCE, DatasetLaw, Enumerated
from audit.extensions.enumeration.real_outputs import OUTPUTS
from tests.extensions.search.test_searched_parameters import run
from tests.offenders import refused

LOCAL = audit.Local()


def flipped(data, rng):
    """P(other) = 1/4 exactly, so that epsilon = ln 3."""
    return bool(data) ^ (rng.random() < 0.25)


def leaking(data, rng):
    """Tell the truth aloud with probability 2^-60, which no sample would show."""
    if rng.random() < 2.0**-30 and rng.random() < 2.0**-30:
        return "it is " + str(data)
    return flipped(data, rng)


def rarely_leaking(data, rng):
    return "it is " + str(data) if rng.random() < 2.0**-30 else flipped(data, rng)


def peeking(data, rng):
    return flipped(data, rng) ^ (os.urandom(1)[0] < 0)


def unfollowed(data, rng):
    return flipped(data, rng) if rng.random() < 0.9 else math.floor(math.atan(1 - rng.random()))


def checked(function, epsilon=1.2, delta=0.0):
    claim = audit.PrivacyClaim(epsilon, delta, LOCAL)
    return audit.check_privacy(audit.per_call(function), claim, [(False, True)], method="enumerate", workers=0)


def of_pair(rows):
    """The laws of one pair, from rows of an output and its two probabilities."""
    sides = (tuple((text, row[side]) for text, *row in rows) for side in (0, 1))
    return Enumerated(tuple(DatasetLaw(side, 1, 0, 0, (), ("tail",), ()) for side in sides), ((0, 1),))


LN3 = math.nextafter(math.log(3), 2)


@pytest.mark.parametrize(
    ("function", "epsilon", "delta", "verdict", "basis", "said"),
    [
        (flipped, LN3, 0.0, "PASS", "proof", "at epsilon = 1.09861, delta = 0, for 1 pair"),
        (flipped, 0.0, 0.5, "PASS", "proof", "proved at epsilon = 0, delta = 0.5"),
        (flipped, 1.0, 0.0, "FAIL", "proof", "delta >= 0.07043 at epsilon = 1, claimed 0"),
        (flipped, 0.0, 0.4999, "FAIL", "proof", "delta >= 1/2"),
        (leaking, LN3, 0.0, "PASS", "proof", "up to delta = 8.674e-19 at epsilon = 1.09861; delta is at least"),
        (rarely_leaking, LN3, 0.0, "FAIL", "proof", "delta >= 9.313e-10"),
        (rarely_leaking, LN3, 1e-9, "PASS", "proof", "delta = 1e-09"),
        (peeking, LN3, 0.0, "INCONCLUSIVE", "none", "os.urandom"),
        (unfollowed, LN3, 0.0, "INCONCLUSIVE", "none", "was fixed, for float"),
        (unfollowed, 0.5, 0.0, "FAIL", "proof", "delta >="),
    ],
)
def test_verdicts(function, epsilon, delta, verdict, basis, said):
    result = checked(function, epsilon, delta)
    assert (result.verdict.value, result.basis) == (verdict, basis)
    assert said in result.reason


def test_code_that_only_raises_keeps_no_claim():
    result = checked(lambda data, rng: rng.random() < data["missing"], 1.0)
    assert (result.verdict.value, result.basis) == ("INCONCLUSIVE", "none")
    assert "raised TypeError" in result.reason
    assert "whatever it drew" in result.reason


def test_epsilon_is_bracketed():
    result = checked(flipped, 2.0)
    assert result.epsilon_lower_bound <= math.log(3) <= result.exact_epsilon + 1e-11
    assert result.exact_epsilon - result.epsilon_lower_bound < 1e-9


def test_the_residual_counts_against_the_claim_on_either_side():
    """P = (1/2, 1/4), Q = (1/4, 1/2), and 1/4 of either is unknown: at e^0 delta is between 0 and 1/2."""
    law = (("a", "1/2", "1/4"), ("b", "1/4", "1/2"))
    proof = of_pair(law)
    assert proof.delta(0.0) == (0, Fraction(1, 2))
    assert proof.decide(Point(0.0, 0.0)).verdict is audit.Verdict.INCONCLUSIVE


@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_the_tolerance_is_exact(excess):
    """An output of probability 2^-40 that only one side gives is within it, a little more is not."""
    rare = TOLERANCE * (1 + Fraction(excess, 1000))
    law = (("a", str(1 - rare), "1"), ("b", str(rare), "0"))
    found = of_pair(law).decide(Point(0.0, 0.0))
    assert found.verdict is (audit.Verdict.FAIL if excess > 0 else audit.Verdict.PASS)
    assert f"{float(rare):.4g}" in found.reason


def each_flipped(data, rng):
    return tuple(int(flipped(bit, rng)) for bit in data)


def last_kept(data, rng):
    return (*each_flipped(data[:-1], rng), data[-1])


BITS = list(itertools.product((0, 1), repeat=3))


def test_every_pair_of_a_finite_domain():
    """3 * 2^3 / 2 = 12 pairs differ in one bit, and each of the 8 datasets is enumerated once."""
    claim = audit.PrivacyClaim(LN3)
    result = audit.check_privacy(audit.per_call(each_flipped), claim, datasets=BITS, method="enumerate", workers=0)
    found = (result.verdict.value, result.basis, len(result.evidence.by(Enumerated).pairs))
    assert found == ("PASS", "proof", 12), result.reason
    assert any(said.endswith("on each of 8 datasets") for said in result.scope)
    assert 8 * 2**3 <= result.samples < 2 * 8 * 2**3  # with those of `flipped` alone
    wrong = audit.check_privacy(audit.per_call(last_kept), claim, datasets=BITS, method="enumerate", workers=0)
    assert (wrong.verdict.value, wrong.basis) == ("FAIL", "proof")


test_wrong_domains_and_claims_are_refused = refused([
    ({"datasets": "integers"}, "list of all datasets"),
    ({"datasets": 3}, "list of all datasets"),
    ({"datasets": [False]}, "two neighbors"),
    ({"datasets": [False, True], "pairs": [(False, True)]}, "not both"),
    ({"claim": PrivacyClaim(65.0, relation=LOCAL), "pairs": [(False, True)]}, "at most 64"),
    ({"claim": audit.GaussianClaim(1.0, relation=LOCAL), "pairs": [(False, True)]}, "enumerate"),
], audit.check_privacy, mechanism=audit.per_call(flipped), claim=PrivacyClaim(1.0, relation=LOCAL),
    method="enumerate")  # fmt: skip
test_wrong_settings_are_refused = refused(
    [({"residual": 0}, "residual"), ({"time_limit": -1}, "time_limit"), ({"rng": "java"}, "rng")], audit.Enumeration
)


def flipped_slowly(data, rng):
    """Go on with probability 9/10 each time."""
    steps = 0
    while rng.random() < 0.9:
        steps += 1
    return steps if data else -steps


def test_a_limit_leaves_what_is_enumerated_so_far():
    """Each law is known up to some 1e-4, which may belong to any output."""
    claim, verdicts = audit.PrivacyClaim(0.0, 0.8995, LOCAL), []
    for residual in (0.1, 1e-6):
        settings = audit.Enumeration(residual=residual)
        result = audit.check_privacy(audit.per_call(flipped_slowly), claim, [(False, True)], method=settings, workers=0)
        verdicts.append(result.verdict.value)
    assert verdicts == ["INCONCLUSIVE", "FAIL"]
    assert "not followed, by the limit of residual" in result.evidence.by(Enumerated).laws[0].not_followed


@pytest.mark.parametrize("swapped", [False, True])
def test_delta_is_that_of_the_worse_of_the_two_directions(swapped):
    """P(a) = 1/2 and Q(a) = 0 give delta = 1/2 at every epsilon; Q(b) = 1 is at most e P(b) = e/2."""
    rows = (("a", "1/2", "0"), ("b", "1/2", "1"))
    law = tuple((output, *((right, left) if swapped else (left, right))) for output, left, right in rows)
    lower, upper = of_pair(law).delta(1.0)
    assert 0 <= Fraction(1, 2) - lower <= upper - lower < Fraction(1, 2**100)


HOLDS_THE_PIPES = """
import os, time
from audit.extensions.enumeration.real_outputs import _place_of
print(_place_of("1").number, flush=True)
if os.fork() == 0:
    time.sleep(3)
    os._exit(0)
"""


def test_interpreters_of_other_seeds_end_with_their_process(tmp_path):
    """Although a forked process still holds the pipes, whose end they wait for."""
    with open(tmp_path / "pid", "w") as file:  # no pipe, whose end the forked process would hold as well
        subprocess.run([sys.executable, "-c", HOLDS_THE_PIPES], stdout=file, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


HALVES, TENTHS, FIFTHS = ("1/2", "1/2"), ("9/10", "1/10"), ("3/5", "2/5")
LOG2 = Point(math.log(2), 0.0)


def law(probabilities, number=OUTPUTS, **changes):
    """Return a law with outputs that agree with it."""
    table = tuple(zip("ab", probabilities, strict=True))
    shares = list(map(Fraction, probabilities))
    outputs = tuple((text, round(share * number)) for text, share in zip("ab", shares, strict=True))
    others = {"behind": (), "not_followed": (), "assumed": (), **changes}
    return DatasetLaw(table, 1, 0, 0, **others, outputs=outputs)


def judged(left, right):
    found = Enumerated((left, right), ((0, 1),)).decide(LOG2)
    return found.verdict.value, found.basis


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (law(HALVES), law(HALVES), ("PASS", "proof")),
        (law(HALVES), law(HALVES, assumed=("its hashes",)), ("PASS", "computed")),
        (law(HALVES), law(HALVES, OUTPUTS // 2), ("PASS", "computed")),
        (law(HALVES), law(HALVES, behind=("id",)), ("INCONCLUSIVE", "none")),
        (law(HALVES), law(("1/2", "1/4"), not_followed=("a loop",)), ("INCONCLUSIVE", "none")),
        (law(TENTHS), law(FIFTHS), ("FAIL", "proof")),  # of b, 2/5 - 2/10 in one direction, and nothing in the other
        (law(FIFTHS), law(TENTHS), ("FAIL", "proof")),
    ],
)
def test_of_two_outputs(left, right, verdict):
    assert judged(left, right) == verdict


def test_laws_that_are_enumerated_take_part():
    """A response that tells the truth too often for one number of answers: its law is followed exactly."""

    def response(data, size, rng, *, answers):
        return np.where(rng.integers(answers, size=size) == 0, 1 - data, data)

    made = PrivacyCheck(
        name="exact",
        mechanism=response,
        claim=PrivacyClaim(1.4, relation=Local()),
        pairs=[(0, 1)],
        parameters={"answers": st.integers(2, 6)},
        method="enumerate",
    )
    result = run(made)
    assert (result.verdict, result.basis) == (Verdict.FAIL, "proof")
    assert result.evidence.searched.setting["answers"] > 5


def test_a_refuted_law_names_the_outputs_that_are_too_likely():
    mechanism = audit.per_call(lambda bit, rng: bit ^ (rng.random() < 0.25))
    claim = audit.PrivacyClaim(0.9, relation=audit.Local())
    result = audit.check_privacy(mechanism, claim, [(False, True)], method="enumerate")
    witness = result.witness
    assert (witness.pair, witness.direction) == ((False, True), "left")
    assert witness.text == "output False: probability 3/4, and 1/4 at most on the other dataset"
    assert result.record()["witness"]["event"] == witness.text
