"""Benchmark distributions for the rate of Theorem 2.4: X uniform on the unit cube, eta a power of a distance.

For eta = 1/2 + c sign(x1 - 1/2) |x1 - 1/2|^s the smoothness beta, the margin exponent gamma and the constants L and mu
are known exactly, and cells fall into few kinds, so that the evaluator reaches n = 1e24. The decision boundary
x1 = 1/2 is a grid point when h = 1 / (2 K): always choose K first, and n from h. With n first, the position of the
boundary in its cell, and the rounding of h, add a ripple to every slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from mechanisms.distributions import UNIFORM, Line, Product, make_power, make_steps
from mechanisms.papers.berrett2019.classifier import rate_bandwidth
from mechanisms.papers.berrett2019.evaluator import CellTable
from mechanisms.papers.berrett2019.grid import FloatArray


@dataclass(frozen=True)
class Slab:
    """eta = 1/2 + c sign(x1 - 1/2) |x1 - 1/2|^s: the noisy zone is a slab around the plane x1 = 1/2."""

    dim: int
    coefficient: float
    power: float

    @property
    def largest_margin(self) -> float:
        """max |eta - 1/2|."""
        return self.coefficient * 0.5**self.power

    @property
    def smoothness(self) -> float:
        """Hölder exponent beta of eta."""
        return min(1.0, self.power)

    @property
    def margin_exponent(self) -> float:
        """Exponent gamma of P(0 < |eta - 1/2| <= t) <= C0 t^gamma."""
        return 1 / self.power

    @property
    def margin_constant(self) -> float:
        """Smallest C0: the distance is uniform on [0, 1/2]."""
        return float(2 * self.coefficient ** (-1 / self.power))

    @property
    def lipschitz(self) -> float:
        """Hölder constant L of eta."""
        return float(self.coefficient * max(1.0, self.power) * 2 ** (1 - self.power))

    @property
    def exponent(self) -> float:
        """Exponent of n in the rate, beta (1 + gamma) / (2 beta + 2 d)."""
        return self.smoothness * (1 + self.margin_exponent) / (2 * self.smoothness + 2 * self.dim)

    def constant(self, epsilon: float) -> float:
        """Return C of excess ~ C n^-exponent at the paper's bandwidth, from the normal law in small cells.

        With kappa = sqrt(10) L h^beta, the noise in units of eta, a point of margin t is decided wrongly with
        probability Phi(-t / kappa), and t / kappa has density 2 gamma kappa^gamma c^-gamma u^(gamma - 1):
        excess = 4 kappa (kappa / c)^gamma gamma E|Z|^(gamma + 1) / (2 (gamma + 1)).
        """
        gamma = self.margin_exponent
        integral = gamma * absolute_moment(gamma + 1) / (2 * (gamma + 1))
        return 4 * self.coefficient ** (-gamma) * integral * self._kappa_power(epsilon)

    def _kappa_power(self, epsilon: float) -> float:
        """Return kappa^(1 + gamma) n^exponent."""
        power = 1 + self.margin_exponent
        shrink = -power * self.smoothness / (self.smoothness + self.dim)
        return float((math.sqrt(10) * self.lipschitz) ** power * (epsilon * self.lipschitz) ** shrink)

    def users(self, half_cells: int, epsilon: float = 1.0) -> float:
        """Return n, users in each half, at which the paper's bandwidth is 1 / (2 half_cells)."""
        return float((2.0 * half_cells) ** (2 * self.dim + 2 * self.smoothness) / (epsilon * self.lipschitz) ** 2)

    def half_cells(self, n: float, epsilon: float = 1.0) -> int:
        """Return the K whose bandwidth 1 / (2 K) is nearest to the paper's for n users in each half."""
        return max(1, round(0.5 / rate_bandwidth(n, epsilon, self.dim, self.smoothness, self.lipschitz)))

    def noise_zone(self, half_cells: int) -> float:
        """Return kappa over the largest margin at the paper's bandwidth: below 0.05 to 0.2 the rate shows."""
        return math.sqrt(10) * self.lipschitz * (0.5 / half_cells) ** self.smoothness / self.largest_margin

    def excess(self, n: float, epsilon: float = 1.0, half_cells: int | None = None, factor: float = 1.0) -> float:
        """Return the expected excess risk with n users in each half; `factor` multiplies the noise."""
        side = self.half_cells(n, epsilon) if half_cells is None else half_cells
        return self.cells(side).expected_excess(n, epsilon, factor)

    def distribution(self) -> Line | Product:
        """Return the distribution with samplers and box integrals."""
        first = Line(UNIFORM, make_power(self.coefficient, self.power))
        others = [Line(UNIFORM, make_steps([], [1.0])) for _ in range(self.dim - 1)]
        return Product((first, *others)) if others else first

    def cells(self, half_cells: int) -> CellTable:
        """Tabulate: a cell is cut by the cube in b of its last d - 1 coordinates, or in none."""
        h = 0.5 / half_cells
        offsets = np.arange(-half_cells, half_cells + 1) * h
        low, high = np.maximum(offsets - h, -0.5), np.minimum(offsets + h, 0.5)
        a, b = np.maximum(offsets - h / 2, -0.5), np.minimum(offsets + h / 2, 0.5)
        line = (
            high - low,
            self.primitive(high) - self.primitive(low),
            self.primitive(np.minimum(a, 0)) - self.primitive(np.minimum(b, 0)),
            self.primitive(np.maximum(b, 0)) - self.primitive(np.maximum(a, 0)),
        )
        kinds = []
        for cut in range(self.dim):
            whole = self.dim - 1 - cut
            outer, inner = (2 * h) ** whole * h**cut, h**whole * (h / 2) ** cut
            times = math.comb(self.dim - 1, cut) * 2.0**cut * (2.0 * half_cells - 1) ** whole
            sizes = (outer, outer, inner, inner)
            kinds.append([*(part * size for part, size in zip(line, sizes, strict=True)), np.full(offsets.size, times)])
        return CellTable(self.dim, *(np.concatenate(parts) for parts in zip(*kinds, strict=True)))

    def primitive(self, offset: FloatArray) -> FloatArray:
        """Return the integral of 2 eta - 1 from 1/2 to 1/2 + offset, an even function."""
        return np.asarray(2 * self.coefficient * np.abs(offset) ** (self.power + 1) / (self.power + 1))


def absolute_moment(order: float) -> float:
    """Return E|Z|^order of a standard normal Z."""
    return float(2 ** (order / 2) * special.gamma((order + 1) / 2) / math.sqrt(math.pi))


SETTINGS = {
    "d=1 s=1": Slab(1, 1.0, 1.0),
    "d=1 s=2": Slab(1, 2.0, 2.0),
    "d=1 s=5": Slab(1, 16.0, 5.0),
    "d=1 s=1/2": Slab(1, 0.7, 0.5),
    "d=2 s=1": Slab(2, 1.0, 1.0),
    "d=2 s=2": Slab(2, 2.0, 2.0),
    "d=2 s=1/2": Slab(2, 0.7, 0.5),
    "d=3 s=1": Slab(3, 1.0, 1.0),
    "d=3 s=1/2": Slab(3, 0.7, 0.5),
}
LINE = SETTINGS["d=1 s=1"]
