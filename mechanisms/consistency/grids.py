"""Partitions into half-open cubes: of the unit cube, and of the whole space.

The side depends on the PUBLIC number of records only: n^(-1 / (2 dim)), so that the unit cube has about sqrt(n)
cubes in every dimension (Bousquet et al. 2022, Algorithms 2 and 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audit.validate import integer, positive

FloatArray = np.ndarray


def side_for(n: int, dim: int) -> float:
    """Return the side n^(-1 / (2 dim)) of Algorithms 2 and 3."""
    return float(integer(n, "n", at_least=1) ** (-1 / (2 * integer(dim, "dim", at_least=1))))


@dataclass(frozen=True)
class UnitGrid:
    """Cubes [j side, (j + 1) side) that cover [0, 1]^dim; the last one of each axis is cut off at 1 and holds it.

    Parameters
    ----------
    dim : int >= 1
    side : float > 0
    """

    dim: int
    side: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", integer(self.dim, "dim", at_least=1))
        object.__setattr__(self, "side", positive(self.side, "side"))

    @cached_property
    def cuts(self) -> int:
        """Number of cubes along an axis, ceil(1 / side); a side meant as 1 / k gives k despite its rounding."""
        return max(1, math.ceil(1 / self.side * (1 - 1e-14)))

    @property
    def size(self) -> int:
        """Number of cubes."""
        return int(self.cuts**self.dim)

    def cell_of(self, X: FloatArray) -> np.ndarray:
        """Return the number of the cube of each row, row-major."""
        index = np.minimum(np.floor(X / self.side).astype(np.int64), self.cuts - 1)
        return np.ravel_multi_index(tuple(index.T), (self.cuts,) * self.dim)

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper corners, shape (size,) if dim = 1, else (size, dim); the last ends are infinite."""
        starts = np.arange(self.cuts) * self.side
        ends = np.r_[starts[1:], np.inf]
        if self.dim == 1:
            return starts, ends
        low, high = (np.stack(np.meshgrid(*[v] * self.dim, indexing="ij"), axis=-1) for v in (starts, ends))
        return low.reshape(-1, self.dim), high.reshape(-1, self.dim)

    def centers(self) -> FloatArray:
        """Return a point inside each cube, shape (size, dim)."""
        starts = np.arange(self.cuts) * self.side
        middles = (starts + np.minimum(starts + self.side, 1.0)) / 2
        return np.stack(np.meshgrid(*[middles] * self.dim, indexing="ij"), axis=-1).reshape(-1, self.dim)


@dataclass(frozen=True)
class SpaceGrid:
    """Cubes [j side, (j + 1) side) for all integer vectors j, anchored at 0 (or at -side / 2: centered cubes).

    Parameters
    ----------
    dim : int >= 1
    side : float > 0
    centered : bool
        Put 0 into the middle of a cube, as Voronoi cells of the lattice side * Z^dim have it.
    """

    dim: int
    side: float
    centered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", integer(self.dim, "dim", at_least=1))
        object.__setattr__(self, "side", positive(self.side, "side"))

    @property
    def shift(self) -> float:
        """Return how far the anchor lies below 0."""
        return self.side / 2 if self.centered else 0.0

    def keys_of(self, X: FloatArray) -> list[tuple[int, ...]]:
        """Return the integer vector of the cube of each row."""
        index = np.floor((X + self.shift) / self.side)
        return [tuple(map(int, row)) for row in index.tolist()]

    def lower_corner(self, key: tuple[int, ...]) -> FloatArray:
        """Return the lower corner of a cube."""
        return np.array(key, dtype=float) * self.side - self.shift

    def window(self, reach: float) -> tuple[FloatArray, FloatArray]:
        """Return the corners of all cubes that meet (-reach, reach)^dim, as `UnitGrid.boxes` does."""
        first = math.floor((-reach + self.shift) / self.side)
        last = math.ceil((reach + self.shift) / self.side)
        edges = np.arange(first, last + 1) * self.side - self.shift
        if self.dim == 1:
            return edges[:-1], edges[1:]
        low, high = (np.stack(np.meshgrid(*[v] * self.dim, indexing="ij"), -1) for v in (edges[:-1], edges[1:]))
        return low.reshape(-1, self.dim), high.reshape(-1, self.dim)
