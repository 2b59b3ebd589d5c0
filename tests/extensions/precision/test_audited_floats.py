"""With `floats="audit"` the bits of numbers are read, which a PASS otherwise takes as real ones."""

import numpy as np
import pytest

import audit
from audit import Local, PrivacyClaim, Verdict
from audit.certificate.summary import find_view

PAIR = (np.zeros(3), np.array([1.0, 0.0, 0.0]))
CLAIM = PrivacyClaim(1.0)


def textbook(data, size, rng):
    """Private over the real numbers; the sum is rounded to a grid that the answer decides."""
    return data.sum() + rng.laplace(size=size)


def one_bit(place):
    """Noise in which one bit of the significand is the answer."""

    def leak(data, size, rng):
        words = rng.laplace(scale=4, size=size).view(np.uint64)
        return (words & ~np.uint64(1 << place) | np.uint64(int(data.sum()) << place)).view(float)

    return leak


@pytest.mark.parametrize(("place", "least"), [(0, 8.0), (7, 1.0), (47, 1.0)])
@pytest.mark.false_alarm(1e-9)
def test_a_bit_that_is_the_answer_is_refuted_among_the_lowest_eight_or_where_it_moves_the_number(place, least):
    """No output is missed at the lowest bit: the largest bound of 10,000 outputs per dataset is 8.65."""
    result = audit.check_privacy(one_bit(place), CLAIM, [PAIR], budget=10_000, floats="audit", workers=0)
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower_bound > least


@pytest.mark.false_alarm(1e-9)
def test_with_floats_audited_the_textbook_fails():
    result = audit.check_privacy(textbook, CLAIM, [PAIR], budget=10_000, floats="audit", workers=0)
    assert result.verdict is Verdict.FAIL
    assert find_view(result.record()).floats == "FAIL"
    assert result.record()["settings"]["floats"] == "audit"


@pytest.mark.filterwarnings("ignore:overflow")  # of squares, which become infinite and are judged as such
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    ("exponent", "shape"), [(-1074, ()), (-1074, (2,)), (-900, ()), (-500, (2,)), (999, ()), (1023, (2,))]
)
def test_outputs_of_any_magnitude_are_judged(exponent, shape):
    def noisy(data, size, rng):
        return np.ldexp(rng.laplace(size=(size, *shape)) / 64 + data / 64, exponent)

    claim = PrivacyClaim(8.0, relation=Local())
    result = audit.check_privacy(noisy, claim, [(0.0, 1.0)], budget=4_000, floats="audit", seed=3)
    assert result.evidence.failure is None, result.reason
    assert result.evidence.game is not None, result.reason
