"""Distance to instability done wrong: the release of one value.

Claimed (1, 1e-6) after Theorem 3.2 of Bassily, Thakurta & Thakkar (2018). Two of these exceed delta by a few 1e-6,
which only a law can show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck
from audit.laws import Finite
from mechanisms.faults.stability.noise import fault_check
from mechanisms.stability.instability import BOTTOM, SOURCE, DistanceToInstability, Majority, answer, labels

DELTA = 1e-6


@dataclass(frozen=True)
class NoNoise(DistanceToInstability):
    """The distance is compared as it is.

    True privacy: none (delta = 1 for every epsilon) for distances on both sides of the threshold.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        value, distance = answer(self.question, dataset)
        return np.full(size, value if distance > self.threshold else BOTTOM)

    def law(self, dataset: Any) -> Finite:
        """The one output."""
        value, distance = answer(self.question, dataset)
        return Finite({value if distance > self.threshold else BOTTOM: 1.0})


@dataclass(frozen=True)
class NoiseScaleDoubled(DistanceToInstability):
    """Noise of scale 2 / epsilon with the threshold for 1 / epsilon.

    True privacy: delta = sqrt(delta) / 2 at every epsilon, 500 times the claimed 1e-6.
    """

    @property
    def scale(self) -> float:
        """Twice the scale."""
        return 2 / self.epsilon


@dataclass(frozen=True)
class OffByOne(DistanceToInstability):
    """The distance is the number of changes that reach another value, not one less: 1 at an unstable value.

    True privacy: delta = e^epsilon delta / 2 at every epsilon, 1.36 times the claimed 1e-6 at epsilon = 1; below log 2
    the claim holds. In the online release the excess is e^(1 / (2 lam)), nothing at all.
    """


@dataclass(frozen=True)
class LiteralGap(DistanceToInstability):
    """The distance is the gap between the counts of the two labels: it moves by 2, and is 2 at an unstable value.

    True privacy: (2 epsilon, e^(2 epsilon) delta / 2): 2 on a stable pair, and delta 3.69 times the claimed 1e-6.
    """


def gap_of_labels(dataset: Any) -> tuple[int, float]:
    """Return the majority of labels 0 and 1, and the gap between their counts."""
    ones = int(np.count_nonzero(np.asarray(dataset)))
    return int(2 * ones > len(dataset)), float(abs(2 * ones - len(dataset)))


def _check(name: str, mechanism: Any, pairs: Any, **settings: Any) -> PrivacyCheck:
    return fault_check(f"distance to instability, {name}", mechanism, (1.0, DELTA), pairs, SOURCE, **settings)


_UNSTABLE = [(labels(21), labels(20))]
_GAPS_2_AND_0 = [(labels(21, 40), labels(20, 40))]
_BY_LAW = {"method": "exact", "budget": 5_000}

CHECKS: list[PrivacyCheck] = [
    _check("no noise", NoNoise(Majority(), 1.0, DELTA), [(labels(35), labels(34))], budget=2_000, method="fixed"),
    _check("noise scale doubled", NoiseScaleDoubled(Majority(), 1.0, DELTA), _UNSTABLE, **_BY_LAW),
    _check("off by one", OffByOne(Majority(less=0), 1.0, DELTA), _UNSTABLE, **_BY_LAW),
    _check("literal gap, unstable", LiteralGap(gap_of_labels, 1.0, DELTA), _GAPS_2_AND_0, **_BY_LAW),
    _check(
        "literal gap, stable",
        LiteralGap(gap_of_labels, 1.0, DELTA),
        [(labels(26), labels(27))],
        budget=50_000,
        method="fixed",
    ),
]
