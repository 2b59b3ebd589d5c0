"""Base class of label encoders: one release per label, its target vector, and the posterior that it implies.

A label is an integer 0, ..., K - 1. `release` is the only randomized step and the only one that sees labels; `targets`
and `posterior` are post-processing. As an audited mechanism an encoder takes one label as its dataset.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.errors import InvalidArgument
from audit.laws import Law
from audit.validate import integer, positive

Head = Literal["sigmoid", "softmax"]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class LabelEncoder(ABC):
    """Base of the encoders; each is (epsilon, 0)-DP for one label under the local relation.

    Parameters
    ----------
    n_classes : int >= 2
        Number K of classes.
    epsilon : float > 0
        Privacy parameter of one label.
    """

    n_classes: int
    epsilon: float

    head: ClassVar[Head] = "softmax"
    """Output layer of a network that is trained on the targets."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_classes", integer(self.n_classes, "n_classes", at_least=2))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @abstractmethod
    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Release every label once, independently; first axis of length n."""

    @abstractmethod
    def law(self, label: Any) -> Law:
        """Law of the release of one label."""

    @abstractmethod
    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return log P(released | label = c) for every class c, up to a constant in c, shape (n, K)."""

    @abstractmethod
    def targets(self, released: np.ndarray) -> np.ndarray:
        """Turn releases into the vectors that a learner is fitted to, shape (n, K)."""

    def posterior(self, released: np.ndarray, prior: ArrayLike | None = None) -> FloatArray:
        """Return the probabilities of the classes after the release, shape (n, K).

        Parameters
        ----------
        released : array, first axis of length n
        prior : array, shape (K,) or (n, K), >= 0, optional
            Any multiple of a probability vector; uniform unless given.
        """
        evidence = self.log_evidence(released)
        weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        if prior is not None:
            weights *= np.maximum(np.asarray(prior), np.finfo(float).tiny)  # no class is ever ruled out
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def __call__(self, label: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.release(np.full(size, require_label(label, self.n_classes)), rng)


def require_labels(y: Any, n_classes: int) -> NDArray[np.int64]:
    """Return labels as integers in {0, ..., K - 1}, shape (n,), or raise."""
    array = np.asarray(y)
    if array.ndim != 1:
        raise InvalidArgument.of("y", "have shape (n,)", array.shape)
    if array.dtype.kind not in "iuf" or not np.all((array >= 0) & (array < n_classes) & (array == np.floor(array))):
        raise InvalidArgument.of("y", f"hold integers 0, ..., {n_classes - 1} only", y)
    return array.astype(np.int64)


def require_label(label: Any, n_classes: int) -> int:
    """Return one label as an integer in {0, ..., K - 1}, or raise."""
    if np.ndim(label) != 0:
        raise InvalidArgument.of("label", f"be one of 0, ..., {n_classes - 1}", label)
    return int(require_labels([label], n_classes)[0])


def one_hot(labels: NDArray[np.int64], n_classes: int) -> NDArray[np.int8]:
    """Return unit vectors, shape (n, K)."""
    return np.asarray(labels[:, None] == np.arange(n_classes), dtype=np.int8)
