"""The semi-private learner: labeled records are private, unlabeled points are public.

Implements Bousquet et al. (2022), Theorem 4.10: the concepts are thinned out to one representative for each dichotomy
of the public points, and one of them is released by the exponential mechanism with the number of mistakes on the
labeled records as score, sensitivity 1: weight exp(-epsilon mistakes / 2).

Proof note. The representatives depend on public points only; the caller promises that these are public and fixed. The
rest is the exponential mechanism: (epsilon, 0) under substitution of a labeled record, approached from below: two
complementary hypotheses and m equal labels give log((1 + e^(m epsilon / 2)) / (1 + e^((m - 2) epsilon / 2))).

Explicit sample sizes (the text leaves the constants open), for VC dimension 1:
public >= (8 / alpha) log(2 / beta), labeled >= (16 / (epsilon alpha)) log(4 (public + 1) / beta), for epsilon <= 1.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import softmax

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Substitution
from audit.base.arguments import open_probability, positive
from audit.laws import Finite
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


def public_size(accuracy: float, failure: float) -> int:
    """Return the number of public points that is enough for VC dimension 1: (8 / alpha) log(2 / beta)."""
    return math.ceil(8 / open_probability(accuracy, "accuracy") * math.log(2 / open_probability(failure, "failure")))


def labeled_size(accuracy: float, failure: float, epsilon: float) -> int:
    """Return the number of labeled records that is enough for VC dimension 1 and epsilon <= 1."""
    public = public_size(accuracy, failure)
    return math.ceil(16 / (positive(epsilon, "epsilon") * accuracy) * math.log(4 * (public + 1) / failure))


def threshold_errors(
    target: float, labeled: int, public: int, epsilon: float, replicates: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw the error of the learned threshold, for any feature without atoms.

    Thresholds commute with increasing maps, so that the law of the error depends on the feature only through the
    quantile `target` in [0, 1] of the true threshold: ranks are drawn in place of features.
    """
    return np.array([_threshold_error(target, labeled, rng.random(public), epsilon, rng) for _ in range(replicates)])


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
