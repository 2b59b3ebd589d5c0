"""What people write with draws: conversions, roundings, squares, searches and normal noise."""

import math
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
