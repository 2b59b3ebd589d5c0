"""Half-open cubes, of the unit cube or of the whole space, and a table with an entry for each.

The side n^(-1 / (2 dim)) depends on the PUBLIC number of records only. A table has an entry for every cube, since a
dict of occupied cubes would show which are. Where there are more cubes than entries, a public hash maps cubes to
entries, at least as many as records: the partition is coarser, and no data enter it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from audit.validate import integer

FloatArray = np.ndarray
_FARTHEST = 2.0**62  # index of a cube; all cubes beyond count as one
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def side_for(n: int, dim: int) -> float:
    """Return the side n^(-1 / (2 dim)) of Algorithms 2 and 3."""
    return float(integer(n, "n", at_least=1) ** (-1 / (2 * integer(dim, "dim", at_least=1))))


def index_of(X: FloatArray, side: float, shift: float = 0.0) -> np.ndarray:
    """Return the integer vector j of the cube [j side - shift, (j + 1) side - shift) of each row."""
    return np.clip(np.floor((X + shift) / side), -_FARTHEST, _FARTHEST).astype(np.int64)


def keys_of(X: FloatArray, side: float, shift: float = 0.0) -> list[tuple[int, ...]]:
    """Return the integer vector of the cube of each row, as a tuple."""
    return [tuple(row) for row in index_of(X, side, shift).tolist()]


def product_grid(*axes: FloatArray) -> FloatArray:
    """Return all points with coordinates from the axes, the last axis running fastest, shape (points, axes)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def boxes_between(edges: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper corners of the boxes between edges on each axis: plain vectors for dim = 1."""
    low, high = (product_grid(*[ends] * dim) for ends in (edges[:-1], edges[1:]))
    return (low[:, 0], high[:, 0]) if dim == 1 else (low, high)


def cut_boxes(low: FloatArray, high: FloatArray, parts: int, dim: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the corners of equal parts of boxes, one place inside a box after the other, `parts` of them or so."""
    cuts = max(2, round(parts ** (1 / dim)))
    for place in product_grid(*[np.arange(cuts)] * dim):
        at = place if dim > 1 else place[0]
        yield low + (high - low) * at / cuts, low + (high - low) * (at + 1) / cuts


def edges_within(reach: float, side: float, shift: float = 0.0) -> FloatArray:
    """Return the edges of all cubes of an axis that meet (-reach, reach)."""
    first, last = math.floor((shift - reach) / side), math.ceil((shift + reach) / side)
    return np.arange(first, last + 1) * side - shift


@dataclass(frozen=True)
class UnitGrid:
    """Cubes [j side, (j + 1) side) that cover [0, 1]^dim; the last one of each axis is cut off at 1 and holds it."""

    dim: int
    side: float

    @property
    def cuts(self) -> int:
        """Number of cubes along an axis, ceil(1 / side); a side meant as 1 / k gives k despite its rounding."""
        return max(1, math.ceil(1 / self.side * (1 - 1e-14)))

    @property
    def size(self) -> int:
        """Number of cubes."""
        return int(self.cuts**self.dim)

    def index_of(self, X: FloatArray) -> np.ndarray:
        """Return the integer vector of the cube of each row."""
        return np.minimum(index_of(X, self.side), self.cuts - 1)

    def cell_of(self, X: FloatArray) -> np.ndarray:
        """Return the number of the cube of each row, row-major."""
        return np.ravel_multi_index(tuple(self.index_of(X).T), (self.cuts,) * self.dim)

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the corners of the cubes; the last ends are infinite."""
        return boxes_between(np.r_[np.arange(self.cuts) * self.side, np.inf], self.dim)


@dataclass(frozen=True)
class CubeTable:
    """The entries of the cubes for n records."""

    dim: int
    n: int
    is_bounded: bool  # rows lie in [0, 1]^dim; else anywhere
    size: int  # number of entries: of a bounded table one for each cube, or else shared

    @classmethod
    def for_records(cls, dim: int, n: int, is_bounded: bool = True, most: int = 2**16) -> CubeTable:
        """Return an entry for each cube of the unit cube up to `most`, else the larger of `most` and n entries."""
        cubes = UnitGrid(dim, side_for(n, dim)).size
        return cls(dim, n, is_bounded, cubes if is_bounded and cubes <= most else max(most, n))

    @property
    def grid(self) -> UnitGrid:
        """The cubes of the unit cube."""
        return UnitGrid(self.dim, side_for(self.n, self.dim))

    @property
    def is_hashed(self) -> bool:
        """Whether cubes share entries."""
        return not self.is_bounded or self.grid.size != self.size

    def entry_of(self, X: FloatArray) -> np.ndarray:
        """Return the entry of the cube of each row."""
        if not self.is_hashed:
            return self.grid.cell_of(X)
        index = self.grid.index_of(X) if self.is_bounded else index_of(X, self.grid.side)
        return (hash_rows(index) % np.uint64(self.size)).astype(np.int64)

    def sums(self, X: FloatArray, y: np.ndarray) -> FloatArray:
        """Return the sum of (label - 1/2) over each entry: l1 sensitivity 1 under substitution."""
        return np.bincount(self.entry_of(X), weights=np.asarray(y) - 0.5, minlength=self.size)


def hash_rows(index: np.ndarray) -> np.ndarray:
    """Return a public hash of each row of integers, one step of SplitMix64 a column."""
    state = np.zeros(len(index), dtype=np.uint64)
    for column in index.astype(np.uint64).T:
        state = (state ^ column) + _MIX[0]
        state = (state ^ state >> np.uint64(30)) * _MIX[1]
        state = (state ^ state >> np.uint64(27)) * _MIX[2]
        state = state ^ state >> np.uint64(31)
    return state
