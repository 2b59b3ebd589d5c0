"""Relations: which datasets are neighboring, why a pair is not, and a search space of neighboring pairs.

A dataset is a sequence of records: a numpy array (records along the first axis), a list, a tuple, anything with
`len` and integer indexing, or `Labeled`. Under `Local` a dataset is one record.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from audit.base.arguments import integer
from audit.base.errors import InvalidArgument, NotNeighboring

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_LCS_CELLS = 4_000_000  # largest table for the edit distance; beyond it the pair is too far apart to be a group
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


@runtime_checkable
class Relation(Protocol):
    """The interface of a relation: a name, and the reason why a pair is not neighboring."""

    name: str

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the pair is neighboring, else one sentence that says why it is not."""


def require_neighboring(relation: Relation, left: Any, right: Any, name: str = "pairs") -> None:
    """Raise `NotNeighboring` unless `(left, right)` is a pair of distinct neighbors under `relation`."""
    reason = relation.why_not(left, right)
    if reason is not None:
        raise NotNeighboring(f"`{name}` must be neighboring under {relation.name}: {reason}")


class _Steps(ABC):
    """A relation that counts the steps between two datasets; one step makes them neighbors."""

    _taken: ClassVar[str]  # the steps in the message about too many of them

    @abstractmethod
    def distance(self, left: Any, right: Any) -> int | str:
        """Return the least number of steps that turn one dataset into the other, or the reason why there is none."""

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if exactly one step lies between the datasets, else the reason."""
        return _outside(self.distance(left, right), 1, self._taken)

    def _step(self, draw: Callable[..., Any], data: Any, other: Any) -> Any:
        """Draw a dataset one step away; what is new in it comes from another dataset."""
        return _replaced(draw, data, 1, other)


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
    _taken: ClassVar[str] = "records were replaced"

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
    _taken: ClassVar[str] = "records were added or removed"

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the least number of insertions and removals that turn one dataset into the other."""
        return _not_sequences(left, right) or _edit_distance(_records(left), _records(right))

    def _step(self, draw: Callable[..., Any], data: Any, other: Any) -> Any:
        return _replaced(draw, data, 0, other)


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
    _taken: ClassVar[str] = "labels changed"

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the number of labels that differ, or the reason why it is not defined."""
        for side, data in (("left", left), ("right", right)):
            if not isinstance(data, Labeled):
                return f"the {side} dataset is {type(data).__name__}, label flip needs audit.Labeled"
        if len(left) != len(right):
            return f"the datasets have {len(left)} and {len(right)} records, a label flip keeps their number"
        if not _same_record(left.X, right.X):
            return "the features differ, a label flip changes labels only"
        return _positions_that_differ(left.y, right.y)

    def _step(self, draw: Callable[..., Any], data: Any, other: Any) -> Any:
        from hypothesis import assume

        assume(isinstance(data, Labeled))
        return Labeled(data.X, _replaced(draw, data.y, 1, other.y))


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
        return "the two records are equal, nothing would be tested" if _same_record(left, right) else None

    def _step(self, draw: Callable[..., Any], data: Any, other: Any) -> Any:
        return other


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


def neighboring_pairs(relation: Any, datasets: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, Any]]:
    """Return a strategy for pairs that are neighboring under `relation`; new records come from other `datasets`."""
    from hypothesis import assume
    from hypothesis import strategies as st

    base, most = (relation.base, relation.k) if isinstance(relation, Group) else (relation, 1)
    if not hasattr(base, "_step"):
        raise InvalidArgument.of("relation", "be one whose neighbors can be generated", relation)

    @st.composite
    def pair(draw: Callable[..., Any]) -> tuple[Any, Any]:
        left = right = draw(datasets)
        for _ in range(draw(st.integers(1, most)) if most > 1 else 1):
            right = base._step(draw, right, draw(datasets))
        assume(relation.why_not(left, right) is None)
        return (left, right) if draw(st.booleans()) else (right, left)

    return pair()


def _replaced(draw: Callable[..., Any], data: Any, removed: int, other: Any) -> Any:
    """Draw `data` with a record of `other` in place of `removed` ones, 0 or 1."""
    from hypothesis import assume
    from hypothesis import strategies as st

    assume(len(data) >= removed)
    at = draw(st.integers(0, len(data) - removed))
    assume(len(other) > 0)
    return _spliced(data, at, removed, other, draw(st.integers(0, len(other) - 1)))


def _spliced(data: Any, at: int, removed: int, other: Any, source: int) -> Any:
    if isinstance(data, Labeled):
        return Labeled(_spliced(data.X, at, removed, other.X, source), _spliced(data.y, at, removed, other.y, source))
    if isinstance(data, np.ndarray):
        joined = [data[:at], np.asarray(other[source])[None], data[at + removed :]]
        return np.concatenate([part for part in joined if part.shape[1:] == np.shape(other[source])])
    return type(data)([*data[:at], other[source], *data[at + removed :]])


def _same_record(left: Any, right: Any) -> bool:
    """Return whether two records are equal: same shape, same elements, NaN equal to NaN."""
    if isinstance(left, (str, bytes)) or isinstance(right, (str, bytes)):
        return type(left) is type(right) and left == right
    if isinstance(left, Labeled) or isinstance(right, Labeled):
        both = isinstance(left, Labeled) and isinstance(right, Labeled)
        return both and _same_record(left.X, right.X) and _same_record(left.y, right.y)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same_record, left, right))
    try:
        a, b = np.asarray(left), np.asarray(right)
    except ValueError:  # ragged
        return bool(left == right)
    if any(array.ndim == 0 and array.dtype.kind not in _PLAIN for array in (a, b)):
        return bool(left == right)
    return a.shape == b.shape and bool(np.all(_equal_entries(a, b)))


def _equal_entries(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if "O" in (a.dtype.kind, b.dtype.kind):
        pairs = zip(a.ravel(), b.ravel(), strict=True)
        return np.array([x is y or _same_record(x, y) for x, y in pairs], dtype=bool).reshape(a.shape)
    return np.asarray(a == b) | (np.asarray(a != a) & np.asarray(b != b))  # NaN equals NaN


def _not_sequences(left: Any, right: Any) -> str:
    """Return why the two are not sequences of records; "" if they are."""
    for side, data in (("left", left), ("right", right)):
        if isinstance(data, (str, bytes)) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
            return f"the {side} dataset is {type(data).__name__}, not a sequence of records"
        if isinstance(data, np.ndarray) and data.ndim == 0:
            return f"the {side} dataset is an array without axes, not a sequence of records"
    return ""


def _records(data: Any) -> Any:
    """Return an object that integer positions index; a data frame indexes by label."""
    return data.to_numpy() if hasattr(data, "to_numpy") else data


def _positions_that_differ(left: Any, right: Any) -> int:
    left, right = _records(left), _records(right)
    differ = _rows_that_differ(left, right)
    if differ is not None:
        return int(np.sum(differ))
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray) and left.shape == right.shape:
        equal = _equal_entries(left, right)
        return int(np.sum(~equal.reshape(len(left), -1).all(axis=1))) if left.size else 0
    return sum(not _same_record(left[i], right[i]) for i in range(len(left)))


def _edit_distance(left: Any, right: Any) -> int | str:
    differ = _rows_that_differ(left, right)
    start = 0 if differ is None else int(np.argmax(np.r_[differ, True]))
    a, b = ([data[i] for i in range(start, len(data))] for data in (left, right))
    for _ in range(2):  # cut off what the two share at the start, then at the end
        shared = sum(1 for _ in takewhile(lambda pair: _same_record(*pair), zip(a, b, strict=False)))
        a, b = a[shared:][::-1], b[shared:][::-1]
    if len(a) * len(b) > _LCS_CELLS:
        return "the datasets differ in more records than this relation can compare"
    common = [0] * (len(b) + 1)  # the longest common subsequences of a's first records with each start of b
    for x in a:
        above, common = common, [0]
        for j, y in enumerate(b):
            common.append(above[j] + 1 if _same_record(x, y) else max(above[j + 1], common[j]))
    return len(a) + len(b) - 2 * common[-1]


def _rows_that_differ(left: Any, right: Any) -> np.ndarray | None:
    """Test in which of the first rows two arrays, or two `Labeled`, differ; None for datasets without columns."""
    if isinstance(left, Labeled) and isinstance(right, Labeled):
        X, y = _rows_that_differ(left.X, right.X), _rows_that_differ(left.y, right.y)
        return None if X is None or y is None else X | y
    arrays = all(isinstance(data, np.ndarray) and data.dtype.kind in _PLAIN for data in (left, right))
    if not arrays or left.shape[1:] != right.shape[1:]:
        return None
    length = min(len(left), len(right))
    equal = _equal_entries(left[:length], right[:length]).reshape(length, math.prod(left.shape[1:]))
    return np.asarray(~equal.all(axis=1))


def _outside(distance: int | str, most: int, taken: str) -> str | None:
    if isinstance(distance, str):
        return distance
    if distance == 0:
        return "the two datasets are equal, nothing would be tested"
    return f"{distance} {taken}, at most {most} may" if distance > most else None
