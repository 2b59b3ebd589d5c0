"""Metric spaces for Algorithm 5: lattices of R^d, the integers, and any space that the caller lists.

A packing has to be chosen without the data. The first two spaces know a countable maximal one. For any other distance
(the edit distance of words, say) the caller lists public points that stand for the space: the packing is built from
them, greedily in their order, and each record belongs to its nearest center, the first of equally near ones. Records
need not be on the list: privacy does not depend on it. Consistency needs a list that is dense where records are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from audit.errors import InvalidArgument
from audit.validate import integer, positive
from mechanisms.consistency.grids import SpaceGrid
from mechanisms.consistency.records import features
from mechanisms.consistency.spaces import BoundedSpace, FloatArray, MetricSpace, Packing


@dataclass(frozen=True)
class Lattice(MetricSpace):
    """R^dim with the l-infinity norm; the packing is the lattice r Z^dim, its cells are centered cubes."""

    dim: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", integer(self.dim, "dim", at_least=1))

    @property
    def doubling_dim(self) -> float:
        """The dimension."""
        return float(self.dim)

    def points(self, X: Any) -> FloatArray:
        """Return an array of shape (n, dim)."""
        return features(X, self.dim)

    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the integer vector of the cube of each point."""
        return SpaceGrid(self.dim, radius, centered=True).keys_of(points)


@dataclass(frozen=True)
class Integers(MetricSpace):
    """The integers with |i - j|. For r <= 1 each is a center; beyond, the multiples of ceil(r), halves down."""

    @property
    def doubling_dim(self) -> float:
        """log2 3: a ball of radius 1 has three points, and each is a ball of radius 1/2."""
        return math.log2(3)

    def points(self, X: Any) -> FloatArray:
        """Return an array of integers, shape (n, 1)."""
        rows = features(X, 1)
        if np.any(rows != np.round(rows)):
            raise InvalidArgument.of("X", "hold integers", rows[rows != np.round(rows)][0].item())
        return rows

    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the number of the nearest center of each integer."""
        step = math.ceil(positive(radius, "radius"))
        return [(math.ceil(point / step - 0.5),) for point in points[:, 0].tolist()]


@dataclass(frozen=True, eq=False)
class PublicPoints(BoundedSpace):
    """A space given by public points and a distance.

    Parameters
    ----------
    places : sequence of points, at least one
        Rows of numbers for a distance of scipy; anything that `distance_of` takes otherwise. Never records.
    distance_of : callable (a, b) -> float >= 0, or str
        A metric, or the name of one of `scipy.spatial.distance.cdist`.
    dim : float > 0, optional
        In place of the doubling dimension of the listed points, or to spare its computation; larger is coarser.

    Examples
    --------
    >>> from mechanisms.consistency.any_space import PublicPoints
    >>> lengths = PublicPoints(["", "a", "bb", "cccc"], lambda a, b: abs(len(a) - len(b)))
    >>> lengths.keys_of(lengths.points(["x", "yyyyy"]), 1.5)  # the centers are "", "bb" and "cccc"
    [(0,), (2,)]
    """

    places: Sequence[Any]
    distance_of: Callable[[Any, Any], float] | str = "euclidean"
    dim: float | None = None

    def __post_init__(self) -> None:
        if not len(self.places):
            raise InvalidArgument.of("places", "hold at least one public point", self.places)
        if self.dim is not None:
            object.__setattr__(self, "dim", positive(self.dim, "dim"))

    @cached_property
    def doubling_dim(self) -> float:  # a number, computed once
        """`dim`, or log2 of the most points at mutual distance >= r / 2 in a ball of radius r around a listed point.

        Balls of radius r / 2 around a maximal set of such points cover the ball, so that it is an upper bound; at
        least 1.
        """
        if self.dim is not None:
            return self.dim
        most = 2
        for row in self._between:
            for radius in np.unique(row[row > 0]):
                inside = np.flatnonzero(row <= radius)
                most = max(most, len(_greedy(self._between[np.ix_(inside, inside)], radius / 2)))
        return math.log2(most)

    def points(self, X: Any) -> FloatArray:
        """Return an array of rows, or of objects, one for each point."""
        if isinstance(self.distance_of, str):
            return features(X, np.shape(self.places)[1])
        found = np.empty(len(X), dtype=object)
        found[:] = list(X)
        return found

    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return distances of points, row by row."""
        return np.array([self._distances(p, q)[0, 0] for p, q in zip(a[:, None], b[:, None], strict=True)])

    def packing(self, radius: float) -> Packing:
        """Keep each listed point at distance >= r from those kept before."""
        kept = _greedy(self._between, positive(radius, "radius"))
        apart = self._between[np.ix_(kept, kept)][~np.eye(len(kept), dtype=bool)]
        cover = float(self._between[:, kept].min(axis=1).max())
        return Packing(self.points(self.places)[kept], radius, float(apart.min(initial=math.inf)), cover)

    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Look for the nearest center; of equally near ones the first."""
        return np.argmin(self._distances(points, packing.centers), axis=1)

    @cached_property
    def _between(self) -> FloatArray:
        places = self.points(self.places)
        return self._distances(places, places)

    def _distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        if isinstance(self.distance_of, str):
            return np.asarray(cdist(a, b, self.distance_of))
        found = np.array([[float(self.distance_of(p, q)) for q in b] for p in a]).reshape(len(a), len(b))
        if not np.all(found >= 0):
            raise InvalidArgument.of("distance_of", "return numbers >= 0", found[~(found >= 0)][0].item())
        return found


def _greedy(between: FloatArray, radius: float) -> list[int]:
    """Return the numbers of the points kept: each at distance >= radius from those kept before."""
    free, kept = np.ones(len(between), dtype=bool), list[int]()
    for index in range(len(between)):
        if free[index]:
            kept.append(index)
            free &= between[index] >= radius
    return kept
