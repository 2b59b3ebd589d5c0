"""Relations of answers, of blanked records and of one's own; sets, mappings and texts as datasets."""

import numpy as np
import pytest

from audit import AddRemove, Distance, Group, Labeled, Local, Neighbors, Substitution
from audit.errors import AuditError
from tests.offenders import for_each

NAN = float("nan")


@for_each(
    [
        (Distance("l1", 1), 0.0, 1.0, None),
        (Distance("l1", 1), 0, 1.5, "l1 distance is 1.5, at most 1"),
        (Distance("l1", 1), [0, 0], [0.5, -0.5], None),
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
    ],
)
def test_which_datasets_are_neighboring(relation, left, right, reason):
    found = relation.why_not(left, right)
    assert found is None if reason is None else reason in found
    assert (relation.why_not(right, left) is None) == (reason is None)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_are_datasets(frame):
    library = pytest.importorskip(frame)
    left, right = (library.DataFrame({"age": [1, 2, last], "name": ["a", "b", "c"]}) for last in (3, 4))
    assert Substitution().why_not(left, right) is None
    assert AddRemove().why_not(left, left[:2]) is None
    assert Substitution().why_not(left, left) is not None


@pytest.mark.parametrize(
    ("make", "said"),
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
)
def test_wrong_settings_are_refused(make, said):
    with pytest.raises(AuditError, match=said):
        make()
