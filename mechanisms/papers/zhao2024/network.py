"""The network of section 4.2 of Zhao et al. (2024): one hidden layer, K sigmoid outputs, fitted to bits one by one.

The loss is the binary cross entropy summed over the K bits; the baselines train a softmax against unit vectors or
posteriors. Both have the gradient (output - target). Departures: 64-128-K with ReLU and Adam, not the convolutional
networks of the text; ALIBI's prior (`iterated`) is the softmax of the current network; features are centered by 1/2.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from scipy.special import expit, softmax

from audit.validate import nonnegative, positive
from mechanisms.papers.zhao2024.neighbors import Refine
from mechanisms.papers.zhao2024.vector import FloatArray, one_hot
from mechanisms.queries import count, held

Head = Literal["sigmoid", "softmax"]
_SLOW, _FAST, _TINY = 0.999, 0.9, 1e-8  # of Adam


class TargetNetwork:
    """One hidden layer of rectified linear units, trained by Adam on minibatches with steps of size `rate`.

    `decay` is an L2 penalty on the weights, not on the offsets. `iterated`: targets are posteriors under the network's
    own outputs, recomputed at every step.
    """

    def __init__(
        self,
        head: Head,
        hidden: int = 128,
        epochs: int = 20,
        decay: float = 1e-3,
        batch: int = 64,
        rate: float = 1e-3,
        iterated: bool = False,
    ) -> None:
        self.head, self.iterated = head, iterated
        self.hidden, self.epochs, self.batch = held(hidden, "hidden"), held(epochs, "epochs"), count(batch, "batch")
        self.decay, self.rate = nonnegative(decay, "decay"), positive(rate, "rate")

    def fit(self, X: FloatArray, targets: np.ndarray, rng: np.random.Generator, refine: Refine | None = None) -> Self:
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
                wanted = refine(rows, output) if self.iterated and refine else targets[rows]
                self._step(X[rows] - 0.5, inner, output - wanted)
            yield epoch

    def scores(self, X: FloatArray) -> FloatArray:
        """Return the outputs, shape (m, K), each in (0, 1)."""
        return self._forward(X)[1]

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
        inner = np.maximum((X - 0.5) @ first + offset, 0)
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


class PublicFeatures:
    """The hidden layer of a network that learned public points X and labels y >= 0, for LP-1ST* and LP-2ST*.

    The labels may be others than the private ones.
    """

    def __init__(self, X: FloatArray, y: Any, hidden: int = 128, epochs: int = 20, seed: int = 0) -> None:
        targets = one_hot(y, int(np.max(y)) + 1)
        self.network = TargetNetwork("softmax", hidden, epochs).fit(X, targets, np.random.default_rng(seed))

    def __call__(self, points: FloatArray) -> FloatArray:
        return self.network._forward(points)[0]
