"""Nearest neighbors on target vectors: the mean target of the k training points nearest to a query.

Implements equations (20) and (35) of Zhao et al. (2024): g_j(x) is the mean of bit j over the k nearest neighbors of
x, the prediction is the class of the largest g_j, ties at random. With other encoders the targets are unit vectors or
posteriors.

Departure: with `rounds` > 0 the targets are posteriors under an iterated prior, as ALIBI does for networks (the text
does not say what its nearest-neighbor version does): starting from the posteriors under the uniform prior, each
round takes for the prior of a training point the mean posterior of its own k neighbors, itself included.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from audit.errors import InvalidArgument
from audit.validate import integer
from mechanisms.estimator import Classifier, noise_source
from mechanisms.labels.encoder import FloatArray, LabelEncoder, require_labels

Refine = Callable[[Any, FloatArray], FloatArray]
"""(rows of the training set, their prior) -> their targets."""


class TargetModel(Protocol):
    """A model fitted to target vectors; it returns K scores for every query, larger for likelier classes."""

    def fit(self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None) -> Any:
        """Fit to targets, shape (n, K); `refine` recomputes them from the model's own predictions."""
        ...

    def scores(self, X: FloatArray) -> FloatArray:
        """Return scores >= 0, shape (m, K)."""
        ...


class NeighborSum:
    """Sums of targets over the k nearest training points.

    Parameters
    ----------
    n_neighbors : int >= 1
        k; at most the number of training points.
    rounds : int >= 0
        How often `refine` recomputes the targets.
    """

    def __init__(self, n_neighbors: int, rounds: int = 0) -> None:
        self.n_neighbors = integer(n_neighbors, "n_neighbors", at_least=1)
        self.rounds = integer(rounds, "rounds", at_least=0)

    def fit(
        self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None
    ) -> NeighborSum:
        """Keep the points and their targets."""
        if self.n_neighbors > len(X):
            raise InvalidArgument.of("n_neighbors", f"be at most {len(X)}, the training points", self.n_neighbors)
        self.tree = cKDTree(X)
        self.targets = targets
        if refine and self.rounds:
            self.targets = iterated(targets, neighbors(self.tree, X, self.n_neighbors), refine, self.rounds)
        return self

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the sums, shape (m, K)."""
        return np.asarray(neighbors(self.tree, X, self.n_neighbors) @ self.targets)


def neighbors(tree: cKDTree, queries: FloatArray, k: int) -> csr_matrix:
    """Return the 0/1 matrix of the k nearest points of every query, shape (m, n)."""
    near = tree.query(queries, k=[*range(1, k + 1)])[1]
    ends = np.arange(len(queries) + 1) * k
    return csr_matrix((np.ones(near.size), near.ravel(), ends), shape=(len(queries), tree.n))


def iterated(targets: np.ndarray, near: csr_matrix, refine: Refine, rounds: int) -> np.ndarray:
    """Recompute targets `rounds` times with the sum over neighbors as the prior, shape (n, K)."""
    for _ in range(rounds):
        targets = refine(slice(None), near @ targets)
    return targets


def likeliest(scores: FloatArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the class of the largest score, ties at random, shape (m,)."""
    top = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(np.where(top, 1 + rng.random(scores.shape), 0), axis=1))


def as_points(X: ArrayLike) -> FloatArray:
    """Return features as points, shape (n, d); a vector holds points of the line."""
    points = np.asarray(X, dtype=float)
    points = points[:, None] if points.ndim == 1 else points
    if points.ndim != 2 or not np.all(np.isfinite(points)):
        raise InvalidArgument.of("X", "have shape (n, d) or (n,) and be finite", X)
    return points


class TargetClassifier(Classifier):
    """A learner that predicts the class of the largest score of `model_`."""

    model_: TargetModel
    ties_: int

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The labels."""
        return np.arange(self._n_classes())

    @abstractmethod
    def _n_classes(self) -> int: ...

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict labels, shape (m,); ties at random, the same for the same queries."""
        model = self._fitted("model_")
        return likeliest(model.scores(as_points(X)), np.random.default_rng(self.ties_))

    def _checked(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, NDArray[np.int64]]:
        points, labels = as_points(X), require_labels(y, self._n_classes())
        if len(points) != len(labels):
            raise InvalidArgument.of("y", f"have shape ({len(points)},), one label for each row of X", labels.shape)
        return points, labels


class EncodedClassifier(TargetClassifier):
    """A learner on what an encoder releases of the labels; as private as the encoder, label by label."""

    encoder: LabelEncoder
    random_state: Any

    def fit(self, X: ArrayLike, y: ArrayLike) -> EncodedClassifier:
        """Release every label once, and fit the targets.

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
        self.ties_ = int(rng.spawn(1)[0].integers(2**63))  # not of the stream that draws the releases
        released = self.encoder.release(labels, rng)
        self.model_ = self._model().fit(points, self._targets(released), rng, self._refine(released))
        return self

    @abstractmethod
    def _model(self) -> TargetModel: ...

    def _targets(self, released: np.ndarray) -> np.ndarray:
        return self.encoder.targets(released)

    def _refine(self, released: np.ndarray) -> Refine | None:
        return lambda rows, prior: self.encoder.posterior(released[rows], prior)

    def _n_classes(self) -> int:
        return self.encoder.n_classes


@dataclass
class VectorTargetKNN(EncodedClassifier):
    """Nearest neighbors on released target vectors; (epsilon, 0)-DP for every label when the encoder is.

    Parameters
    ----------
    encoder : LabelEncoder
        Releases the labels; `SymmetricUnaryLabelEncoder` is the paper's.
    n_neighbors : int >= 1
        k.
    rounds : int >= 0
        Rounds of the iterated prior; 0 takes the encoder's targets as they are.
    random_state : int, optional
        Source of the releases and of the ties.
    """

    encoder: LabelEncoder
    n_neighbors: int = 200
    rounds: int = 0
    random_state: Any = None
    model_: TargetModel = field(init=False, repr=False)
    ties_: int = field(init=False, repr=False)

    def _model(self) -> NeighborSum:
        return NeighborSum(self.n_neighbors, self.rounds)

    def _targets(self, released: np.ndarray) -> np.ndarray:
        return self.encoder.posterior(released) if self.rounds else self.encoder.targets(released)
