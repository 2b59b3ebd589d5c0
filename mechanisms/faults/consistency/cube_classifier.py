"""Broken cube classifiers: noise, partition, and what is released beside the votes.

The true privacy is under substitution, after Bousquet et al. (2022), Algorithm 2: with s the sum of (label - 1/2) of a
cube, P(vote = 1) = e^(epsilon s) / 2 for s <= 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.consistency.cube_classifier import CubeVotes, flip_pair, labeled
from mechanisms.consistency.grids import UnitGrid, side_for

BUDGET = 50_000
SOURCE = "claimed after Bousquet et al. 2022, Theorem 3.1"


@dataclass(frozen=True)
class ScaleInverted:
    """Noise of scale epsilon instead of 1 / epsilon.

    True privacy: (1 / epsilon, 0) on a flip in a cube of label 0: 2 for the claimed 0.5. At epsilon = 1 the fault has
    no effect.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return votes(dataset, self.epsilon, size, rng)


@dataclass(frozen=True)
class NoisePerQuery:
    """Fresh noise at every prediction: four predictions in one cube are four votes.

    True privacy: (4 epsilon, 0) on a flip in a cube of two records of label 0: four votes 1 have probability 1/16
    against e^(-4 epsilon) / 16. No bound holds for all numbers of predictions.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        first = CubeVotes(1, self.epsilon).sums(dataset)[0]
        return (first + rng.laplace(scale=1 / self.epsilon, size=(size, 4)) > 0).astype(np.int8)


@dataclass(frozen=True)
class OneNoiseForAllCubes:
    """One draw of noise shared by all cubes.

    True privacy: none, with mass 1 - e^(-epsilon / 2) = 0.393 at epsilon = 1: sums (0, 0) never give votes (0, 1),
    sums (-1/2, 1/2) do.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = CubeVotes(1, self.epsilon).sums(dataset)
        return (sums + rng.laplace(scale=1 / self.epsilon, size=(size, 1)) > 0).astype(np.int8)


@dataclass(frozen=True)
class EmptyCubesVoteZero:
    """Cubes without records vote 0 and draw no noise.

    True privacy: none, with mass 1 - e^(-epsilon / 2) / 2 = 0.697 at epsilon = 1, on an empty cube that receives a
    record of label 1.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        grid = CubeVotes(1, self.epsilon).grid(dataset)
        counts = np.bincount(grid.cell_of(dataset.X[:, None]), minlength=grid.size)
        return votes(dataset, 1 / self.epsilon, size, rng) * (counts > 0)


@dataclass(frozen=True)
class ReleasesTheCounts:
    """Votes and the exact number of records of every cube.

    True privacy: none (delta = 1 for every epsilon) on any move between cubes.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        grid = CubeVotes(1, self.epsilon).grid(dataset)
        counts = np.bincount(grid.cell_of(dataset.X[:, None]), minlength=grid.size)
        return np.hstack([votes(dataset, 1 / self.epsilon, size, rng), np.tile(counts, (size, 1))])


@dataclass(frozen=True)
class NoisyLabelCounts:
    """Releases (label-1 count) + Laplace(1 / epsilon) of every cube, instead of sums centered by 1/2.

    True privacy: (2 epsilon, 0) on a record of label 1 that moves: two counts change by 1.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        grid = CubeVotes(1, self.epsilon).grid(dataset)
        ones = np.bincount(grid.cell_of(dataset.X[:, None]), weights=dataset.y, minlength=grid.size)
        return ones + rng.laplace(scale=1 / self.epsilon, size=(size, grid.size))


@dataclass(frozen=True)
class NoiseOnBothSides:
    """The same noise on both sides: Y + W > (N + W) / 2, which is s + W / 2 > 0.

    True privacy: (2 epsilon, 0) on a flip in a cube of label 0.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return votes(dataset, 0.5 / self.epsilon, size, rng)


@dataclass(frozen=True)
class SignLabels:
    """Labels -1 and 1 in the place of -1/2 and 1/2, with the noise unchanged.

    True privacy: (2 epsilon, 0) on a flip in a cube of label 0.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = 2 * CubeVotes(1, self.epsilon).sums(dataset)
        return (sums + rng.laplace(scale=1 / self.epsilon, size=(size, sums.size)) > 0).astype(np.int8)


@dataclass(frozen=True)
class UncheckedLabels:
    """Labels up to 2 are taken as they come.

    True privacy: (3 epsilon, 0) on a record of label 2 that moves: two sums change by 3/2 each.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        grid = UnitGrid(1, side_for(len(dataset), 1))
        sums = np.bincount(grid.cell_of(dataset.X[:, None]), weights=dataset.y - 0.5, minlength=grid.size)
        return (sums + rng.laplace(scale=1 / self.epsilon, size=(size, grid.size)) > 0).astype(np.int8)


@dataclass(frozen=True)
class CubesFromTheData:
    """Cubes span the range of the data; the hypothesis is shown at six fixed points.

    True privacy: none, with mass about 1/2 on a changed largest record: votes that differ at two points of what was
    one cube.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        low, high = float(np.min(dataset.X)), float(np.max(dataset.X))
        scaled = Labeled((dataset.X - low) / (high - low), dataset.y)
        queries = np.clip((QUERIES - low) / (high - low), 0.0, 1.0)
        cells = CubeVotes(1, self.epsilon).grid(dataset).cell_of(queries[:, None])
        return votes(scaled, 1 / self.epsilon, size, rng)[:, cells]


@dataclass(frozen=True)
class SizeFromTheLabels:
    """The side of the cubes is computed from the number of label-1 records, not from n.

    True privacy: none, with mass about 1/2 on a flip: the side changes, and votes differ inside what was one cube.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        mechanism = CubeVotes(1, self.epsilon, records=max(1, int(np.sum(dataset.y))), queries=tuple(QUERIES.tolist()))
        return mechanism(dataset, size, rng)


@dataclass(frozen=True)
class NoiseOnTheMeans:
    """Releases the mean label of every cube (0 where empty) plus Laplace(1 / epsilon).

    True privacy: (2 epsilon, 0) on a singleton of label 1 that moves to an empty cube: two means change by 1.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        grid = CubeVotes(1, self.epsilon).grid(dataset)
        cells = grid.cell_of(dataset.X[:, None])
        counts = np.bincount(cells, minlength=grid.size)
        means = np.bincount(cells, weights=dataset.y, minlength=grid.size) / np.maximum(counts, 1)
        return means + rng.laplace(scale=1 / self.epsilon, size=(size, grid.size))


QUERIES = np.array([0.05, 0.24, 0.3, 0.45, 0.55, 0.7])


def votes(dataset: Labeled, scale: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Votes of all cubes of the line with Laplace noise of a given scale."""
    sums = CubeVotes(1, 1.0).sums(dataset)
    return (sums + rng.laplace(scale=scale, size=(size, sums.size)) > 0).astype(np.int8)


def _check(name: str, mechanism: Any, epsilon: float, pair: tuple[Labeled, Labeled]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/consistency/cube classifier {name} eps={epsilon:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


def _even_pair() -> tuple[Labeled, Labeled]:
    """Two cubes with both labels; a record of label 1 moves from the first to the second."""
    return labeled([0.1, 0.1, 0.9, 0.9], [1, 0, 1, 0]), labeled([0.9, 0.1, 0.9, 0.9], [1, 0, 1, 0])


def _arrival_pair() -> tuple[Labeled, Labeled]:
    """A record of label 1, alone in its cube, moves to an empty one (n = 16)."""
    rest, marks = np.full(15, 0.6), np.tile([0, 1, 0], 5)
    return labeled(np.r_[0.1, rest], np.r_[1, marks]), labeled(np.r_[0.9, rest], np.r_[1, marks])


def _large_label_pair() -> tuple[Labeled, Labeled]:
    """A record of label 2 moves from its own cube to one with three records of label 0."""
    points, marks = np.r_[0.1, 0.9, 0.9, 0.9], np.array([2, 0, 0, 0])
    return Labeled(points, marks), Labeled(np.r_[0.9, points[1:]], marks)


def _range_pair() -> tuple[Labeled, Labeled]:
    """The largest record changes from 1 to 0.6 (n = 16)."""
    points, marks = np.r_[1.0, np.linspace(0, 0.55, 15)], np.tile([0, 1], 8)
    return labeled(points, marks), labeled(np.r_[0.6, points[1:]], marks)


def _nine_ones() -> tuple[Labeled, Labeled]:
    """Four label-1 records against three: sides 1/2 and 1 / sqrt(3)."""
    points = np.linspace(0.02, 0.98, 8)
    marks = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    return labeled(points, marks), labeled(points, np.r_[0, marks[1:]])


CHECKS: list[PrivacyCheck] = [
    _check("scale inverted", ScaleInverted(0.5), 0.5, flip_pair()),
    _check("noise per query", NoisePerQuery(0.5), 0.5, flip_pair()),
    _check("one noise for all cubes", OneNoiseForAllCubes(1.0), 1.0, _even_pair()),
    _check("empty cubes vote zero", EmptyCubesVoteZero(1.0), 1.0, _arrival_pair()),
    _check("releases the counts", ReleasesTheCounts(1.0), 1.0, _even_pair()),
    _check("noisy label counts", NoisyLabelCounts(1.0), 1.0, _even_pair()),
    _check("noise on both sides", NoiseOnBothSides(0.5), 0.5, flip_pair()),
    _check("sign labels", SignLabels(0.5), 0.5, flip_pair()),
    _check("unchecked labels", UncheckedLabels(0.5), 0.5, _large_label_pair()),
    _check("cubes from the data", CubesFromTheData(1.0), 1.0, _range_pair()),
    _check("size from the labels", SizeFromTheLabels(1.0), 1.0, _nine_ones()),
    _check("noise on the means", NoiseOnTheMeans(1.0), 1.0, _arrival_pair()),
]
