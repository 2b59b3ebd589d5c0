"""Datasets of records, and how two of them differ: in which positions, by which insertions, under which keys.

A dataset is a sequence of records: a numpy array (records along the first axis), a list, a tuple, a text, a data frame,
any object with `len` and integer indexing, or `Labeled`; a set; or a mapping from keys to records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from audit.errors import InvalidArgument

_LCS_CELLS = 4_000_000  # largest table for the edit distance; beyond it the pair is too far apart to be a group
_SETS = (set, frozenset)
_PLAIN = "biufcSUMm"  # kinds of arrays whose entries are compared all at once


@dataclass(frozen=True, eq=False)
class Labeled:
    """A labeled dataset: features and labels, one record per row.

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Features.
    y : array, shape (n,)
        Labels.

    Raises
    ------
    InvalidArgument
        If the shapes are others, or the two lengths differ.

    Examples
    --------
    >>> from audit import Labeled
    >>> data = Labeled([[0.0, 1.0], [2.0, 3.0]], ["no", "yes"])
    >>> len(data)
    2
    >>> data[1]
    (array([2., 3.]), np.str_('yes'))
    """

    X: Any
    y: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", np.asarray(self.X))
        object.__setattr__(self, "y", np.asarray(self.y))
        if self.y.ndim != 1:
            raise InvalidArgument.of("y", "have shape (n,)", self.y.shape)
        if self.X.ndim not in (1, 2) or len(self.X) != len(self.y):
            raise InvalidArgument.of("X", f"have shape (n, d) or (n,) with n = {len(self.y)}", self.X.shape)

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.X[index], self.y[index]


def same_record(left: Any, right: Any) -> bool:
    """Return whether two records are equal: same shape, same elements, NaN equal to NaN."""
    if type(left) is type(right) and type(left) in (bool, int, float):  # most records, and quick
        return bool(left == right or (left != left and right != right))
    if isinstance(left, (str, bytes)) or isinstance(right, (str, bytes)):
        return type(left) is type(right) and left == right
    if isinstance(left, Labeled) or isinstance(right, Labeled):
        both = isinstance(left, Labeled) and isinstance(right, Labeled)
        return both and same_record(left.X, right.X) and same_record(left.y, right.y)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same_record, left, right))
    try:
        a, b = np.asarray(left), np.asarray(right)
    except ValueError:  # ragged
        return bool(left == right)
    if any(array.ndim == 0 and array.dtype.kind not in _PLAIN for array in (a, b)):
        return bool(left == right)
    return a.shape == b.shape and bool(np.all(equal_entries(a, b)))


def equal_entries(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if "O" in (a.dtype.kind, b.dtype.kind):
        pairs = zip(a.ravel(), b.ravel(), strict=True)
        return np.array([x is y or same_record(x, y) for x, y in pairs], dtype=bool).reshape(a.shape)
    return np.asarray(a == b) | (np.asarray(a != a) & np.asarray(b != b))  # NaN equals NaN


def not_records(left: Any, right: Any) -> str:
    """Return why the two do not hold records; "" if they do."""
    kinds = _SETS, Mapping
    if any(isinstance(left, kind) != isinstance(right, kind) for kind in kinds):
        return f"one dataset is {type(left).__name__}, the other {type(right).__name__}"
    for side, data in (("left", left), ("right", right)):
        has_records = hasattr(data, "__len__") and (hasattr(data, "__getitem__") or isinstance(data, kinds))
        if not has_records or (isinstance(data, np.ndarray) and data.ndim == 0):
            return (
                f"the {side} dataset is {type(data).__name__}, which holds no records; for answers to a query give "
                'the relation audit.Distance("l1", 1), for single records audit.Local()'
            )
    return ""


class _Apart(NamedTuple):
    only_left: int  # records with no counterpart
    only_right: int
    changed: int  # records of one key with two values


def unordered(left: Any, right: Any) -> _Apart | None:
    """Return how two sets, or two mappings from keys to records, differ; None for datasets in an order."""
    if isinstance(left, _SETS):
        return _Apart(len(left - right), len(right - left), 0)
    if isinstance(left, Mapping):
        shared = left.keys() & right.keys()
        changed = sum(not same_record(left[key], right[key]) for key in shared)
        return _Apart(len(left) - len(shared), len(right) - len(shared), changed)
    return None


def records(data: Any) -> Any:
    """Return an object that integer positions index; a data frame indexes by label."""
    return data.to_numpy() if hasattr(data, "to_numpy") else data


def positions_that_differ(left: Any, right: Any) -> int:
    left, right = records(left), records(right)
    differ = rows_that_differ(left, right)
    if differ is not None:
        return int(np.sum(differ))
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.shape == right.shape:
        equal = equal_entries(left, right)
        return int(np.sum(~equal.reshape(len(left), -1).all(axis=1))) if left.size else 0
    return sum(not same_record(left[i], right[i]) for i in range(len(left)))


def edit_distance(left: Any, right: Any) -> int | str:
    differ = rows_that_differ(left, right)
    start = 0 if differ is None else int(np.argmax(np.r_[differ, True]))
    a, b = ([data[i] for i in range(start, len(data))] for data in (left, right))
    for _ in range(2):  # cut off what the two share at the start, then at the end
        shared = sum(1 for _ in takewhile(lambda pair: same_record(*pair), zip(a, b, strict=False)))
        a, b = a[shared:][::-1], b[shared:][::-1]
    if len(a) * len(b) > _LCS_CELLS:
        return "the datasets differ in more records than this relation can compare"
    common = [0] * (len(b) + 1)  # the longest common subsequences of a's first records with each start of b
    for x in a:
        above, common = common, [0]
        for j, y in enumerate(b):
            common.append(above[j] + 1 if same_record(x, y) else max(above[j + 1], common[j]))
    return len(a) + len(b) - 2 * common[-1]


def rows_that_differ(left: Any, right: Any) -> np.ndarray | None:
    """Test in which of the first rows two arrays, or two `Labeled`, differ; None for datasets without columns."""
    if isinstance(left, Labeled) and isinstance(right, Labeled):
        X, y = rows_that_differ(left.X, right.X), rows_that_differ(left.y, right.y)
        return None if X is None or y is None else X | y
    arrays = all(isinstance(data, np.ndarray) and data.dtype.kind in _PLAIN for data in (left, right))
    if not arrays or left.shape[1:] != right.shape[1:]:
        return None
    length = min(len(left), len(right))
    equal = equal_entries(left[:length], right[:length]).reshape(length, math.prod(left.shape[1:]))
    return np.asarray(~equal.all(axis=1))
