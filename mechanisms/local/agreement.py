"""The classifier that runs, held against what is computed about it: evaluator, aggregate sampler, and tail bound.

The rates and limits of this package come from an evaluator that never sees a record. Here the literal classifier is
fitted, user by user, and its mean risk compared with the evaluator's; then the aggregate sampler at a larger n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit import GuaranteeCheck, InequalityCheck
from mechanisms.distributions import Distribution
from mechanisms.distributions.zoo import quadrants, smooth
from mechanisms.local.cells import draw_excess, expected_excess, tabulate
from mechanisms.local.classifier import LocalHistogramClassifier
from mechanisms.local.concentration import TAIL
from mechanisms.local.grid import Grid

FloatArray = NDArray[np.float64]
SOURCE = "Berrett & Butucea 2019, section 2"


@dataclass(frozen=True)
class LiteralExcess:
    """Losses of the literal classifier: fit on 2 n fresh records, excess risk by exact integrals.

    Parameters
    ----------
    distribution : Distribution
    n : int
        Users in each half.
    bandwidth, epsilon : float > 0
    """

    distribution: Distribution
    n: int
    bandwidth: float
    epsilon: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        table = tabulate(self.distribution, Grid(self.distribution.dim, self.bandwidth))
        wrong = [np.where(vote, table.cost_of_one, table.cost_of_zero).sum() for vote in self._votes(replicates, rng)]
        return np.array(wrong)

    def _votes(self, replicates: int, rng: np.random.Generator) -> list[NDArray[np.bool_]]:
        return [statistic >= 0 for statistic in self.statistics(replicates, rng)]

    def statistics(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Fit `replicates` classifiers; their statistics, shape (replicates, cells)."""
        rows = []
        for _ in range(replicates):
            users = self.distribution.sample(2 * self.n, rng)
            learner = LocalHistogramClassifier(self.epsilon, self.bandwidth, random_state=int(rng.integers(2**63)))
            rows.append(learner.fit(users.X, users.y).statistic_)
        return np.array(rows)

    def expected(self) -> float:
        """Return the evaluator's value."""
        grid = Grid(self.distribution.dim, self.bandwidth)
        return expected_excess(self.distribution, self.n, self.epsilon, grid)


@dataclass(frozen=True)
class AggregateExcess(LiteralExcess):
    """The same by the aggregate sampler, whose cost does not grow with n."""

    def __call__(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        grid = Grid(self.distribution.dim, self.bandwidth)
        return draw_excess(self.distribution, self.n, self.epsilon, grid, replicates, rng)


@dataclass(frozen=True)
class StaysNearItsMean:
    """Trials of the tail bound on the literal classifier: |T - E T| < t in one cell, each tail at most beta / 2."""

    literal: LiteralExcess
    beta: float
    cell: int

    @property
    def level(self) -> float:
        """t, at most 1."""
        dim = self.literal.distribution.dim
        return math.sqrt(2 ** (2 * dim + 6) * math.log(2 / self.beta) / self.literal.n) / self.literal.epsilon

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        table = tabulate(self.literal.distribution, Grid(self.literal.distribution.dim, self.literal.bandwidth))
        drawn = self.literal.statistics(replicates, rng)[:, self.cell]
        return np.asarray(np.abs(drawn - table.signed[self.cell] / 2) < self.level)


def _check(name: str, losses: LiteralExcess, tolerance: float, budget: int) -> InequalityCheck:
    most = 1 - 2 * losses.distribution.bayes_risk  # excess of the worst rule
    return InequalityCheck(
        name=f"local/{name}",
        source=SOURCE,
        statement="The mean excess risk of the classifier is the evaluator's.",
        losses=losses,
        support=(-1e-9, most + 1e-9),
        bound=losses.expected(),
        sense="==",
        tolerance=tolerance,
        budget=budget,
    )


_LITERAL = LiteralExcess(smooth(), 1_000, 0.25, 1.0)

CHECKS: list[InequalityCheck | GuaranteeCheck] = [
    _check("literal classifier and evaluator d=1", LiteralExcess(smooth(), 300, 0.25, 1.0), 0.02, 4_000),
    _check("literal classifier and evaluator d=1 eps=4", LiteralExcess(smooth(), 300, 0.2, 4.0), 0.01, 4_000),
    _check("literal classifier and evaluator d=2", LiteralExcess(quadrants(), 200, 0.3, 8.0), 0.03, 4_000),
    _check("aggregate sampler and evaluator d=1", AggregateExcess(smooth(), 10**6, 0.05, 1.0), 0.002, 20_000),
    _check("aggregate sampler and evaluator d=2", AggregateExcess(quadrants(), 10**6, 0.15, 1.0), 0.005, 20_000),
    GuaranteeCheck(
        name="local/tail bound on the literal classifier",
        source=TAIL,
        statement="|T - E T| < t with probability 0.95 for the t that the bound gives at n = 1,000.",
        trials=StaysNearItsMean(_LITERAL, 0.05, 1),
        beta=0.05,
        budget=2_048,
    ),
]
