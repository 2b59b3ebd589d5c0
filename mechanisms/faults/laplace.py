"""Broken Laplace mechanisms. The scale of the noise is the whole proof, so most faults sit there.

Sources of the faults: Bousquet et al. (2022) audits of histogram learners (scale inverted at epsilon = 1 is
invisible), Nissim, Raskhodnikova & Smith (2007) on why local sensitivity leaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.laplace import LaplaceMechanism
from mechanisms.queries import Histogram, count_positive, numeric_answer

BUDGET = 200_000
SOURCE = "claimed after Dwork & Roth 2014, Theorem 3.6"


@dataclass(frozen=True)
class ScaleInverted:
    """Noise of scale epsilon instead of 1 / epsilon on a count.

    True privacy: (1 / epsilon, 0) on a pair whose counts differ by 1: 2 for the claimed 0.5. At epsilon = 1 the
    fault has no effect.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return count_positive(dataset) + rng.laplace(scale=self.epsilon, size=size)


@dataclass(frozen=True)
class SensitivityForgotten:
    """Histogram under substitution with noise of scale 1 / epsilon, as if its l1 sensitivity were 1.

    True privacy: (2 epsilon, 0) on a pair that moves one record between two bins: both shift by 1.
    """

    labels: tuple[int, ...]
    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        counts = Histogram(self.labels)(dataset)
        return counts + rng.laplace(scale=1 / self.epsilon, size=(size, counts.size))


@dataclass(frozen=True)
class HalfNoise:
    """Noise of half the scale.

    True privacy: (2 epsilon, 0) on a pair whose counts differ by 1.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return count_positive(dataset) + rng.laplace(scale=0.5 / self.epsilon, size=size)


@dataclass(frozen=True)
class ClampsAfterTheNoise:
    """Sum of records that should be clamped to [0, 1]; only the noisy sum is clamped, to [0, n].

    True privacy: (x epsilon, 0) on a pair that replaces a record 0 by x > 1: 3 epsilon for x = 3. The atom at 0
    has mass 1/2 on the left and e^(-3 epsilon) / 2 on the right.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noisy = np.sum(dataset) + rng.laplace(scale=1 / self.epsilon, size=size)
        return np.clip(noisy, 0.0, len(dataset))


@dataclass(frozen=True)
class OneNoiseForAllCoordinates:
    """Histogram with enough noise, but one draw shared by all bins.

    True privacy: none (delta = 1 for every epsilon) on a pair that moves one record: differences of bins are exact.
    """

    labels: tuple[int, ...]
    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return Histogram(self.labels)(dataset) + rng.laplace(scale=2 / self.epsilon, size=(size, 1))


@dataclass(frozen=True)
class ScaleFromTheData:
    """Sum of records in [0, 1] with noise scaled to the largest record present.

    True privacy: none (delta = 1 for every epsilon) on all zeros against a single 1: the former gets no noise.
    """

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.sum(dataset) + rng.laplace(scale=np.max(dataset) / self.epsilon, size=size)


@dataclass(frozen=True)
class HalfNoiseRightLaw(LaplaceMechanism):
    """States the law of the right mechanism, while the sampler draws half the noise.

    True privacy: (2 epsilon, 0) on a pair whose answers lie `l1_sensitivity` apart; the stated law says epsilon.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = numeric_answer(self.query, dataset)
        return answer + rng.laplace(scale=self.scale / 2, size=(size, *answer.shape))


def _check(name: str, mechanism: Any, epsilon: float, pair: tuple[Any, Any]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/laplace {name} eps={epsilon:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


_COUNT = (np.ones(8), np.r_[0.0, np.ones(7)])
_MOVE = (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2]))

CHECKS: list[PrivacyCheck] = [
    _check("scale inverted", ScaleInverted(0.5), 0.5, _COUNT),
    _check("sensitivity forgotten", SensitivityForgotten((0, 1, 2), 1.0), 1.0, _MOVE),
    _check("half noise", HalfNoise(0.25), 0.25, _COUNT),
    _check("clamps after the noise", ClampsAfterTheNoise(0.5), 0.5, (np.zeros(8), np.r_[3.0, np.zeros(7)])),
    _check("one noise for all coordinates", OneNoiseForAllCoordinates((0, 1, 2), 1.0), 1.0, _MOVE),
    _check("scale from the data", ScaleFromTheData(1.0), 1.0, (np.zeros(5), np.r_[1.0, np.zeros(4)])),
    _check("half noise, right law stated", HalfNoiseRightLaw(count_positive, 1.0, 0.5), 0.5, _COUNT),
]
