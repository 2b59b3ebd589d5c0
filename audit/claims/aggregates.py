"""Relations of aggregates, of records that are blanked, and of the user's own: which of two values are neighboring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from audit.claims.datasets import Labeled
from audit.claims.relations import Substitution
from audit.errors import InvalidArgument
from audit.validate import positive

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
class ZeroOut(Substitution):
    """Neighbors differ in one record, which is blank in one of them: zeros, None, NaN or empty text.

    References
    ----------
    Kairouz et al. 2021, Practical and private (deep) learning without sampling or shuffling, definition 1.1.

    Examples
    --------
    >>> from audit import ZeroOut
    >>> ZeroOut().why_not([3, 4], [0, 4]) is None
    True
    >>> ZeroOut().why_not([3, 4], [5, 4])
    'the record that differs is blank in neither dataset'
    """

    name: str = field(default="zero-out", init=False)
    unit: ClassVar[str] = "one record, present or blank"

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if exactly one record differs, and one of its two values is blank, else the reason."""
        if (reason := super().why_not(left, right)) is not None:
            return reason
        a, b = (list(_rows(side)) for side in (left, right))
        at = next(i for i in range(len(a)) if Substitution().distance(a[i : i + 1], b[i : i + 1]))
        is_blanked = _is_blank(a[at]) or _is_blank(b[at])
        return None if is_blanked else "the record that differs is blank in neither dataset"


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


def _rows(data: Any) -> Any:
    return zip(data.X, data.y, strict=True) if isinstance(data, Labeled) else data


def _is_blank(record: Any) -> bool:
    if record is None or record in ("", b""):
        return True
    try:
        numbers = np.asarray(record, dtype=float)
    except (TypeError, ValueError):
        return False
    return bool(np.all((numbers == 0) | np.isnan(numbers)))
