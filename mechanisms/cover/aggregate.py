"""Samplers whose cost grows neither with the cover nor with the sample, equal in distribution to the learners.

Chaudhuri & Hsu (2011) describe learners that look at every hypothesis. For thresholds all grid points between two
neighboring examples make the same mistakes, so that an interval is drawn by its total weight, and then a point in it:
O(m log m), whatever the cover (`draw_thresholds`). Over i.i.d. data, only the numbers of examples of either label
between grid points matter: one multinomial draw (`ThresholdProblem`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import Labeled
from audit.errors import InvalidArgument
from audit.validate import closed_probability, integer
from mechanisms.cover.hard_family import ConcentratedThresholdFamily
from mechanisms.cover.thresholds import FloatArray, ThresholdClass


def draw_thresholds(
    dataset: Labeled, cover_size: int, epsilon: float, size: int, rng: np.random.Generator
) -> FloatArray:
    """Draw thresholds (2 j + 1) / (2 J) with probability proportional to exp(-epsilon k / 2), J up to 2^40.

    Parameters
    ----------
    dataset : Labeled
        Points in [0, 1], labels in {-1, +1}.
    cover_size : int >= 1
        J.
    epsilon : float > 0
    size : int >= 0
    """
    chances, first, counts = interval_weights(dataset, integer(cover_size, "cover_size", at_least=1), epsilon)
    interval = rng.choice(chances.size, size=size, p=chances)
    return np.asarray((2 * (first[interval] + rng.integers(0, counts[interval])) + 1) / (2 * cover_size))


def interval_weights(dataset: Labeled, cover_size: int, epsilon: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return probability, first grid index and number of grid points of the intervals between examples."""
    X, y = ThresholdClass().examples(dataset)
    order = np.argsort(X, kind="stable")
    ordered, positive = X[order], y[order] == 1
    ends = np.r_[0, grid_points_up_to(ordered, cover_size), cover_size]
    counts = np.diff(ends)
    mistakes = np.r_[0, np.cumsum(positive)] + (~positive).sum() - np.r_[0, np.cumsum(~positive)]
    kept = counts > 0
    logs = np.log(counts[kept]) - epsilon / 2 * mistakes[kept]
    return np.asarray(softmax(logs)), ends[:-1][kept], counts[kept]


def grid_points_up_to(x: FloatArray, cover_size: int) -> np.ndarray:
    """Count the grid points <= x, as the comparison in doubles has them."""
    guess = np.floor(cover_size * x + 0.5).astype(np.int64)
    guess -= (2 * guess - 1) / (2 * cover_size) > x
    return np.asarray(guess + ((2 * guess + 1) / (2 * cover_size) <= x))


@dataclass(frozen=True)
class ThresholdProblem:
    """I.i.d. examples of a threshold with random label noise.

    Parameters
    ----------
    target : float in (0, 1)
        True threshold.
    noise : float in [0, 1/2)
        Each label is flipped with this probability.
    family : ConcentratedThresholdFamily, optional
        With `index`: the marginal of that distribution, target its center; uniform on [0, 1] otherwise.
    index : int
    """

    target: float = 0.5
    noise: float = 0.0
    family: ConcentratedThresholdFamily | None = None
    index: int = 0

    def __post_init__(self) -> None:
        if not closed_probability(self.noise, "noise") < 0.5:
            raise InvalidArgument.of("noise", "be below 1/2", self.noise)
        if not 0 < self.target < 1:
            raise InvalidArgument.of("target", "lie in (0, 1)", self.target)

    @classmethod
    def concentrated(cls, family: ConcentratedThresholdFamily, noise: float = 0.0) -> ThresholdProblem:
        """Return the problem on the middle window of a family."""
        index = family.size // 2
        return cls(family.center(index), noise, family, index)

    def cdf(self, x: FloatArray) -> FloatArray:
        """Distribution function of the points."""
        return np.asarray(x, dtype=float) if self.family is None else self.family.cdf(self.index, x)

    def excess(self, thresholds: FloatArray) -> FloatArray:
        """Return the error of thresholds beyond that of the best one."""
        gap = ThresholdClass().marginal_disagreement(thresholds, np.array(self.target), self.cdf)
        return np.asarray((1 - 2 * self.noise) * gap)

    def draw(self, m: int, rng: np.random.Generator) -> Labeled:
        """Draw m examples one by one."""
        if self.family is None:
            x = rng.random(m)
            clean = np.where(x >= self.target, 1, -1)
        else:
            drawn = self.family.draw(self.index, m, rng)
            x, clean = drawn.X, drawn.y
        return Labeled(x, np.where(rng.random(m) < self.noise, -clean, clean))

    def draw_mistakes(self, grid: FloatArray, m: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the numbers of mistakes of an ascending grid on m examples, shape (replicates, grid).

        The examples fall into the cells between grid points and the target; cells on one side of the target share
        the probability of a wrong label.
        """
        cuts = np.unique(np.r_[grid, self.target])
        edges = np.r_[0.0, cuts, 1.0]
        masses = np.maximum(np.diff(self.cdf(edges)), 0.0)
        ones = np.where(edges[:-1] >= self.target, 1 - self.noise, self.noise)
        table = rng.multinomial(m, np.r_[masses * ones, masses * (1 - ones)], size=replicates)
        positives, negatives = table[:, : masses.size], table[:, masses.size :]
        missed = np.cumsum(positives, axis=1) + negatives.sum(axis=1, keepdims=True) - np.cumsum(negatives, axis=1)
        return np.asarray(missed[:, np.searchsorted(cuts, grid)])

    def failures(
        self,
        grid: FloatArray,
        m: int,
        epsilon: float,
        accuracy: float,
        replicates: int,
        rng: np.random.Generator,
        exponent: Callable[..., Any] | None = None,
    ) -> FloatArray:
        """Return P(excess > accuracy | data) of the exponential mechanism for fresh data, shape (replicates,).

        `exponent` replaces epsilon k / 2 by another function of the mistakes (and m).
        """
        mistakes = self.draw_mistakes(grid, m, replicates, rng)
        penalty = epsilon / 2 * mistakes if exponent is None else exponent(mistakes, m)
        bad = self.excess(grid) > accuracy * (1 + 1e-12)
        return np.asarray(softmax(-penalty, axis=1)[:, bad].sum(axis=1))

    def with_noise(self, noise: float) -> ThresholdProblem:
        """The same problem with another rate of flipped labels."""
        return replace(self, noise=noise)


def needed_size(
    problem: ThresholdProblem, grid: FloatArray, epsilon: float, accuracy: float, beta: float, seed: int = 0
) -> int:
    """Estimate the least m at which the failure probability is at most beta: bisection on averages over 400 samples."""

    def failing(m: int) -> bool:
        rng = np.random.default_rng((seed, m))
        return bool(problem.failures(grid, m, epsilon, accuracy, 400, rng).mean() > beta)

    low, high = 1, 2
    while failing(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if failing(middle) else (low, middle)
    return high
