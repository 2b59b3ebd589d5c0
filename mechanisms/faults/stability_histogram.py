"""Broken stability histograms: noise, logarithm, threshold, and the order of noise and threshold.

The catalogue and its true privacy follow from Bousquet et al. (2022), Algorithm 1: a label that occurs once passes
the threshold t with probability exp(-(t - 1) / b) / 2 and never occurs on the other side, whatever epsilon. The
checks use delta = 0.1, where an audit of finite budget can see the difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.queries import Histogram
from mechanisms.stability_histogram import move_first, records

BUDGET = 200_000
SOURCE = "claimed after Bousquet et al. 2022, Theorem 2.4"
LABELS = (0, 1)


@dataclass(frozen=True)
class ScaleOne:
    """Noise of scale 1 / epsilon instead of 2 / epsilon, as if one record touched one count; threshold unchanged.

    True privacy: on a pair that moves one record between two large counts, two Laplace losses of epsilon each add
    up to 2 epsilon, and delta(epsilon) = 1 - e^(-epsilon / 2) (1 + epsilon / 4) = 0.242 at the claimed (1, 0.1).
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        threshold = 2 / self.epsilon * math.log(2 / self.delta) + 1
        return thresholded(dataset, size, rng, 1 / self.epsilon, threshold)


@dataclass(frozen=True)
class NoLogarithm:
    """Threshold 2 / epsilon + 1, without log(2 / delta).

    True privacy: delta(epsilon') = e^-1 / 2 = 0.184 for every epsilon' >= epsilon, on a moved singleton.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return thresholded(dataset, size, rng, 2 / self.epsilon, 2 / self.epsilon + 1)


@dataclass(frozen=True)
class DecimalLogarithm:
    """Threshold with log10(2 / delta).

    True privacy: delta(epsilon') = (delta / 2)^0.4343 / 2 = 0.136 at the claimed delta = 0.1, for every
    epsilon' >= epsilon, on a moved singleton.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        threshold = 2 / self.epsilon * math.log10(2 / self.delta) + 1
        return thresholded(dataset, size, rng, 2 / self.epsilon, threshold)


@dataclass(frozen=True)
class HalfThreshold:
    """Threshold (1 / epsilon) log(2 / delta) + 1.

    True privacy: delta(epsilon') = sqrt(delta / 2) / 2 = 0.025 at the claimed delta = 0.005, for every
    epsilon' >= epsilon, on a moved singleton.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        threshold = math.log(2 / self.delta) / self.epsilon + 1
        return thresholded(dataset, size, rng, 2 / self.epsilon, threshold)


@dataclass(frozen=True)
class ThresholdZero:
    """Only negative noisy counts are dropped.

    True privacy: delta(epsilon') = 1 - e^(-epsilon / 2) / 2 = 0.697 at epsilon = 1, for every epsilon' >= epsilon,
    on a moved singleton.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return thresholded(dataset, size, rng, 2 / self.epsilon, 0.0)


@dataclass(frozen=True)
class NoThreshold:
    """Every label that occurs is released with its noisy count.

    True privacy: none (delta = 1 for every epsilon) on a moved singleton: which labels occur is exact.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return thresholded(dataset, size, rng, 2 / self.epsilon, -math.inf)


@dataclass(frozen=True)
class ThresholdBeforeNoise:
    """The EXACT count is compared with the threshold; what passes gets its noise afterwards.

    True privacy: none (delta = 1 for every epsilon) on counts ceil(t) and ceil(t) - 1: released against dropped.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        counts = Histogram(LABELS)(dataset)
        noisy = counts + rng.laplace(scale=2 / self.epsilon, size=(size, counts.size))
        return np.where(counts >= 2 / self.epsilon * math.log(2 / self.delta) + 1, noisy, 0.0)


def thresholded(dataset: Any, size: int, rng: np.random.Generator, scale: float, threshold: float) -> np.ndarray:
    """Noisy counts of the labels present, 0 where absent or below the threshold."""
    counts = Histogram(LABELS)(dataset)
    noisy = counts + rng.laplace(scale=scale, size=(size, counts.size))
    return np.where((counts > 0) & (noisy >= threshold), noisy, 0.0)


def _check(name: str, mechanism: Any, data: np.ndarray, delta: float = 0.1) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/stability histogram {name} eps=1 delta={delta:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(1.0, delta, Substitution(), SOURCE),
        pairs=[(data, move_first(data, 1))],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


_SINGLETON = records(1, 0)

CHECKS: list[PrivacyCheck] = [
    _check("scale 1/epsilon", ScaleOne(1.0, 0.1), records(40, 40)),
    _check("no logarithm", NoLogarithm(1.0), _SINGLETON),
    _check("decimal logarithm", DecimalLogarithm(1.0, 0.1), _SINGLETON),
    _check("half threshold", HalfThreshold(1.0, 0.005), _SINGLETON, 0.005),
    _check("threshold zero", ThresholdZero(1.0), _SINGLETON),
    _check("no threshold", NoThreshold(1.0), _SINGLETON),
    _check("threshold before noise", ThresholdBeforeNoise(1.0, 0.1), records(7, 7)),
]
