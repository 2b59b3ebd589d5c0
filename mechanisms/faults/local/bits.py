"""Binary arrays with the right noise around the wrong bits, or with something released beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit import Labeled, PrivacyCheck, Substitution
from mechanisms.faults.local.arrays import Released, fault_check
from mechanisms.local.binary_array import LocalBinaryArrayMechanism, Record, flip_pair, noise_scale
from mechanisms.local.decoys import closed_bits, grid_pair
from mechanisms.local.grid import Grid


@dataclass(frozen=True)
class ClosedCubes(LocalBinaryArrayMechanism):
    """Cubes hold their faces, |x - j h| <= h, and the noise is that for open cubes.

    True privacy: ((3/2)^d epsilon, 0) on two grid points: 1.5, 2.25, 3.375 for d = 1, 2, 3 at epsilon = 1; a flip
    costs 3^d / 2^(d+1) epsilon. Points off the grid never show it.
    """

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the bits of the closed cubes."""
        point, label = record
        held = closed_bits(self, np.atleast_1d(np.asarray(point, dtype=float)))
        return held if self.half == 1 else held * label


@dataclass(frozen=True)
class ComparesInFloatingPoint(LocalBinaryArrayMechanism):
    """The definition as written, |x - j h| < h, evaluated in double precision.

    True privacy: (1.5 epsilon, 0) for d = 1 and h = 0.1 on x = 0.4 against x = 0.8. Both are grid points, which open
    cubes of one axis hold once; in doubles 0.5 - 0.4 and 0.4 - 3 * 0.1 fall below 0.1, so that three cells hold 0.4.
    """

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the bits by comparing distances with h."""
        point, label = record
        distance = np.abs(np.atleast_1d(np.asarray(point, dtype=float)) - self.grid.indices * self.bandwidth)
        held = np.all(distance < self.bandwidth, axis=1).astype(float)
        return held if self.half == 1 else held * label


@dataclass(frozen=True)
class UnclippedLabel(LocalBinaryArrayMechanism):
    """Labels are multiplied in as they come, without a look at their range.

    True privacy: (M epsilon, 0) on a far pair with labels M: 3 for M = 3 at epsilon = 1.
    """

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the bits times any label."""
        point, label = record
        return self.grid.hits(np.reshape(np.asarray(point, dtype=float), (1, -1)))[0] * float(label)


@dataclass(frozen=True)
class HalfByLabel:
    """Users labeled 1 go to half 2, the others to half 1; the half, first in the output, is public.

    True privacy: none (delta = 1 for every epsilon) on a flip.
    """

    array: LocalBinaryArrayMechanism

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        half = np.full((size, 1), 1.0 + float(record[1]))
        return np.hstack([half, self.array(record, size, rng)])


@dataclass(frozen=True)
class ExactCellCounts:
    """Noisy sums of labels over exact numbers of users in the cells: a regressogram's denominators are not private.

    Data: `Labeled`. True privacy: none (delta = 1 for every epsilon) on a record that moves to other cells: the
    counts are the last columns of the output.
    """

    epsilon: float
    bandwidth: float

    def __call__(self, users: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        held = Grid(1, self.bandwidth).hits(users.X).astype(float)
        scale = noise_scale(1, self.epsilon)
        noise = rng.laplace(scale=scale, size=(size, *held.shape)).sum(axis=1)
        counts = np.broadcast_to(held.sum(axis=0), noise.shape)
        return np.hstack([(held * users.y[:, None]).sum(axis=0) + noise, counts])


@dataclass(frozen=True)
class BandwidthFromTheData:
    """Bandwidth 0.8 times the range of the features, released beside the sum of the arrays of all users.

    Data: `Labeled`. True privacy: none (delta = 1 for every epsilon) on a change of the extreme point.
    """

    epsilon: float

    def __call__(self, users: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        bandwidth = 0.8 * float(np.ptp(users.X))
        held = Grid(1, bandwidth).hits(users.X)[:, :2] * users.y[:, None]
        noise = rng.laplace(scale=noise_scale(1, self.epsilon), size=(size, *held.shape)).sum(axis=1)
        return np.hstack([np.full((size, 1), bandwidth), held.sum(axis=0) + noise])


def _by_its_law(name: str, dim: int, pair: tuple[Record, Record]) -> PrivacyCheck:
    array = ClosedCubes(dim, 1.0, 0.25, high=1.25)
    return fault_check(f"{name} by its law", array, 1.0, pair, budget=4_000, method="exact")


_PLAIN = LocalBinaryArrayMechanism(1, 1.0, 0.4)
_LABELS = np.array([1, 0, 1])
_MOVE = (Labeled(np.array([0.2, 0.3, 0.4]), _LABELS), Labeled(np.array([0.2, 0.3, 0.9]), _LABELS))

CHECKS: list[PrivacyCheck] = [
    fault_check("closed cubes d=1", Released(ClosedCubes(1, 1.0, 0.2)), 1.0, ((0.2, 1), (0.8, 1)), budget=200_000),
    _by_its_law("closed cubes d=2", 2, grid_pair(2)),
    _by_its_law("closed cubes d=3", 3, grid_pair(3)),
    _by_its_law("closed cubes d=2, flip", 2, (((0.25, 0.25), 1), ((0.25, 0.25), 0))),
    fault_check(
        "comparison in floating point",
        Released(ComparesInFloatingPoint(1, 1.0, 0.1)),
        1.0,
        ((0.4, 1), (0.8, 1)),
        budget=200_000,
    ),
    fault_check("unclipped label 3", Released(UnclippedLabel(1, 1.0, 0.4)), 1.0, ((0.2, 3), (0.9, 3))),
    fault_check("half by label", HalfByLabel(_PLAIN), 1.0, flip_pair(1), budget=2_000),
    fault_check("exact cell counts", ExactCellCounts(1.0, 0.4), 1.0, _MOVE, Substitution(), budget=2_000),
    fault_check("bandwidth from the data", BandwidthFromTheData(1.0), 1.0, _MOVE, Substitution(), budget=2_000),
]
