"""The semi-private learner: labeled records are private, unlabeled points are public.

Implements Bousquet et al. (2022), Theorem 4.10: the concepts are thinned out to one representative for each dichotomy
of the public points, and one of them is released by the exponential mechanism with the number of mistakes on the
labeled records as score, sensitivity 1: weight exp(-epsilon mistakes / 2).

Proof note. The representatives depend on public points only; the caller promises that these are public and fixed. The
rest is the exponential mechanism: (epsilon, 0) under substitution of a labeled record, approached from below: two
complementary hypotheses and m equal labels give log((1 + e^(m epsilon / 2)) / (1 + e^((m - 2) epsilon / 2))).

Explicit sample sizes (the text leaves the constants open), for concepts with v ends: thresholds have 1, intervals and
quadrants 2, as many as their VC dimension. public >= (8 v / alpha) log(2 v / beta), since then some representative has
each end within alpha / (4 v); labeled >= (16 / (epsilon alpha)) log(4 (public + 1)^v / beta), for epsilon <= 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import softmax

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Substitution
from audit.laws import Finite
from audit.validate import open_probability, positive
from mechanisms.consistency.concepts import ConceptClass, Intervals, Quadrants, Singletons, Thresholds
from mechanisms.consistency.records import features, labels
from mechanisms.estimator import Classifier, noise_source

SOURCE = "Bousquet et al. 2022, Theorem 4.10"


class SemiPrivateLearner(Classifier):
    """Private learner of a concept class from labeled records and public points; (epsilon, 0)-DP in the former.

    Parameters
    ----------
    concepts : ConceptClass
    public : array-like, shape (k, dim), or (k,) for dim = 1
        Public unlabeled points; they may be published as they are.
    epsilon : float > 0
    random_state : int, optional
        Repeats the choice exactly; for tests only.

    Attributes
    ----------
    representatives_ : array, shape (h, parameters)
        One concept for each dichotomy of the public points.
    concept_ : array, shape (parameters,)
        The released concept.

    References
    ----------
    Bousquet et al. 2022, Theorem 4.10.
    """

    def __init__(
        self,
        concepts: ConceptClass | None = None,
        public: Any = (0.0,),
        epsilon: float = 1.0,
        random_state: int | None = None,
    ) -> None:
        self.concepts = Thresholds() if concepts is None else concepts
        self.public = public
        self.epsilon = positive(epsilon, "epsilon")
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Release a concept for records X, shape (n, dim), with labels y in {0, 1}."""
        rows = features(X, self.concepts.dim)
        marks = labels(y, len(rows))
        rng = noise_source(self.random_state)
        self.representatives_ = self.concepts.representatives(features(self.public, self.concepts.dim))
        wrong = mistakes(self.concepts, self.representatives_, rows, marks)
        self.concept_ = self.representatives_[softmax_choice(wrong, self.epsilon, rng)]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the released concept's label of each row."""
        concept = self._fitted("concept_")
        return self.concepts.labels(concept[None], features(X, self.concepts.dim))[0].astype(np.int8)


def mistakes(concepts: ConceptClass, chosen: np.ndarray, rows: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Count the mistakes of each concept on labeled records; sensitivity 1 under substitution."""
    return np.sum(concepts.labels(chosen, rows) != (marks == 1)[None, :], axis=1)


def softmax_choice(wrong: np.ndarray, epsilon: float, rng: np.random.Generator) -> int:
    """Draw an index with probability proportional to exp(-epsilon wrong / 2), as the argmax with Gumbel noise."""
    return int(np.argmax(rng.gumbel(size=wrong.size) - epsilon * wrong / 2))


def public_size(accuracy: float, failure: float, ends: int = 1) -> int:
    """Return the number of public points that is enough: (8 v / alpha) log(2 v / beta) for a concept with v ends."""
    accuracy, failure = open_probability(accuracy, "accuracy"), open_probability(failure, "failure")
    return math.ceil(8 * ends / accuracy * math.log(2 * ends / failure))


def labeled_size(accuracy: float, failure: float, epsilon: float, ends: int = 1) -> int:
    """Return the number of labeled records that is enough for a concept with v ends and epsilon <= 1."""
    dichotomies = (public_size(accuracy, failure, ends) + 1) ** ends
    return math.ceil(16 / (positive(epsilon, "epsilon") * accuracy) * math.log(4 * dichotomies / failure))


def threshold_errors(
    target: float, labeled: int, public: int, epsilon: float, replicates: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw the error of the learned threshold, for any feature without atoms.

    Thresholds commute with increasing maps, so that the law of the error depends on the feature only through the
    quantile `target` in [0, 1] of the true threshold: ranks are drawn in place of features.
    """
    return np.array([_threshold_error(target, labeled, rng.random(public), epsilon, rng) for _ in range(replicates)])


def interval_error(target: tuple[float, float], labeled: int, public: int, rng: np.random.Generator) -> float:
    """Draw the error of the learned interval for uniform features and epsilon = 1, by sums over the sorted records."""
    (low, high), points = target, np.sort(rng.random(public))
    ranks = np.sort(rng.random(labeled))
    signs = np.where((ranks >= low) & (ranks <= high), 1, -1)
    sums = np.r_[0, np.cumsum(signs)]
    first, last = np.triu_indices(public)
    gain = sums[np.searchsorted(ranks, points, "right")][last] - sums[np.searchsorted(ranks, points)][first]
    chosen = softmax_choice(-np.r_[gain, 0], 1.0, rng)
    if chosen == gain.size:
        return high - low
    a, b = points[first[chosen]], points[last[chosen]]
    return float(b - a + high - low - 2 * max(0.0, min(b, high) - max(a, low)))


def quadrant_error(target: tuple[float, float], labeled: int, public: int, rng: np.random.Generator) -> float:
    """Draw the error of the learned quadrant for uniform features and epsilon = 1, by sums over a grid."""
    axes, rows = np.sort(rng.random((2, public))), rng.random((2, labeled))
    inside = (rows[0] <= target[0]) & (rows[1] <= target[1])
    cells = np.zeros((public + 1, public + 1))
    np.add.at(cells, tuple(np.searchsorted(axis, row) for axis, row in zip(axes, rows, strict=True)), 2 * inside - 1)
    gain = cells.cumsum(axis=0).cumsum(axis=1)[:-1, :-1].ravel()
    chosen, mass = softmax_choice(-np.r_[gain, 0], 1.0, rng), target[0] * target[1]
    if chosen == gain.size:
        return mass
    a, b = axes[0][chosen // public], axes[1][chosen % public]
    return float(a * b + mass - 2 * min(a, target[0]) * min(b, target[1]))


def _threshold_error(
    target: float, labeled: int, public: np.ndarray, epsilon: float, rng: np.random.Generator
) -> float:
    """One run on ranks; a representative beyond all public points errs as +infinity does."""
    ranks = np.sort(rng.random(labeled))
    candidates = np.r_[np.sort(public), 1.0]
    wrong = np.abs(np.searchsorted(ranks, candidates) - np.searchsorted(ranks, target))
    return float(abs(candidates[softmax_choice(wrong, epsilon, rng)] - target))


@dataclass(frozen=True)
class SemiPrivateRelease:
    """The index of the released representative as a mechanism.

    Parameters
    ----------
    concepts : ConceptClass
    public : tuple of float, or of tuples of float
        Public points.
    epsilon : float > 0
    """

    concepts: ConceptClass
    public: tuple[Any, ...]
    epsilon: float

    def mistakes(self, dataset: Labeled) -> np.ndarray:
        """Count the mistakes of each representative."""
        rows = features(dataset.X, self.concepts.dim)
        chosen = self.concepts.representatives(features(np.array(self.public), self.concepts.dim))
        return mistakes(self.concepts, chosen, rows, labels(dataset.y, len(rows)))

    def probabilities(self, dataset: Labeled) -> np.ndarray:
        """Return the probability of each representative."""
        return np.asarray(softmax(-self.epsilon * self.mistakes(dataset) / 2))

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        weights = self.probabilities(dataset)
        return rng.choice(weights.size, size=size, p=weights)

    def law(self, dataset: Labeled) -> Finite:
        """Law of one output."""
        table: dict[Hashable, float] = dict(enumerate(self.probabilities(dataset).tolist()))
        return Finite(table)


@dataclass(frozen=True)
class SemiPrivateByGumbel(SemiPrivateRelease):
    """Decoy: the largest of noisy scores; Gumbel noise makes it the exponential mechanism."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        wrong = self.mistakes(dataset)
        return np.argmax(rng.gumbel(size=(size, wrong.size)) - self.epsilon * wrong / 2, axis=1)


PUBLIC = (0.1, 0.35, 0.6, 0.85)
PLANE = ((0.2, 0.6), (0.5, 0.3), (0.8, 0.9))


def equal_pair(point: Any, records: int = 20) -> tuple[Labeled, Labeled]:
    """Equal records of label 0 at one public point, and one label flipped: concepts split in right and wrong."""
    points = np.tile(np.asarray(point, dtype=float), (records, 1))
    points = points[:, 0] if np.ndim(point) == 0 else points
    return Labeled(points, np.zeros(records, int)), Labeled(points, np.r_[1, np.zeros(records - 1, int)])


def _move(dim: int = 1) -> tuple[Labeled, Labeled]:
    """A record of label 1 moves across all public points."""
    column = np.r_[0.05, np.linspace(0.05, 0.95, 19)]
    points = column if dim == 1 else np.stack([column, column[::-1]], axis=1)
    marks = (column > 0.4).astype(int)
    marks[0] = 1
    moved = points.copy()
    moved[0] = 0.95
    return Labeled(points, marks), Labeled(moved, marks)


def _checks(epsilon: float) -> list[PrivacyCheck]:
    flip = equal_pair(PUBLIC[1])
    releases: dict[str, tuple[SemiPrivateRelease, list[Any]]] = {
        "thresholds": (SemiPrivateRelease(Thresholds(), PUBLIC, epsilon), [flip, _move()]),
        "intervals": (SemiPrivateRelease(Intervals(), PUBLIC, epsilon), [flip, _move()]),
        "singletons": (SemiPrivateRelease(Singletons(), PUBLIC, epsilon), [flip]),
        "quadrants": (SemiPrivateRelease(Quadrants(), PLANE, epsilon), [equal_pair(PLANE[1]), _move(2)]),
    }
    return [
        PrivacyCheck(
            name=f"consistency/semi-private/theorem 4.10 {name} eps={epsilon:g}",
            mechanism=release,
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=pairs,
        )
        for name, (release, pairs) in releases.items()
    ]


def _decoy_check() -> PrivacyCheck:
    return PrivacyCheck(
        name="decoy/consistency/semi-private as a Gumbel argmax eps=0.5",
        mechanism=SemiPrivateByGumbel(Thresholds(), PUBLIC, 0.5),
        claim=PrivacyClaim(0.5, 0.0, LabelFlip(), SOURCE),
        pairs=[equal_pair(PUBLIC[1])],
    )


CHECKS: list[PrivacyCheck] = [*_checks(0.5), *_checks(2.0), _decoy_check()]
