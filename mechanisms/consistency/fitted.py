"""The learners that people call, audited as they are: each release is one `fit`, compared with the law of its twin.

The other checks audit vectorized twins of the learners, which draw 10^5 outputs in a blink. Here the classes themselves
run, a few thousand times, and what they release is tested against the exact law of the twin, which satisfies the claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution
from audit.laws import Law
from mechanisms.consistency.concepts import Quadrants
from mechanisms.consistency.cube_classifier import CubeClassifier, CubeVotes, SpaceVotes, flip_pair, move_pair
from mechanisms.consistency.cube_density import CubeCounts, CubeDensity, moved_first, points_in_cubes
from mechanisms.consistency.semi_private import PLANE, SemiPrivateLearner, SemiPrivateRelease, equal_pair
from mechanisms.consistency.spaces import Circle, EuclideanSquare
from mechanisms.consistency.stable_votes import StableVoronoiClassifier, StableVotes, first_moved, records_in_cells
from mechanisms.consistency.voronoi import VoronoiClassifier, VoronoiVotes

PAPER = "Bousquet et al. 2022"
BUDGET = 4000


@dataclass(frozen=True)
class Fitted:
    """A learner as a mechanism: one output a fit.

    Parameters
    ----------
    build : callable
        seed -> unfitted learner.
    reveal : callable
        Fitted learner -> what it released, a row of numbers or a number.
    twin : mechanism
        Has the law of these outputs.
    """

    build: Callable[[int], Any]
    reveal: Callable[[Any], Any]
    twin: Any

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        X, y = (dataset.X, dataset.y) if isinstance(dataset, Labeled) else (dataset, None)
        seeds = rng.integers(2**62, size=size).tolist()
        return np.array([self.reveal(self.build(seed).fit(X, y)) for seed in seeds])

    def law(self, dataset: Any) -> Law:
        """Law of one output, by the twin."""
        law: Law = self.twin.law(dataset)
        return law


def cube_classifier(seed: int) -> CubeClassifier:
    """Build the classifier on the unit interval."""
    return CubeClassifier(1, 0.5, random_state=seed)


def space_classifier(seed: int) -> CubeClassifier:
    """Build the classifier on the whole line."""
    return CubeClassifier(1, 0.5, bounded=False, random_state=seed)


def circle_classifier(seed: int) -> VoronoiClassifier:
    """Build the classifier on the circle."""
    return VoronoiClassifier(Circle(), 0.5, random_state=seed)


def square_classifier(seed: int) -> VoronoiClassifier:
    """Build the classifier on the Euclidean square."""
    return VoronoiClassifier(EuclideanSquare(), 0.5, random_state=seed)


def stable_classifier(seed: int) -> StableVoronoiClassifier:
    """Build the classifier from two stability histograms."""
    return StableVoronoiClassifier(1, 0.5, 0.1, random_state=seed)


def density(seed: int) -> CubeDensity:
    """Build the density estimator."""
    return CubeDensity(1, 0.5, 0.1, random_state=seed)


def semi_private(seed: int) -> SemiPrivateLearner:
    """Build the learner of quadrants."""
    return SemiPrivateLearner(Quadrants(), PLANE, 0.5, seed)


def votes(learner: Any) -> np.ndarray:
    """Return the votes of all cells."""
    return np.asarray(learner.votes_)


def votes_on_the_line(learner: Any) -> np.ndarray:
    """Return the votes of five cubes, three of which may be unvisited: by predictions inside them."""
    return np.asarray(learner.predict((np.array([-1000, -1, 0, 1, 1000]) + 0.5) * learner.side_))


def stable_cells(learner: Any) -> np.ndarray:
    """Return the votes of three cells."""
    return np.array([(cell,) in learner.votes_ for cell in range(3)], dtype=np.int8)


def heights(learner: Any) -> np.ndarray:
    """Return the released counts of three cubes."""
    return np.array([learner.counts_.get((cube,), 0.0) for cube in range(3)])


def chosen(learner: Any) -> int:
    """Return the index of the released representative."""
    return int(np.flatnonzero(np.all(learner.representatives_ == learner.concept_, axis=1))[0])


def _pairs() -> dict[str, tuple[str, Fitted, tuple[float, float], list[tuple[Any, Any]]]]:
    crowded, points = records_in_cells((26, 26), (26, 13), (0, 0)), points_in_cubes(1, 0, 24)
    flip, move = flip_pair(), move_pair(0)
    pure = (0.5, 0.0)
    return {
        "CubeClassifier": ("3.1", Fitted(cube_classifier, votes, CubeVotes(1, 0.5)), pure, [flip, move]),
        "CubeClassifier on the line": (
            "3.1",
            Fitted(space_classifier, votes_on_the_line, SpaceVotes(1, 0.5)),
            pure,
            [flip, move],
        ),
        "VoronoiClassifier on the circle": (
            "A.12",
            Fitted(circle_classifier, votes, VoronoiVotes(Circle(), 0.5)),
            pure,
            [flip],
        ),
        "VoronoiClassifier on the square": (
            "A.12",
            Fitted(square_classifier, votes, VoronoiVotes(EuclideanSquare(), 0.5)),
            pure,
            [flip_pair(2)],
        ),
        "StableVoronoiClassifier": (
            "A.14",
            Fitted(stable_classifier, stable_cells, StableVotes(0.5, 0.1, (0, 1, 2))),
            (0.75, 0.025),
            [(crowded, first_moved(crowded, 1))],
        ),
        "CubeDensity": (
            "4.2",
            Fitted(density, heights, CubeCounts(0.5, 0.1, (0, 1, 2))),
            (0.5, 0.025),
            [(points, moved_first(points, 1))],
        ),
        "SemiPrivateLearner": (
            "4.10",
            Fitted(semi_private, chosen, SemiPrivateRelease(Quadrants(), PLANE, 0.5)),
            pure,
            [equal_pair(PLANE[1])],
        ),
    }


CHECKS: list[PrivacyCheck] = [
    PrivacyCheck(
        name=f"consistency/fitted/theorem {theorem} {name} eps={claim[0]:g} delta={claim[1]:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(*claim, Substitution(), f"{PAPER}, Theorem {theorem}, constants computed exactly"),
        pairs=pairs,
        budget=BUDGET,
        method="exact",
    )
    for name, (theorem, mechanism, claim, pairs) in _pairs().items()
]
