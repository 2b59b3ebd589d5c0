"""Learners whose fitted object tells more than its documented release: order, support, generators, and seeds.

Each releases what Bousquet et al. (2022) or Zhao et al. (2024) describe, with the right noise, and its predictions are
private. What a pickle of the fitted object shows is not. The output of each check is that object.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit import FittedObject, Labeled, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.consistency.concepts import Thresholds
from mechanisms.consistency.cube_classifier import CubeClassifier
from mechanisms.consistency.cube_density import CubeDensity
from mechanisms.consistency.cube_regressor import CubeRegressor
from mechanisms.consistency.grids import SpaceGrid, side_for
from mechanisms.consistency.records import features, labels
from mechanisms.consistency.semi_private import SemiPrivateLearner
from mechanisms.consistency.semi_supervised import SemiSupervisedLearner
from mechanisms.consistency.stable_votes import StableVoronoiClassifier
from mechanisms.consistency.voronoi import radius_for

SOURCE = "claimed after Bousquet et al. 2022, Theorem"
BUDGET = 2_000


class FirstSeenDensity(CubeDensity):
    """Released counts in the order in which cubes first occur, and the generator that drew their noise."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the noisy counts."""
        rows = features(X, self.dim)
        self._rng = np.random.default_rng(self.random_state)
        self.side_ = side_for(len(rows), self.dim)
        counts = Counter(SpaceGrid(self.dim, self.side_).keys_of(rows))
        level = 2 / self.epsilon * math.log(2 / self.delta) + 1
        noise = self._rng.laplace(scale=2 / self.epsilon, size=len(counts)).tolist()
        noisy = {key: count + z for (key, count), z in zip(counts.items(), noise, strict=True)}
        self.counts_ = {key: value for key, value in noisy.items() if value >= level}
        self.n_, self.total_ = len(rows), sum(self.counts_.values()) / len(rows)
        return self


class FirstSeenWithoutGenerator(FirstSeenDensity):
    """The same without the generator."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the noisy counts."""
        super().fit(X, y)
        del self._rng
        return self


class OccupiedCubes(CubeClassifier):
    """Votes of the cubes that hold records; others toss their coin when they are first asked."""

    def fit(self, X: Any, y: Any) -> Self:
        """Release the votes."""
        rows = features(X, self.dim)
        margins = labels(y, len(rows)) - 0.5
        rng = np.random.default_rng(self.random_state)
        self.side_ = side_for(len(rows), self.dim)
        sums: Counter[tuple[int, ...]] = Counter()
        for key, margin in zip(SpaceGrid(self.dim, self.side_).keys_of(rows), margins.tolist(), strict=True):
            sums[key] += margin
        noise = rng.laplace(scale=1 / self.epsilon, size=len(sums)).tolist()
        self.votes_ = {key: int(s + w > 0) for (key, s), w in zip(sums.items(), noise, strict=True)}
        return self


class SeededParts(SemiSupervisedLearner):
    """Density and concept keep the seeds that were drawn for them."""

    def fit(self, X: Any, y: Any) -> Self:
        """Release both."""
        rows, marks = features(X, self.concepts.dim), np.asarray(y)
        seeds = np.random.default_rng(self.random_state).integers(2**31, size=2).tolist()
        self.density_ = CubeDensity(self.concepts.dim, self.epsilon, self.delta, random_state=seeds[0])
        public = self.density_.fit(rows[marks < 0]).sample(self.draws)
        self.learner_ = SemiPrivateLearner(self.concepts, public, self.epsilon, seeds[1])
        self.learner_.fit(rows[marks >= 0], marks[marks >= 0])
        return self


class CellsAsSet(StableVoronoiClassifier):
    """The cells that vote 1, as a set that is filled in the order of the records."""

    def fit(self, X: Any, y: Any) -> Self:
        """Release the cells."""
        rows, marks = features(X, self.dim), labels(y, len(X))
        super().fit(rows, marks)
        self.radius_ = radius_for(len(rows), self.dim)
        keys = SpaceGrid(self.dim, self.radius_, centered=True).keys_of(rows)
        released: set[Any] = {key for key in dict.fromkeys(keys) if self.predict(np.array([key]) * self.radius_)[0]}
        vars(self).clear()
        vars(self)["votes_"] = released
        return self


def first_seen(random_state: int) -> FirstSeenWithoutGenerator:
    """Build the density estimator that keeps the order of the records."""
    return FirstSeenWithoutGenerator(1, 1.0, 1e-6, random_state=random_state)


def with_generator(random_state: int) -> FirstSeenDensity:
    """Build the density estimator that keeps its generator."""
    return FirstSeenDensity(1, 1.0, 1e-6, random_state=random_state)


def occupied(random_state: int) -> OccupiedCubes:
    """Build the classifier that lists the cubes with records."""
    return OccupiedCubes(1, 0.5, bounded=False, random_state=random_state)


def seeded_parts(random_state: int) -> SeededParts:
    """Build the learner that keeps the seeds of its parts."""
    return SeededParts(Thresholds(), 1.0, 0.1, 1, random_state)


def cells_as_set(random_state: int) -> CellsAsSet:
    """Build the classifier with a set of cells."""
    return CellsAsSet(1, 1.0, 0.1, random_state)


@dataclass(frozen=True, eq=False)
class OrderOfOccurrence(FittedObject):
    """The density estimator whose dict has its cubes in the order of the records.

    True privacy: none (delta > 1 - 1e-4 for every epsilon) on a first record that moves between two cubes of 50 records
    each: the order of the two keys names its cube whenever both are retained.
    """

    build: Callable[..., Any] = first_seen


@dataclass(frozen=True, eq=False)
class KeysOfOccupiedCubes(FittedObject):
    """The classifier on the line whose dict has a key for each cube that holds records.

    True privacy: none (delta = 1 for every epsilon) on a record that moves to an empty cube.
    """

    build: Callable[..., Any] = occupied


class MeansOfRecords(CubeRegressor):
    """The density decides which cubes are shown; their mean targets are those of the records."""

    def fit(self, X: Any, y: Any) -> Self:
        """Release the density, and exact means."""
        super().fit(X, y)
        keys = SpaceGrid(1, self.density_.side_).keys_of(features(X, 1))
        shown = {key[:1] for key in self.density_.counts_}
        targets = [(key, float(target)) for key, target in zip(keys, y, strict=True) if key in shown]
        self.means_ = {key: math.fsum(t for other, t in targets if other == key) for key in sorted(shown)}
        return self


def means_of_records(random_state: int) -> MeansOfRecords:
    """Build the regressor that shows exact means."""
    return MeansOfRecords(1, 1.0, 1e-6, random_state=random_state)


@dataclass(frozen=True, eq=False)
class ExactTargets(FittedObject):
    """The regressor that averages the records' own targets, after a private choice of cubes.

    True privacy: none (delta > 1 - 1e-4 for every epsilon) on a target that moves among 101 records of one cube.
    """

    build: Callable[..., Any] = means_of_records


@dataclass(frozen=True, eq=False)
class OrderOfASet(FittedObject):
    """The classifier from two histograms whose set of cells is filled in the order of the records.

    True privacy: none on a first record that moves between two cells whose hashes collide: the set yields the one
    that was inserted first, first; both vote 1 nearly always.
    """

    build: Callable[..., Any] = cells_as_set


@dataclass(frozen=True, eq=False)
class CountsByReplay(FittedObject):
    """Released counts, less the noise that the kept generator draws when it starts again.

    True privacy: none (delta > 1 - 1e-4 for every epsilon) on any record that moves between two cubes of 50 records.
    """

    build: Callable[..., Any] = with_generator

    def _released(self, learner: FirstSeenDensity) -> Any:
        source: Any = learner._rng.bit_generator
        rng = np.random.default_rng(source.seed_seq)
        noise = rng.laplace(scale=2 / learner.epsilon, size=len(learner.counts_)).tolist()
        exact = {key: value - z for (key, value), z in zip(learner.counts_.items(), noise, strict=True)}
        return np.round([exact[key] for key in sorted(exact)], 6)


@dataclass(frozen=True, eq=False)
class RepeatedBySeed(FittedObject):
    """Unlabeled counts, by drawing the noise again from the seed that the inner density keeps.

    True privacy: none (delta > 1 - 1e-4 for every epsilon) on an unlabeled record that moves between two cubes.
    """

    build: Callable[..., Any] = seeded_parts

    def _released(self, learner: SeededParts) -> Any:
        heights = learner.density_.counts_
        noise = np.random.default_rng(learner.density_.random_state).laplace(scale=2.0, size=2)
        found = np.array([heights[key] for key in sorted(heights)])
        return np.round([found - noise, found - noise[::-1]], 6)  # the noise was drawn in either order


def in_two_cubes(first: int, records: int = 101) -> np.ndarray:
    """Return records alternating between cubes 0 and 1 of the line, after a first one in the cube named."""
    cubes = np.r_[first, np.arange(records - 1) % 2]
    return (cubes + 0.5) * side_for(records, 1)


def _moved(marks: Any = None) -> list[Any]:
    pair = in_two_cubes(0), in_two_cubes(1)
    return [pair if marks is None else tuple(Labeled(side, marks) for side in pair)]


def _collision() -> list[Any]:
    """Two cells of the line whose keys share a slot of the set's table of eight."""
    other = next(key for key in range(1, 100) if (hash((key,)) - hash((0,))) % 8 == 0)
    size = 101
    cells = np.r_[0, np.tile([0, other], size // 2)] * radius_for(size, 1)
    moved = np.r_[other * radius_for(size, 1), cells[1:]]
    return [(Labeled(cells, np.ones(size, int)), Labeled(moved, np.ones(size, int)))]


def _check(name: str, mechanism: Any, claim: PrivacyClaim, pairs: list[Any]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/consistency/fitted object {name} eps={claim.epsilon:g}",
        mechanism=mechanism,
        claim=claim,
        pairs=pairs,
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


def _substitution(epsilon: float, delta: float, theorem: str) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, Substitution(), f"{SOURCE} {theorem}")


_FEW = Labeled(np.array([0.1, 0.2, 0.6, 0.7]), np.array([0, 1, 0, 1]))
_FAR = Labeled(np.array([1234.5, 0.2, 0.6, 0.7]), _FEW.y)
_SEMI = [
    tuple(Labeled(np.r_[0.1, 0.3, side], np.r_[0, 1, np.full(101, -1)]) for side in (in_two_cubes(0), in_two_cubes(1)))
]

_LEVEL = Labeled(np.full(101, 0.1), np.full(101, 0.1))
_RAISED = Labeled(_LEVEL.X, np.r_[0.2, _LEVEL.y[1:]])

CHECKS: list[PrivacyCheck] = [
    _check("order of a dict", OrderOfOccurrence(), _substitution(1.0, 1e-6, "4.2"), _moved()),
    _check("exact targets", ExactTargets(), _substitution(1.0, 1e-6, "4.2"), [(_LEVEL, _RAISED)]),
    _check("order of a set", OrderOfASet(), _substitution(1.5, 0.025, "A.14"), _collision()),
    _check("keys of occupied cubes", KeysOfOccupiedCubes(), _substitution(0.5, 0.0, "3.1"), [(_FEW, _FAR)]),
    _check("generator, counts by replay", CountsByReplay(), _substitution(1.0, 1e-6, "4.2"), _moved()),
    _check("seeds of the parts", RepeatedBySeed(), _substitution(1.0, 0.025, "4.11"), _SEMI),
]
