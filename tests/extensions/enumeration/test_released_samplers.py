"""Samplers of a released library, enumerated as they are."""

import random
from fractions import Fraction

import pytest

import audit

mechanisms = pytest.importorskip("diffprivlib.mechanisms")


def test_the_exponential_mechanism_keeps_its_claim_exactly():
    made = {d: mechanisms.Exponential(epsilon=1.0, sensitivity=1, utility=list(d)) for d in ((0, 1, 2), (1, 0, 1))}
    mechanism = audit.per_call(lambda d: made[d].randomise())
    claim = audit.PrivacyClaim(1.0, relation=audit.Local())
    result = audit.check_privacy(mechanism, claim, [tuple(made)], method="enumerate")
    assert (str(result.verdict), result.basis) == ("PASS", "proof")
    assert "delta = 0" in result.reason


def test_samplers_are_followed_as_they_are_built():
    """A source of the system that a mechanism holds."""
    flip = mechanisms.PermuteAndFlip(epsilon=1.0, sensitivity=1, utility=[0, 1, 2])
    law = audit.enumerate_law(lambda data: flip.randomise(), 0, residual=1e-9)
    assert (law.behind, law.residual < 1e-9) == ((), True)


def test_a_global_source_is_the_same_at_each_draw():
    law = audit.enumerate_law(audit.per_call(rejected), 0)
    assert (law.behind, law.residual) == ((), 0)
    assert set(law.probabilities.values()) == {Fraction(1, 3)}


SECURE = random.SystemRandom()


def rejected(data):
    while (face := SECURE.getrandbits(2)) == 3:
        pass
    return face
