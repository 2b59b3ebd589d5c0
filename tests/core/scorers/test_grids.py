"""Grids of round width that move with the answer FAIL, and roughness that is equal on both sides does not.

Every leak tells the sides apart in each output, or nearly so: the bound of 174,000 certain guesses is 10.97. No leak
depends on chance, so that a FAIL is not missed. The honest mechanisms are private as claimed: each of the checks FAILs
with probability at most 0.05, the seeds are fixed, and residues may not win with them.
"""

import math

import numpy as np
import pytest

from audit import Local, PrivacyClaim, Verdict, check_privacy
from audit.scorers.counts import find_residues, find_round_widths

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


def rounded_on_one_side(answer, size, rng):
    noise = rng.laplace(size=size)
    return np.round(noise, 9) if answer else noise


def single_on_one_side(answer, size, rng):
    noise = rng.laplace(size=size)
    return noise.astype(np.float32).astype(float) if answer else noise


@pytest.mark.parametrize(
    ("mechanism", "least"),
    [
        (single_noise, 10.6),
        (single_noise_on_integers, 8.0),  # the exponents of both sides overlap
        (rounded_noise, 10.6),
        (shifted_odd_grid, 8.0),  # by values that repeat
        (payload, 10.0),  # half of the outputs, NaN
        (rounded_on_one_side, 9.9),  # one in 64 of the others
        (single_on_one_side, 10.6),
        (in_a_vector, 10.6),
    ],
)
def test_a_leak_in_every_output_fails_near_the_largest_bound(mechanism, least):
    result = audit(mechanism)
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower_bound > least


def test_low_bits_are_left_to_the_audit_of_floating_point():
    """The lowest bit is no grid: numbers read as real ones do not have it."""
    assert audit(lowest_bit).verdict is Verdict.PASS


def textbook(answers, scale, kind=np.float64, draw="laplace"):
    def mechanism(side, size, rng):
        noise = getattr(rng, draw)(scale=scale, size=size).astype(kind)
        return (kind(answers[int(side)]) + noise).astype(kind)

    return mechanism


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (textbook((0, 1), 1.0), 1.0),
        (textbook((0, 1e-3), 5e-3), 0.2),  # the noise itself is rough at its last places
        (textbook((1, 2), 1 / 3, np.float32), 3.0),
        (textbook((0.1, 0.7), 5.0, draw="normal"), 1.0),
    ],
)
def test_roughness_that_no_leak_explains_is_left_alone(mechanism, epsilon):
    result = audit(mechanism, 100_000, PrivacyClaim(epsilon, relation=Local()))
    assert result.verdict is not Verdict.FAIL
    assert result.evidence.game.scorer != "residues"


def test_residues_by_hand():
    """Multiples of the width are in the middle of cell 0, and rounding errors do not move them."""
    values = np.array([0.0, 3.0, 0.75, -0.75, 1.5, 9.0, np.nan, np.inf])
    assert find_residues(values, 3.0, 4.0).tolist() == [0, 0, 16, 48, 32, 64, 64, 64]
    grid = np.arange(-10_000, 10_000) * 1e-6
    assert np.all(find_residues(grid, 1e-6, 1.0) == 0)
    assert np.all(find_residues(grid + 3e-7, 1e-6, 1.0) == 19)  # 0.3 * 64 = 19.2
    assert find_residues(np.array([0.1, 0.5, np.nan]), 0.0, 1.0).tolist() == [0, 1, 64]  # held by single precision


def test_round_widths_lie_between_their_limits():
    assert find_round_widths(0.9e-3, 0.3) == [2.0**k for k in range(-10, -1)] + [1e-3, 1e-2, 1e-1]
    assert find_round_widths(1.0, 0.5) == find_round_widths(0.0, 0.5) == []


@pytest.mark.filterwarnings("ignore:overflow")  # of squares, which become infinite and are judged as such
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("exponent", [-1074, 1023])
def test_outputs_of_any_magnitude_are_judged(exponent):
    """Sums, differences and frequencies of numbers near the ends of the range overflow; no audit ends with that."""

    def noisy(data, size, rng):
        return np.ldexp(rng.laplace(size=(size, 2)) / 64 + data / 64, exponent)

    result = check_privacy(noisy, PrivacyClaim(8.0, relation=Local()), PAIR, budget=4_000, seed=3)
    assert result.evidence.failure is None, result.reason
    assert result.evidence.game is not None, result.reason
