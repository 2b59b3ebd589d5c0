"""Decide which inputs of a query are neighbors: in exact arithmetic, and not in the table of a library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from audit.api import AddRemove, InvalidArgument, Local, Substitution
from audit.extensions.conformance.queries import TABLES, Parameters, Query

RELATIONS = {"substitution": Substitution(), "add/remove": AddRemove()}  # of tables of records
STATED = (*RELATIONS, "local")  # what a library may state; under "local" no table of records is asked


def relation_of(query: Query, stated: str, parameters: Parameters) -> Any:
    """Return the relation of a query's inputs; that of tables is what the library states."""
    if query.input in TABLES:
        if stated not in RELATIONS:
            raise InvalidArgument.of("relation", f"be one of {', '.join(RELATIONS)}", stated)
        return RELATIONS[stated]
    return Local() if query.input == "record" else WithinRelation(parameters.sensitivity)


@dataclass(frozen=True)
class WithinRelation:
    """Neighbors are numbers of one type, or lists of them, each within `radius`; their differences are exact.

    Examples
    --------
    >>> from audit.extensions.conformance.neighbors import WithinRelation
    >>> WithinRelation(1.0).why_not(2**53, 2**53 + 1) is None, WithinRelation(1.0).why_not(0.0, 1.0000000000000002)
    (True, 'two numbers differ by more than 1')
    """

    radius: float

    @property
    def name(self) -> str:
        """The radius."""
        return f"each within {self.radius!r}".removesuffix(".0")

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the two are neighbors, else the reason."""
        a, b = (list(side) if isinstance(side, Sequence) else [side] for side in (left, right))
        if [type(x) for x in a] != [type(x) for x in b]:
            return "they differ in type or in length, which are public"
        if not all(np.isfinite(x) if isinstance(x, float) else True for x in (*a, *b)):
            return "a number is not finite, and has no distance"
        if any(abs(Fraction(x) - Fraction(y)) > Fraction(self.radius) for x, y in zip(a, b, strict=True)):
            return f"two numbers differ by more than {self.radius:g}"
        return None if repr(a) != repr(b) else "the two are equal, nothing would be tested"


@dataclass(frozen=True)
class OrderRelation:
    """Neighbors hold the same records in another order: what a claim about sets of records admits.

    Examples
    --------
    >>> from audit.extensions.conformance.neighbors import OrderRelation
    >>> OrderRelation().why_not([1, 2, 2], [2, 1, 2]) is None, OrderRelation().why_not([1, 2], [2, 2])
    (True, 'they hold other records')
    """

    name: str = "another order"

    def why_not(self, left: Any, right: Any) -> str | None:
        """Return None if the two are neighbors, else the reason."""
        if Counter(map(repr, left)) != Counter(map(repr, right)):
            return "they hold other records"
        return None if repr(list(left)) != repr(list(right)) else "the two are equal, nothing would be tested"
