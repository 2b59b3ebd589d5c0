"""A network with one hidden layer on target vectors, with a sigmoid or a softmax output.

The vector mechanism's network (Zhao et al. 2024, section 4.2) has K sigmoid outputs and the binary cross entropy
summed over the K bits; randomized response and ALIBI train a softmax with cross entropy against unit vectors or
posteriors. Both losses have the gradient (output - target), so that one small network serves all, and methods differ
in their targets and head alone: the text compares them so. scikit-learn's `MLPClassifier` takes bits as a multilabel
target and is then the same model; `engine="scikit-learn"` uses it.

Departures: ALIBI's prior is the softmax of the current network at the minibatch; the network is 64-128-K sized with
ReLU and Adam, not the convolutional networks of the text.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import expit, softmax

from audit.errors import InvalidArgument, MissingExtra
from audit.validate import integer, nonnegative, positive
from mechanisms.labels.encoder import FloatArray, Head, LabelEncoder
from mechanisms.labels.neighbors import EncodedClassifier, Refine, TargetModel

Engine = Literal["numpy", "scikit-learn"]
_SLOW, _FAST, _TINY = 0.999, 0.9, 1e-8  # of Adam


class TargetNetwork:
    """One hidden layer of rectified linear units, trained by Adam on minibatches.

    Parameters
    ----------
    head : {"sigmoid", "softmax"}
    hidden, epochs, batch : int >= 1
    decay : float >= 0
        L2 penalty on the weights, not on the offsets.
    rate : float > 0
        Step size.
    """

    def __init__(
        self,
        head: Head,
        hidden: int = 128,
        epochs: int = 20,
        decay: float = 1e-3,
        batch: int = 64,
        rate: float = 1e-3,
    ) -> None:
        if head not in get_args(Head):
            raise InvalidArgument.of("head", "be 'sigmoid' or 'softmax'", head)
        self.head = head
        self.hidden, self.epochs, self.batch = (
            integer(value, name, at_least=1)
            for value, name in ((hidden, "hidden"), (epochs, "epochs"), (batch, "batch"))
        )
        self.decay, self.rate = nonnegative(decay, "decay"), positive(rate, "rate")

    def fit(
        self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None
    ) -> TargetNetwork:
        """Train for all epochs."""
        for _ in self.training(X, targets, rng, refine):
            pass
        return self

    def training(
        self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None
    ) -> Iterator[int]:
        """Train, and yield the number of epochs done after each of them."""
        self._start(X, targets.shape[1], rng)
        for epoch in range(1, self.epochs + 1):
            order = rng.permutation(len(X))
            for start in range(0, len(X), self.batch):
                rows = order[start : start + self.batch]
                inner, output = self._forward(X[rows])
                self._step(X[rows], inner, output - (refine(rows, output) if refine else targets[rows]))
            yield epoch

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the outputs, shape (m, K), each in (0, 1)."""
        return self._forward(X)[1]

    def hidden_outputs(self, X: FloatArray) -> FloatArray:
        """Return the outputs of the hidden layer, shape (m, hidden)."""
        return self._forward(X)[0]

    def _start(self, X: FloatArray, n_classes: int, rng: np.random.Generator) -> None:
        """Lay out all parameters in one vector, so that Adam moves them in one go; weights as He et al. 2015."""
        d, h = X.shape[1], self.hidden
        ends = np.cumsum([0, d * h, h * n_classes, h, n_classes])
        self._parameters, self._gradient = np.zeros(ends[-1]), np.zeros(ends[-1])
        shapes = ((d, h), (h, n_classes), (h,), (n_classes,))
        cut = [slice(a, b) for a, b in pairwise(ends)]
        self._parts = [self._parameters[at].reshape(shape) for at, shape in zip(cut, shapes, strict=True)]
        self._slopes = [self._gradient[at].reshape(shape) for at, shape in zip(cut, shapes, strict=True)]
        self._weights = slice(0, int(ends[2]))
        for weights in self._parts[:2]:
            weights[:] = rng.normal(scale=np.sqrt(2 / len(weights)), size=weights.shape)
        self._moments, self._steps = np.zeros((2, ends[-1])), 0

    def _forward(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        first, second, offset, last = self._parts
        inner = np.maximum(X @ first + offset, 0)
        logits = inner @ second + last
        return inner, np.asarray(expit(logits) if self.head == "sigmoid" else softmax(logits, axis=1))

    def _step(self, X: FloatArray, inner: FloatArray, error: FloatArray) -> None:
        error = error / len(X)
        back = (error @ self._parts[1].T) * (inner > 0)
        for slope, value in zip(self._slopes, (X.T @ back, inner.T @ error, back.sum(0), error.sum(0)), strict=True):
            slope[...] = value
        self._gradient[self._weights] += self.decay * self._parameters[self._weights]
        self._steps += 1
        mean, square = self._moments
        mean += (1 - _FAST) * (self._gradient - mean)
        square += (1 - _SLOW) * (self._gradient**2 - square)
        size = np.sqrt(square / (1 - _SLOW**self._steps)) + _TINY
        self._parameters -= self.rate / (1 - _FAST**self._steps) * mean / size


class MultilabelNetwork:
    """scikit-learn's `MLPClassifier` on bits; needs the extra `libraries`."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def fit(
        self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None
    ) -> MultilabelNetwork:
        """Train on 0/1 targets."""
        try:
            from sklearn.exceptions import ConvergenceWarning
            from sklearn.neural_network import MLPClassifier
        except ImportError:
            raise MissingExtra.of("scikit-learn") from None
        self.network = MLPClassifier(random_state=int(rng.integers(2**31)), **self._settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is chosen, not reached
            self.network.fit(X, targets)
        self.network.random_state = self.network._random_state = None  # a fitted object holds no seed
        return self

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the probabilities of a 1, shape (m, K)."""
        return np.asarray(self.network.predict_proba(X))


@dataclass
class VectorTargetMLP(EncodedClassifier):
    """A network on released target vectors; (epsilon, 0)-DP for every label when the encoder is.

    Parameters
    ----------
    encoder : LabelEncoder
        Releases the labels, once: all epochs see the same releases.
    head : {"sigmoid", "softmax"}, optional
        The encoder's own unless given.
    iterated : bool
        Whether the targets are posteriors under the network's own predictions, recomputed at every step (ALIBI).
    hidden, epochs : int >= 1
    decay : float >= 0
        L2 penalty on the weights.
    engine : {"numpy", "scikit-learn"}
        The latter takes 0/1 targets and the sigmoid head only.
    random_state : int, optional
        Source of the releases, the initial weights and the minibatches.
    """

    encoder: LabelEncoder
    head: Head | None = None
    iterated: bool = False
    hidden: int = 128
    epochs: int = 20
    decay: float = 1e-3
    engine: Engine = "numpy"
    random_state: Any = None
    model_: TargetModel = field(init=False, repr=False)
    ties_: int = field(init=False, repr=False)

    def _model(self) -> TargetModel:
        head = self.head or self.encoder.head
        network = TargetNetwork(head, self.hidden, self.epochs, self.decay)
        if self.engine not in get_args(Engine):
            raise InvalidArgument.of("engine", "be 'numpy' or 'scikit-learn'", self.engine)
        if self.engine == "numpy":
            return network
        if head != "sigmoid" or self.encoder.head != "sigmoid" or self.iterated:
            raise InvalidArgument.of("engine", "be 'numpy' unless bits are fitted by a sigmoid head", self.engine)
        batch = network.batch  # its penalty is divided by the size of the minibatch
        return MultilabelNetwork(
            hidden_layer_sizes=(self.hidden,), max_iter=self.epochs, alpha=self.decay * batch, batch_size=batch
        )

    def _refine(self, released: np.ndarray) -> Refine | None:
        return super()._refine(released) if self.iterated else None
