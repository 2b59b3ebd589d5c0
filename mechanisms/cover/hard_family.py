"""A family of distributions on [0, 1] that no private learner can tell apart: half of the mass sits in a narrow window.

Implements Chaudhuri & Hsu (2011), the construction in the proof of Theorem 5, and Example 1: with
eta = 1 / (6 + 4 e^(alpha M)) the centers are z_i = i eta, i = 1, ..., K = floor(1 / eta) - 1. Under P_i, x is uniform
on [0, 1] or, half of the time, on the window [z_i - eta/3, z_i + eta/3], and y = +1 iff x >= z_i. Every threshold
outside the window errs with probability at least 1/4 + eta/6; the smoothness is kappa = 1/2 + 3 / (4 eta), exponential
in alpha M.

Departures from the text: its chain of inequalities ends in "more than 2/3" where the numbers give at least 2, so that
K = 2 + floor(e^(alpha M)) windows would do; and the error of 1/5 in the theorem can be 1/4. eta may be given directly,
since the geometry does not need its link to alpha M.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from audit import Labeled
from audit.errors import InvalidArgument
from audit.validate import integer, positive
from mechanisms.cover.thresholds import FloatArray

_LARGEST_EXPONENT = 25.0  # of e^(alpha M): beyond it windows are too narrow for doubles


@dataclass(frozen=True)
class ConcentratedThresholdFamily:
    """Distributions P_1, ..., P_K with windows of width 2 eta / 3 around the true thresholds.

    Parameters
    ----------
    eta : float in (0, 1/3]
        Distance between centers.
    """

    eta: float

    def __post_init__(self) -> None:
        if not positive(self.eta, "eta") <= 1 / 3:
            raise InvalidArgument.of("eta", "be at most 1/3", self.eta)

    @classmethod
    def for_samples(cls, epsilon: float, most: float) -> Self:
        """Return the family that defeats every epsilon-private learner with up to `most` examples.

        epsilon * most may be at most 25.
        """
        exponent = positive(epsilon, "epsilon") * positive(most, "most")
        if exponent > _LARGEST_EXPONENT:
            raise InvalidArgument.of("most", f"be at most {_LARGEST_EXPONENT:g} / epsilon", most)
        return cls(1 / (6 + 4 * math.exp(exponent)))

    @property
    def size(self) -> int:
        """K, the number of distributions."""
        return math.floor(1 / self.eta * (1 + 1e-12)) - 1

    @property
    def smoothness(self) -> float:
        """kappa: largest density of x."""
        return 0.5 + 3 / (4 * self.eta)

    @property
    def least_error_outside(self) -> float:
        """Error of the best threshold outside the window."""
        return 0.25 + self.eta / 6

    def center(self, index: int) -> float:
        """z_i for 0 <= index < K, i = index + 1."""
        if integer(index, "index", at_least=0) >= self.size:
            raise InvalidArgument.of("index", f"be below {self.size}", index)
        return (index + 1) * self.eta

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold lies in the window of a distribution; windows are disjoint."""
        return abs(threshold - self.center(index)) <= self.eta / 3

    def cdf(self, index: int, x: FloatArray) -> FloatArray:
        """Distribution function of x in [0, 1]."""
        inside = np.clip((np.asarray(x) - self.center(index)) / (2 * self.eta / 3) + 0.5, 0, 1)
        return (np.asarray(x) + inside) / 2

    def error(self, index: int, threshold: FloatArray) -> FloatArray:
        """Classification error of thresholds under a distribution."""
        return np.abs(self.cdf(index, threshold) - self.cdf(index, np.array(self.center(index))))

    def draw(self, index: int, size: int, rng: np.random.Generator) -> Labeled:
        """Draw `size` labeled examples."""
        center, narrow = self.center(index), rng.random(size) < 0.5
        x = np.where(narrow, center + self.eta / 3 * rng.uniform(-1, 1, size), rng.random(size))
        return Labeled(x, np.where(x >= center, 1, -1))

    def best_success(self, epsilon: float, grid: FloatArray, index: int, records: int) -> float:
        """Return P(exponential mechanism on a grid hits the window) for the easiest list of `records` examples.

        Kindest: negatives at the left end of the window and positives at its right end, so that all of it makes no
        mistake; the split between the two is the best of all.
        """
        inside = np.abs(grid - self.center(index)) <= self.eta / 3
        left = np.count_nonzero(grid[~inside] < self.center(index))
        right = grid.size - left - np.count_nonzero(inside)
        negatives = np.arange(records + 1)
        outside = left * np.exp(-epsilon * negatives / 2) + right * np.exp(-epsilon * (records - negatives) / 2)
        count = np.count_nonzero(inside)
        return float(np.max(count / (count + outside)))
