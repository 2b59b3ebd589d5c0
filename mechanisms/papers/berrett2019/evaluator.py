"""The classifier on a distribution, cell by cell, without simulation: P(T_j >= 0) by the normal law.

    E T_j = integral of (eta - 1/2) over the cell,
    Var T_j = (2 b^2 + w (1 - w)) / n + (2 b^2 + p (1 - p)) / (4 n),   b = 2^(d+1) / epsilon,

p the mass of the cell, w the integral of eta, n the users in each half.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from audit import GuaranteeCheck, InequalityCheck
from mechanisms.distributions import Distribution, quadrants, smooth
from mechanisms.papers.berrett2019.classifier import LocalVoteClassifier
from mechanisms.papers.berrett2019.grid import FloatArray, Grid
from mechanisms.papers.berrett2019.mechanism import noise_scale
from mechanisms.papers.rows import BERRETT


@dataclass(frozen=True, eq=False)
class CellTable:
    """Integrals over cells, and over the inner cubes of queries that a cell decides; one entry a kind of cell."""

    dim: int
    mass: FloatArray  # P of the open cube of side 2 h
    signed: FloatArray  # the integral of 2 eta - 1 over it
    cost_of_one: FloatArray  # the integral of (1 - 2 eta)^+ over the inner cube of side h
    cost_of_zero: FloatArray  # that of (2 eta - 1)^+
    multiplicity: FloatArray

    def deviation(self, n: float, epsilon: float, factor: float = 1.0) -> FloatArray:
        """Return the standard deviation of T; `factor` multiplies the scale of the noise."""
        noise = 2 * (factor * noise_scale(self.dim, epsilon)) ** 2
        labeled = (self.mass + self.signed) / 2
        variance = noise + labeled * (1 - labeled) + (noise + self.mass * (1 - self.mass)) / 4
        return np.asarray(np.sqrt(variance / n))

    def excess(self, one: Any) -> FloatArray:
        """Return the excess risk of predicting 1 with probability `one` in each cell, of shape (..., cells)."""
        return np.asarray(np.sum(self.multiplicity * (one * self.cost_of_one + (1 - one) * self.cost_of_zero), axis=-1))

    def expected_excess(self, n: float, epsilon: float, factor: float = 1.0) -> float:
        """Return the expected excess risk of the private classifier with n users in each half."""
        # the rarer vote from its own tail: 1 - Phi would lose all digits below 1e-16
        ratio = self.signed / 2 / self.deviation(n, epsilon, factor)
        wrong = special.ndtr(ratio) * self.cost_of_one + special.ndtr(-ratio) * self.cost_of_zero
        return float(np.sum(self.multiplicity * wrong))


def tabulate(distribution: Distribution, grid: Grid) -> CellTable:
    """Integrate a distribution over all cells of a grid, and over the inner cubes."""
    # Atoms on a face between cells belong to neither: cells are open. Those on a face of an inner cube go up, as the
    # ties of queries do.
    h = grid.bandwidth
    lower, upper = (_ends((grid.indices + shift) * h) for shift in (-1, 1))
    inner = [_ends((grid.indices + shift) * h) for shift in (-0.5, 0.5)]
    lower = np.nextafter(lower, np.inf)
    one, zero = distribution.cost_of_one(*inner), distribution.cost_of_zero(*inner)
    mass, signed = distribution.mass(lower, upper), distribution.signed_mass(lower, upper)
    return CellTable(grid.dim, mass, signed, one, zero, np.ones(grid.cells))


def _ends(corners: FloatArray) -> FloatArray:
    """Return corners of boxes as a distribution takes them: a plain vector in one dimension."""
    return corners[:, 0] if corners.shape[1] == 1 else corners


@dataclass(frozen=True)
class FittedExcess:
    """Losses of `LocalVoteClassifier`: fits on 2 n fresh records in the unit cube, excess risk by exact integrals."""

    distribution: Distribution
    n: int
    bandwidth: float
    epsilon: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        one = self.statistics(replicates, rng) >= 0
        return tabulate(self.distribution, self.grid).excess(1.0 * one)

    @property
    def grid(self) -> Grid:
        """The grid of the fits."""
        return Grid(self.distribution.dim, self.bandwidth)

    def statistics(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Return the statistics of `replicates` fits, shape (replicates, cells)."""
        learner = LocalVoteClassifier(self.epsilon, self.bandwidth, (0.0, 1.0), None, [0, 1])
        rows = []
        for _ in range(replicates):
            users, learner.random_state = self.distribution.sample(2 * self.n, rng), int(rng.integers(2**63))
            X = np.reshape(users.X, (len(users.X), -1))
            rows.append(learner._fitted_learner(learner._mapped(X), np.asarray(users.y)).values)
        return np.array(rows)


def _leaves_the_mean(fits: FittedExcess, cell: int, level: float, replicates: int, rng: Any) -> np.ndarray:
    mean = tabulate(fits.distribution, fits.grid).signed[cell] / 2
    return np.asarray(np.abs(fits.statistics(replicates, rng)[:, cell] - mean) < level)


def _agreement(fits: FittedExcess, tolerance: float) -> InequalityCheck:
    most = 1 - 2 * fits.distribution.bayes_risk  # excess of the worst rule
    bound = tabulate(fits.distribution, fits.grid).expected_excess(fits.n, fits.epsilon)
    name, said = f"fits and evaluator d={fits.grid.dim} eps={fits.epsilon:g}", "The mean excess is the evaluator's."
    settings: dict[str, Any] = {"losses": fits, "support": (-1e-9, most + 1e-9), "bound": bound, "budget": 4_000}
    return BERRETT.state(name, "section 2", said, None, "==", tolerance=tolerance, **settings)


def _checks() -> list[InequalityCheck | GuaranteeCheck]:
    level = math.sqrt(2**8 * math.log(2 / 0.05) / 1_000)  # (3.1) at d = 1, eps = 1, n = 1,000, each tail at 0.025
    return [
        _agreement(FittedExcess(smooth(), 300, 0.25, 1.0), 0.02),
        _agreement(FittedExcess(smooth(), 300, 0.2, 4.0), 0.01),
        _agreement(FittedExcess(quadrants(), 200, 0.3, 8.0), 0.03),
        BERRETT.guarantee(
            "tail bound on fits",
            "inequality (3.1)",
            "|T - E T| < t with probability 0.95 for the t that the bound gives at n = 1,000.",
            partial(_leaves_the_mean, FittedExcess(smooth(), 1_000, 0.25, 1.0), 1, level),
            0.05,
            budget=2_048,
        ),
    ]


CHECKS = _checks()
