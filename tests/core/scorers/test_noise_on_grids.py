"""Noise on a grid that moves with the answer never passes, and roughness that is equal on both sides does not FAIL.

Every leak tells the sides apart in each output, or nearly so: the bound of 174,000 certain guesses is 10.97. No leak
depends on chance, so that a FAIL is not missed. The honest mechanisms are private as claimed: each of the checks FAILs
with probability at most 0.05, the seeds are fixed, and values that training saw may not win with them.
"""

import math

import numpy as np
import pytest

from audit import Local, PrivacyClaim, Verdict, check_privacy

CLAIM, PAIR = PrivacyClaim(1.0, relation=Local()), [(0.0, 1.0)]


def audit(mechanism, budget=100_000, claim=CLAIM, **settings):
    return check_privacy(mechanism, claim, PAIR, budget=budget, seed=0, workers=0, **settings)


def single_noise(answer, size, rng):
    return (0.1, 0.7)[int(answer)] + rng.laplace(size=size).astype(np.float32).astype(float)


def single_noise_on_integers(answer, size, rng):
    return answer + rng.laplace(size=size).astype(np.float32).astype(float)


def rounded_noise(answer, size, rng):
    return (0.1234567, 0.7654321)[int(answer)] + np.round(rng.laplace(size=size), 6)


def lowest_bit(answer, size, rng):
    words = rng.laplace(size=size).view(np.uint64)
    return ((words & ~np.uint64(1)) | np.uint64(int(answer))).view(float)


def shifted_odd_grid(answer, size, rng):
    return (0.3 * answer + np.round(1e3 * rng.laplace(size=size))) * (math.pi * 1e-4)


def payload(answer, size, rng):
    words = rng.laplace(size=size).view(np.uint64)
    return np.where(rng.random(size) < 0.5, np.uint64(0x7FF8000000000000 + int(answer)), words).view(float)


def in_a_vector(answer, size, rng):
    rows = rng.laplace(size=(size, 3))
    rows[:, 1] = single_noise(answer, size, rng)
    return rows


@pytest.mark.parametrize(
    ("mechanism", "least"),
    [
        (rounded_noise, 5.0),  # by the values that training saw
        (shifted_odd_grid, 8.0),  # by values that repeat
        (payload, 10.0),  # half of the outputs, NaN
    ],
)
def test_a_leak_in_every_output_fails_near_the_largest_bound(mechanism, least):
    result = audit(mechanism)
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower_bound > least


@pytest.mark.parametrize("mechanism", [single_noise, single_noise_on_integers, in_a_vector])
def test_noise_of_single_precision_is_named_with_its_number_of_values(mechanism):
    result = audit(mechanism)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "the noise is coarse in output" in result.reason
    assert "which takes about" in result.reason


def test_low_bits_are_left_to_the_audit_of_floating_point():
    """The lowest bit is no grid: numbers read as real ones do not have it."""
    assert audit(lowest_bit).verdict is Verdict.PASS
    assert audit(single_noise, floats="audit").verdict is Verdict.FAIL
    assert audit(lowest_bit, floats="audit").epsilon_lower_bound > 10.6


def textbook(answers, scale, kind=np.float64, draw="laplace"):
    def mechanism(side, size, rng):
        noise = getattr(rng, draw)(scale=scale, size=size).astype(kind)
        return (kind(answers[int(side)]) + noise).astype(kind)

    return mechanism


def snapped(answer, size, rng):
    return np.round((answer + rng.laplace(size=size)) * 1024) / 1024


def shifted_alike(answer, size, rng):
    return 0.3 + snapped(answer, size, rng)


def decimals(answer, size, rng):
    return np.round(answer + rng.laplace(size=size), 3)


def integers(answer, size, rng):
    return 1000 * answer + rng.geometric(1e-3, size) - rng.geometric(1e-3, size)


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (textbook((0, 1), 1.0), 1.0),
        (textbook((0, 1e-3), 5e-3), 0.2),  # the noise itself is rough at its last places
        (textbook((1, 2), 1 / 3, np.float32), 3.0),
        (textbook((57, 58), 20.0), 0.05),
        (textbook((0.1, 0.7), 5.0, draw="normal"), 1.0),
        *((mechanism, 1.0) for mechanism in (snapped, shifted_alike, decimals, integers)),
    ],
)
@pytest.mark.parametrize("budget", [4_000, 100_000])
def test_roughness_that_no_leak_explains_is_left_alone(mechanism, epsilon, budget):
    result = audit(mechanism, budget, PrivacyClaim(epsilon, relation=Local()))
    assert result.verdict is not Verdict.FAIL
    assert result.evidence.game.scorer != "seen values"


@pytest.mark.filterwarnings("ignore:overflow")  # of squares, which become infinite and are judged as such
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("exponent", [-1074, -1060, -1000, -901, -899, -500, 500, 999, 1001, 1023])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_outputs_of_any_magnitude_are_judged(exponent, shape):
    """Sums, differences and frequencies of numbers near the ends of the range overflow; no audit ends with that."""

    def noisy(data, size, rng):
        return np.ldexp(rng.laplace(size=(size, *shape)) / 64 + data / 64, exponent)

    for floats in ("real", "audit"):
        result = check_privacy(noisy, PrivacyClaim(8.0, relation=Local()), PAIR, budget=4_000, floats=floats, seed=3)
        assert result.evidence.failure is None, (floats, result.reason)
        assert result.evidence.game is not None, (floats, result.reason)
