"""Broken geometric mechanisms: wrong rate, wrong side, wrong sign, wrong truncation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.queries import count_positive

BUDGET = 200_000
SOURCE = "claimed after Ghosh, Roughgarden & Sundararajan 2009, geometric mechanism"


@dataclass(frozen=True)
class DoubledRate:
    """Ratio e^(-2 epsilon) instead of e^-epsilon.

    True privacy: (2 epsilon, 0) on a pair whose counts differ by 1.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        first, second = rng.geometric(-math.expm1(-2 * self.epsilon), size=(2, size))
        return count_positive(dataset) + first - second


@dataclass(frozen=True)
class OneSided:
    """Only the positive half of the noise is drawn.

    True privacy: no finite epsilon; delta(epsilon') = 1 - e^-epsilon for every epsilon' >= epsilon on a pair whose
    counts differ by 1: the lower count itself is released with that probability, and never by the other side.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return count_positive(dataset) + rng.geometric(-math.expm1(-self.epsilon), size=size) - 1


@dataclass(frozen=True)
class SignTimesGeometric:
    """A geometric magnitude times a fair sign: zero is counted twice.

    True privacy: (epsilon + log 2, 0) on a pair whose counts differ by 1, attained where one side's noise is 0.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        magnitude = rng.geometric(-math.expm1(-self.epsilon), size=size) - 1
        return count_positive(dataset) + magnitude * rng.choice([-1, 1], size=size)


@dataclass(frozen=True)
class RedrawsOutsideTheRange:
    """Noisy counts outside [0, n] are dropped and drawn again, instead of clamped.

    The normalizer then depends on the count c: Z_c = (1 + r - r^(c+1) - r^(n-c+1)) / (1 - r), r = e^-epsilon.

    True privacy: (epsilon + log(Z_1 / Z_0), 0) on counts 0 and 1: 1.2009 for n = 4 at the claimed 1.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        values = np.arange(len(dataset) + 1)
        weights = np.exp(-self.epsilon * np.abs(values - count_positive(dataset)))
        return rng.choice(values, size=size, p=weights / weights.sum())


@dataclass(frozen=True)
class ClampsToTheData:
    """The noisy count is clamped from above to the number of positive records plus one.

    True privacy: none that covers the upper end: on counts c and c + 1 the value c + 2 has probability 0 on the
    left, so delta(epsilon') = e^-epsilon / (1 + e^-epsilon) = 0.269 for every epsilon' at the claimed 1.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        first, second = rng.geometric(-math.expm1(-self.epsilon), size=(2, size))
        count = count_positive(dataset)
        return np.minimum(count + first - second, count + 1)


def _check(name: str, mechanism: Any, epsilon: float) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/geometric {name} eps={epsilon:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        pairs=[(np.zeros(4), np.r_[1.0, np.zeros(3)])],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


CHECKS: list[PrivacyCheck] = [
    _check("doubled rate", DoubledRate(0.5), 0.5),
    _check("one-sided", OneSided(0.5), 0.5),
    _check("sign times geometric", SignTimesGeometric(1.0), 1.0),
    _check("redraws outside the range", RedrawsOutsideTheRange(1.0), 1.0),
    _check("clamps to the data", ClampsToTheData(1.0), 1.0),
]
