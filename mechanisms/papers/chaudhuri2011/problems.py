"""Distributions of examples for thresholds, among them the hard family of Chaudhuri & Hsu (2011), and A1 on them.

The family of Theorem 5 and Example 1: eta = 1 / (6 + 4 e^(alpha M)), centers z_i = i eta, i = 1, ..., floor(1 / eta)
- 1. Under P_i, x is uniform on [0, 1] or, half of the time, on the window [z_i - eta/3, z_i + eta/3], and y = +1 iff
x >= z_i. Every threshold outside the window errs with probability 1/4 + eta/6 at least; kappa = 1/2 + 3 / (4 eta). The
checks look at the middle one of these distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import softmax

from audit import Labeled
from mechanisms.papers.chaudhuri2011.thresholds import THRESHOLDS, FloatArray


def hard_distance(epsilon: float, most: float) -> float:
    """Return eta of the family that defeats every epsilon-private learner with up to `most` examples."""
    return 1 / (6 + 4 * math.exp(epsilon * most))


@dataclass(frozen=True)
class ThresholdProblem:
    """I.i.d. examples of a threshold with random label noise."""

    target: float = 0.5  # the true threshold
    noise: float = 0.0  # each label is flipped with this probability, below 1/2
    eta: float = 0.0  # of the family, with the target for its center; x is uniform for 0

    @classmethod
    def hard(cls, eta: float) -> Self:
        """Return the middle distribution of the family."""
        return cls((math.floor(1 / eta * (1 + 1e-12)) + 1) // 2 * eta, 0.0, eta)

    @property
    def smoothness(self) -> float:
        """kappa: largest density of x."""
        return 0.5 + 3 / (4 * self.eta) if self.eta else 1.0

    @property
    def window(self) -> FloatArray:
        """Both ends of the window."""
        return self.target + np.array([-1, 1]) * self.eta / 3

    def cdf(self, x: Any) -> FloatArray:
        """Distribution function of x in [0, 1]."""
        at = np.asarray(x, dtype=float)
        if not self.eta:
            return at
        return (at + np.clip((at - self.target) / (2 * self.eta / 3) + 0.5, 0, 1)) / 2

    def excess(self, thresholds: Any) -> FloatArray:
        """Return the error of thresholds beyond that of the best one."""
        return np.asarray((1 - 2 * self.noise) * np.abs(self.cdf(thresholds) - self.cdf(self.target)))

    def draw(self, m: int, rng: np.random.Generator) -> Labeled:
        """Draw m examples one by one."""
        near = rng.random(m) < 0.5 if self.eta else np.zeros(m, dtype=bool)
        close = self.target + self.eta / 3 * rng.uniform(-1, 1, m) if self.eta else 0.0
        x = np.where(near, close, rng.random(m))
        return Labeled(x, np.where((x >= self.target) ^ (rng.random(m) < self.noise), 1, -1))

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
        epsilon: float,
        accuracy: float,
        m: int,
        replicates: int,
        rng: np.random.Generator,
        smoothness: float = 1.0,
        exponent: Callable[..., Any] | None = None,
    ) -> FloatArray:
        """Return P(excess > accuracy | data) of A1 for fresh data, shape (replicates,); the cover is for a known kappa.

        `exponent` replaces epsilon k / 2 by another function of the mistakes (and m).
        """
        grid = THRESHOLDS.packing_cover(accuracy / (4 * smoothness))
        mistakes = self.draw_mistakes(grid, m, replicates, rng)
        penalty = epsilon / 2 * mistakes if exponent is None else exponent(mistakes, m)
        bad = self.excess(grid) > accuracy * (1 + 1e-12)
        return np.asarray(softmax(-penalty, axis=1)[:, bad].sum(axis=1))

    def draw_within(
        self, epsilon: float, accuracy: float, m: int, replicates: int, rng: np.random.Generator, **more: Any
    ) -> np.ndarray:
        """Draw whether A1 comes within the accuracy, on fresh data; arguments as for `failures`."""
        return np.asarray(rng.random(replicates) >= self.failures(epsilon, accuracy, m, replicates, rng, **more))
