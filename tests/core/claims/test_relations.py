"""Each relation admits its neighbors and names the reason for every other pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import AddRemove, Group, Labeled, LabelFlip, Local, Substitution
from audit.claims import require_neighboring
from audit.claims.relations import rows_that_differ
from audit.errors import NotNeighboring

NEIGHBORS = [
    (Substitution(), [1, 2, 3], [1, 5, 3]),
    (Substitution(), np.zeros(5), np.r_[1.0, np.zeros(4)]),
    (Substitution(), np.zeros((3, 2)), np.array([[0, 0], [0, 1], [0, 0]])),
    (Substitution(), [0.0, np.nan], [1.0, np.nan]),
    (Substitution(), ["a", "b"], ["a", "c"]),
    (Substitution(), Labeled([1, 2], [0, 1]), Labeled([1, 9], [0, 0])),
    (AddRemove(), [], [1]),
    (AddRemove(), [1, 2, 3], [1, 3]),
    (AddRemove(), np.arange(4), np.arange(5)),
    (AddRemove(), np.array([7, 1, 2]), np.array([1, 2])),
    (LabelFlip(), Labeled([1, 2], [0, 1]), Labeled([1, 2], [0, 0])),
    (LabelFlip(), Labeled([[np.nan]], ["a"]), Labeled([[np.nan]], ["b"])),
    (Local(), "yes", "no"),
    (Local(), np.zeros(3), np.ones(4)),
    (Group(2), [1, 2, 3], [0, 0, 3]),
    (Group(2), [1, 2, 3], [0, 2, 3]),
    (Group(2, AddRemove()), [1], [2]),
]

STRANGERS = [
    (Substitution(), [1, 2], [1, 2], "equal"),
    (Substitution(), [1, 2], [2, 1], "2 records"),
    (Substitution(), [1], [1, 2], "1 and 2 records"),
    (Substitution(), 3.0, 4.0, "which holds no records"),
    (Substitution(), np.array(1.0), np.array(2.0), "which holds no records"),
    (Substitution(), [np.nan], [np.nan], "equal"),
    (AddRemove(), [1], [2], "2 records"),
    (AddRemove(), [1, 2, 3], [3, 1], "3 records"),
    (AddRemove(), [1], [1], "equal"),
    (LabelFlip(), [1], [2], "audit.Labeled"),
    (LabelFlip(), Labeled([1], [0]), Labeled([2], [1]), "features differ"),
    (LabelFlip(), Labeled([1, 2], [0, 0]), Labeled([1, 2], [1, 1]), "2 labels"),
    (LabelFlip(), Labeled([1], [0]), Labeled([1, 1], [0, 1]), "1 and 2 records"),
    (Local(), 1, 1, "equal"),
    (Group(2), [1, 2, 3], [4, 5, 6], "3 steps"),
    (Group(3, LabelFlip()), Labeled([1], [0]), [1], "audit.Labeled"),
]


@pytest.mark.parametrize(("relation", "left", "right"), NEIGHBORS)
def test_neighbors_are_admitted_both_ways(relation, left, right):
    assert relation.why_not(left, right) is None
    assert relation.why_not(right, left) is None
    require_neighboring(relation, left, right)


@pytest.mark.parametrize(("relation", "left", "right", "why"), STRANGERS)
def test_strangers_are_refused_with_the_reason(relation, left, right, why):
    with pytest.raises(NotNeighboring, match=why) as caught:
        require_neighboring(relation, left, right)
    assert relation.name in str(caught.value)


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 12), st.integers(0, 3))
def test_inserting_anywhere_is_adding(records, position, record):
    position = min(position, len(records))
    assert AddRemove().distance(records, [*records[:position], record, *records[position:]]) == 1


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8))
def test_edit_distance_is_a_metric_with_the_obvious_bounds(a, b):
    distance = AddRemove().distance(a, b)
    assert distance == AddRemove().distance(b, a)
    assert abs(len(a) - len(b)) <= distance <= len(a) + len(b)
    assert (distance == 0) == (a == b)


@given(st.lists(st.sampled_from([0.0, 1.0, np.nan]), max_size=8), st.lists(st.sampled_from([0.0, np.nan]), max_size=8))
def test_arrays_and_labeled_data_are_as_far_apart_as_their_records(a, b):
    length = min(len(a), len(b))
    for relation, pair in ((AddRemove(), (a, b)), (Substitution(), (a[:length], b[:length]))):
        expected, flat = relation.distance(*pair), [np.array(side, dtype=float) for side in pair]
        columns = [np.c_[side, np.ones(len(side))] for side in flat]
        assert relation.distance(*flat) == relation.distance(*columns) == expected
        assert relation.distance(*(Labeled(X, np.zeros(len(X))) for X in columns)) == expected
        assert relation.distance(*(Labeled(np.zeros(len(X)), X[:, 0]) for X in columns)) == expected


@given(st.lists(st.integers(0, 2), min_size=1, max_size=10), st.data())
def test_substitution_counts_positions(records, data):
    other = data.draw(st.lists(st.integers(0, 2), min_size=len(records), max_size=len(records)))
    assert Substitution().distance(records, other) == sum(x != y for x, y in zip(records, other, strict=True))


def test_rows_are_compared_at_once_where_arrays_hold_plain_values():
    left, right = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]]), np.array([[1.0, np.nan], [2.0, 0.0]])
    assert rows_that_differ(left, right).tolist() == [False, True]
    assert rows_that_differ(left.astype(object), right) is None
