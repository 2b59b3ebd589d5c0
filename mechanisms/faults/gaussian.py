"""Broken Gaussian mechanisms.

A violation of (epsilon, delta) is only visible to an audit of finite budget where delta is not small; the settings
below have delta between 0.05 and 0.6. The true delta(epsilon) of each is Balle & Wang (2018), Theorem 8, at the
deviation that the fault really uses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.gaussian import GaussianMechanism, analytic_deviation, classical_deviation
from mechanisms.queries import Histogram, column_sums, count_positive, numeric_answer

BUDGET = 200_000
SOURCE = "claimed after Balle & Wang 2018, Theorem 8"


@dataclass(frozen=True)
class ClassicalBeyondOne:
    """The textbook deviation sqrt(2 log(1.25 / delta)) / epsilon at an epsilon far above 1, where it is not proved.

    True privacy: on a pair whose counts differ by 1, delta(5.5) = 0.794 at the claimed (5.5, 0.6), where the
    deviation is 0.220; (8.14, 0.6)-DP.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return count_positive(dataset) + rng.normal(scale=classical_deviation(self.epsilon, self.delta), size=size)


@dataclass(frozen=True)
class VarianceAsDeviation:
    """The variance is passed where the sampler expects the deviation.

    True privacy: on a pair whose counts differ by 1, delta(4) = 0.578 at the claimed (4, 0.05): the deviation is
    0.545^2 = 0.297. Harmful only where the deviation is below 1.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        variance = analytic_deviation(self.epsilon, self.delta) ** 2
        return count_positive(dataset) + rng.normal(scale=variance, size=size)


@dataclass(frozen=True)
class DeviationAsVariance:
    """The deviation is passed where the sampler expects the variance.

    True privacy: on a pair whose counts differ by 1, delta(0.5) = 0.122 at the claimed (0.5, 0.05): the deviation
    is sqrt(2.03) = 1.43. Harmful only where the deviation is above 1.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        deviation = math.sqrt(analytic_deviation(self.epsilon, self.delta))
        return count_positive(dataset) + rng.normal(scale=deviation, size=size)


@dataclass(frozen=True)
class CoordinateSensitivity:
    """Four sums, each of sensitivity 1, with the noise of ONE such sum: l2 sensitivity taken as 1 instead of 2.

    True privacy: on a pair where all four sums move by 1, delta(1) = 0.321 at the claimed (1, 0.05).
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = column_sums(dataset)
        return sums + rng.normal(scale=analytic_deviation(self.epsilon, self.delta), size=(size, sums.size))


@dataclass(frozen=True)
class OneBinMoves:
    """Histogram under substitution with the l2 sensitivity 1 of add/remove instead of sqrt(2).

    True privacy: on a pair that moves one record between two bins, delta(1) = 0.149 at the claimed (1, 0.05).
    """

    labels: tuple[int, ...]
    epsilon: float
    delta: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        counts = Histogram(self.labels)(dataset)
        return counts + rng.normal(scale=analytic_deviation(self.epsilon, self.delta), size=(size, counts.size))


@dataclass(frozen=True)
class HalfNoiseRightLaw(GaussianMechanism):
    """States the law of the right mechanism, while the sampler draws half the noise.

    True privacy: on a pair whose answers lie `l2_sensitivity` apart, delta(1) = 0.321 at the claimed (1, 0.05).
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = numeric_answer(self.query, dataset)
        return answer + rng.normal(scale=self.deviation / 2, size=(size, *answer.shape))


def _check(name: str, mechanism: Any, epsilon: float, delta: float, pair: tuple[Any, Any]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/gaussian {name} eps={epsilon:g} delta={delta:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, delta, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


_COUNT = (np.ones(8), np.r_[0.0, np.ones(7)])
_MOVE = (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2]))
_ROWS = (np.zeros((6, 4)), np.vstack([np.ones((1, 4)), np.zeros((5, 4))]))

CHECKS: list[PrivacyCheck] = [
    _check("classical beyond one", ClassicalBeyondOne(5.5, 0.6), 5.5, 0.6, _COUNT),
    _check("variance as deviation", VarianceAsDeviation(4.0, 0.05), 4.0, 0.05, _COUNT),
    _check("deviation as variance", DeviationAsVariance(0.5, 0.05), 0.5, 0.05, _COUNT),
    _check("sensitivity of one coordinate", CoordinateSensitivity(1.0, 0.05), 1.0, 0.05, _ROWS),
    _check("one bin moves", OneBinMoves((0, 1, 2), 1.0, 0.05), 1.0, 0.05, _MOVE),
    _check("half noise, right law stated", HalfNoiseRightLaw(count_positive, 1.0, 1.0, 0.05), 1.0, 0.05, _COUNT),
]
