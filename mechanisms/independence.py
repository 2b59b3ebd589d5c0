"""Reference mechanisms whose outputs are independent of each other, over calls and processes.

The decoys look like reused noise and are none: discrete laws repeat their values, a vector may carry one noise on all
coordinates, and a mechanism may keep a generator of its own as long as every call reseeds it.
"""

from typing import Any

import numpy as np

from audit import Labeled, RandomnessCheck
from mechanisms.geometric import GeometricMechanism, TruncatedGeometric
from mechanisms.laplace import LaplaceMechanism
from mechanisms.papers.bousquet2022.algorithm2 import cube_sums
from mechanisms.papers.bousquet2022.cells import DrawnVotes
from mechanisms.queries import Histogram, count_positive
from mechanisms.snapping import SnappedLaplace


def reseed_own(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add Laplace noise from a generator of its own, seeded in every call from the generator of the call."""
    own = np.random.default_rng(rng.integers(2**63))
    return count_positive(dataset) + own.laplace(scale=2.0, size=size)


def show_twice(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return the same noisy count in two coordinates: post-processing of one release."""
    return np.repeat(count_positive(dataset) + rng.laplace(scale=2.0, size=(size, 1)), 2, axis=1)


_ONES, _CELLS = np.ones(8), Labeled(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 0, 1]))

CHECKS: list[RandomnessCheck] = [
    RandomnessCheck(
        name=name,
        mechanism=mechanism,
        dataset=dataset,
        source="each call draws from the generator that it is given",
        budget=8_192,
    )
    for name, mechanism, dataset in (
        ("independence/laplace count", LaplaceMechanism(count_positive, 1.0, 0.5), _ONES),
        ("independence/laplace histogram", LaplaceMechanism(Histogram((0, 1)), 2.0, 0.5), _ONES),
        ("independence/snapped laplace", SnappedLaplace(count_positive, 0.5, 40.0), _ONES),
        ("decoy/independence geometric with few values", GeometricMechanism(count_positive, 1, 2.0), _ONES),
        ("decoy/independence geometric with atoms at its ends", TruncatedGeometric(count_positive, 1, 0.5, 8), _ONES),
        ("decoy/independence bits of votes", DrawnVotes(1.0, cube_sums), _CELLS),
        ("decoy/independence one noise on two coordinates", show_twice, _ONES),
        ("decoy/independence generator of its own, reseeded", reseed_own, _ONES),
    )
]
