"""Reference mechanisms whose outputs are independent of each other, over calls and processes.

The decoys look like reused noise and are none: discrete laws repeat their values, a vector may carry one noise on all
coordinates, and a mechanism may keep a generator of its own as long as every call reseeds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled, RandomnessCheck
from mechanisms.geometric import GeometricMechanism, TruncatedGeometric
from mechanisms.laplace import LaplaceMechanism, sums_of_cells
from mechanisms.papers.bousquet2022.cells import DrawnVotes
from mechanisms.queries import Histogram, count_positive
from mechanisms.snapping import SnappedLaplace

SOURCE = "each call draws from the generator that it is given"
BUDGET = 8_192


@dataclass(frozen=True)
class ReseedsItsGenerator:
    """Laplace noise from a generator of its own, seeded in every call from the generator of the call."""

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        own = np.random.default_rng(rng.integers(2**63))
        return count_positive(dataset) + own.laplace(scale=1 / self.epsilon, size=size)


@dataclass(frozen=True)
class OneNoiseTwice:
    """The same noisy count in two coordinates: post-processing of one release."""

    epsilon: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noisy = count_positive(dataset) + rng.laplace(scale=1 / self.epsilon, size=size)
        return np.stack([noisy, noisy], axis=1)


def _check(name: str, mechanism: Any, dataset: Any) -> RandomnessCheck:
    return RandomnessCheck(name=name, mechanism=mechanism, dataset=dataset, source=SOURCE, budget=BUDGET)


_ONES, _CELLS = np.ones(8), Labeled(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))

CHECKS: list[RandomnessCheck] = [
    _check("independence/laplace count", LaplaceMechanism(count_positive, 1.0, 0.5), _ONES),
    _check("independence/laplace histogram", LaplaceMechanism(Histogram((0, 1)), 2.0, 0.5), _ONES),
    _check("independence/snapped laplace", SnappedLaplace(count_positive, 0.5, 40.0), _ONES),
    _check("decoy/independence geometric with few values", GeometricMechanism(count_positive, 1, 2.0), _ONES),
    _check("decoy/independence geometric with atoms at its ends", TruncatedGeometric(count_positive, 1, 0.5, 8), _ONES),
    _check("decoy/independence bits of votes", DrawnVotes(1.0, sums_of_cells), _CELLS),
    _check("decoy/independence one noise on two coordinates", OneNoiseTwice(0.5), _ONES),
    _check("decoy/independence generator of its own, reseeded", ReseedsItsGenerator(0.5), _ONES),
]
