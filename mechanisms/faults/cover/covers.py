"""Covers that look at the private data, or at more of it than the relation makes public.

Claims are those of A1 (substitution), A3 under label flip for `LabelTie`, add/remove for `AddRemoveClaim`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import AddRemove, Labeled, LabelFlip, PackingCheck, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.cover.learners import LabelPrivateCoverLearner, ReferenceCoverLearner
from mechanisms.cover.packing import BesideAPoint
from mechanisms.cover.privacy import middles, moved_pair
from mechanisms.cover.thresholds import ThresholdClass

THRESHOLDS = ThresholdClass()
SOURCE = "claimed after Chaudhuri & Hsu 2011, Theorem 7"
Pair = tuple[Labeled, Labeled]


def draw_from(grid: np.ndarray, dataset: Labeled, epsilon: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from a grid by the right weights: whatever is wrong is wrong with the grid."""
    weights = softmax(-epsilon / 2 * THRESHOLDS.mistakes(grid, dataset))
    return np.asarray(grid[rng.choice(len(grid), size=size, p=weights)])


@dataclass(frozen=True)
class DataCover:
    """A3 sold as A1: the cover is made of the private points.

    True privacy: none: a moved point moves a threshold of the cover. On the pairs below the supports are disjoint,
    delta(epsilon') = 1 for every epsilon', or differ in one threshold, delta(epsilon') = 0.6377 at alpha = 1.
    """

    epsilon: float
    accuracy: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return LabelPrivateCoverLearner(self.epsilon, self.accuracy)(dataset, size, rng)


@dataclass(frozen=True)
class DataKappa:
    """kappa_hat is the largest density seen in ten cells, so that the scale of the cover is a function of the points.

    True privacy: none: 20 spread points give kappa 1, one of them moved gives 3/2, and the covers of 20 and 30
    thresholds are disjoint: delta(epsilon') = 1 for every epsilon'.
    """

    epsilon: float
    accuracy: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        density = 10 * np.bincount(np.minimum((10 * dataset.X).astype(int), 9)).max() / len(dataset)
        return draw_from(THRESHOLDS.packing_cover(self.accuracy / (4 * density)), dataset, self.epsilon, size, rng)


@dataclass(frozen=True)
class DataRangeGrid:
    """The grid spans the range of the private points.

    True privacy: none: the largest point moved, no threshold but the first survives, and delta(epsilon') = 0.9964 on
    the pair below for every epsilon'.
    """

    epsilon: float
    size: int

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        grid = np.linspace(dataset.X.min(), dataset.X.max(), self.size)
        return draw_from(grid, dataset, self.epsilon, size, rng)


@dataclass(frozen=True)
class DedupCount:
    """kappa_hat comes from the number of distinct examples, which substitution does not keep.

    True privacy: none where kappa_hat moves with m: a duplicate replaced by a new point changes the cover, from 78 to
    80 thresholds on the pair below, none in common: delta(epsilon') = 1 for every epsilon'.
    """

    learner: ReferenceCoverLearner

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        distinct = len(set(zip(dataset.X.tolist(), dataset.y.tolist(), strict=True)))
        cover = THRESHOLDS.packing_cover(self.learner.radius(distinct))
        return draw_from(cover, dataset, self.learner.epsilon, size, rng)


@dataclass(frozen=True)
class LabelTie:
    """A3 with thresholds that lean away from a positive point to their left: the cover looks at the labels.

    True privacy: none under label flip: the flipped point's threshold moves, delta(epsilon') = 0.6377 at alpha = 1 on
    the pair below for every epsilon'.
    """

    epsilon: float
    accuracy: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        cover = THRESHOLDS.sample_packing_cover(dataset.X, self.accuracy / 4)
        below = np.maximum(np.searchsorted(np.sort(dataset.X), cover) - 1, 0)
        lean = np.where(dataset.y[np.argsort(dataset.X)][below] == 1, 0.001, 0.0)
        return draw_from(np.clip(cover + lean, 0, 1), dataset, self.epsilon, size, rng)


@dataclass(frozen=True)
class AddRemoveClaim:
    """A1 advertised for add/remove, where the number of examples is private.

    True privacy: none: 50,000 examples give a cover of 19,086 thresholds at alpha = 0.5, accuracy = beta = 0.1, and one
    more gives 19,092, none in common: delta(epsilon') = 1 for every epsilon'. On the pair below about ten of them share
    the weight, so that sampling sees it.
    """

    learner: ReferenceCoverLearner

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        cover = THRESHOLDS.packing_cover(self.learner.radius(len(dataset)))
        return draw_from(cover, dataset, self.learner.epsilon, size, rng)


def _check(name: str, mechanism: Any, relation: Any, pair: Pair, budget: int = 10_000) -> PrivacyCheck:
    epsilon = getattr(mechanism, "learner", mechanism).epsilon
    return PrivacyCheck(
        name=f"fault/cover {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, relation, SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=budget,
    )


def _range_pair() -> Pair:
    X = 0.1 + 0.8 * middles(20)
    y = np.where(X >= 0.5, 1, -1)
    return Labeled(X, y), Labeled(np.r_[X[:-1], 0.95], y)


def _duplicate_pair() -> Pair:
    X = np.r_[middles(400), middles(400)[0]]
    y = np.where(X >= 0.5, 1, -1)
    return Labeled(X, y), Labeled(np.r_[X[:-1], 0.0], y)


def _flip_pair() -> Pair:
    X = middles(20)
    y = np.where(X >= 0.5, 1, -1)
    return Labeled(X, y), Labeled(X, np.r_[y[:9], 1, y[10:]])


def _longer_pair() -> Pair:
    X = middles(50_000)
    y = np.where(X >= 0.5, 1, -1)
    return Labeled(X, y), Labeled(np.r_[X, 1.0], np.r_[y, 1])


def _packing_check(epsilon: float, accuracy: float, rank: int) -> PackingCheck:
    design = BesideAPoint(10**6, rank)
    return PackingCheck(
        name=f"fault/cover cover from the data, packing alpha={epsilon:g}",
        source="Chaudhuri & Hsu 2011, Lemma 22",
        statement=f"A3 is {epsilon:g}-private under substitution; false: its thresholds give a moving point away.",
        learner=DataCover(epsilon, accuracy),
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        dataset_for=design.dataset,
        hits=design.hits,
        family_size=10**6,
        distance=1,
        expected=Verdict.FAIL,
        budget=1_000,
    )


CHECKS: list[PrivacyCheck | PackingCheck] = [
    _check("cover from the data, disjoint", DataCover(1.0, 0.3), Substitution(), moved_pair(19, 0.01)),
    _check("cover from the data, one threshold", DataCover(1.0, 0.3), Substitution(), moved_pair(9, 0.46)),
    _packing_check(0.1, 0.1, 19),
    _packing_check(1.0, 0.3, 17),
    _check("kappa from the data", DataKappa(1.0, 0.1), Substitution(), moved_pair(19, 0.01)),
    _check("range from the data", DataRangeGrid(1.0, 10), Substitution(), _range_pair()),
    _check("distinct examples counted", DedupCount(ReferenceCoverLearner(1.0, 0.9)), Substitution(), _duplicate_pair()),
    _check("labels break ties", LabelTie(1.0, 0.3), LabelFlip(), _flip_pair()),
    _check("advertised for add/remove", AddRemoveClaim(ReferenceCoverLearner(0.5, 0.1)), AddRemove(), _longer_pair()),
]
