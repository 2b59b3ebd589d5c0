"""Relations: which datasets are neighboring, in which positions, insertions or keys they differ, and why a pair is not.

A dataset is a sequence of records: a numpy array (records along the first axis), a list, a tuple, a text, a data frame,
any object with `len` and integer indexing, or `Labeled`; a set; or a mapping from keys to records. Under `Local` it is
one record, under `Distance` an answer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, get_args, runtime_checkable

import numpy as np

from audit.errors import InvalidArgument, NotNeighboring
from audit.validate import integer, positive

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


def compare_sets(left: Any, right: Any) -> _Apart | None:
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


_OF_COLUMNS = "the keys of a mapping name its records: for a dict of columns, give pandas.DataFrame(dict)"


@runtime_checkable
class Relation(Protocol):
    """The interface of a relation: a name, and the reason why a pair is not neighboring.

    The attributes `unit` and `public` name the protected and the public part, where a relation has them.
    """

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

    _taken: ClassVar[str]  # the steps in the message about too many of them, and the relation that allows more
    _instead: ClassVar[str]

    @abstractmethod
    def distance(self, left: Any, right: Any) -> int | str:
        """Return the least number of steps that turn one dataset into the other, or the reason why there is none."""

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if exactly one step lies between the datasets, else the reason."""
        distance = self.distance(left, right)
        reason = _outside(distance, 1, self._taken)
        too_many = reason is not None and not isinstance(distance, str) and distance > 1
        instead = _OF_COLUMNS if isinstance(left, Mapping) else self._instead.format(steps=distance)
        return f"{reason}; {instead}" if too_many else reason


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
    'the datasets have 3 and 2 records, substitution keeps their number; if records come and go, give audit.AddRemove()'
    """

    name: str = field(default="substitution", init=False)
    unit: ClassVar[str] = "one record, replaced by another"
    public: ClassVar[str] = "the number of records"
    _taken: ClassVar[str] = "records were replaced"
    _instead: ClassVar[str] = "for groups give audit.Group({steps}), for answers to a query audit.Distance"

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the number of positions that differ, or the reason why it is not defined."""
        if problem := not_records(left, right):
            return problem
        if len(left) != len(right):
            counted = f"the datasets have {len(left)} and {len(right)} records, substitution keeps their number"
            return f"{counted}; if records come and go, give audit.AddRemove()"
        if (apart := compare_sets(left, right)) is not None:
            return apart.only_left + apart.changed
        return positions_that_differ(left, right)


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
    >>> AddRemove().why_not([1, 2, 3], [1, 9, 3]).split("; ")[0]
    '2 records were added or removed, at most 1 may'
    """

    name: str = field(default="add/remove", init=False)
    unit: ClassVar[str] = "one record, present or absent"
    public: ClassVar[str] = ""
    _taken: ClassVar[str] = "records were added or removed"
    _instead: ClassVar[str] = (
        "for a replaced one give audit.Substitution(), for rows of one person audit.Group({steps}, audit.AddRemove())"
    )

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the least number of insertions and removals that turn one dataset into the other."""
        if problem := not_records(left, right):
            return problem
        if (apart := compare_sets(left, right)) is not None:
            return apart.only_left + apart.only_right + 2 * apart.changed
        return edit_distance(records(left), records(right))


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
    unit: ClassVar[str] = "the label of one record"
    public: ClassVar[str] = "all features and the number of records"
    _taken: ClassVar[str] = "labels changed"
    _instead: ClassVar[str] = "for groups give audit.Group({steps}, audit.LabelFlip())"

    def distance(self, left: Any, right: Any) -> int | str:
        """Return the number of labels that differ, or the reason why it is not defined."""
        for side, data in (("left", left), ("right", right)):
            if not isinstance(data, Labeled):
                return f"the {side} dataset is {type(data).__name__}, label flip needs audit.Labeled"
        if len(left) != len(right):
            return f"the datasets have {len(left)} and {len(right)} records, a label flip keeps their number"
        if not same_record(left.X, right.X):
            return "the features differ, a label flip changes labels only"
        return positions_that_differ(left.y, right.y)


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
    unit: ClassVar[str] = "one record, which is the whole dataset"
    public: ClassVar[str] = "that its owner took part"

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the two records differ, else the reason."""
        return "the two records are equal, nothing would be tested" if same_record(left, right) else None


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
            raise InvalidArgument.of("base", "be a relation that counts steps, such as AddRemove()", self.base)

    @property
    def name(self) -> str:
        """The number of steps and the name of their relation."""
        return f"group({self.k}) of {self.base.name}"

    @property
    def unit(self) -> str:
        """The unit of privacy: k of those of the other relation."""
        return f"{self.k} times {self.base.unit}"

    @property
    def public(self) -> str:
        """The facts that the other relation leaves unprotected."""
        return str(self.base.public)

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if 1 to `k` steps lie between the datasets, else the reason."""
        return _outside(self.base.distance(left, right), self.k, f"steps of {self.base.name} lie between them")


def _outside(distance: int | str, most: int, taken: str) -> str | None:
    if isinstance(distance, str):
        return distance
    if distance == 0:
        return "the two datasets are equal, nothing would be tested"
    return f"{distance} {taken}, at most {most} may" if distance > most else None


Norm = Literal["l1", "l2", "linf"]
_ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}
_ROUNDING = 1e-9  # relative: sums of floating-point numbers that are meant to lie exactly at the radius


@dataclass(frozen=True)
class Distance:
    """Neighbors are numbers, or arrays of numbers, at most `radius` apart in a norm: answers before noise is added.

    Parameters
    ----------
    norm : {"l1", "l2", "linf"}
        Norm of the difference, over all of its entries.
    radius : float > 0
        Largest distance of neighbors: the sensitivity that the mechanism is documented for.

    Raises
    ------
    InvalidArgument
        For another norm, or a radius that is not positive and finite.

    References
    ----------
    Dwork & Roth 2014, The Algorithmic Foundations of Differential Privacy, definition 3.1 (l1) and section 3.5.3 (l2).

    Examples
    --------
    >>> from audit import Distance
    >>> Distance("linf", 1).why_not([0, 0, 0], [1, 0, 1]) is None
    True
    >>> Distance("l1", 1).why_not([0, 0, 0], [1, 0, 1])
    'their l1 distance is 2, at most 1 is neighboring'
    """

    norm: Norm
    radius: float = 1.0

    def __post_init__(self) -> None:
        if self.norm not in get_args(Norm):
            raise InvalidArgument.of("norm", f"be one of {', '.join(get_args(Norm))}", self.norm)
        object.__setattr__(self, "radius", positive(self.radius, "radius"))

    @property
    def name(self) -> str:
        """The norm and the radius."""
        return f"{self.norm} distance {self.radius!r}".removesuffix(".0")

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the two differ by at most the radius, else the reason."""
        try:
            a, b = (np.asarray(side, dtype=float) for side in (left, right))
        except (TypeError, ValueError):
            return "they are not numbers or arrays of numbers"
        if a.shape != b.shape:
            return f"their shapes are {a.shape} and {b.shape}"
        distance = float(np.linalg.norm((a - b).ravel(), _ORDERS[self.norm]))
        if distance == 0:
            return "the two datasets are equal, nothing would be tested"
        is_near = distance <= self.radius * (1 + _ROUNDING)
        said = f"their {self.norm} distance is {distance:.10g}, at most {self.radius:g} is neighboring"
        return None if is_near else said


@dataclass(frozen=True)
class Neighbors:
    """Neighbors by a function of your own.

    Parameters
    ----------
    label : str
        The name of the relation in certificates.
    why_not_or_none : callable
        `(left, right) -> str or None`: None for neighbors, else the reason why they are not. True and False serve too.

    Raises
    ------
    InvalidArgument
        If the label is empty or the function is not callable.

    References
    ----------
    Hay, Li, Miklau & Jensen 2009, Accurate estimation of the degree distribution of private networks: graphs differing
    in one edge, an example of neighbors that no relation of this package describes.

    Examples
    --------
    >>> from audit import Neighbors
    >>> one_edge = Neighbors("one edge", lambda left, right: len(left ^ right) == 1)
    >>> one_edge.why_not({(0, 1)}, set()) is None
    True
    >>> one_edge.name, one_edge.why_not({(0, 1)}, {(0, 1)})
    ('neighbors by one edge', 'the function says that they are not')
    """

    label: str
    why_not_or_none: Callable[[Any, Any], Any]

    def __post_init__(self) -> None:
        if not (isinstance(self.label, str) and self.label.strip()):
            raise InvalidArgument.of("label", "be text, not empty", self.label)
        if not callable(self.why_not_or_none):
            raise InvalidArgument.of("why_not_or_none", "be callable as (left, right)", self.why_not_or_none)

    @property
    def name(self) -> str:
        """The label."""
        return f"neighbors by {self.label}"

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the function says that the two are neighbors, else its reason."""
        said = self.why_not_or_none(left, right)
        if isinstance(said, (bool, np.bool_)):
            return None if said else "the function says that they are not"
        return None if said is None else str(said)
