"""Metric spaces of finite doubling dimension, with maximal packings that carry their own certificate.

A maximal r-packing is a set of centers at mutual distance >= r such that every other point is at distance < r from
one of them. `Packing.cover` is the exact covering radius, or an upper bound of it: the packing is maximal if it is < r.
Centers never depend on data. Ties between centers go to the one nearest in every coordinate, then to the lower one:
any fixed rule does, but it must be fixed, since in the l-infinity norm ties have positive measure.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

from audit.errors import InvalidArgument
from audit.validate import integer, positive
from mechanisms.consistency.records import features

FloatArray = np.ndarray
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Packing:
    """Centers of a packing of a bounded space.

    Parameters
    ----------
    centers : array, shape (cells, ...)
    radius : float
        r.
    separation : float
        Least distance of two centers; at least r up to rounding.
    cover : float
        Upper bound of the distance of any point from its nearest center.
    """

    centers: Any
    radius: float
    separation: float
    cover: float

    @property
    def is_maximal(self) -> bool:
        """Return whether the certificate holds: separation >= r and covering radius < r."""
        return self.separation >= self.radius * (1 - _ROUNDING) and self.cover < self.radius

    def __len__(self) -> int:
        return len(self.centers)


class MetricSpace(ABC):
    """A metric space: what points are, and in which cell of a countable packing each one lies."""

    @property
    @abstractmethod
    def doubling_dim(self) -> float:
        """Doubling dimension, or an upper bound."""

    @abstractmethod
    def points(self, X: Any) -> FloatArray:
        """Return X as an array of points, or refuse points outside the space."""

    @abstractmethod
    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the name of the Voronoi cell of each point, for a maximal packing that no data enter."""


class BoundedSpace(MetricSpace):
    """A bounded space: a finite packing, and the number of the Voronoi cell of each point."""

    @abstractmethod
    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return distances of points, row by row."""

    @abstractmethod
    def packing(self, radius: float) -> Packing:
        """Return a maximal packing, the same for the same radius."""

    @abstractmethod
    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Return the number of the nearest center of each point."""

    def keys_of(self, points: FloatArray, radius: float) -> list[tuple[int, ...]]:
        """Return the number of the cell of each point, as a vector of one entry."""
        return [(cell,) for cell in self.cell_of(points, certified(self, radius)).tolist()]


def certified(space: BoundedSpace, radius: float) -> Packing:
    """Return a packing of the space whose certificate holds, or raise."""
    packing = space.packing(radius)
    if not packing.is_maximal:
        raise InvalidArgument.of("radius", f"have a certified maximal packing of {space!r}", radius)
    return packing


@dataclass(frozen=True)
class Circle(BoundedSpace):
    """The circle of circumference 1 with its arc length; points are numbers in [0, 1)."""

    @property
    def doubling_dim(self) -> float:
        """1."""
        return 1.0

    def points(self, X: Any) -> FloatArray:
        """Return an array of shape (n, 1)."""
        rows = features(X, 1, unit_cube=True)
        if np.any(rows == 1):
            raise InvalidArgument.of("X", "lie in [0, 1)", 1.0)
        return rows

    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the shorter arc."""
        gap = np.abs(a - b)[..., 0]
        return np.minimum(gap, 1 - gap)

    def packing(self, radius: float) -> Packing:
        """Return floor(1 / r) equally spaced points."""
        cuts = max(1, math.floor(1 / positive(radius, "radius") * (1 + _ROUNDING)))
        separation = 1 / cuts if cuts > 1 else math.inf
        return Packing(np.arange(cuts)[:, None] / cuts, radius, separation, 0.5 / cuts)

    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Round to the nearest center, halves down."""
        return np.ceil(points[:, 0] * len(packing) - 0.5).astype(np.int64) % len(packing)

    def arcs(self, packing: Packing) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the cells in [0, 1), the first one split: arcs 0 and K both belong to cell 0."""
        inner = (np.arange(len(packing)) + 0.5) / len(packing)
        return np.r_[0.0, inner], np.r_[inner, 1.0]


@dataclass(frozen=True)
class Cube(BoundedSpace):
    """The unit cube with the l-infinity norm; doubling dimension dim."""

    dim: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", integer(self.dim, "dim", at_least=1))

    @property
    def doubling_dim(self) -> float:
        """The dimension."""
        return float(self.dim)

    def points(self, X: Any) -> FloatArray:
        """Return an array of shape (n, dim)."""
        return features(X, self.dim, unit_cube=True)

    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the largest coordinate of the difference."""
        return np.max(np.abs(a - b), axis=-1)

    def packing(self, radius: float) -> Packing:
        """Return the grid of step r from 0: separation r, covering radius max(r / 2, what is left at 1)."""
        positive(radius, "radius")
        steps = math.floor(1 / radius * (1 + _ROUNDING))
        axis = np.minimum(np.arange(steps + 1) * radius, 1.0)
        cover = max(radius / 2, 1 - axis[-1])
        return Packing(_grid(axis, self.dim), radius, radius, cover)

    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Round every coordinate to the nearest step, halves down."""
        steps = round(len(packing) ** (1 / self.dim)) - 1
        index = np.clip(np.ceil(points / packing.radius - 0.5), 0, steps).astype(np.int64)
        return np.ravel_multi_index(tuple(index.T), (steps + 1,) * self.dim)

    def boxes(self, packing: Packing) -> tuple[FloatArray, FloatArray]:
        """Return the corners of the cells, shape (cells,) for dim = 1 and (cells, dim) else."""
        axis = np.unique(packing.centers[:, -1])
        ends = np.r_[0.0, (axis[:-1] + axis[1:]) / 2, 1.0]
        low, high = _grid(ends[:-1], self.dim), _grid(ends[1:], self.dim)
        return (low[:, 0], high[:, 0]) if self.dim == 1 else (low, high)


@dataclass(frozen=True)
class EuclideanSquare(BoundedSpace):
    """The unit square with the Euclidean norm; doubling dimension log2 7."""

    @property
    def doubling_dim(self) -> float:
        """log2 7."""
        return math.log2(7)

    def points(self, X: Any) -> FloatArray:
        """Return an array of shape (n, 2)."""
        return features(X, 2, unit_cube=True)

    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the Euclidean distance."""
        return np.linalg.norm(a - b, axis=-1)

    def packing(self, radius: float) -> Packing:
        """Return the grid of step 1 / floor(1 / r), with the centers of its squares where it leaves gaps of r or more.

        The plain grid of step r is not maximal: near the upper corner it leaves a gap of up to sqrt(2) r.
        """
        cuts = max(1, math.floor(1 / positive(radius, "radius") * (1 + _ROUNDING)))
        step = 1 / cuts
        corners = _grid(np.arange(cuts + 1) * step, 2)
        half_diagonal = math.sqrt(0.5) * step
        if half_diagonal < radius:
            return Packing(corners, radius, step, half_diagonal)
        middles = _grid((np.arange(cuts) + 0.5) * step, 2)
        return Packing(np.vstack([corners, middles]), radius, half_diagonal, step / 2)

    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Look up the nearest center; of equally near ones the lowest."""
        return nearest(packing.centers, points)


@dataclass(frozen=True)
class Sphere(BoundedSpace):
    """The unit sphere in R^3 with great-circle distance; doubling dimension at most 3."""

    @property
    def doubling_dim(self) -> float:
        """An upper bound."""
        return 3.0

    def points(self, X: Any) -> FloatArray:
        """Return an array of unit vectors, shape (n, 3)."""
        rows = features(X, 3)
        length = np.linalg.norm(rows, axis=1)
        if np.any(np.abs(length - 1) > 1e-6):
            raise InvalidArgument.of("X", "hold unit vectors", length[np.abs(length - 1) > 1e-6][0].item())
        return rows

    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return the angle between unit vectors."""
        return 2 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2, 0.0, 1.0))

    def packing(self, radius: float) -> Packing:
        """Insert greedily, then insert the center of the widest empty cap until every empty cap is below r.

        The faces of the convex hull of the centers are the faces of their Delaunay triangulation, so that the widest
        cap around a face is the exact covering radius.
        """
        if not positive(radius, "radius") <= 1:
            raise InvalidArgument.of("radius", "be at most 1", radius)
        centers = _greedy(spiral(math.ceil(40 / radius**2)), 2 * math.sin(radius / 2))
        while True:
            faces = ConvexHull(centers).equations
            widest = int(np.argmax(faces[:, 3]))  # plane n.x = -offset: the cap around n has angle arccos(-offset)
            cover = float(np.arccos(np.clip(-faces[:, 3], -1, 1)).max())
            if cover < radius:
                return Packing(centers, radius, self._separation(centers), cover)
            centers = np.vstack([centers, faces[widest, :3]])

    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Look up the nearest center: chord and angle have the same order."""
        return nearest(packing.centers, points)

    def _separation(self, centers: FloatArray) -> float:
        chords, _ = cKDTree(centers).query(centers, k=2)
        return float(2 * np.arcsin(chords[:, 1].min() / 2))


@dataclass(frozen=True)
class BinarySequences(BoundedSpace):
    """Sequences of bits with the ultrametric 2^-(length of the common prefix); points are rows of `depth` bits."""

    depth: int = 32

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", integer(self.depth, "depth", at_least=1))

    @property
    def doubling_dim(self) -> float:
        """1."""
        return 1.0

    def points(self, X: Any) -> FloatArray:
        """Return an array of bits, shape (n, depth)."""
        rows = features(X, self.depth)
        if not np.all((rows == 0) | (rows == 1)):
            raise InvalidArgument.of("X", "hold bits", rows[(rows != 0) & (rows != 1)][0].item())
        return rows.astype(np.int8)

    def distance(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return 2^-k for the first k bits equal; 0 for equal rows."""
        differs = a != b
        first = np.argmax(differs, axis=-1)
        return np.where(np.any(differs, axis=-1), 2.0**-first, 0.0)

    def packing(self, radius: float) -> Packing:
        """Return one sequence for each prefix of floor(log2(1 / r)) + 1 bits."""
        prefix = min(max(0, math.floor(math.log2(1 / positive(radius, "radius")) + _ROUNDING) + 1), self.depth)
        heads = np.array(list(itertools.product((0, 1), repeat=prefix)), dtype=np.int8).reshape(2**prefix, prefix)
        centers = np.hstack([heads, np.zeros((2**prefix, self.depth - prefix), dtype=np.int8)])
        return Packing(centers, radius, 2.0 ** -(prefix - 1) if prefix else math.inf, 2.0**-prefix)

    def cell_of(self, points: FloatArray, packing: Packing) -> np.ndarray:
        """Read the prefix as a binary number."""
        prefix = round(math.log2(len(packing)))
        return points[:, :prefix].astype(np.int64) @ (1 << np.arange(prefix)[::-1])


def nearest(centers: FloatArray, points: FloatArray) -> np.ndarray:
    """Return the number of the nearest center in the Euclidean norm; of equally near ones the lowest."""
    known = min(4, len(centers))
    distances, index = cKDTree(centers).query(points, k=known)
    distances, index = distances.reshape(len(points), known), index.reshape(len(points), known)
    tied = distances <= distances[:, :1] * (1 + 1e-14)
    return np.min(np.where(tied, index, len(centers)), axis=1)


def spiral(size: int) -> FloatArray:
    """Return points spread evenly over the unit sphere, on a golden spiral."""
    k = np.arange(size) + 0.5
    z, angle = 1 - 2 * k / size, math.pi * (1 + math.sqrt(5)) * k
    ring = np.sqrt(1 - z * z)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), z], axis=1)


def _greedy(candidates: FloatArray, chord: float) -> FloatArray:
    """Keep every candidate that is at least `chord` away from those kept before."""
    free = np.ones(len(candidates), dtype=bool)
    kept = []
    for index in range(len(candidates)):
        if free[index]:
            kept.append(candidates[index])
            free &= np.linalg.norm(candidates - candidates[index], axis=1) >= chord
    return np.array(kept)


def _grid(axis: FloatArray, dim: int) -> FloatArray:
    return np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
