"""The queries that every library is asked, in the field's words, and the parameters that they take.

A query names its input, so that one table of cases serves all queries with that input. Which inputs are neighbors is
decided in exact arithmetic, and not in the table of a library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np

from audit import AddRemove, Local, Neighbors, Substitution
from audit.api import InvalidArgument

Input = Literal["numbers", "categories", "rows", "labeled", "value", "integer", "scores", "answers", "record"]
TABLES: tuple[Input, ...] = ("numbers", "categories", "rows", "labeled")  # lists of records, one a person


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Hold the public parameters of a query; a library takes those that it knows, and states a claim for them.

    Parameters
    ----------
    epsilon : float > 0
        Privacy parameter that the caller asks for.
    delta : float in [0, 1)
        Of queries that need one.
    scale : float > 0, optional
        The native parameter of noise, in place of epsilon: the scale, or the standard deviation.
    sensitivity : float > 0
        Largest change of a value, of each score, or of each answer, between neighbors.
    lower, upper : float
        Bounds of each number; public, like all that follows.
    size : int >= 0
        Number of records, which is public under substitution.
    radius : float > 0
        Largest l2 norm of a row.
    categories : tuple of str
        The public keys.
    edges : tuple of float
        Of the bins of a histogram.
    quantile : float in (0, 1)
        Which one.
    k : int >= 1
        How many: keys of a top-k, clusters, components.
    threshold : float
        Of a sparse vector, or of thresholded counts.
    whole : bool
        Whether the numbers are integers.

    Raises
    ------
    InvalidArgument
        By `change`, for a name that is none of these.

    References
    ----------
    Dwork & Roth 2014, The Algorithmic Foundations of Differential Privacy, sections 3.2 to 3.6: the usual queries.

    Examples
    --------
    >>> from audit.extensions.conformance import Parameters
    >>> Parameters(epsilon=2.0).bounds
    (0.0, 1.0)
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    scale: float | None = None
    sensitivity: float = 1.0
    lower: float = 0.0
    upper: float = 1.0
    size: int = 8
    radius: float = 1.0
    categories: tuple[str, ...] = ("a", "b", "c")
    edges: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    quantile: float = 0.25
    k: int = 2
    threshold: float = 2.0
    whole: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower and the upper bound."""
        return self.lower, self.upper

    @property
    def noise(self) -> float:
        """The scale of noise: the one that is asked for, or sensitivity / epsilon."""
        return self.sensitivity / self.epsilon if self.scale is None else self.scale

    def grid(self, cells: int = 8) -> list[float]:
        """Return `cells` + 1 candidates from bound to bound, finite where their difference overflows."""
        return [self.lower * (1 - i / cells) + self.upper * (i / cells) for i in range(cells + 1)]

    def place(self, record: Any) -> int:
        """Return the place of a record among the public keys, and 0 for any other: for queries that take numbers."""
        return self.categories.index(record) if record in self.categories else 0

    def change(self, changes: Mapping[str, Any]) -> Parameters:
        """Return the parameters with other values of some."""
        unknown = set(changes) - set(self.__dataclass_fields__)
        if unknown:
            raise InvalidArgument.of("settings", f"name parameters ({', '.join(self.__dataclass_fields__)})", unknown)
        return replace(self, **changes)


@dataclass(frozen=True)
class Query:
    """A query: its name in the field's words, its private input, and its usual parameters.

    Values, integers, scores and answers are within `sensitivity` of each other on neighbors.
    """

    name: str
    input: Input
    usual: Mapping[str, Any] = field(default_factory=dict)  # that differ from the defaults

    @property
    def parameters(self) -> Parameters:
        """The usual parameters."""
        return Parameters().change(self.usual)


_PURE = {"delta": 0.0}
QUERIES: dict[str, Query] = {
    query.name: query
    for query in (
        Query("count", "numbers", _PURE),
        Query("sum", "numbers", _PURE),
        Query("mean", "numbers", _PURE),
        Query("variance", "numbers", _PURE),
        Query("standard deviation", "numbers", _PURE),
        Query("quantile", "numbers", _PURE),
        Query("median", "numbers", {**_PURE, "quantile": 0.5}),
        Query("minimum", "numbers", _PURE),
        Query("maximum", "numbers", _PURE),
        Query("histogram of numbers", "numbers", _PURE),
        Query("histogram of public keys", "categories", _PURE),
        Query("histogram of discovered keys", "categories", {"delta": 0.01}),
        Query("thresholded counts", "categories", {"delta": 0.01, "threshold": 6.0}),
        Query("top-k", "categories", _PURE),
        Query("laplace noise", "value", _PURE),
        Query("gaussian noise", "value"),
        Query("geometric noise", "integer", _PURE),
        Query("discrete gaussian noise", "integer"),
        Query("exponential mechanism", "scores", _PURE),
        Query("noisy max", "scores", _PURE),
        Query("sparse vector", "answers", _PURE),
        Query("randomized response", "record", _PURE),
        Query("frequency oracle", "record", _PURE),
        Query("vector mean", "rows"),
        Query("covariance", "rows"),
        Query("principal components", "rows", {"k": 1}),
        Query("k-means", "rows", _PURE),
        Query("synthetic table", "categories", _PURE),
        Query("linear regression", "labeled"),
        Query("logistic regression", "labeled", _PURE),
    )
}


RELATIONS = {"substitution": Substitution(), "add/remove": AddRemove()}  # of tables of records
STATED = (*RELATIONS, "local")  # relations that a library may state; under "local" no table of records is asked


def relation_of(query: Query, stated: str, parameters: Parameters) -> Any:
    """Return the relation of a query's inputs; that of tables is the one that the library states."""
    if query.input in TABLES:
        if stated not in RELATIONS:
            raise InvalidArgument.of("relation", f"be one of {', '.join(RELATIONS)}", stated)
        return RELATIONS[stated]
    if query.input == "record":
        return Local()
    label = f"each within {parameters.sensitivity!r}".removesuffix(".0")
    return Neighbors(label, partial(find_distance, parameters.sensitivity))


def find_distance(radius: float, left: Any, right: Any) -> str | None:
    """Return None for two numbers of one type, or two lists of them, each within `radius`, else the reason.

    Examples
    --------
    >>> from audit.extensions.conformance.queries import find_distance
    >>> find_distance(1.0, 2**53, 2**53 + 1) is None, find_distance(1.0, 0.0, 1.0000000000000002)
    (True, 'two numbers differ by more than 1')
    """
    a, b = (list(side) if isinstance(side, Sequence) else [side] for side in (left, right))
    if [type(x) for x in a] != [type(x) for x in b]:
        return "they differ in type or in length, which are public"
    if not all(np.isfinite(x) if isinstance(x, float) else True for x in (*a, *b)):
        return "a number is not finite, and has no distance"
    if any(abs(Fraction(x) - Fraction(y)) > Fraction(radius) for x, y in zip(a, b, strict=True)):
        return f"two numbers differ by more than {radius:g}"
    return None if repr(a) != repr(b) else "the two are equal, nothing would be tested"
