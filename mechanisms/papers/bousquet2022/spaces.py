"""Metric spaces of finite doubling dimension, and their cells around the centers of a packing that no data enter.

A maximal r-packing is a set of centers at mutual distance >= r such that every other point is at distance < r from one
of them; the exact covering radius of a finite `Packing` certifies it. Ties between centers go to the lower one.

    Circle, Cube     closed forms
    PublicPoints     any space that the caller lists, with any distance: words, the Euclidean square
    Lattice          R^d with the l-infinity norm
    DenseSequence    every separable space, by a dense sequence, such as that of the 2-adic numbers

Departure: from a dense sequence a record belongs to the *first* center within r of it; Lemmas A.8 and A.9 hold for it.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from audit.errors import InvalidArgument
from audit.validate import integer, positive
from mechanisms.papers.bousquet2022.grids import keys_of, product_grid
from mechanisms.parts.records import require_features
from mechanisms.queries import admit, held

FloatArray = np.ndarray
_ROUNDING = 1e-12


def radius_for(n: int, dim: float) -> float:
    """Return the packing radius n^(-1 / (4 dim)) of Algorithms 4 and 5."""
    return float(integer(n, "n", at_least=1) ** (-1 / (4 * positive(dim, "dim"))))


@dataclass(frozen=True, eq=False)
class Packing:
    """Centers of a packing of a bounded space."""

    centers: Any  # shape (cells, ...)
    radius: float  # r
    separation: float  # least distance of two centers; at least r up to rounding
    cover: float  # upper bound of the distance of any point from its nearest center

    @property
    def is_maximal(self) -> bool:
        """Whether separation >= r and covering radius < r."""
        return self.separation >= self.radius * (1 - _ROUNDING) and self.cover < self.radius

    def __len__(self) -> int:
        return len(self.centers)


class MetricSpace(ABC):
    """A metric space: its points, and in which cell of a countable packing each one lies."""

    dim: Any  # the doubling dimension, or any larger number

    @abstractmethod
    def points(self, X: Any) -> FloatArray:
        """Return X as an array of points, or refuse points outside the space."""

    @abstractmethod
    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the name of the cell of each point, for a maximal packing that no data enter."""


class BoundedSpace(MetricSpace):
    """A bounded space: a finite packing, and the number of the Voronoi cell of each point."""

    @abstractmethod
    def distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the distances of all pairs of points, shape (len(a), len(b))."""

    @abstractmethod
    def packing(self, radius: float) -> Packing:
        """Return a maximal packing, the same for the same radius."""

    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Return the number of the nearest center of each point; of equally near ones the first."""
        return np.argmin(self.distances(points, packing.centers), axis=1)

    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the number of the cell of each point, as a vector of one entry."""
        return [(cell,) for cell in self.cell_of(points, certified_packing(self, radius)).tolist()]


@lru_cache(maxsize=64)
def certified_packing(space: BoundedSpace, radius: float) -> Packing:
    """Return a packing of the space whose certificate holds, or raise."""
    packing = space.packing(positive(radius, "radius"))
    if not packing.is_maximal:
        raise InvalidArgument.of("radius", f"have a certified maximal packing of {space!r}", radius)
    return packing


@dataclass(frozen=True)
class Circle(BoundedSpace):
    """The circle of circumference 1 with its arc length; points are numbers in [0, 1)."""

    dim = 1.0

    def points(self, X: Any) -> FloatArray:
        """Return an array of shape (n, 1)."""
        rows = require_features(X, 1, in_unit_cube=True)
        if np.any(rows == 1):
            raise InvalidArgument.of("X", "lie in [0, 1)", 1.0)
        return rows

    def distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the shorter arcs."""
        gap = np.abs(a - b.T)
        return np.minimum(gap, 1 - gap)

    def packing(self, radius: float) -> Packing:
        """Return floor(1 / r) equally spaced points."""
        cuts = max(1, math.floor(1 / radius * (1 + _ROUNDING)))
        return Packing(np.arange(cuts)[:, None] / cuts, radius, 1 / cuts if cuts > 1 else math.inf, 0.5 / cuts)


@dataclass(frozen=True)
class Cube(BoundedSpace):
    """The unit cube with the l-infinity norm; doubling dimension dim."""

    dim: int = 1

    def __post_init__(self) -> None:
        admit(self, dim=held)

    def points(self, X: Any) -> FloatArray:
        """Return an array of shape (n, dim)."""
        return require_features(X, self.dim, in_unit_cube=True)

    def distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the largest coordinates of the differences."""
        return cdist(a, b, "chebyshev")

    def packing(self, radius: float) -> Packing:
        """Return the grid of step r from 0: separation r, covering radius max(r / 2, the rest at 1)."""
        axis = np.minimum(np.arange(math.floor(1 / radius * (1 + _ROUNDING)) + 1) * radius, 1.0)
        return Packing(product_grid(*[axis] * self.dim), radius, radius, max(radius / 2, 1 - axis[-1]))


@dataclass(frozen=True, eq=False)
class PublicPoints(BoundedSpace):
    """A space given by public points and a distance: the packing keeps points greedily, in their order.

    Records need not be on the list: privacy does not depend on it. Consistency needs a list that is dense where records
    are.

    Examples
    --------
    >>> from mechanisms.papers.bousquet2022.spaces import PublicPoints
    >>> lengths = PublicPoints(["", "a", "bb", "cccc"], lambda a, b: abs(len(a) - len(b)), dim=1.0)
    >>> lengths.keys_of(lengths.points(["x", "yyyyy"]), 1.5)  # the centers are "", "bb" and "cccc"
    [(0,), (2,)]
    """

    places: Any  # at least one: rows of numbers, or anything that `distance` takes; never records
    distance: Callable[[Any, Any], float] | str  # a metric, or the name of one of `scipy.spatial.distance.cdist`
    dim: float  # > 0: the doubling dimension, or any larger number

    def __post_init__(self) -> None:
        if not len(self.places):
            raise InvalidArgument.of("places", "hold at least one public point", self.places)
        admit(self, dim=positive)

    def points(self, X: Any) -> FloatArray:
        """Return an array of rows, or of objects, one for each point."""
        return require_features(X, np.shape(self.places)[1]) if isinstance(self.distance, str) else as_objects(X)

    def distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the distances of all pairs of points."""
        if isinstance(self.distance, str):
            return np.asarray(cdist(a, b, self.distance))
        found = np.array([[float(self.distance(p, q)) for q in b] for p in a]).reshape(len(a), len(b))
        if not np.all(found >= 0):
            raise InvalidArgument.of("distance", "return numbers >= 0", found[~(found >= 0)][0].item())
        return found

    def packing(self, radius: float) -> Packing:
        """Keep each listed point at distance >= r from those kept before."""
        places, kept, apart = self.points(self.places), list[int](), math.inf
        nearest = np.full(len(places), math.inf)
        for index in range(len(places)):
            if nearest[index] >= radius:
                apart = min(apart, float(nearest[index]))
                kept.append(index)
                nearest = np.minimum(nearest, self.distances(places[index : index + 1], places)[0])
        return Packing(places[kept], radius, apart, float(nearest.max()))


@dataclass(frozen=True)
class Lattice(MetricSpace):
    """R^dim with the l-infinity norm; the packing is the lattice r Z^dim, its cells are centered cubes."""

    dim: int = 1

    def __post_init__(self) -> None:
        admit(self, dim=held)

    def points(self, X: Any) -> FloatArray:
        """Return an array of shape (n, dim)."""
        return require_features(X, self.dim)

    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the integer vector of the cube of each point."""
        return keys_of(points, radius, radius / 2)


@dataclass(frozen=True)
class DenseSequence(MetricSpace):
    """A separable space, by a dense sequence and a distance (Theorem A.13 and footnote 2).

    The packing is made greedily, as far as it is asked for: p_i is a center unless it lies within r of one before it.
    The number of a center is a function of the sequence, the distance and r alone.

    Examples
    --------
    >>> from mechanisms.papers.bousquet2022.spaces import DenseSequence
    >>> line = DenseSequence(lambda i: (-1) ** i * i / 8, lambda a, b: abs(a - b), 1.0)  # 0, -1/8, 2/8, -3/8, ...
    >>> line.keys_of(line.points([0.3, -0.9]), 0.5)  # the centers are 0, 0.5, -0.625, 1, -1.125, ...
    [(0,), (2,)]
    """

    place: Callable[[int], Any]  # the sequence; points are hashable; never records
    distance: Callable[[Any, Any], float]  # a metric
    dim: float  # > 0: the doubling dimension, or any larger number
    most: int = 100_000  # points that are looked at; a record without a center among them is refused

    def __post_init__(self) -> None:
        admit(self, dim=positive)

    def points(self, X: Any) -> FloatArray:
        """Return an array of objects, one for each point."""
        return as_objects(X)

    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the number of the first center within the radius of each point."""
        known = {point: self._key_of(point, positive(radius, "radius")) for point in dict.fromkeys(points)}
        return [known[point] for point in points]

    def _key_of(self, point: Any, radius: float) -> tuple[int]:
        for number, center in enumerate(centers_of(self, radius)):
            if self.distance(point, center) <= radius:
                return (number,)
        raise InvalidArgument.of("X", f"hold points within {radius:g} of the first {self.most} of the sequence", point)


@lru_cache(maxsize=64)
def _search(space: DenseSequence, radius: float) -> tuple[list[Any], Iterator[int]]:
    """Return the centers found so far, and what is left of the sequence."""
    return [], iter(range(space.most))


def centers_of(space: DenseSequence, radius: float) -> Iterator[Any]:
    """Yield the centers for one radius; they are found as they are asked for, and kept."""
    kept, rest = _search(space, radius)
    for number in itertools.count():
        while len(kept) <= number:
            if (index := next(rest, None)) is None:
                return
            place = space.place(index)
            if all(space.distance(place, center) >= radius for center in kept):
                kept.append(place)
        yield kept[number]


def as_objects(X: Any) -> FloatArray:
    """Return an array of objects, one for each point, whatever points are."""
    found = np.empty(len(X), dtype=object)
    found[:] = list(X)
    return found


@cache
def edit_distance(a: str, b: str) -> float:
    """Return the least number of letters to insert, delete or replace that turns a into b, over 9."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other))
    return row[-1] / 9


def fraction(number: int) -> Fraction:
    """Return a term of the sequence 0, then m / 2 for m < 4, m / 4 for m < 16, m / 8 for m < 64, and so on."""
    level, left = 0, number
    while left >= 4**level:
        left -= 4**level
        level += 1
    return Fraction(left, 2**level)


def dyadic_distance(a: Fraction, b: Fraction) -> float:
    """Return |a - b| in the 2-adic sense: 2^k where 2^-k is the power of 2 in a - b; both have powers of 2 below."""
    (above, below), (other, others) = a.as_integer_ratio(), b.as_integer_ratio()
    gap = above * others - other * below
    return below * others / (gap & -gap) if gap else 0.0  # by the largest power of 2 in the numerator


MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
OTHERS = (
    *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    *("spring", "summer", "autumn", "winter"),
)
WORDS = PublicPoints((*MONTHS, *OTHERS), edit_distance, 2.0)
SQUARE = PublicPoints(product_grid(*[np.linspace(0, 1, 41)] * 2), "euclidean", math.log2(7))
TWO_ADIC = DenseSequence(fraction, dyadic_distance, 1.0)
