"""What people write with draws: sums over users, generators, and samplers of a released library."""

import math
import random
from fractions import Fraction

import pytest

import audit


def law_of(function, data=1):
    return audit.enumerate_law(function, data)


def by_sum_of_a_generator(data, rng):
    return sum(bit ^ (rng.random() < 0.25) for bit in data)


def noisy(data, rng):
    for bit in data:
        yield bit ^ (rng.random() < 0.25)


def by_a_loop_over_a_generator(data, rng):
    total = 0
    for bit in noisy(data, rng):
        total += bit
    return total


@pytest.mark.parametrize("function", [by_sum_of_a_generator, by_a_loop_over_a_generator])
def test_many_users_are_added_up(function):
    law = law_of(function, (0, 1) * 6)
    half = [Fraction(math.comb(6, k) * 3 ** (6 - k), 4**6) for k in range(7)]
    truth = [sum(half[j] * half[6 - k + j] for j in range(7) if 0 <= 6 - k + j <= 6) for k in range(13)]
    assert [law.probabilities[k] for k in range(13)] == truth
    assert (law.residual, law.behind) == (0, ())
    assert law.merges == law.merges_tested > 20


def keeps_a_coin(rng):
    coin = int(rng.random() < 0.5)
    yield int(rng.random() < 0.5)
    yield 2 * coin


def number_of_six(data, rng):
    total = 0
    for _ in range(6):
        for value in keeps_a_coin(rng):
            total += value
    return total


def test_what_a_generator_keeps_is_part_of_the_state():
    """A generator that has given a value goes on: as a call that has returned, it would give one value for both."""
    one = {k: Fraction(math.comb(6, k), 64) for k in range(7)}
    truth = {t: sum(one[k] * one.get(t - 2 * k, 0) for k in range(7)) for t in range(19)}
    assert law_of(number_of_six).probabilities == truth


def test_the_exponential_mechanism_of_a_library_keeps_its_claim_exactly():
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")
    made = {d: mechanisms.Exponential(epsilon=1.0, sensitivity=1, utility=list(d)) for d in ((0, 1, 2), (1, 0, 1))}
    mechanism = audit.per_call(lambda d: made[d].randomise())
    claim = audit.PrivacyClaim(1.0, relation=audit.Local())
    result = audit.check_privacy(mechanism, claim, [tuple(made)], method="enumerate")
    assert (str(result.verdict), result.basis) == ("PASS", "proof")
    assert "delta = 0" in result.reason


def test_samplers_are_followed_as_they_are_built():
    """A source of the system that a mechanism holds."""
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")
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
