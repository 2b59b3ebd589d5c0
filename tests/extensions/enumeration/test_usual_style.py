"""What people write with draws: conversions, roundings, squares, searches and normal noise."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import audit

ENDS = np.cumsum([0.125, 0.25, 0.625])


def law_of(function, data=1):
    return audit.enumerate_law(function, data)


def by_square(data, rng):
    u = rng.random()
    return u * u < 0.0625


def by_power(data, rng):
    return rng.random() ** 2 < 0.0625


def by_sum(data, rng):
    u = rng.random()
    return u + u - (1 - u) < -0.25


@pytest.mark.parametrize(
    "function",
    [by_square, by_power, by_sum],
    ids=lambda function: function.__name__,
)
def test_a_quarter_in_the_usual_styles(function):
    law = law_of(function)
    assert law.behind == ()
    assert law.residual == 0
    assert abs(law.probabilities[True] - Fraction(1, 4)) < Fraction(1, 2**50)


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_index_is_searched_for(side):
    for function in (
        lambda data, rng: int(np.searchsorted(ENDS, rng.random(), side=side)),
        lambda data, rng: int(ENDS.searchsorted(rng.random(), side)),
    ):
        law = law_of(function)
        assert law.residual == 0
        assert [float(law.probabilities[k]) for k in range(3)] == pytest.approx([0.125, 0.25, 0.625])


def test_rounded_numbers_are_told_apart_by_their_values():
    law = law_of(lambda data, rng: round(rng.random() - 0.5, 1))
    assert law.residual == 0
    assert float(law.texts["float: -0.0"] if "float: -0.0" in law.texts else law.texts["-0.0"]) == pytest.approx(0.05)
    assert sum(law.texts.values()) == 1


def test_a_product_that_is_not_monotone_is_left_over():
    def middle(data, rng):
        u = rng.random() - 0.5
        return u * u < 0.0625

    assert law_of(middle).residual == 1  # truth: 1/2


def mixed(values, rng):
    values = list(values)
    rng.shuffle(values)
    return tuple(values)


@pytest.mark.parametrize("source", ["numpy", "random"])
def test_equal_values_are_shuffled_as_one(source):
    law = audit.enumerate_law(mixed, (0, 1, 0, 2), rng=source)
    assert set(law.probabilities) == set(itertools.permutations((0, 1, 0, 2)))
    assert set(law.probabilities.values()) == {Fraction(1, 12)}
    assert (law.residual, law.behind) == (0, ())


def test_values_that_are_equal_and_of_other_types_are_told_apart():
    assert set(law_of(mixed, (True, 1, 1)).texts.values()) == {Fraction(1, 3)}


def test_the_order_before_a_shuffle_is_forgotten():
    def reports(data, rng):
        found = [int(rng.random() < 0.5) for _ in range(4)]
        rng.shuffle(found)
        return tuple(found)

    law = law_of(reports)
    assert set(law.probabilities.values()) == {Fraction(1, 16)}
    assert law.states < 50


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


def test_a_state_needs_the_frame_of_the_generator():
    """Frames of generators are read as all others: two that differ in a variable are not the same."""

    def three(data, rng):
        def bits():
            kept = int(rng.random() < 0.5)
            yield 2 * kept + int(rng.random() < 0.5)

        return sum(bits())

    assert set(law_of(three).probabilities.values()) == {Fraction(1, 4)}
