"""State what a fit of each estimator lets out, and the law of it, for `audit.check_estimator`.

A release is what `check_estimator(..., release=...)` asks for. Each fit is rebuilt from what it revealed and from what
is public, and must show the same. That of `LocalVoteClassifier` is in `mechanisms.papers.berrett2019.law`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from audit import Labeled
from audit.laws import Law
from mechanisms.consistency.cube_classifier import CubeClassifier, CubeVotes
from mechanisms.consistency.cube_density import CubeDensity
from mechanisms.consistency.cube_regressor import CubeRegressor
from mechanisms.consistency.grids import UnitGrid, side_for
from mechanisms.estimators.base import PrivateEstimator
from mechanisms.estimators.stated import StatedRelease
from mechanisms.learners.classifiers import CubeVoteClassifier
from mechanisms.learners.regressor import CubeMeanRegressor
from mechanisms.papers.bassily2018.classifier import TeacherVoteClassifier, TeacherVoteRelease
from mechanisms.papers.berrett2019.classifier import LocalVoteClassifier
from mechanisms.papers.berrett2019.law import LocalVoteRelease
from mechanisms.papers.chaudhuri2011.classifier import CoverClassifier, CoverRelease, LabelPrivateCoverClassifier
from mechanisms.papers.zhao2024.classifier import LabelPrivateNeighbors, LabelPrivateNetwork, LabelRelease
from mechanisms.stability_histogram import StabilityHistogram


class CubeVoteRelease(StatedRelease):
    """One bit for each cube."""

    def reveal(self, fitted: CubeVoteClassifier) -> tuple[Any, Any]:
        """Return the bits."""
        return fitted.learner_.votes_, None

    def law(self, dataset: Labeled) -> Law:
        """Return the law of independent bits."""
        return CubeVotes(self._dim, self.estimator.epsilon).law(self._mapped(dataset))

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> CubeClassifier:
        learner = CubeClassifier(self._dim, fresh.epsilon)
        learner.side_, learner.votes_ = side_for(n, self._dim), revealed[0]
        return learner


class CubeMeanRelease(StatedRelease):
    """A noisy count for each cube of features and targets, 0 where it is not released."""

    def reveal(self, fitted: CubeMeanRegressor) -> tuple[Any, Any]:
        """Return the counts of all cubes of the unit cube."""
        density = fitted.learner_.density_
        return np.array([density.counts_.get(cube, 0.0) for cube in self._cubes(density.n_)]), None

    def law(self, dataset: Labeled) -> Law:
        """Return the law of independent counts."""
        est, grid = self.estimator, UnitGrid(self._dim + 1, side_for(len(dataset.X), self._dim + 1))
        low, high = est.target_bounds
        targets = (np.clip(np.asarray(dataset.y, dtype=float), low, high) - low) / (high - low)
        rows = np.column_stack([est._mapped(np.asarray(dataset.X, dtype=float)), targets])
        return StabilityHistogram(est.epsilon, est.delta, tuple(range(grid.size))).law(grid.cell_of(rows))

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> CubeRegressor:
        learner, dim = CubeRegressor(self._dim, fresh.epsilon, fresh.delta), self._dim + 1
        density = CubeDensity(dim, fresh.epsilon, fresh.delta)
        density.side_ = side_for(n, dim)
        density.counts_ = {cube: float(count) for cube, count in zip(self._cubes(n), revealed[0], strict=True) if count}
        density.n_ = n
        density.total_ = sum(density.counts_.values()) / n
        learner.density_ = density
        return learner

    def _cubes(self, n: int) -> list[tuple[int, ...]]:
        dim = self._dim + 1
        return list(itertools.product(range(UnitGrid(dim, side_for(n, dim)).cuts), repeat=dim))


_KINDS: dict[type[PrivateEstimator], type[StatedRelease]] = {
    CubeVoteClassifier: CubeVoteRelease,
    CoverClassifier: CoverRelease,
    LabelPrivateCoverClassifier: CoverRelease,
    LocalVoteClassifier: LocalVoteRelease,
    LabelPrivateNeighbors: LabelRelease,
    LabelPrivateNetwork: LabelRelease,
    CubeMeanRegressor: CubeMeanRelease,
    TeacherVoteClassifier: TeacherVoteRelease,
}


def release_of(estimator: Any, features: int) -> StatedRelease | None:
    """Return the release of an estimator of this package on some number of features; None where no law is stated."""
    kind = _KINDS.get(type(estimator))
    return None if kind is None else kind(estimator, features)
