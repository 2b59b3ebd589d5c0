"""What the judge concludes from enumerated laws, made by hand."""

import math
from fractions import Fraction

import pytest

from audit.claims import Point
from audit.extensions.enumeration.enumerated import DatasetLaw, Enumerated
from audit.extensions.enumeration.real_outputs import OUTPUTS

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
