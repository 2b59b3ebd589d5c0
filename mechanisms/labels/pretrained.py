"""LP-1ST, and LP-1ST* and LP-2ST*: learners on released labels whose features were learned from public labeled data.

The starred rows of Zhao et al. (2024, Table 2) are LP-1ST and LP-2ST of Ghazi, Golowich, Kumar, Manurangsi & Zhang
(2021) with models that were pretrained on a public dataset, for which no privacy is needed. Here a network learns the
public labels, its last layer is dropped, and all models of the learner see the outputs of its hidden layer in the
place of the features. LP-1ST releases every label by randomized response: no model, so no prior, is there before.

Proof note. The features are a function of public data alone; what the models see besides are released labels. So the
starred learners are as private as the plain ones: (epsilon, 0)-DP, for one label (LP-1ST*), and under label flip
(LP-2ST*). A network that is "pretrained" on the private labels themselves voids this: `faults.labels.pretrained`.

Departures: the text trains the pretrained layers further; here they stay as they are, so that nearest neighbors can use
them too. The benchmark on images trains them further (`benchmarks.label_privacy.images`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim
from audit.laws import Product
from mechanisms.estimator import noise_source
from mechanisms.labels.encoder import FloatArray, one_hot, require_labels
from mechanisms.labels.neighbors import NeighborSum, Refine, TargetClassifier, TargetModel, as_points
from mechanisms.labels.network import TargetNetwork
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.two_stage import SOURCE, TwoStageLabelTrainer, TwoStageRelease, flips

STARRED = "Zhao et al. 2024, Table 2, after " + SOURCE


class PublicFeatures:
    """The hidden layer of a network that learned public labels: (n, d) to (n, hidden).

    Parameters
    ----------
    X : array, shape (n, d) or (n,)
        Public points.
    y : array, shape (n,)
        Their labels in {0, 1, ...}: any number of classes, and others than the private ones if you like.
    hidden, epochs : int >= 1
    seed : int
        Of the weights and the minibatches; equal seeds give equal features.
    """

    def __init__(self, X: ArrayLike, y: ArrayLike, hidden: int = 128, epochs: int = 20, seed: int = 0) -> None:
        points, n_classes = as_points(X), int(np.max(y)) + 1
        targets = one_hot(require_labels(y, n_classes), n_classes)
        self.network = TargetNetwork("softmax", hidden, epochs).fit(points, targets, np.random.default_rng(seed))

    def __call__(self, points: FloatArray) -> FloatArray:
        return self.network.hidden_outputs(points)


class OnFeatures:
    """A model of target vectors that sees public features of the points.

    Parameters
    ----------
    features : callable
        (n, d) to (n, h), the same for each point alone.
    model : TargetModel
    """

    def __init__(self, features: Callable[[FloatArray], FloatArray], model: TargetModel) -> None:
        self.features, self.model = features, model

    def fit(
        self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None
    ) -> OnFeatures:
        """Fit the model to the targets."""
        self.model.fit(self.features(X), targets, rng, refine)
        return self

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the model's scores, shape (m, K)."""
        return self.model.scores(self.features(X))


@dataclass
class OneStageLabelTrainer(TargetClassifier):
    """LP-1ST: a learner on labels released by randomized response; (epsilon, 0)-DP for every label.

    Parameters
    ----------
    n_classes : int >= 2
    epsilon : float > 0
        Privacy parameter of every label.
    model : callable
        `() -> TargetModel`.
    random_state : int, optional
        Source of the releases and the model's own randomness.
    """

    n_classes: int
    epsilon: float
    model: Callable[[], TargetModel]
    random_state: Any = None
    model_: TargetModel = field(init=False, repr=False)
    ties_: int = field(init=False, repr=False)

    def fit(self, X: ArrayLike, y: ArrayLike) -> OneStageLabelTrainer:
        """Release every label once, and fit the model.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
            Public features.
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
        released = KaryRandomizedResponse(self.n_classes, self.epsilon).release(labels, rng)
        self.model_ = self._model().fit(points, one_hot(released, self.n_classes), rng)
        return self

    def _model(self) -> TargetModel:
        return self.model()

    def _n_classes(self) -> int:
        return self.n_classes


@dataclass
class PretrainedOneStageTrainer(OneStageLabelTrainer):
    """LP-1ST*: LP-1ST on public features; (epsilon, 0)-DP for every label.

    Parameters
    ----------
    n_classes, epsilon, model, random_state
        As `OneStageLabelTrainer`.
    features : PublicFeatures
    """

    features: PublicFeatures = field(kw_only=True)

    def _model(self) -> TargetModel:
        return OnFeatures(self.features, self.model())


@dataclass
class PretrainedTwoStageTrainer(TwoStageLabelTrainer):
    """LP-2ST*: LP-2ST whose two models see public features; (epsilon, 0)-DP under label flip.

    Parameters
    ----------
    n_classes, epsilon, model, random_state
        As `TwoStageLabelTrainer`.
    features : PublicFeatures
    """

    features: PublicFeatures = field(kw_only=True)

    def _model(self) -> TargetModel:
        return OnFeatures(self.features, self.model())


@dataclass(frozen=True)
class OneStageRelease:
    """All that LP-1ST and LP-1ST* release of the labels of a dataset: (size, n); (epsilon, 0)-DP for every label."""

    n_classes: int
    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        labels = require_labels(dataset.y, self.n_classes)
        released = KaryRandomizedResponse(self.n_classes, self.epsilon).release(np.tile(labels, size), rng)
        return released.reshape(size, -1)

    def law(self, dataset: Labeled) -> Product:
        """Law of a transcript: independent labels."""
        response = KaryRandomizedResponse(self.n_classes, self.epsilon)
        return Product(tuple(response.law(label) for label in require_labels(dataset.y, self.n_classes)))


@dataclass(frozen=True)
class PretrainedTwoStageRelease(TwoStageRelease):
    """All that LP-2ST* releases of the labels of a dataset: `TwoStageRelease` with neighbors of public features."""

    features: PublicFeatures

    @property
    def trainer(self) -> PretrainedTwoStageTrainer:
        """The trainer whose release this is."""
        return PretrainedTwoStageTrainer(
            self.n_classes, self.epsilon, lambda: NeighborSum(self.n_neighbors), features=self.features
        )


def public_line(hidden: int = 3) -> PublicFeatures:
    """Return features that were learned from 200 public points of the line, in two classes."""
    X = np.random.default_rng(1).random(200)
    return PublicFeatures(X, (X > 0.5).astype(int), hidden, epochs=2)


_FLIPS = flips((0, 0, 1, 0, 1, 2), 3)

CHECKS: list[Any] = [
    PrivacyCheck(
        name=f"labels/{name}",
        mechanism=mechanism,
        claim=PrivacyClaim(1.0, 0.0, LabelFlip(), source),
        pairs=_FLIPS,
        budget=20_000,
    )
    for name, mechanism, source in (
        ("one stage eps=1", OneStageRelease(3, 1.0), SOURCE),
        ("two stages, pretrained, k=2 eps=1", PretrainedTwoStageRelease(3, 1.0, 2, public_line()), STARRED),
    )
]
