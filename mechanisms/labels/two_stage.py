"""Two-stage training (LP-2ST): the first half of the labels teaches a prior for the release of the second half.

Implements the multi-stage method of Ghazi, Golowich, Kumar, Manurangsi & Zhang (2021, Algorithm 3) with two stages. The
data are split into halves by a rule that does not look at them; the labels of the first half are released by
randomized response and a first model is fitted to them; each label of the second half is released by RRWithPrior under
the first model's prediction at its features; the final model is fitted to all releases. Each label is released once,
and what its prior depends on are releases of other labels: (epsilon, 0)-DP under label flip.

Departures: the final model sees both halves (the text also allows the second alone), the temperature of the prior is
1, and for nearest neighbors the prior is the frequencies of the released labels among the k neighbors in the first
half.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, positive
from mechanisms.estimator import noise_source
from mechanisms.labels.encoder import FloatArray, one_hot, require_labels
from mechanisms.labels.neighbors import NeighborSum, TargetClassifier, TargetModel, as_points
from mechanisms.labels.response import KaryRandomizedResponse, RandomizedResponseWithPrior, release_with_priors

SOURCE = "Ghazi, Golowich, Kumar, Manurangsi & Zhang 2021, section 4"


@dataclass
class TwoStageLabelTrainer(TargetClassifier):
    """A learner on labels released in two stages; (epsilon, 0)-DP under label flip.

    Parameters
    ----------
    n_classes : int >= 2
    epsilon : float > 0
        Privacy parameter of every label.
    model : callable
        `() -> TargetModel`, for both stages.
    random_state : int, optional
        Source of the split, the releases and the models' own randomness.
    """

    n_classes: int
    epsilon: float
    model: Callable[[], TargetModel]
    random_state: Any = None
    model_: TargetModel = field(init=False, repr=False)
    ties_: int = field(init=False, repr=False)

    def fit(self, X: ArrayLike, y: ArrayLike) -> TwoStageLabelTrainer:
        """Release the labels in two stages, and fit the final model.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
            Public features; n >= 2.
        y : array, shape (n,)
            Labels in {0, ..., K - 1}; private.

        Raises
        ------
        InvalidArgument
            For features that are not finite, labels outside {0, ..., K - 1}, or lengths that differ.
        """
        points, labels = self._checked(X, y)
        rng = noise_source(self.random_state)
        self.ties_ = int(rng.spawn(1)[0].integers(2**63))
        order = rng.permutation(len(points))
        released = self.release(points[order], labels[order], rng)
        self.model_ = self._model().fit(points[order], one_hot(released, self.n_classes), rng)
        return self

    def release(self, points: FloatArray, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Release all labels, the first half without a prior, shape (n,)."""
        half = len(labels) // 2
        if half < 1:
            raise InvalidArgument.of("X", "hold at least two points, one for each stage", len(points))
        first = KaryRandomizedResponse(self.n_classes, self.epsilon).release(labels[:half], rng)
        priors = self.priors(points, first, rng)
        return np.concatenate([first, release_with_priors(labels[half:], priors, self.epsilon, rng)])

    def priors(self, points: FloatArray, first: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Return the first model's predictions for the second half, shape (n - half, K), from released labels alone."""
        half = len(first)
        scores = self._model().fit(points[:half], one_hot(first, self.n_classes), rng).scores(points[half:])
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def _model(self) -> TargetModel:
        return self.model()

    def _n_classes(self) -> int:
        return self.n_classes


@dataclass(frozen=True)
class TwoStageRelease:
    """All that two-stage training with nearest neighbors releases of the labels of a dataset.

    (epsilon, 0)-DP under label flip, tight. A dataset is `Labeled`, its first half the first stage; output: (size, n).

    Parameters
    ----------
    n_classes : int >= 2
    epsilon : float > 0
    n_neighbors : int >= 1
        Of the first model; at most half of the records.
    """

    n_classes: int
    epsilon: float
    n_neighbors: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_classes", integer(self.n_classes, "n_classes", at_least=2))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @property
    def trainer(self) -> TwoStageLabelTrainer:
        """The trainer whose release this is."""
        return TwoStageLabelTrainer(self.n_classes, self.epsilon, lambda: NeighborSum(self.n_neighbors))

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw transcripts; those that share a first stage share its model."""
        points, labels = as_points(dataset.X), require_labels(dataset.y, self.n_classes)
        half = len(labels) // 2
        response = KaryRandomizedResponse(self.n_classes, self.epsilon)
        first = response.release(np.tile(labels[:half], size), rng).reshape(size, half)
        distinct, which = np.unique(first, axis=0, return_inverse=True)
        priors = np.array([self.trainer.priors(points, row, rng) for row in distinct])[which.ravel()]
        flat = priors.reshape(-1, self.n_classes)
        second = release_with_priors(np.tile(labels[half:], size), flat, self.epsilon, rng)
        return np.hstack([first, second.reshape(size, -1)])

    def law(self, dataset: Labeled) -> Finite:
        """Law of a transcript; K^n outcomes, so n must be small."""
        points, labels = as_points(dataset.X), require_labels(dataset.y, self.n_classes)
        half, K, rng = len(labels) // 2, self.n_classes, np.random.default_rng(0)
        plain = KaryRandomizedResponse(K, self.epsilon)
        table: dict[Hashable, float] = {}
        for first in itertools.product(range(K), repeat=half):
            priors = self.trainer.priors(points, np.array(first), rng)
            pmfs = [plain.law(label).pmf for label in labels[:half]]
            pmfs += [
                RandomizedResponseWithPrior(K, self.epsilon, prior=prior).law(label).pmf
                for prior, label in zip(priors, labels[half:], strict=True)
            ]
            for second in itertools.product(range(K), repeat=len(labels) - half):
                row = (*first, *second)
                table[row] = float(np.prod([pmf.get(v, 0.0) for pmf, v in zip(pmfs, row, strict=True)]))
        return Finite(table)


POINTS = np.array([0.0, 0.1, 1.0, 0.05, 0.9, 0.5])


def flips(labels: tuple[int, ...], n_classes: int) -> list[tuple[Labeled, Labeled]]:
    """Return every flip of one label to the next class, on six points, the first three of stage one."""
    y = np.array(labels)
    changed = [np.where(np.arange(len(y)) == i, (y + 1) % n_classes, y) for i in range(len(y))]
    return [(Labeled(POINTS, y), Labeled(POINTS, other)) for other in changed]


CHECKS: list[Any] = [
    PrivacyCheck(
        name=f"labels/two stages, k={k} eps={epsilon:g}",
        mechanism=TwoStageRelease(3, epsilon, k),
        claim=PrivacyClaim(epsilon, 0.0, LabelFlip(), SOURCE),
        pairs=flips((0, 0, 1, 0, 1, 2), 3),
        budget=20_000,
    )
    for k, epsilon in ((2, 1.0), (1, 2.0))
]
