"""The grid of section 2 of Berrett & Butucea (2019): points j h, and open cubes of side 2 h around them, the cells.

Departure: |x - j h| < h can hold for three j at once in floating point, which would break the count of 2^d cells; here
the cells of x come from the floor of x / h: never more than two on an axis.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.errors import InvalidArgument
from audit.validate import positive, real
from mechanisms.parts.records import require_features
from mechanisms.queries import admit, count, held

FloatArray = NDArray[np.floating[Any]]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Grid:
    """All grid points that a query in the window [low, high]^dim can ask for.

    Raises
    ------
    InvalidArgument
        When a parameter lies outside its admissible set.
    """

    dim: int  # >= 1
    bandwidth: float  # > 0: spacing h, and half the side of a cell; must not depend on data
    low: float = 0.0  # below `high`
    high: float = 1.0

    def __post_init__(self) -> None:
        admit(self, dim=count, bandwidth=positive, low=real, high=real)
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise InvalidArgument.of("high", f"be finite and above low = {self.low}", self.high)
        if max(abs(self.low), abs(self.high)) / self.bandwidth > 2.0**53:
            raise InvalidArgument.of("bandwidth", "cut the window into 2^53 cells at most", self.bandwidth)

    @property
    def first(self) -> int:
        """Smallest index on an axis."""
        return int(np.floor(self.low / self.bandwidth + 0.5))

    @property
    def last(self) -> int:
        """Largest index on an axis."""
        return int(np.floor(self.high / self.bandwidth + 0.5))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of grid points along each axis."""
        return (self.last - self.first + 1,) * self.dim

    @property
    def cells(self) -> int:
        """Number of grid points."""
        return held(math.prod(self.shape), "cells")

    @property
    def indices(self) -> IntArray:
        """Index vectors j of all grid points, shape (cells, dim), the last axis running fastest."""
        return np.indices(self.shape).reshape(self.dim, -1).T + self.first

    def hits(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return which cells hold each point, shape (n, cells)."""
        # Between 1 and 2^dim cells of the whole grid hold a point: on each axis two, or one when x / h is an integer.
        # Cells outside the window are left out.
        array = require_features(points, self.dim)
        held = np.zeros((len(array), self.cells), dtype=bool)
        for owner, cell in self._incidences(array):
            held[owner, cell] = True
        return held

    def count(self, points: ArrayLike) -> IntArray:
        """Return how many points each cell holds, shape (cells,)."""
        found = self._incidences(require_features(points, self.dim))
        return sum((np.bincount(cell, minlength=self.cells) for _, cell in found), np.zeros(self.cells, dtype=np.int64))

    def _incidences(self, points: FloatArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield, for each of the 2^dim cells around a point, which points lie in it, and its flat index."""
        ratio = points / self.bandwidth
        lower = np.floor(ratio)
        for corner in product((0, 1), repeat=self.dim):
            axes = lower + corner - self.first
            held = ((ratio > lower) | (np.array(corner) == 0)) & (axes >= 0) & (axes < self.shape[0])
            owner = np.flatnonzero(held.all(axis=1))
            yield owner, np.ravel_multi_index(tuple(axes[owner].astype(np.int64).T), self.shape)

    def nearest(self, points: ArrayLike) -> IntArray:
        """Return j*(x), the flat index of the grid point nearest to each query, shape (n,); ties go up.

        Raises
        ------
        InvalidArgument
            When a query lies outside the window.
        """
        array = require_features(points, self.dim)
        if array.size and not (array.min() >= self.low and array.max() <= self.high):
            raise InvalidArgument(f"`X` must lie in [{self.low:g}, {self.high:g}]^{self.dim}")
        axes = np.floor(array / self.bandwidth + 0.5).astype(np.int64) - self.first
        return np.asarray(np.ravel_multi_index(tuple(axes.T), self.shape))
