"""Learners that keep their privacy and lose their consistency, and packings that are not maximal.

After Bousquet et al. (2022): Theorem 3.2 needs side -> 0 and n side^dim -> infinity, the density estimator counts
cubes and not points, and the exponential mechanism weighs numbers of mistakes and not their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from audit import ConsistencyCheck, GuaranteeCheck, InequalityCheck, Verdict
from mechanisms.consistency.cube_bounds import CubeProblem
from mechanisms.consistency.cube_regressor import learned_check
from mechanisms.consistency.dense_sequence import TWO_ADIC, DenseSequence
from mechanisms.consistency.metric_votes import dyadic_risk, risk_check
from mechanisms.consistency.no_free_lunch import nearest_check
from mechanisms.consistency.stable_counts import noisy_counts


@dataclass(frozen=True)
class SideTooSmall:
    """Cubes of side n^(-1/dim): one record a cube, for ever.

    True behavior: the excess risk on `smooth` stays at 0.202.
    """

    def __call__(self, n: int) -> float:
        return CubeProblem("smooth", n, side=1 / n).excess(1.0)


@dataclass(frozen=True)
class SideConstant:
    """Cubes of side 0.3 whatever n is.

    True behavior: the excess risk on `smooth` tends to 0.0243.
    """

    def __call__(self, n: int) -> float:
        return CubeProblem("smooth", n, side=0.3).excess(1.0)


@dataclass(frozen=True)
class NoiseOnTheMean:
    """Votes 1[mean label + W > 1/2], W ~ Laplace(1 / epsilon): the noise does not shrink with the number of records.

    True behavior: the excess risk tends to E|2 eta - 1| e^(-epsilon |eta - 1/2|) / 2 = 0.187 on `smooth`, epsilon 1.
    """

    epsilon: float = 1.0

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        cells = CubeProblem("smooth", n).cells
        risks = np.empty(replicates)
        for index in range(replicates):
            total, ones = cells.counts(n, 1, rng)
            means = np.divide(ones, total, out=np.zeros(total.shape), where=total > 0)
            bits = means + rng.laplace(scale=1 / self.epsilon, size=means.shape) > 0.5
            risks[index] = cells.excess(bits.astype(np.int8))[0]
        return risks


@dataclass(frozen=True)
class HistogramOfPoints:
    """The stability histogram of the records themselves, not of their cubes: every count is 1.

    True behavior: nothing but a null set is retained, and the L1 error stays at 1.
    """

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        released = noisy_counts(np.ones((replicates, n), dtype=int), 1.0, -2 * math.log(n), rng)
        retained_volume = 0.0 * np.count_nonzero(released, axis=1)  # points have no volume, however many are retained
        return 1.0 - retained_volume


@dataclass(frozen=True)
class PlainGrid:
    """The grid of step r as a maximal packing of the Euclidean square.

    True behavior: near the upper corner a point is up to sqrt(2) r away from every center: no cover.
    """

    def __call__(self) -> list[tuple[str, float, float]]:
        found = []
        for radius in (0.51, 0.34, 0.13):
            gap = 1 - math.floor(1 / radius) * radius
            found.append((f"r={radius:g}", max(gap, radius / 2) * math.sqrt(2), radius))
        return found


@dataclass(frozen=True)
class OneRadius(DenseSequence):
    """A packing of radius 1 whatever the number of records.

    True behavior: the risk stays at 0.5 where the digit of 16 decides.
    """

    def keys_of(self, points: np.ndarray, radius: float) -> list[tuple[int, ...]]:
        """Return the cells at radius 1."""
        return super().keys_of(points, 1.0)


@dataclass(frozen=True)
class MeanScore:
    """The exponential mechanism with the MEAN number of mistakes: far more private than claimed, and useless.

    True behavior: with 1468 records and epsilon = 1 the choice is almost uniform; the error exceeds 0.1 with
    probability about 0.8 for a threshold at the median.
    """

    labeled: int = 1468
    public: int = 240

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([self._error(rng) for _ in range(replicates)]) <= 0.1

    def _error(self, rng: np.random.Generator) -> float:
        ranks, candidates = np.sort(rng.random(self.labeled)), np.append(rng.random(self.public), 1.0)
        wrong = np.abs(np.searchsorted(ranks, candidates) - np.searchsorted(ranks, 0.5)) / self.labeled
        return float(abs(candidates[np.argmax(rng.gumbel(size=wrong.size) - wrong / 2)] - 0.5))


def _consistency(name: str, risk: Callable[..., object], sizes: tuple[int, ...], tolerance: float) -> ConsistencyCheck:
    simulated = isinstance(risk, (NoiseOnTheMean, HistogramOfPoints))
    return ConsistencyCheck(
        name=f"fault/consistency/{name}",
        source="claimed after Bousquet et al. 2022, Theorems 3.2 and 4.3",
        statement="the excess tends to 0",
        losses=risk if simulated else None,
        evaluator=None if simulated else risk,  # type: ignore[arg-type]
        sizes=sizes,
        support=(0.0, 1.0),
        tolerance=tolerance,
        expected=Verdict.FAIL,
        budget=400,
    )


CHECKS: list[ConsistencyCheck | GuaranteeCheck | InequalityCheck] = [
    _consistency("cube classifier side too small", SideTooSmall(), (10**3, 10**4), 0.05),
    _consistency("cube classifier side constant", SideConstant(), (10**3, 10**6), 0.01),
    _consistency("cube classifier noise on the mean", NoiseOnTheMean(), (10**3, 10**7), 0.05),
    _consistency("cube density histogram of points", HistogramOfPoints(), (10**2, 10**4), 0.5),
    risk_check(
        "fault/consistency/stable votes one radius",
        dyadic_risk(OneRadius(TWO_ADIC.place, TWO_ADIC.distance, 1.0)),
        "A.13",
        expected=Verdict.FAIL,
    ),
    learned_check("fault/consistency/regression on 50 draws", 50, expected=Verdict.FAIL),
    nearest_check("fault/consistency/semi-private labels of everything", 200, expected=Verdict.FAIL),
    InequalityCheck(
        name="fault/consistency/voronoi plain grid",
        source="claimed after Bousquet et al. 2022, Theorem A.4",
        statement="every point is less than r away from a center",
        values=PlainGrid(),
        expected=Verdict.FAIL,
    ),
    GuaranteeCheck(
        name="fault/consistency/semi-private mean score",
        source="claimed after Bousquet et al. 2022, Theorem 4.10",
        statement="error <= 0.1 with probability 0.9 from 1468 labelled records and 240 public points",
        trials=MeanScore(),
        beta=0.1,
        expected=Verdict.FAIL,
        budget=1000,
    ),
]
