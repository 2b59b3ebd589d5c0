"""The private histogram classifier on a distribution, cell by cell: aggregate sampler and evaluator.

The statistic of a cell depends on the data through the number of users in it, in half 1, and the number labeled 1,
in half 2; the noise of all users adds up. So T can be drawn from multinomial counts and gamma variables at a cost
that does not grow with n (`draw_statistics`, equal in distribution to the literal classifier), and the expected
excess risk is a sum over cells of P(T_j >= 0) times the cost of predicting 1 there (`expected_excess`), with

    E T_j = integral of (eta - 1/2) over the cell,
    Var T_j = (2 b^2 + w (1 - w)) / n + (2 b^2 + p (1 - p)) / (4 n),   b = 2^(d+1) / epsilon,

p the mass of the cell, w the integral of eta, n the users in each half, and P(T_j >= 0) from the normal law: T_j is
the mean of n independent terms whose larger part, the noise, is the same for all. `tests/mechanisms/local` holds the
evaluator against simulation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import special

from audit.errors import InvalidArgument
from audit.validate import positive
from mechanisms.local.binary_array import noise_scale
from mechanisms.local.grid import Grid

FloatArray = np.ndarray


class BoxIntegrals(Protocol):
    """A labeled distribution with integrals over half-open boxes [a, b); see `mechanisms.distributions`."""

    @property
    def dim(self) -> int: ...

    def mass(self, a: Any, b: Any) -> FloatArray: ...

    def signed_mass(self, a: Any, b: Any) -> FloatArray: ...

    def cost_of_one(self, a: Any, b: Any) -> FloatArray: ...

    def cost_of_zero(self, a: Any, b: Any) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class CellTable:
    """Integrals over cells, and over the inner cubes of queries that a cell decides; one entry a kind of cell.

    Parameters
    ----------
    dim : int
    mass, signed : array, shape (k,)
        P and the integral of 2 eta - 1 over the open cube of side 2 h.
    cost_of_one, cost_of_zero : array, shape (k,)
        Integrals of (1 - 2 eta)^+ and of (2 eta - 1)^+ over the inner cube of side h.
    multiplicity : array, shape (k,)
        Number of cells of this kind.
    """

    dim: int
    mass: FloatArray
    signed: FloatArray
    cost_of_one: FloatArray
    cost_of_zero: FloatArray
    multiplicity: FloatArray

    def deviation(self, n: float, epsilon: float, factor: float = 1.0) -> FloatArray:
        """Return the standard deviation of T; `factor` multiplies the scale of the noise."""
        noise = 2 * (factor * noise_scale(self.dim, epsilon)) ** 2
        labeled = (self.mass + self.signed) / 2
        variance = noise + labeled * (1 - labeled) + (noise + self.mass * (1 - self.mass)) / 4
        return np.asarray(np.sqrt(variance / n))

    def excess(self, one: FloatArray) -> float:
        """Return the excess risk of predicting 1 with probability `one` in each cell."""
        return float(np.sum(self.multiplicity * (one * self.cost_of_one + (1 - one) * self.cost_of_zero)))

    def expected_excess(self, n: float, epsilon: float, factor: float = 1.0) -> float:
        """Return the expected excess risk of the private classifier with n users in each half."""
        # the rarer vote from its own tail: 1 - Phi would lose all digits below 1e-16
        ratio = self.signed / 2 / self.deviation(n, epsilon, factor)
        wrong = special.ndtr(ratio) * self.cost_of_one + special.ndtr(-ratio) * self.cost_of_zero
        return float(np.sum(self.multiplicity * wrong))


def tabulate(distribution: BoxIntegrals, grid: Grid) -> CellTable:
    """Integrate a distribution over all cells of a grid, and over the inner cubes.

    Atoms on a face between cells belong to neither: cells are open. Those on a face of an inner cube go up, as the
    ties of queries do.
    """
    require_dim(distribution, grid)
    h = grid.bandwidth
    lower, upper = (_ends((grid.indices + shift) * h) for shift in (-1, 1))
    inner = [_ends((grid.indices + shift) * h) for shift in (-0.5, 0.5)]
    lower = np.nextafter(lower, np.inf)
    return CellTable(
        grid.dim,
        np.asarray(distribution.mass(lower, upper)),
        np.asarray(distribution.signed_mass(lower, upper)),
        np.asarray(distribution.cost_of_one(*inner)),
        np.asarray(distribution.cost_of_zero(*inner)),
        np.ones(grid.cells),
    )


def expected_excess(distribution: BoxIntegrals, n: float, epsilon: float, grid: Grid) -> float:
    """Return the expected excess risk of the private classifier with n users in each half; no simulation noise."""
    return tabulate(distribution, grid).expected_excess(positive(n, "n"), positive(epsilon, "epsilon"))


def draw_statistics(
    distribution: BoxIntegrals,
    n: int,
    epsilon: float,
    grid: Grid,
    replicates: int,
    rng: np.random.Generator,
    factor: float = 1.0,
) -> FloatArray:
    """Draw the statistic T of the whole grid, shape (replicates, cells), at a cost that does not grow with n.

    Equal in distribution to `LocalHistogramClassifier` on 2 n users, atoms on the lines of the grid included. Valid up
    to n = 1e15, where doubles stop telling counts apart.
    """
    mass, labeled = _pieces(distribution, grid)
    held = np.flatnonzero(mass > 0)
    rest = max(0.0, 1.0 - math.fsum(mass))
    chances = np.append(mass[held], rest) / (math.fsum(mass) + rest)
    counts = [rng.multinomial(n, chances, size=replicates)[:, :-1] for _ in (1, 2)]
    ones = rng.binomial(counts[1], labeled[held] / mass[held])
    bits, labeled_bits = (_over_cells(part, held, grid) for part in (counts[0], ones))
    scale = factor * noise_scale(grid.dim, epsilon)
    noise = [scale * (rng.gamma(n, size=bits.shape) - rng.gamma(n, size=bits.shape)) for _ in (1, 2)]
    return np.asarray((labeled_bits + noise[1]) / n - (bits + noise[0]) / (2 * n))


def draw_excess(
    distribution: BoxIntegrals, n: int, epsilon: float, grid: Grid, replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the excess risk of the private classifier, shape (replicates,), by the aggregate sampler."""
    table = tabulate(distribution, grid)
    one = draw_statistics(distribution, n, epsilon, grid, replicates, rng) >= 0
    return np.asarray(np.where(one, table.cost_of_one, table.cost_of_zero).sum(axis=1))


def require_dim(distribution: BoxIntegrals, grid: Grid) -> None:
    """Raise unless distribution and grid have the same dimension."""
    if distribution.dim != grid.dim:
        raise InvalidArgument.of("grid", f"have dim {distribution.dim}, that of the distribution", grid.dim)


def _ends(corners: FloatArray) -> FloatArray:
    """Return corners of boxes as a distribution takes them: a plain vector in one dimension."""
    return corners[:, 0] if corners.shape[1] == 1 else corners


def _pieces(distribution: BoxIntegrals, grid: Grid) -> tuple[FloatArray, FloatArray]:
    """Return mass and integral of eta of the pieces that no cell divides, flat.

    On an axis they alternate: the interval before the first grid point, the point itself, the next interval, ... up to
    the interval after the last point. In one dimension a point has the mass of an atom there, or none.
    """
    require_dim(distribution, grid)
    points = np.arange(grid.first - 1, grid.last + 2) * grid.bandwidth
    starts = np.stack([points, np.nextafter(points, np.inf)], axis=1).ravel()[1:-1]
    ends = np.append(starts[1:], points[-1])
    index = np.indices(_axis_pieces(grid)).reshape(grid.dim, -1).T
    low, high = _ends(starts[index]), _ends(ends[index])
    mass = np.asarray(distribution.mass(low, high))
    return mass, np.clip((mass + distribution.signed_mass(low, high)) / 2, 0, mass)


def _axis_pieces(grid: Grid) -> tuple[int, ...]:
    return tuple(2 * size + 1 for size in grid.shape)


def _over_cells(counts: np.ndarray, held: np.ndarray, grid: Grid) -> np.ndarray:
    """Add up the pieces of every cell, three on an axis; shapes (replicates, len(held)) to (replicates, cells)."""
    flat = np.zeros((len(counts), math.prod(_axis_pieces(grid))), dtype=counts.dtype)
    flat[:, held] = counts
    array = flat.reshape(len(counts), *_axis_pieces(grid))
    for axis in range(1, grid.dim + 1):
        pieces = np.moveaxis(array, axis, 0)
        array = np.moveaxis(pieces[:-2:2] + pieces[1:-1:2] + pieces[2::2], 0, axis)
    return array.reshape(len(counts), -1)
