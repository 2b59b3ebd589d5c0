"""Relations: which datasets are neighboring, and why a pair is not.

`audit.claims.datasets` defines datasets. Under `Local` it is one record, under `Distance` an answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from audit.claims.datasets import (
    Labeled,
    edit_distance,
    not_records,
    positions_that_differ,
    records,
    same_record,
    unordered,
)
from audit.errors import InvalidArgument, NotNeighboring
from audit.validate import integer

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
        if (apart := unordered(left, right)) is not None:
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
        if (apart := unordered(left, right)) is not None:
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
