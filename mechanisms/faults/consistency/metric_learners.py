"""Broken Voronoi learners: centers from the data, one budget spent twice, and noise used twice.

After Bousquet et al. (2022), Algorithms 4 and 5. Two histograms with (epsilon, delta) each cost (2 epsilon, delta / 2)
together, under substitution, and their votes alone (1.5 epsilon, delta / 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.consistency.any_space import PublicPoints
from mechanisms.consistency.cube_classifier import labeled
from mechanisms.consistency.stable_votes import (
    StableHistograms,
    StableVotes,
    first_flipped,
    first_moved,
    records_in_cells,
)
from mechanisms.consistency.voronoi import radius_for

BUDGET = 50_000
SOURCE = "claimed after Bousquet et al. 2022, Theorem A.14"


@dataclass(frozen=True)
class CentersFromTheData:
    """A packing of radius 0.3 is built greedily from the sample; the votes of its cells are shown at fixed points.

    True privacy: none, with mass 0.624 at epsilon = 1 on a first record that moves from 0.1 to 0.2: the boundary of its
    cell moves from 0.3 to 0.35, so that votes at 0.32 and 0.6 always agree on one side and not on the other.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        centers: list[float] = []
        for x in dataset.X.tolist():
            if all(abs(x - c) >= 0.3 for c in centers):
                centers.append(x)
        places = np.array(centers)
        cells = np.argmin(np.abs(dataset.X[:, None] - places), axis=1)
        sums = np.bincount(cells, weights=dataset.y - 0.5, minlength=places.size)
        bits = (sums + rng.laplace(scale=1 / self.epsilon, size=(size, places.size)) > 0).astype(np.int8)
        return bits[:, np.argmin(np.abs(np.array([0.05, 0.32, 0.6, 0.95])[:, None] - places), axis=1)]


@dataclass(frozen=True)
class HalfTheBudget:
    """Both histograms get the whole (epsilon, delta) that is claimed for the two together.

    True privacy: (2 epsilon, delta / 2) on a label-1 record that moves between large cells; delta(1) = 0.0886 at the
    claimed (1, 0.01).
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return StableHistograms(self.epsilon, self.delta)(dataset, size, rng)


@dataclass(frozen=True)
class OneNoiseForBothHistograms:
    """The same noise for the two counts of a cell.

    True privacy: none: the difference of the two counts is exact. On a flip in a cell of large counts the mass is 1 but
    for what the thresholds hide.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        mechanism = StableHistograms(self.epsilon, self.delta)
        counts = np.stack(mechanism.counts(dataset))
        noisy = counts + rng.laplace(scale=2 / self.epsilon, size=(size, 1, counts.shape[1]))
        return np.where((counts > 0) & (noisy >= mechanism.level), noisy, 0.0).reshape(size, -1)


@dataclass(frozen=True)
class SpaceOfTheRecords:
    """The records are listed as the public points of the space; the votes are shown at 0.25 and 0.5.

    True privacy: none. Of 30 label-1 records at 0.25, as many of label 0 at 0.5 and a first one, which moves from 0.1
    to 0.3, both heaps have a cell of their own on one side and share one on the other: the votes differ with
    probability above 0.99, or never.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        space = PublicPoints(dataset.X[:, None], "cityblock", dim=1.0)
        packing = space.packing(radius_for(len(dataset), 1.0))
        bits = StableVotes(self.epsilon, self.delta, tuple(range(len(packing))), space)(dataset, size, rng)
        return bits[:, space.cell_of(np.array([[0.25], [0.5]]), packing)]


def _check(
    name: str, mechanism: Any, epsilon: float, delta: float, pair: tuple[Labeled, Labeled], budget: int = BUDGET
) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/consistency/{name} eps={epsilon:g} delta={delta:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, delta, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=budget,
    )


_HEAPS = (
    labeled([0.1, *[0.25] * 30, *[0.5] * 30], [1] * 31 + [0] * 30),
    labeled([0.3, *[0.25] * 30, *[0.5] * 30], [1] * 31 + [0] * 30),
)
_CROWDED = records_in_cells((60, 60), (60, 60))
_FIRST = (labeled([0.1, 0.5, 0.9, 0.6], [1, 0, 1, 0]), labeled([0.2, 0.5, 0.9, 0.6], [1, 0, 1, 0]))

CHECKS: list[PrivacyCheck] = [
    _check("voronoi centres from the data", CentersFromTheData(1.0), 1.0, 0.0, _FIRST),
    _check("stable votes space of the records", SpaceOfTheRecords(1.0, 0.01), 2.0, 0.02, _HEAPS, 3_000),
    _check("stable votes half the budget", HalfTheBudget(1.0, 0.01), 1.0, 0.01, (_CROWDED, first_moved(_CROWDED, 1))),
    _check(
        "stable votes one noise for both histograms",
        OneNoiseForBothHistograms(0.5, 0.01),
        1.0,
        0.02,
        (_CROWDED, first_flipped(_CROWDED)),
    ),
]
