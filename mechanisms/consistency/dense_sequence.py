"""Algorithm 5 in every separable space of finite doubling dimension: from a dense sequence of public points.

Bousquet et al. (2022), Theorem A.13 and footnote 2. A separable space is one with a dense sequence p_0, p_1, ...; its
maximal r-packing is made from it greedily, as far as it is asked for: p_i is a center unless it lies within r of one
before it. No data enter: the number of a center is a function of the sequence, the distance and r. Every point x of
the space has a center within r: dense points near x are within r of centers, of which a ball holds finitely many.

Departure: a record belongs to the *first* center within r of it, where the text says the nearest one. The nearest of
infinitely many cannot be found by looking at finitely many. The cells of both rules have diameter 2 r at most, and a
cell that meets a ball has its center within r of the ball: the two facts that Lemmas A.8 and A.9 use.

Two spaces: the 2-adic numbers, whose dense sequence is that of the fractions m / 2^k >= 0, and the line with the
distance sqrt|x - y|, of doubling dimension 2, in which no curve has a length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import positive
from mechanisms.consistency.spaces import FloatArray, MetricSpace


@dataclass(frozen=True)
class DenseSequence(MetricSpace):
    """A separable space, by a dense sequence and a distance.

    Parameters
    ----------
    place : callable int -> point
        The sequence; points are hashable. Never records.
    distance : callable (a, b) -> float >= 0
        A metric.
    dim : float > 0
        The doubling dimension, or an upper bound.
    most : int
        Points of the sequence that are looked at; a record without a center among them is refused.

    Examples
    --------
    >>> from mechanisms.consistency.dense_sequence import DenseSequence
    >>> line = DenseSequence(lambda i: (-1) ** i * i / 8, lambda a, b: abs(a - b), 1.0)  # 0, -1/8, 2/8, -3/8, ...
    >>> line.keys_of(line.points([0.3, -0.9]), 0.5)  # the centers are 0, 0.5, -0.625, 1, -1.125, ...
    [(0,), (2,)]
    """

    place: Callable[[int], Any]
    distance: Callable[[Any, Any], float]
    dim: float
    most: int = 100_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", positive(self.dim, "dim"))

    @property
    def doubling_dim(self) -> float:
        """`dim`."""
        return self.dim

    def points(self, X: Any) -> FloatArray:
        """Return an array of objects, one for each point."""
        found = np.empty(len(X), dtype=object)
        found[:] = list(X)
        return found

    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the number of the first center within the radius of each point."""
        known = {point: (self.center_of(point, positive(radius, "radius")),) for point in dict.fromkeys(points)}
        return [known[point] for point in points]

    def center_of(self, point: Any, radius: float) -> int:
        """Return the number of the first center within the radius of a point, centers being counted from 0."""
        centers = _centers(self, radius)
        for number in range(self.most):
            center = centers.numbered(number)
            if center is None:
                break
            if self.distance(point, center[0]) <= radius:
                return number
        raise InvalidArgument.of("X", f"hold points within {radius:g} of the first {self.most} of the sequence", point)


class _Centers:
    """The centers for one radius, found as they are asked for."""

    def __init__(self, space: DenseSequence, radius: float) -> None:
        self.space, self.radius = space, radius
        self.looked_at, self.found = 0, list[tuple[Any]]()

    def numbered(self, number: int) -> tuple[Any] | None:
        """Return a center, in a tuple since it may be None, or None where the sequence is at its end."""
        while len(self.found) <= number and self.looked_at < self.space.most:
            place = self.space.place(self.looked_at)
            self.looked_at += 1
            if all(self.space.distance(place, center) >= self.radius for (center,) in self.found):
                self.found.append((place,))
        return self.found[number] if number < len(self.found) else None


@lru_cache(maxsize=64)
def _centers(space: DenseSequence, radius: float) -> _Centers:
    return _Centers(space, radius)


def fraction(number: int) -> Fraction:
    """Return a term of the sequence 0, then m / 2 for m < 4, m / 4 for m < 16, m / 8 for m < 64, and so on."""
    level, left = 0, number
    while left >= 4**level:
        left -= 4**level
        level += 1
    return Fraction(left, 2**level)


def signed_fraction(number: int) -> Fraction:
    """Return the same sequence with each term twice, the second time negative."""
    return fraction(number // 2) * (-1) ** number


def dyadic_distance(a: Fraction, b: Fraction) -> float:
    """Return |a - b| in the 2-adic sense: 2^k where 2^-k is the power of 2 in a - b; both have powers of 2 below."""
    (above, below), (other, others) = a.as_integer_ratio(), b.as_integer_ratio()
    gap = above * others - other * below
    return below * others / (gap & -gap) if gap else 0.0  # by the largest power of 2 in the numerator


def root_distance(a: Fraction, b: Fraction) -> float:
    """Return sqrt|a - b|."""
    return float(abs(a - b)) ** 0.5


TWO_ADIC = DenseSequence(fraction, dyadic_distance, 1.0)
ROOT_LINE = DenseSequence(signed_fraction, root_distance, 2.0)
