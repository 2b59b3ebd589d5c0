"""Additive noise: Laplace, truncated geometric, noisy histograms, Laplace in parallel, prefix sums.

Implements the benchmark of DP-Sniper (Bichsel et al., S&P 2021), which took it from StatDP (Ding et al., CCS 2018).
A dataset is the vector of the query answers. Departure from the text: none; the truncated geometric mechanism
(Balcer & Vadhan 2019) draws an integer below the common denominator of its distribution function, so that its
probabilities are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class NoisyAnswers:
    """Every answer plus Laplace noise; one answer gives one number."""

    scale: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noisy = np.asarray(dataset, dtype=float) + rng.laplace(scale=self.scale, size=(size, len(dataset)))
        return noisy[:, 0] if len(dataset) == 1 else noisy


@dataclass(frozen=True)
class TruncatedGeometric:
    """A count in 0..n plus integer noise, truncated to 0..n; epsilon = log(1 + 2^-k), exactly.

    Parameters
    ----------
    most : int >= 1
        The largest count, n.
    k : int >= 1
        Privacy parameter.
    """

    most: int = 5
    k: int = 3

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        cumulative = self.cumulative(int(dataset[0]))
        return np.searchsorted(cumulative, rng.integers(cumulative[-1], size=size), side="right")

    def cumulative(self, count: int) -> np.ndarray:
        """Numerators of the distribution function at 0..n; the last one is the denominator. Shape (n + 1,)."""
        base, n = 2**self.k, self.most
        total = (2 * base + 1) * (base + 1) ** (n - 1)
        below = [base ** (count - z) * (base + 1) ** (n - count + z) for z in range(count)]
        above = [total - base ** (z - count + 1) * (base + 1) ** (n - 1 - z + count) for z in range(count, n)]
        return np.array([*below, *above, total], dtype=np.int64)


@dataclass(frozen=True)
class LaplaceParallel:
    """Many noisy copies of one answer; the privacy losses add up to copies / scale.

    Parameters
    ----------
    copies : int >= 1
        Number of releases.
    scale : float > 0
        Of the noise of each.
    """

    copies: int = 20
    scale: float = 200.0

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return float(dataset[0]) + rng.laplace(scale=self.scale, size=(size, self.copies))


@dataclass(frozen=True)
class PrefixSum:
    """Partial sums of noisy answers."""

    scale: float = 10.0

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.laplace(scale=self.scale, size=(size, len(dataset)))
        return np.cumsum(np.asarray(dataset, dtype=float) + noise, axis=1)
