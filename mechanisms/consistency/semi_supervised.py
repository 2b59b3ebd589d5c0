"""The private semi-supervised learner: a private density stands in for the public points.

Implements Bousquet et al. (2022), Theorem 4.11: the private density estimator of the unlabeled records gives as many
points as wanted, and the semi-private learner uses them as if they were public. Labeled and unlabeled records are
different people, so that the budgets do not add up: exactly (epsilon, 0) for labeled records and (epsilon, delta / 4)
for unlabeled ones.

As the text defines the learner, it needs a distribution with a density: points drawn from the estimate never hit an
atom, and a class such as the singletons, whose concept of interest is the atom, is not learned.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, open_probability, positive
from mechanisms.consistency.concepts import ConceptClass, Thresholds
from mechanisms.consistency.cube_density import CubeDensity
from mechanisms.consistency.grids import SpaceGrid, side_for
from mechanisms.consistency.records import features
from mechanisms.consistency.semi_private import SemiPrivateLearner, public_size
from mechanisms.consistency.stable_counts import threshold
from mechanisms.estimator import Classifier, noise_source

SOURCE = "Bousquet et al. 2022, Theorem 4.11"
UNLABELED = -1
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


class SemiSupervisedLearner(Classifier):
    """Private learner of a concept class from labeled and unlabeled private records.

    Parameters
    ----------
    concepts : ConceptClass
    epsilon : float > 0
    delta : float in (0, 1)
        Of the density estimator.
    draws : int >= 1
        Points drawn from the private density in the place of public points; free of privacy cost.
    random_state : int, optional
        Repeats a fit exactly; for tests only.

    Attributes
    ----------
    density_ : CubeDensity
        The released density.
    learner_ : SemiPrivateLearner
        The released concept, with its representatives.

    References
    ----------
    Bousquet et al. 2022, Theorem 4.11.
    """

    def __init__(
        self,
        concepts: ConceptClass | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        draws: int = public_size(0.1, 0.1),
        random_state: int | None = None,
    ) -> None:
        self.concepts = Thresholds() if concepts is None else concepts
        self.epsilon = positive(epsilon, "epsilon")
        self.delta = open_probability(delta, "delta")
        self.draws = integer(draws, "draws", at_least=1)
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on records X, shape (n, dim); y is 0 or 1 where labeled and -1 where not.

        Raises
        ------
        InvalidArgument
            Also when there are no unlabeled records at all.
        """
        rows = features(X, self.concepts.dim)
        marks = np.asarray(y)
        if marks.shape != (len(rows),):
            raise InvalidArgument.of("y", f"have shape ({len(rows)},)", marks.shape)
        known = marks != UNLABELED
        if np.all(known):
            raise InvalidArgument("`y` must mark some records as unlabelled with -1")
        rng = noise_source(self.random_state)
        seeds = rng.integers(2**63, size=2).tolist()
        self.density_ = CubeDensity(self.concepts.dim, self.epsilon, self.delta, random_state=seeds[0])
        public = self.density_.fit(rows[~known]).sample(self.draws, rng)
        self.learner_ = SemiPrivateLearner(self.concepts, public, self.epsilon, seeds[1])
        self.learner_.fit(rows[known], marks[known])
        self.density_.random_state = self.learner_.random_state = None  # their seeds would repeat the noise
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the released concept's label of each row."""
        return np.asarray(self._fitted("learner_").predict(X))


@dataclass(frozen=True)
class SemiSupervisedRelease:
    """The smallest instance of the learner, as a mechanism with an exact law.

    Unlabeled records lie in two cubes of the line; one point is drawn from the private density; the candidates are the
    threshold at this point and +infinity. An output is a triple: which of the two cubes are retained (0 or 1 each), and
    the cube of the released threshold, -1 for +infinity. Where no cube is retained the point is uniform on [0, 1].

    Parameters
    ----------
    epsilon : float > 0
    delta : float in (0, 1)
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        counts, side = cube_counts(dataset.X[dataset.y == UNLABELED], 2)
        noisy = counts + rng.laplace(scale=2 / self.epsilon, size=(size, 2))
        heights = np.where((counts > 0) & (noisy >= self.level), noisy, 0.0)
        cube = (rng.random(size) >= shares(heights)[:, 0]).astype(int)
        uniform = rng.random(size)
        places = np.where(heights.sum(axis=1) > 0, (cube + uniform) * side, uniform)
        kept = rng.random(size) < preferred(dataset, places, self.epsilon)
        return np.column_stack([heights > 0, np.where(kept, places // side, -1)]).astype(int)

    def law(self, dataset: Labeled) -> Finite:
        """Law of one output: the retained cubes, the draw's cube given their heights, and the vote given the draw."""
        counts, side = cube_counts(dataset.X[dataset.y == UNLABELED], 2)
        first, second = (self._retained(count) for count in counts.tolist())
        kept = [mean_preferred(dataset, cube * side, (cube + 1) * side, self.epsilon) for cube in (0, 1)]
        table: dict[Hashable, float] = {}
        for a, b in itertools.product((0, 1), repeat=2):
            mass = (first[1].sum() if a else 1 - first[1].sum()) * (second[1].sum() if b else 1 - second[1].sum())
            if a == b == 0:
                table.update(self._without_cubes(dataset, side, float(mass)))
                continue
            drawn = self._drawn(first, second) if a and b else mass * a
            for cube, weight in ((0, drawn), (1, mass - drawn)):
                table[a, b, cube] = float(weight * kept[cube])
            table[a, b, -1] = float(mass - table[a, b, 0] - table[a, b, 1])
        return Finite({outcome: max(0.0, weight) for outcome, weight in table.items()})

    def _without_cubes(self, dataset: Labeled, side: float, mass: float) -> dict[Hashable, float]:
        """Return the part of the law in which no cube is retained: the point is uniform on [0, 1]."""
        edges = [*np.arange(0.0, 1.0, side).tolist(), 1.0]
        kept = [
            mass * (high - low) * mean_preferred(dataset, low, high, self.epsilon)
            for low, high in itertools.pairwise(edges)
        ]
        return {(0, 0, -1): mass - sum(kept), **{(0, 0, cube): weight for cube, weight in enumerate(kept)}}

    @property
    def level(self) -> float:
        """Threshold of the density's histogram."""
        return threshold(self.epsilon, float(np.log(self.delta)))

    def _retained(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Quadrature nodes and weights of a retained height; the weights sum to the probability of being retained."""
        if count == 0:
            return np.array([self.level]), np.zeros(1)
        b = 2 / self.epsilon
        cuts = sorted({self.level, max(self.level, float(count))})
        cuts += (cuts[-1] + 4 * b * np.arange(1, 11)).tolist()
        low, high = np.array(cuts[:-1])[:, None], np.array(cuts[1:])[:, None]
        heights = low + (high - low) * (_NODES + 1) / 2
        weights = np.exp(-np.abs(heights - count) / b) / (2 * b) * _WEIGHTS * (high - low) / 2
        return heights.ravel(), weights.ravel()

    @staticmethod
    def _drawn(first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]) -> float:
        """Probability that both cubes are retained and the draw falls into the first."""
        share = first[0][:, None] / (first[0][:, None] + second[0][None, :])
        return float(first[1] @ share @ second[1])


def cube_counts(points: np.ndarray, cubes: int) -> tuple[np.ndarray, float]:
    """Count the points in the cubes 0 ... cubes - 1 of the line, with the side of the cubes; others are refused."""
    side = side_for(len(points), 1)
    index = np.array([key[0] for key in SpaceGrid(1, side).keys_of(points[:, None])])
    if np.any((index < 0) | (index >= cubes)):
        raise InvalidArgument.of("dataset", f"hold unlabelled records in cubes 0 ... {cubes - 1}", index.tolist())
    return np.bincount(index, minlength=cubes), side


def shares(heights: np.ndarray) -> np.ndarray:
    """Probability of each cube for a draw from the density; equal where nothing is retained."""
    safe = np.where(heights.sum(axis=1, keepdims=True) > 0, heights, 1.0)
    return np.asarray(safe / safe.sum(axis=1, keepdims=True))


def preferred(dataset: Labeled, places: np.ndarray, epsilon: float) -> np.ndarray:
    """Probability that the threshold at each place is released, and not +infinity."""
    known = dataset.y != UNLABELED
    gain = np.sum((dataset.X[known] >= places[:, None]) * (2 * dataset.y[known] - 1), axis=1)
    return np.asarray(1 / (1 + np.exp(-epsilon * gain / 2)))


def mean_preferred(dataset: Labeled, low: float, high: float, epsilon: float) -> float:
    """Average `preferred` over an interval: it is constant between the labeled features."""
    cuts = np.unique(np.clip(np.r_[low, dataset.X[dataset.y != UNLABELED], high], low, high))
    return float(np.sum(np.diff(cuts) * preferred(dataset, (cuts[:-1] + cuts[1:]) / 2, epsilon)) / (high - low))


def records(unlabeled: tuple[int, ...], labeled: list[tuple[float, int]]) -> Labeled:
    """So many unlabeled records in the middle of cubes 0, 1, ..., after labeled ones at (place in sides, label)."""
    side = side_for(sum(unlabeled), 1)
    places = (np.repeat(np.arange(len(unlabeled)), unlabeled) + 0.5) * side
    return Labeled(
        np.r_[[x * side for x, _ in labeled], places],
        np.r_[[y for _, y in labeled], np.full(places.size, UNLABELED)].astype(int),
    )


def replaced(data: Labeled, index: int, place: float, label: int, unlabeled: int) -> Labeled:
    """The same records with one replaced; `place` is in sides of the cubes of `unlabeled` records."""
    X, y = data.X.copy(), data.y.copy()
    X[index], y[index] = place * side_for(unlabeled, 1), label
    return Labeled(X, y)


LABELED = [(0.3, 0), (0.6, 0), (1.2, 0), *[(1.9, 1)] * 20]


def _checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    mechanism = SemiSupervisedRelease(epsilon, delta)
    alike = records((24, 24), [(1.9, 0)] * 20)
    flipped = replaced(alike, 0, 1.9, 1, 48)
    base, single = records((24, 24), LABELED), records((48, 1), LABELED)
    moved = replaced(base, len(LABELED), 1.5, UNLABELED, 48)
    gone = replaced(single, len(single) - 1, 0.5, UNLABELED, 49)
    stated = [
        ("labelled records", 0.0, [(alike, flipped)]),
        ("unlabelled records", delta / 4, [(base, moved), (single, gone)]),
    ]
    return [
        PrivacyCheck(
            name=f"consistency/semi-supervised/theorem 4.11 {name} eps={epsilon:g} delta={leak:g}",
            mechanism=mechanism,
            claim=PrivacyClaim(epsilon, leak, Substitution(), f"{SOURCE}, with the constants of its parts"),
            pairs=pairs,
        )
        for name, leak, pairs in stated
    ]


CHECKS: list[PrivacyCheck] = [check for epsilon in (0.5, 1.0) for check in _checks(epsilon, 0.1)]
