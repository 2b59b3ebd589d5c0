"""Variants of the binary array that look broken and are not: each keeps the claim of Theorem 2.1.

Their counterparts in `mechanisms.faults.local` change one thing more, and break it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import Local, PrivacyCheck, PrivacyClaim
from mechanisms.local.binary_array import (
    SOURCE,
    LocalBinaryArrayMechanism,
    Record,
    far_pair,
    flip_pair,
    require_record,
)


@dataclass(frozen=True)
class HalfOpenCubes(LocalBinaryArrayMechanism):
    """Cubes [-h, h) hold their lower faces: every point lies in exactly 2^d cells, so epsilon stays.

    True privacy: (epsilon, 0), tight.
    """

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the bits of the half-open cubes."""
        point, label = require_record(record, self.grid)
        lower, axes = np.floor(point[0] / self.bandwidth), self.grid.indices
        held = np.all((axes == lower) | (axes == lower + 1), axis=1).astype(float)
        return held if self.half == 1 else held * label


@dataclass(frozen=True)
class ClosedCubesMoreNoise(LocalBinaryArrayMechanism):
    """Closed cubes hold a grid point 3^d times over, and the noise has scale 2 * 3^d / epsilon to match.

    True privacy: (epsilon, 0), tight for two grid points.
    """

    @property
    def scale(self) -> float:
        """Scale of the noise for up to 3^d cells a point."""
        return 2 * 3.0**self.dim / self.epsilon

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the bits of the closed cubes."""
        point, label = require_record(record, self.grid)
        held = closed_bits(self, point[0])
        return held if self.half == 1 else held * label


@dataclass(frozen=True)
class DisjointCubes(LocalBinaryArrayMechanism):
    """Cells [j h, (j+1) h) do not overlap; the same noise is 2^d times more than needed.

    True privacy: (epsilon / 2^d, 0).
    """

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the bits of the disjoint cubes."""
        point, label = require_record(record, self.grid)
        held = np.all(self.grid.indices == np.floor(point[0] / self.bandwidth), axis=1).astype(float)
        return held if self.half == 1 else held * label


@dataclass(frozen=True)
class SignedLabels(LocalBinaryArrayMechanism):
    """Half 2 releases (2 y - 1) B in place of y B: a flip costs epsilon, as a move always did.

    True privacy: (epsilon, 0), tight. The statistic must then drop half 1; kept as it is, the rule decides at
    eta = 3/4 (`mechanisms.faults.local.rules`).
    """

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the bits with the sign of the label."""
        point, label = require_record(record, self.grid)
        return self.grid.hits(point)[0] * float(2 * label - 1)


@dataclass(frozen=True)
class RoundedAndClipped:
    """The release rounded to integers and clipped to [-20, 20]: post-processing.

    True privacy: at most (epsilon, 0).
    """

    array: LocalBinaryArrayMechanism

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.clip(np.round(self.array(record, size, rng)), -20, 20)


@dataclass(frozen=True)
class SumOverUsers:
    """Only the sum of the arrays of three users is released, two of them fixed: the server adds no noise.

    True privacy: at most (epsilon, 0); the noise of the others only helps.
    """

    array: LocalBinaryArrayMechanism
    others: tuple[Record, ...]

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.sum([self.array(user, size, rng) for user in (record, *self.others)], axis=0)


@dataclass(frozen=True)
class StoredNoise:
    """Five answers about one cell, the noise drawn when the cell is first asked for and kept.

    True privacy: (epsilon / 2^(d+1), 0) for one cell, however often it is asked.
    """

    array: LocalBinaryArrayMechanism
    cell: int = 0

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        # one noise for each release, the answers repeat it: `noise` is the user's store, empty before the first query
        bit = self.array.bits(record)[self.cell]
        noise = cache(lambda cell: rng.laplace(scale=self.array.scale, size=size))
        return np.stack([bit + noise(self.cell) for _ in range(5)], axis=1)


def closed_bits(array: Any, point: np.ndarray) -> NDArray[np.float64]:
    """Return which closed cubes of a mechanism's grid hold a point, shape (cells,)."""
    ratio, axes = point / array.bandwidth, array.grid.indices
    return np.all((axes >= np.ceil(ratio) - 1) & (axes <= np.floor(ratio) + 1), axis=1).astype(float)


def grid_pair(dim: int) -> tuple[Record, Record]:
    """Return two grid points of h = 0.25 whose closed cubes are disjoint, and lie in the window [0, 1.25]."""
    near = np.full(dim, 0.25)
    far = near.copy()
    far[0] = 1.0
    return (tuple(near), 1), (tuple(far), 1)


def _check(name: str, mechanism: Any, epsilon: float, pairs: list[Any], **settings: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"decoy/local {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Local(), SOURCE),
        pairs=pairs,
        **{"budget": 20_000, **settings},
    )


_BLACK_BOX = {"budget": 50_000, "tolerance": 0.6}  # of events of probability 0.01: theirs are far more likely
_PLAIN = LocalBinaryArrayMechanism(1, 1.0, 0.4)

CHECKS: list[PrivacyCheck] = [
    _check("half-open cubes d=1", HalfOpenCubes(1, 1.0, 0.4), 1.0, [far_pair(1), ((0.4, 1), (0.0, 1)), flip_pair(1)]),
    _check("half-open cubes d=2", HalfOpenCubes(2, 1.0, 0.4), 1.0, [far_pair(2), flip_pair(2)]),
    _check("closed cubes and noise to match d=1", ClosedCubesMoreNoise(1, 1.0, 0.25, high=1.25), 1.0, [grid_pair(1)]),
    _check("closed cubes and noise to match d=2", ClosedCubesMoreNoise(2, 1.0, 0.25, high=1.25), 1.0, [grid_pair(2)]),
    _check("disjoint cubes d=1", DisjointCubes(1, 1.0, 0.4), 0.5, [far_pair(1)]),
    _check("disjoint cubes d=2", DisjointCubes(2, 1.0, 0.4), 0.25, [far_pair(2)]),
    _check("signed labels d=1", SignedLabels(1, 1.0, 0.4), 1.0, [far_pair(1), flip_pair(1)]),
    _check("signed labels d=2", SignedLabels(2, 1.0, 0.4), 1.0, [far_pair(2), flip_pair(2)]),
    _check("rounded and clipped", RoundedAndClipped(_PLAIN), 1.0, [far_pair(1), flip_pair(1)], **_BLACK_BOX),
    _check("sum over users", SumOverUsers(_PLAIN, ((0.5, 1), (0.9, 0))), 1.0, [far_pair(1)], **_BLACK_BOX),
    _check("stored noise, five queries", StoredNoise(_PLAIN), 0.25, [far_pair(1)], **_BLACK_BOX),
]
