"""Distances are exact: by hand, against brute force, and at the last place of floats."""

import math
from fractions import Fraction

import numpy as np
import pytest

from audit.errors import InvalidArgument
from audit.extensions.stability.lengths import Length, exact
from audit.extensions.stability.metrics import METRICS, PerPartition, metric_of

NAN = math.nan


@pytest.mark.parametrize(
    ("name", "left", "right", "squared_or_not"),
    [
        ("symmetric", [1, 1, 2], [1, 3], 3),
        ("symmetric", [NAN, 0.0], [0.0, NAN], 0),
        ("symmetric", [0.0], [-0.0], 2),
        ("symmetric", [0.1, 1], [math.nextafter(0.1, 1), 1], 2),
        ("symmetric", [1], [1.0], 2),
        ("symmetric", [True], [1], 2),
        ("symmetric", [[1, 2]], [(1, 2)], 2),
        ("symmetric", "ab", "abc", math.inf),  # text is one record
        ("symmetric", np.array([1, 2]), np.array([2, 1]), 0),
        ("insert_delete", [1, 2, 3], [2, 3, 1], 2),
        ("insert_delete", [], [5, 5], 2),
        ("change_one", [1, 2, 3], [3, 2, 4], 1),
        ("change_one", [1], [1, 2], math.inf),
        ("hamming", [1, 2, 3], [3, 2, 1], 2),
        ("hamming", [1], [], math.inf),
        ("discrete", {"a": [1]}, {"a": [1]}, 0),
        ("discrete", "a", "b", 1),
        ("absolute", 2**53 + 1, float(2**53), 1),  # rounded to floats they are equal
        ("absolute", math.inf, math.inf, 0),
        ("absolute", NAN, NAN, 0),
        ("absolute", NAN, 1.0, math.inf),
        ("l0", [1, 2, 3], [1, 0, 0], 2),
        ("l1", [1, -2], [-1, 2], 6),
        ("l2", [0, 0], [3, 4], 25),
        ("linf", [0, 0], [3, 4], 4),
        ("linf", [], [], 0),
        ("l1", {"a": 1, "b": 2}, {"b": 5}, 4),  # a key that is not there counts 0
        ("l1", [1, 2], [1], math.inf),
        ("l2", [1.0, 2.0], {"a": 1}, math.inf),
    ],
)
def test_distances_by_hand(name, left, right, squared_or_not):
    assert METRICS[name].between(left, right).raised == squared_or_not
    assert METRICS[name].between(right, left).raised == squared_or_not


def edits(word, alphabet):
    """All words one insertion or one deletion away."""
    for place in range(len(word) + 1):
        yield from ((*word[:place], letter, *word[place:]) for letter in alphabet)
    yield from (word[:place] + word[place + 1 :] for place in range(len(word)))


def test_insertions_and_deletions_against_a_walk_through_all_words():
    start, alphabet = (0, 1, 0, 2), (0, 1, 2)
    reached, border = {start: 0}, [start]
    for steps in range(1, 5):
        border = [word for old in border for word in edits(old, alphabet) if len(word) <= 6 and word not in reached]
        reached.update(dict.fromkeys(border, steps))
    assert len(reached) > 500
    for word, steps in reached.items():
        assert METRICS["insert_delete"].between(start, word).raised == steps, word


def test_no_last_place_is_missed_or_invented():
    third = 0.1 + 0.2  # the next float above 0.3
    difference = METRICS["absolute"].between(third, 0.0)
    assert difference.exceeds(0.3)
    assert not difference.exceeds(third)
    assert METRICS["l2"].between([1.0, 1.0], [0.0, 0.0]).exceeds(math.nextafter(math.sqrt(2), 0))
    assert not METRICS["l2"].between([1.0, 1.0], [0.0, 0.0]).exceeds(math.sqrt(2))  # the float above the root
    assert METRICS["linf"].between([5e-324], [0.0]).exceeds(0)


def test_lengths_are_rounded_up():
    for raised, power in ((2, 2), (Fraction(1, 3), 1), (Fraction(10) ** 400, 1), (Fraction(1, 10**30), 2)):
        length = Length(Fraction(raised), power)
        number = length.rounded_up()
        assert not length.exceeds(number)
        assert number == math.inf or length.exceeds(math.nextafter(number, 0))


def test_partitions():
    left, right = {"a": [1, 2], "b": [3], "c": [4]}, {"a": [1, 5], "c": [4], "d": [6]}
    by_order = {1: 4, 2: 6}  # distances 2, 1, 0, 1
    for order, expected in by_order.items():
        assert PerPartition("symmetric", order=order).between(left, right).raised == expected
    assert PerPartition("symmetric").between([[1]], [[1], [2]]).raised == math.inf  # partitions have keys
    assert PerPartition("l2", order=2).between({"a": [3]}, {"a": [0], "b": [4]}).raised == math.inf
    assert PerPartition("l1", order=1).between({"a": {"x": 1}}, {"a": {"x": 3}}).raised == 2


def test_a_distance_of_your_own_and_what_is_none():
    assert metric_of(lambda left, right: abs(len(left) - len(right))).between([1], []).raised == 1
    with pytest.raises(InvalidArgument, match="`a distance` must be at least 0, got -1"):
        metric_of(lambda left, right: -1).between([1], [])
    with pytest.raises(InvalidArgument, match="symmetric, insert_delete"):
        metric_of("manhattan")
    with pytest.raises(InvalidArgument, match="order"):
        PerPartition("l1", order=3)
    with pytest.raises(InvalidArgument, match="finite numbers"):
        exact("1")
