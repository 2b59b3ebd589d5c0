"""Each relation admits its neighbors and names the reason for every other pair.

Datasets are sequences, arrays, frames, sets, mappings, single records and answers.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import AddRemove, Distance, Group, Labeled, LabelFlip, Local, Neighbors, Substitution
from audit.claims import require_neighboring
from audit.claims.relations import rows_that_differ
from audit.errors import AuditError, NotNeighboring
from tests.offenders import for_each, refused

PAIRS = [  # the reason why they are not neighbors, or None
    (Substitution(), [1, 2, 3], [1, 5, 3], None),
    (Substitution(), np.zeros(5), np.r_[1.0, np.zeros(4)], None),
    (Substitution(), np.zeros((3, 2)), np.array([[0, 0], [0, 1], [0, 0]]), None),
    (Substitution(), [0.0, np.nan], [1.0, np.nan], None),
    (Substitution(), ["a", "b"], ["a", "c"], None),
    (Substitution(), Labeled([1, 2], [0, 1]), Labeled([1, 9], [0, 0]), None),
    (AddRemove(), [], [1], None),
    (AddRemove(), [1, 2, 3], [1, 3], None),
    (AddRemove(), np.arange(4), np.arange(5), None),
    (AddRemove(), np.array([7, 1, 2]), np.array([1, 2]), None),
    (LabelFlip(), Labeled([1, 2], [0, 1]), Labeled([1, 2], [0, 0]), None),
    (LabelFlip(), Labeled([[np.nan]], ["a"]), Labeled([[np.nan]], ["b"]), None),
    (Local(), "yes", "no", None),
    (Local(), np.zeros(3), np.ones(4), None),
    (Group(2), [1, 2, 3], [0, 0, 3], None),
    (Group(2), [1, 2, 3], [0, 2, 3], None),
    (Group(2, AddRemove()), [1], [2], None),
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
    (Distance("l1", 1), 0.0, 1.0, None),
    (Distance("l1", 1), 0, 1.5, "l1 distance is 1.5, at most 1"),
    (Distance("l1", 1), [0, 0], [0.5, -0.5], None),
    (Distance("l1", 0.3), 0.0, 0.5, "l1 distance is 0.5, at most 0.3"),
    (Distance("l2", 1), [0, 0], [1, 1], "l2 distance is 1.414213562"),
    (Distance("l2", 1.5), [0, 0], [1, 1], None),
    (Distance("linf", 1), [0, 0], [1, 1], None),
    (Distance("l1", 0.3), [0.1, 0.2], [0.2, 0.4], None),  # 0.30000000000000004
    (Distance("l1", 1), [0, 0], [0], "their shapes are"),
    (Distance("l1", 1), "a", "b", "not numbers"),
    (Distance("l1", 1), 1, 1, "equal"),
    (Neighbors("an edge", lambda a, b: len(a ^ b) == 1), {1, 2}, {1}, None),
    (Neighbors("an edge", lambda a, b: len(a ^ b) == 1), {1, 2}, {1, 2}, "the function says"),
    (Neighbors("an edge", lambda a, b: "no edge" if a == b else None), {1}, {1}, "no edge"),
    (Substitution(), {1, 2}, {1, 3}, None),
    (Substitution(), {1, 2}, {3, 4}, "2 records were replaced"),
    (Substitution(), {"ann": 1, "bob": 2}, {"ann": 1, "bob": 3}, None),
    (Substitution(), {"ann": 1, "bob": 2}, {"ann": 0, "eve": 2}, "2 records were replaced"),
    (Substitution(), {1}, [1], "one dataset is set, the other list"),
    (Substitution(), 1.0, 2.0, "holds no records; for answers to a query give the relation audit.Distance"),
    (AddRemove(), {1, 2}, {1}, None),
    (AddRemove(), frozenset({1}), {1, 2}, None),
    (AddRemove(), {1, 2}, {1, 3}, "2 records were added or removed"),
    (AddRemove(), {"ann": 1}, {"ann": 1, "bob": 2}, None),
    (AddRemove(), {"ann": 1}, {"ann": 2}, "2 records were added or removed"),
    (AddRemove(), None, [1], "holds no records"),
]


@for_each(PAIRS)
def test_which_datasets_are_neighboring(relation, left, right, reason):
    if reason is None:
        require_neighboring(relation, left, right)
    else:
        with pytest.raises(NotNeighboring, match=re.escape(reason)) as caught:
            require_neighboring(relation, left, right)
        assert relation.name in str(caught.value)
    assert (relation.why_not(right, left) is None) == (reason is None)


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


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_are_datasets(frame):
    library = pytest.importorskip(frame)
    left, right = (library.DataFrame({"age": [1, 2, last], "name": ["a", "b", "c"]}) for last in (3, 4))
    assert Substitution().why_not(left, right) is None
    assert AddRemove().why_not(left, left[:2]) is None
    assert Substitution().why_not(left, left) is not None


test_wrong_settings_are_refused = refused(
    [
        (lambda: Distance("l3", 1), "`norm` must be one of l1, l2, linf"),
        (lambda: Distance("l1", 0), "`radius` must"),
        (lambda: Neighbors("", lambda left, right: True), "`label` must"),
        (lambda: Neighbors("mine", 3), "`why_not_or_none` must be callable"),
        (lambda: Labeled([1, 2], [0]), "shape"),
        (lambda: Labeled([1], [[0]]), "shape"),
        (lambda: Labeled(np.zeros((1, 1, 1)), [0]), "shape"),
        *((lambda k=k: Group(k), "`k` must") for k in (0, -1, 1.5, True, "2")),
        (lambda: Group(2, Local()), "`base` must"),
    ],
    error=AuditError,
)
