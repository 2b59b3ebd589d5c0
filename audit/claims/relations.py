"""Which datasets are neighboring, and why a pair is not.

A dataset is a sequence of records: a numpy array (records along the first axis), a list, a tuple, anything with
`len` and integer indexing, or `Labeled`. Under `Local` a dataset is one record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from audit.base.arguments import integer
from audit.base.errors import InvalidArgument, NotNeighboring

_LCS_CELLS = 4_000_000  # largest table for the edit distance; beyond it the pair is too far apart to be a group


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


@runtime_checkable
class Relation(Protocol):
    """The interface of a relation: a name, and the reason why a pair is not neighboring."""

    name: str

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the pair is neighboring, else one sentence that says why it is not."""
        ...


def require_neighboring(relation: Relation, left: Any, right: Any, name: str = "pairs") -> None:
    """Raise `NotNeighboring` unless `(left, right)` is a pair of distinct neighbors under `relation`."""
    reason = relation.why_not(left, right)
    if reason is not None:
        raise NotNeighboring(f"`{name}` must be neighboring under {relation.name}: {reason}")


class _Steps(ABC):
    """A relation that counts the steps between two datasets; one step makes them neighbors."""

    @abstractmethod
    def distance(self, left: Any, right: Any) -> int | str:
        """Return the least number of steps that turn one dataset into the other, or the reason why there is none."""

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if exactly one step lies between the datasets, else the reason."""
        return _outside(self.distance(left, right), 1, self._steps)

    _steps: ClassVar[str]


@dataclass(frozen=True)
class Substitution(_Steps):
    """Neighbors differ in one record, which is replaced by another; the number of records is public.

    References
    ----------
    Called "bounded" differential privacy by Kifer & Machanavajjhala 2011, No Free Lunch in Data Privacy.

    Examples
    --------
    >>> from audit import Substitution
    >>> Substitution().why_not([1, 2, 3], [1, 9, 3]) is None
    True
    >>> Substitution().why_not([1, 2, 3], [1, 2])
    'the datasets have 3 and 2 records, substitution keeps their number'
    """

    name: str = field(default="substitution", init=False)
    _steps: ClassVar[str] = "records were replaced"

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the number of positions that differ, or the reason why it is not defined."""
        if problem := _not_sequences(left, right):
            return problem
        if len(left) != len(right):
            return f"the datasets have {len(left)} and {len(right)} records, substitution keeps their number"
        return _positions_that_differ(left, right)


@dataclass(frozen=True)
class AddRemove(_Steps):
    """Neighbors differ by one record that is inserted anywhere or removed; the order of the others stays.

    References
    ----------
    Dwork & Roth 2014, The Algorithmic Foundations of Differential Privacy, section 2.3.

    Examples
    --------
    >>> from audit import AddRemove
    >>> AddRemove().why_not([1, 2, 3], [1, 3]) is None
    True
    >>> AddRemove().why_not([1, 2, 3], [1, 9, 3])
    '2 records were added or removed, at most 1 may'
    """

    name: str = field(default="add/remove", init=False)
    _steps: ClassVar[str] = "records were added or removed"

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the least number of insertions and removals that turn one dataset into the other."""
        if problem := _not_sequences(left, right):
            return problem
        return _edit_distance(left, right)


@dataclass(frozen=True)
class LabelFlip(_Steps):
    """Neighbors differ in one label; the features stay. Datasets are `Labeled`.

    References
    ----------
    Ghazi et al. 2021, Deep Learning with Label Differential Privacy, definition 1.1.

    Examples
    --------
    >>> from audit import Labeled, LabelFlip
    >>> LabelFlip().why_not(Labeled([1.0, 2.0], [0, 0]), Labeled([1.0, 2.0], [0, 1])) is None
    True
    """

    name: str = field(default="label flip", init=False)
    _steps: ClassVar[str] = "labels changed"

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the number of labels that differ, or the reason why it is not defined."""
        for side, data in (("left", left), ("right", right)):
            if not isinstance(data, Labeled):
                return f"the {side} dataset is {type(data).__name__}, label flip needs audit.Labeled"
        if len(left) != len(right):
            return f"the datasets have {len(left)} and {len(right)} records, a label flip keeps their number"
        if left.X.shape != right.X.shape or not same_record(left.X, right.X):
            return "the features differ, a label flip changes labels only"
        return _positions_that_differ(left.y, right.y)


@dataclass(frozen=True)
class Local:
    """Any two different records are neighbors: each dataset is one record.

    References
    ----------
    Kasiviswanathan et al. 2011, What Can We Learn Privately?, definition 2.2.

    Examples
    --------
    >>> from audit import Local
    >>> Local().why_not(3, 4) is None
    True
    """

    name: str = field(default="local", init=False)

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the two records differ, else the reason."""
        if same_record(left, right):
            return "the two records are equal, nothing would be tested"
        return None


@dataclass(frozen=True)
class Group:
    """Neighbors are up to `k` steps of another relation apart.

    Parameters
    ----------
    k : int >= 1
        Largest number of steps.
    base : relation, default Substitution()
        Substitution, AddRemove or LabelFlip.

    Raises
    ------
    InvalidArgument
        If `k` is not a positive integer, or `base` does not count steps.

    References
    ----------
    Dwork & Roth 2014, The Algorithmic Foundations of Differential Privacy, theorem 2.2.

    Examples
    --------
    >>> from audit import AddRemove, Group
    >>> Group(2, AddRemove()).why_not([1, 2, 3], [1, 9, 3]) is None
    True
    >>> Group(2).name
    'group(2) of substitution'
    """

    k: int
    base: Any = field(default_factory=Substitution)

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer(self.k, "k", at_least=1))
        if not hasattr(self.base, "distance"):
            raise InvalidArgument.of("base", "be a relation that counts steps", self.base)

    @property
    def name(self) -> str:
        """The number of steps and the name of their relation."""
        return f"group({self.k}) of {self.base.name}"

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if 1 to `k` steps lie between the datasets, else the reason."""
        return _outside(self.base.distance(left, right), self.k, f"steps of {self.base.name} lie between them")


def same_record(left: Any, right: Any) -> bool:
    """Return whether two records are equal: same shape, same elements, NaN equal to NaN."""
    if isinstance(left, (str, bytes)) or isinstance(right, (str, bytes)):
        return type(left) is type(right) and left == right
    if isinstance(left, Labeled) or isinstance(right, Labeled):
        both = isinstance(left, Labeled) and isinstance(right, Labeled)
        return both and same_record(left.X, right.X) and same_record(left.y, right.y)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same_record, left, right))
    a, b = _as_array(left), _as_array(right)
    if a is None or b is None:
        return bool(left == right)
    return a.shape == b.shape and bool(np.all(_equal_entries(a, b)))


def _as_array(value: Any) -> np.ndarray | None:
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        return None
    return array if array.dtype.kind in "biufcSUMm" or array.ndim else None


def _equal_entries(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "O" or b.dtype.kind == "O":
        pairs = zip(a.ravel(), b.ravel(), strict=True)
        flat = np.array([x is y or bool(np.all(x == y)) or _both_nan(x, y) for x, y in pairs], dtype=bool)
        return flat.reshape(a.shape)
    equal = np.asarray(a == b)
    if a.dtype.kind in "fc" and b.dtype.kind in "fc":
        equal = equal | (np.isnan(a) & np.isnan(b))
    return equal


def _both_nan(x: Any, y: Any) -> bool:
    return isinstance(x, float) and isinstance(y, float) and x != x and y != y


def _not_sequences(left: Any, right: Any) -> str | None:
    for side, data in (("left", left), ("right", right)):
        if isinstance(data, (str, bytes)) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
            return f"the {side} dataset is {type(data).__name__}, not a sequence of records"
        if isinstance(data, np.ndarray) and data.ndim == 0:
            return f"the {side} dataset is an array without axes, not a sequence of records"
    return None


def _records(data: Any) -> Any:
    """Return an object that integer positions index; a data frame indexes by label."""
    return data.to_numpy() if hasattr(data, "to_numpy") else data


def _positions_that_differ(left: Any, right: Any) -> int:
    left, right = _records(left), _records(right)
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.shape == right.shape:
        equal = _equal_entries(left, right)
        return int(np.sum(~equal.reshape(len(left), -1).all(axis=1))) if left.size else 0
    return sum(not same_record(left[i], right[i]) for i in range(len(left)))


def _edit_distance(left: Any, right: Any) -> int | str:
    left, right = _records(left), _records(right)
    start, shorter = 0, min(len(left), len(right))
    while start < shorter and same_record(left[start], right[start]):
        start += 1
    end = 0
    while end < shorter - start and same_record(left[len(left) - 1 - end], right[len(right) - 1 - end]):
        end += 1
    a = [left[i] for i in range(start, len(left) - end)]
    b = [right[i] for i in range(start, len(right) - end)]
    if len(a) * len(b) > _LCS_CELLS:
        return "the datasets differ in more records than this relation can compare"
    return len(a) + len(b) - 2 * _common_subsequence(a, b)


def _common_subsequence(a: list[Any], b: list[Any]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        previous = row
        row = [0]
        for j, y in enumerate(b):
            row.append(previous[j] + 1 if same_record(x, y) else max(previous[j + 1], row[j]))
    return row[-1]


def _outside(distance: int | str, most: int, what: str) -> str | None:
    if isinstance(distance, str):
        return distance
    if distance == 0:
        return "the two datasets are equal, nothing would be tested"
    if distance > most:
        return f"{distance} {what}, at most {most} may"
    return None
