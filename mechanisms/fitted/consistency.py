"""The consistent learners of Bousquet et al. (2022), as fitted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Released, Substitution
from audit.adapters import Documented
from audit.laws import Finite, Law, Product
from mechanisms.consistency.concepts import Quadrants, Thresholds
from mechanisms.consistency.cube_classifier import CubeClassifier, CubeVotes, SpaceVotes, flip_pair, move_pair
from mechanisms.consistency.cube_density import CubeCounts, CubeDensity, moved_first, points_in_cubes
from mechanisms.consistency.cube_regressor import CubeRegressor
from mechanisms.consistency.grids import SpaceGrid, side_for
from mechanisms.consistency.hidden_votes import Field, HiddenVotes, draw_votes, elements_of
from mechanisms.consistency.metric_votes import WORD_CELLS, WORDS, word_pairs
from mechanisms.consistency.semi_private import PLANE, SemiPrivateLearner, SemiPrivateRelease, equal_pair
from mechanisms.consistency.semi_supervised import (
    LABELED,
    UNLABELED,
    SemiSupervisedLearner,
    SemiSupervisedRelease,
    records,
    replaced,
)
from mechanisms.consistency.spaces import BoundedSpace, Circle, EuclideanSquare, certified
from mechanisms.consistency.stable_votes import (
    PairHistogramClassifier,
    StableVoronoiClassifier,
    StableVotes,
    first_flipped,
    first_moved,
    pair_vote_law,
    records_in_cells,
)
from mechanisms.consistency.voronoi import VoronoiClassifier, VoronoiVotes, radius_for
from mechanisms.consistency.votes import vote_law, vote_probability
from mechanisms.fitted.orders import by_label, exact, in_orders, last_first
from mechanisms.stability_histogram import StabilityHistogram

THREE = (0, 1, 2)


def votes(learner: Any) -> np.ndarray:
    """Return the votes of all cells."""
    return np.asarray(learner.votes_)


def with_cube_votes(learner: CubeClassifier, bits: np.ndarray, size: int) -> CubeClassifier:
    """Set what a classifier of bounded cubes releases."""
    learner.side_, learner.votes_ = side_for(size, learner.dim), bits
    return learner


def with_cells(learner: VoronoiClassifier, bits: np.ndarray, size: int) -> VoronoiClassifier:
    """Set what a classifier of Voronoi cells releases."""
    learner.packing_ = certified(learner.space, radius_for(size, learner.space.doubling_dim))
    learner.votes_ = bits
    return learner


def stable_cells(learner: Any, cells: tuple[int, ...] = THREE) -> np.ndarray:
    """Return the votes of three cells."""
    return np.array([(cell,) in learner.votes_ for cell in cells], dtype=np.int8)


def with_stable_cells(side: Callable[[int, int], float], learner: Any, bits: np.ndarray, size: int) -> Any:
    """Set the cells that vote 1, sorted."""
    learner.radius_ = side(size, 1)
    learner.votes_ = tuple((int(cell),) for cell in np.flatnonzero(bits))
    return learner


def with_word_cells(learner: Any, bits: np.ndarray, size: int) -> Any:
    """Set the cells of words that vote 1, sorted."""
    learner.radius_ = radius_for(size, WORDS.doubling_dim)
    learner.votes_ = tuple(sorted((WORD_CELLS[at],) for at in np.flatnonzero(bits)))
    return learner


def pair_law(dataset: Labeled) -> Product:
    """Law of the votes of three cubes from one histogram of pairs."""
    return pair_vote_law(0.5, 0.1, dataset, (0, 1, 2))


def heights(learner: CubeDensity) -> np.ndarray:
    """Return the released counts of three cubes."""
    return np.array([learner.counts_.get((cube,), 0.0) for cube in range(3)])


def with_heights(learner: CubeDensity, released: np.ndarray, size: int) -> CubeDensity:
    """Set what a density estimator releases."""
    learner.side_ = side_for(size, 1)
    learner.counts_ = {(cube,): float(released[cube]) for cube in range(3) if released[cube]}
    learner.n_ = size
    learner.total_ = math.fsum(learner.counts_.values()) / size
    return learner


PLANE_CUBES = ((0, 0), (0, 2), (1, 1))


def plane_heights(learner: CubeRegressor) -> np.ndarray:
    """Return the released counts of three cubes of features and targets."""
    return np.array([learner.density_.counts_.get(cube, 0.0) for cube in PLANE_CUBES])


def with_plane_heights(learner: CubeRegressor, released: np.ndarray, size: int) -> CubeRegressor:
    """Set what a regressor releases."""
    density = CubeDensity(2, learner.epsilon, learner.delta)
    density.side_ = side_for(size, 2)
    density.counts_ = {cube: float(count) for cube, count in zip(PLANE_CUBES, released, strict=True) if count}
    density.n_ = size
    density.total_ = math.fsum(density.counts_.values()) / size
    learner.density_ = density
    return learner


def in_plane_cubes(places: Any) -> Labeled:
    """Return records in the middle of the cubes named by their places in `PLANE_CUBES`."""
    points = (np.array(PLANE_CUBES)[np.asarray(places)] + 0.5) * side_for(len(places), 2)
    return Labeled(points[:, 0], points[:, 1])


def plane_law(dataset: Labeled) -> Product:
    """Law of the released counts of three cubes."""
    keys = SpaceGrid(2, side_for(len(dataset.X), 2)).keys_of(np.column_stack([dataset.X, dataset.y]))
    return StabilityHistogram(0.5, 0.1, THREE).law(np.array([PLANE_CUBES.index(key) for key in keys]))


def chosen(learner: SemiPrivateLearner) -> int:
    """Return the index of the released representative."""
    return int(np.flatnonzero(np.all(learner.representatives_ == learner.concept_, axis=1))[0])


def with_concept(learner: SemiPrivateLearner, index: int, size: int) -> SemiPrivateLearner:
    """Set what a semi-private learner releases."""
    learner.representatives_ = learner.concepts.representatives(np.array(learner.public))
    learner.concept_ = learner.representatives_[index]
    return learner


def parts_of(learner: SemiSupervisedLearner) -> Any:
    """Return what both parts release: the heights of the density, the points drawn from it, and the chosen concept."""
    concept = learner.learner_
    return heights(learner.density_), learner.density_.n_, np.array(concept.public), chosen(concept)


def with_parts(learner: SemiSupervisedLearner, released: Any, size: int) -> SemiSupervisedLearner:
    """Set what a semi-supervised learner releases."""
    density, unlabeled, public, index = released
    learner.density_ = with_heights(CubeDensity(1, learner.epsilon, learner.delta), density, unlabeled)
    learner.learner_ = with_concept(SemiPrivateLearner(learner.concepts, public, learner.epsilon), index, size)
    return learner


def cubes_of_parts(released: Any) -> np.ndarray:
    """Return whether each of two cubes is retained, and the cube of the chosen threshold, -1 for +infinity."""
    density, unlabeled, public, index = released
    return np.array([*(density[:2] > 0), int(public[0, 0] // side_for(unlabeled, 1)) if index == 0 else -1], dtype=int)


def polynomial_of(learner: CubeClassifier) -> np.ndarray:
    """Return the coefficients of the votes."""
    return np.array(learner.votes_.coefficients)


def with_polynomial(learner: CubeClassifier, coefficients: np.ndarray, size: int) -> CubeClassifier:
    """Set the votes that follow from the coefficients."""
    learner.side_, learner.votes_ = side_for(size, learner.dim), HiddenVotes(coefficients)
    return learner


def votes_at(keys: list[tuple[int, ...]], coefficients: np.ndarray) -> np.ndarray:
    """Return the votes of some cubes."""
    return HiddenVotes(coefficients)[keys]


@dataclass(frozen=True)
class SmallPolynomial:
    """The coefficients of `hidden_votes` for two records over the field of 16 elements: 256 outputs, all listed.

    A dataset holds the cubes of two records of the line, and their labels.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        keys, margins = [(int(cube),) for cube in dataset.X], np.asarray(dataset.y) - 0.5
        return np.array([draw_votes(keys, margins, self.epsilon, rng, bits=4).coefficients for _ in range(size)], int)

    def law(self, dataset: Labeled) -> Finite:
        """Law of the coefficients: the probability of the votes that they give, and uniform among those."""
        elements = elements_of([(int(cube),) for cube in dataset.X], 4)
        occupied, which = np.unique(elements, return_inverse=True)
        ones = vote_probability(self.epsilon, np.bincount(which, weights=np.asarray(dataset.y) - 0.5))
        table: dict[Hashable, float] = {}
        for pair in itertools.product(range(16), repeat=2):
            bits = Field(2).evaluate(np.array(pair, dtype=np.uint32), occupied) & 1
            table[pair] = float(np.prod(2 * np.where(bits == 1, ones, 1 - ones)) / 256)
        return Finite(table)


MANY = 20
CORNERS = np.array([[0.1] * MANY, [0.99] * MANY, [0.1] * 10 + [0.99] * 10])


def corner_law(dataset: Labeled) -> Law:
    """Law of the votes at the corners, of four records in 20 dimensions."""
    grid = SpaceGrid(MANY, side_for(len(dataset), MANY))
    keys, asked = grid.keys_of(dataset.X), grid.keys_of(CORNERS)
    margins = np.asarray(dataset.y) - 0.5
    return vote_law(0.5, np.array([sum(m for key, m in zip(keys, margins, strict=True) if key == k) for k in asked]))


def at_corners(*corners: int) -> np.ndarray:
    """Return records at the corners named."""
    return CORNERS[list(corners)]


def _claim(theorem: str, epsilon: float, delta: float = 0.0) -> PrivacyClaim:
    return PrivacyClaim(
        epsilon, delta, Substitution(), f"Bousquet et al. 2022, Theorem {theorem}, constants computed exactly"
    )


def _bounded() -> list[PrivacyCheck]:
    flip, plane = flip_pair(), flip_pair(2)
    pairs = in_orders(flip, move_pair(0), move_pair(1))
    squares = [plane, last_first(*plane), by_label(*plane)]
    cubes = Released(partial(CubeClassifier, 1, 0.5), votes, with_cube_votes)
    spaces: list[tuple[BoundedSpace, Any]] = [(Circle(), pairs), (EuclideanSquare(), squares)]
    return [
        exact(
            "consistency/theorem 3.1 CubeClassifier",
            Documented(cubes, CubeVotes(1, 0.5).law),
            _claim("3.1", 0.5),
            pairs,
        ),
        *(
            exact(
                f"consistency/theorem A.12 VoronoiClassifier {space!r}",
                Documented(
                    Released(partial(VoronoiClassifier, space, 0.5), votes, with_cells), VoronoiVotes(space, 0.5).law
                ),
                _claim("A.12", 0.5),
                listed,
            )
            for space, listed in spaces
        ),
    ]


def _unbounded() -> list[PrivacyCheck]:
    build = partial(CubeClassifier, 1, 0.5, bounded=False)
    pairs = in_orders(flip_pair(), move_pair(0))
    y = np.array([1, 0, 1, 1])
    base = Labeled(at_corners(0, 1, 1, 2), y)
    corners = in_orders(
        (base, Labeled(at_corners(2, 1, 1, 2), y)),
        (base, Labeled(at_corners(0, 1, 1, 0), y)),
        (base, Labeled(base.X, np.r_[0, y[1:]])),
    )
    two = Labeled(np.array([0, 1]), np.array([0, 1]))
    small = in_orders((two, Labeled(np.array([2, 1]), two.y)), (two, Labeled(two.X, np.array([1, 1]))))
    shown = partial(votes_at, [(cube,) for cube in SpaceVotes().cubes])
    on_line = Released(build, polynomial_of, with_polynomial, shown)
    many = SpaceGrid(MANY, side_for(4, MANY)).keys_of(CORNERS)
    in_many = Released(partial(CubeClassifier, MANY, 0.5), polynomial_of, with_polynomial, partial(votes_at, many))
    return [
        exact(
            "consistency/theorem 3.1 CubeClassifier on the line",
            Documented(on_line, SpaceVotes(1, 0.5).law),
            _claim("3.1", 0.5),
            pairs,
        ),
        exact(
            "consistency/theorem 3.1 CubeClassifier in 20 dimensions",
            Documented(in_many, corner_law),
            _claim("3.1", 0.5),
            corners,
        ),
        exact("consistency/theorem 3.1 coefficients of the votes", SmallPolynomial(0.5), _claim("3.1", 0.5), small),
    ]


def _histograms() -> list[PrivacyCheck]:
    crowded = records_in_cells((26, 26), (26, 13), (0, 0))
    cells = in_orders((crowded, first_moved(crowded, 1)), (crowded, first_flipped(crowded)))
    cells.append(by_label(crowded, first_moved(crowded, 2)))
    points, full = points_in_cubes(1, 0, 24), points_in_cubes(30, 30, 0)
    heaps = in_orders((points, moved_first(points, 1)), (full, moved_first(full, 1)))
    heaps.append(last_first(full, moved_first(full, 1)))
    stable = Released(
        partial(StableVoronoiClassifier, 1, 0.5, 0.1), stable_cells, partial(with_stable_cells, radius_for)
    )
    words = Released(
        partial(StableVoronoiClassifier, 1, 0.5, 0.1, None, WORDS),
        partial(stable_cells, cells=WORD_CELLS),
        with_word_cells,
    )
    side = side_for(52, 1)
    places = np.repeat([0.0, side, 2 * side], [30, 14, 8])
    near = Labeled(places, np.repeat([1, 0, 1, 0], [16, 14, 14, 8]))  # close votes, and counts near the threshold
    away = Labeled(np.r_[2 * side, places[1:]], near.y)
    cubes = [*in_orders((near, Labeled(np.r_[side, places[1:]], near.y)), (near, away)), by_label(near, away)]
    cubes.append((near, first_flipped(near)))
    pairs = Released(partial(PairHistogramClassifier, 1, 0.5, 0.1), stable_cells, partial(with_stable_cells, side_for))
    counts = Released(partial(CubeDensity, 1, 0.5, 0.1), heights, with_heights)
    targets = Released(partial(CubeRegressor, 1, 0.5, 0.1), plane_heights, with_plane_heights)
    many, raised, apart = (np.r_[first, np.repeat([0, 1], [29, 30])] for first in (0, 1, 2))
    planes = [tuple(map(in_plane_cubes, pair)) for pair in ((many, raised), (many, apart), (many[::-1], apart[::-1]))]
    return [
        exact(
            "consistency/theorem A.14 StableVoronoiClassifier",
            Documented(stable, StableVotes(0.5, 0.1, THREE).law),
            _claim("A.14", 0.75, 0.025),
            cells,
        ),
        exact(
            "consistency/theorem A.14 StableVoronoiClassifier on words",
            Documented(words, StableVotes(0.5, 0.1, WORD_CELLS, WORDS).law),
            _claim("A.14", 0.75, 0.025),
            in_orders(*word_pairs()),
        ),
        exact(
            "consistency/remark 1.8 PairHistogramClassifier",
            Documented(pairs, pair_law),
            _claim("1.8", 0.5, 0.025),
            cubes,
        ),
        exact(
            "consistency/theorem 4.2 CubeDensity",
            Documented(counts, CubeCounts(0.5, 0.1, THREE).law),
            _claim("4.2", 0.5, 0.025),
            heaps,
        ),
        exact(
            "consistency/regression CubeRegressor",
            Documented(targets, plane_law),
            _claim("4.2, applied to regression", 0.5, 0.025),
            planes,
        ),
    ]


def _concepts() -> list[PrivacyCheck]:
    concept = Released(partial(SemiPrivateLearner, Quadrants(), PLANE, 0.5), chosen, with_concept)
    semi = [equal_pair(PLANE[1], 4), equal_pair(PLANE[0]), last_first(*equal_pair(PLANE[2], 6))]
    base, single = records((24, 24), LABELED), records((48, 1), LABELED)
    build = partial(SemiSupervisedLearner, Thresholds(), 0.5, 0.1, 1)
    parts = Released(build, parts_of, with_parts, cubes_of_parts)
    moved = (base, replaced(base, len(LABELED), 1.5, UNLABELED, 48))
    flipped = (base, replaced(base, 0, 0.3, 1, 48))
    gone = (single, replaced(single, len(base.X), 0.5, UNLABELED, 49))
    return [
        exact(
            "consistency/theorem 4.10 SemiPrivateLearner",
            Documented(concept, SemiPrivateRelease(Quadrants(), PLANE, 0.5).law),
            _claim("4.10", 0.5),
            semi,
        ),
        exact(
            "consistency/theorem 4.11 SemiSupervisedLearner",
            Documented(parts, SemiSupervisedRelease(0.5, 0.1).law),
            _claim("4.11", 0.5, 0.025),
            [*in_orders(moved, flipped), gone],
        ),
    ]


CHECKS: list[PrivacyCheck] = [*_bounded(), *_unbounded(), *_histograms(), *_concepts()]
