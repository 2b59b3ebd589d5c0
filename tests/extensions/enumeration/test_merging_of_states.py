"""States that only look alike are not merged: the law would be wrong."""

import array
import fractions
import functools
import types
from fractions import Fraction

import numpy as np
import pytest

import audit
from audit.extensions.enumeration import frames

QUARTERS = [Fraction(1, 4)] * 4
TALLY: list[int] = []
COUNT = 0


def bit(rng):
    return int(rng.random() < 0.5)


def half_evaluated(data, rng):
    return 10 * bit(rng) + bit(rng)


def in_the_arguments_of_a_call(data, rng):
    return pow(2 + bit(rng), 2 + bit(rng))


def in_an_iterator(data, rng):
    found = 0
    for value in (data, (5, 6))[bit(rng)]:
        found = 7 * found + value * (1 + bit(rng))
    return found


def in_a_closure(data, rng):
    count = 0

    def step():
        nonlocal count
        new = bit(rng)
        count = 2 * count + new

    step()
    step()
    return count


def on_the_heap(data, rng):
    found = []
    for _ in range(2):
        found.append(bit(rng))  # noqa: PERF401
    return tuple(found)


def shared_or_not(data, rng):
    first = [0]
    second = first if bit(rng) else [0]
    again = bit(rng)
    first.append(1)
    return len(second), again


class Counter:
    def __init__(self):
        self.count = 0

    def step(self, rng):
        new = bit(rng)
        self.count = 2 * self.count + new


def in_an_attribute(data, rng):
    counter = Counter()
    counter.step(rng)
    counter.step(rng)
    return counter.count


def in_a_global_list(data, rng):
    TALLY.append(bit(rng))
    TALLY.append(bit(rng))
    found = tuple(TALLY)
    TALLY.clear()
    return found


def in_a_global_name(data, rng):
    global COUNT
    COUNT = bit(rng)
    again = bit(rng)
    found, COUNT = (COUNT, again), 0
    return found


def in_a_draw(data, rng):
    u = rng.random()
    _ = u < 0.5
    again = bit(rng)
    return u < 0.5, again


def in_an_exception(data, rng):
    try:
        raise KeyError(bit(rng))
    except KeyError as error:
        return 2 * error.args[0] + bit(rng)


def behind_c_code(data, rng):
    return tuple(map(lambda _: bit(rng), range(2)))  # noqa: C417


def in_a_generator(data, rng):
    return tuple(bit(rng) for _ in range(2))


def in_another_frame(data, rng):
    def inner(number):
        return number + bit(rng)

    return inner(2 * bit(rng))


def in_a_deque(data, rng):
    from collections import deque

    found = deque([bit(rng)])
    found.append(bit(rng))
    return tuple(found)


def in_an_output(data, rng):
    first = bit(rng)
    return rng.integers(2), first


def in_an_array(data, rng):
    return tuple(map(int, rng.integers(2, size=2)))


def in_a_choice(data, rng):
    return tuple(map(str, rng.choice(np.array(["a", "b"]), size=2, p=[0.5, 0.5])))


def in_comparisons_with_an_array(data, rng):
    return tuple(map(bool, rng.random() < np.array([0.25, 0.75, 0.5])))


class Drawn:
    """A threshold that is drawn when it is compared with."""

    def __init__(self, rng):
        self.rng = rng

    def __gt__(self, other):
        return bit(self.rng) == 1


def behind_a_stand_in(data, rng):
    return bit(rng) + 2 * (rng.random() < Drawn(rng))


def in_a_row_that_is_held(data, rng):
    row = [0, 0]
    left = iter(row if bit(rng) else [0, 0])
    next(left)
    again = bit(rng)
    row[1] = 1
    return next(left), again


NUMBERS = array.array("i")


@functools.cache
def cached(key, source):
    return bit(source)


def in_a_global_array(data, rng):
    NUMBERS.append(bit(rng))
    NUMBERS.append(bit(rng))
    found = tuple(NUMBERS)
    del NUMBERS[:]
    return found


def in_a_cache(data, rng):
    cached(0, rng)
    second = bit(rng)
    again = cached(0, rng)
    cached.cache_clear()
    return again, second


SUBJECTS = [
    in_a_row_that_is_held,
    in_a_global_array,
    in_a_cache,
    in_an_array,
    in_a_choice,
    in_comparisons_with_an_array,
    behind_a_stand_in,
    in_an_output,
    half_evaluated,
    in_the_arguments_of_a_call,
    in_a_closure,
    on_the_heap,
    shared_or_not,
    in_an_attribute,
    in_a_global_list,
    in_a_global_name,
    in_a_draw,
    in_an_exception,
    behind_c_code,
    in_a_generator,
    in_another_frame,
    in_a_deque,
]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.__name__)
def test_what_is_hidden_tells_states_apart(subject):
    law = audit.enumerate_law(subject, (1, 2))
    assert sorted(law.probabilities.values()) == QUARTERS
    assert law.residual == 0


def test_the_iterator_of_a_loop_is_part_of_the_state():
    law = audit.enumerate_law(in_an_iterator, (1, 2))
    assert law.residual == 0
    assert law.notes == ()
    assert set(law.probabilities) == {a * 7 * i + b * j for a, b in ((1, 2), (5, 6)) for i in (1, 2) for j in (1, 2)}


def test_a_fraction_of_a_draw_is_a_state():
    def tossed(data, rng):
        while True:
            share = fractions.Fraction(rng.randrange(8), 8)
            if rng.randrange(8) < 8 * share:
                return share

    law = audit.enumerate_law(tossed, 0, rng="random")
    assert law.residual == 0
    assert law.notes == ()
    assert law.probabilities == {Fraction(k, 8): Fraction(k, 28) for k in range(1, 8)}


def test_states_that_are_the_same_are_merged():
    """After each of 60 coins only their parity is left: 2^60 paths, and two states per place."""

    def parity(number, rng):
        odd = False
        for _ in range(number):
            coin = rng.random() < 0.5
            odd ^= coin
        return odd

    law = audit.enumerate_law(parity, 60)
    assert law.probabilities == {False: Fraction(1, 2), True: Fraction(1, 2)}
    assert law.states < 200


def more(value):
    return value + 1


def test_a_walk_has_one_state_per_place_and_step():
    def walk(number, rng):
        place = 0
        for _ in range(number):
            place = min(3, more(place)) if rng.random() < 0.5 else max(0, place - 1)
        return place

    law = audit.enumerate_law(walk, 30)
    assert law.residual == 0
    assert law.states < 200


def test_where_frames_cannot_be_read_nothing_is_merged(monkeypatch):
    """As on other interpreters: a rejection loop is followed to the residual, and the law says why."""
    monkeypatch.setattr(frames, "IS_READABLE", False)

    def die(sides, rng):
        while (face := rng.getrandbits(3)) >= sides:
            pass
        return face + 1

    law = audit.enumerate_law(die, 6, rng="random", residual=1e-6)
    assert law.behind == ()
    assert 0 < law.residual <= Fraction(1, 10**6)
    assert law.probabilities[3] <= Fraction(1, 6) <= law.probabilities[3] + law.residual
    assert "states were not merged: frames cannot be read on this interpreter" in law.notes
    assert law.merges == 0


@pytest.mark.parametrize(
    ("name", "argument", "before"),
    [
        ("LOAD_FAST", 1, 0b1010),
        ("STORE_FAST", 3, 0b0000),
        ("LOAD_FAST_AND_CLEAR", 2, 0b1100),
        ("LOAD_FAST_LOAD_FAST", 0x12, 0b1110),
        ("STORE_FAST_LOAD_FAST", 0x32, 0b0100),
        ("STORE_FAST_LOAD_FAST", 0x33, 0b0000),  # what is loaded was just stored
        ("STORE_FAST_STORE_FAST", 0x31, 0b0000),
        ("STORE_FAST_MAYBE_NULL", 0, 0b1111),  # not known: all variables count as read
    ],
)
def test_variables_are_live_before_they_are_read(name, argument, before):
    """The fourth variable is live afterwards; the numbers of pairs are those of CPython 3.13, four bits each."""
    instruction = types.SimpleNamespace(opname=name, arg=argument)
    assert frames._read_before(0b1000, instruction, 0b1111) == before
