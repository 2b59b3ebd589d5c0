"""The privacy mechanism of section 4.1 of Zhao et al. (2024), equations (14) and (17), and Theorem 1.

A label Y of K classes becomes K independent bits: P(Z(j) = 1) = p = e^(eps/2) / (1 + e^(eps/2)) for j = Y, and
q = 1 - p for the others. Z is released once. Two labels y, y' share the law of all bits but two: eps is attained by
every pair of classes, and delta(e) = p^2 (1 - exp(e - eps)) for 0 <= e <= eps. `LabelEncoder` is the base of this
mechanism and of the baselines: the release of labels, its law, and the vectors that a learner is fitted to.
"""

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from audit import Labeled, Local, PrivacyCheck, Verdict
from audit.errors import InvalidArgument
from audit.laws import Finite, Law, Product
from audit.validate import positive
from mechanisms.papers.rows import ZHAO, Cases
from mechanisms.queries import admit, held

FloatArray = NDArray[np.float64]
_LARGEST = 700.0  # its exponential is a finite double


@dataclass(frozen=True)
class LabelEncoder(ABC):
    """Base of the releases of labels; (epsilon, 0)-DP for each label under the local relation."""

    n_classes: int  # >= 2
    epsilon: float  # > 0: of one label

    head: ClassVar[Literal["sigmoid", "softmax"]] = "softmax"  # output layer of a network fitted to the targets

    def __post_init__(self) -> None:
        admit(self, n_classes=partial(held, at_least=2), epsilon=positive)

    @abstractmethod
    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Release every label once, independently; first axis of length n."""

    @abstractmethod
    def law(self, label: Any) -> Law:
        """Return the law of the release of one label."""

    @abstractmethod
    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return log P(released | label = c) for every class c, up to a constant in c, shape (n, K)."""

    def targets(self, released: np.ndarray) -> np.ndarray:
        """Return the vectors that a learner is fitted to, shape (n, K): the posterior unless a subclass has others."""
        return self.posterior(released)

    def shares(self, scores: FloatArray) -> FloatArray:
        """Return estimates of eta from the scores of a learner, shape (m, K)."""
        return scores

    def posterior(self, released: np.ndarray, prior: FloatArray | None = None) -> FloatArray:
        """Return the probabilities of the classes after the release, shape (n, K); the prior is uniform unless given.

        A prior is any multiple of a probability vector, shape (K,) or (n, K).
        """
        evidence = self.log_evidence(released)
        weights = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        if prior is not None:
            weights *= np.maximum(prior, np.finfo(float).tiny)  # no class is ever ruled out
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def release_all(
        self, points: FloatArray, labels: NDArray[np.int64], seed: int, rng: np.random.Generator
    ) -> np.ndarray:
        """Release the labels of a dataset whose points and whose seed, of all that is not private, are public."""
        return self.release(labels, rng)

    def law_of_all(self, dataset: Labeled) -> Law:
        """Return the law of the releases of `release_all`, in a row."""
        laws = [self.law(int(label)) for label in dataset.y]
        return Product(tuple(part for law in laws for part in (law.laws if isinstance(law, Product) else (law,))))

    def __call__(self, label: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.release(np.full(size, require_label(label, self.n_classes)), rng)


def require_label(label: Any, n_classes: int) -> int:
    """Return one label as an integer in {0, ..., K - 1}, or raise."""
    if type(label) is bool or not isinstance(label, (int, np.integer)) or not 0 <= label < n_classes:
        raise InvalidArgument(f"`label` must be one of 0, ..., {n_classes - 1}")  # it is private: it is not shown
    return int(label)


def one_hot(labels: NDArray[np.int64], n_classes: int) -> NDArray[np.int8]:
    """Return unit vectors, shape (n, K)."""
    return np.asarray(np.asarray(labels)[:, None] == np.arange(n_classes), dtype=np.int8)


@dataclass(frozen=True)
class VectorEncoder(LabelEncoder):
    """K random bits for a label; (epsilon, 0)-DP for any two labels, tight for every pair and every K."""

    head: ClassVar[Literal["sigmoid", "softmax"]] = "sigmoid"

    @property
    def p(self) -> float:
        """e^(epsilon/2) / (1 + e^(epsilon/2)), the probability of a 1 at the label's own bit."""
        return 1 / (1 + math.exp(-self.epsilon / 2))

    @property
    def q(self) -> float:
        """1 / (1 + e^(epsilon/2)), the probability of a 1 at any other bit."""
        return 1 / (1 + math.exp(min(self.epsilon / 2, _LARGEST)))

    def chances(self, own: NDArray[np.bool_]) -> FloatArray:
        """Return P(Z(j) = 1) from whether place j is the label's own."""
        return np.where(own, self.p, self.q)

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw K bits for every label, shape (n, K), each from a uniform of its own."""
        uniform = rng.random((len(labels), self.n_classes))
        return (uniform < self.chances(one_hot(labels, self.n_classes) == 1)).view(np.int8)

    def law(self, label: Any) -> Product:
        """Return the law of the bits: independent."""
        chances = self.chances(np.arange(self.n_classes) == require_label(label, self.n_classes)).tolist()
        laws = {chance: Finite({1: chance, 0: 1 - chance}) for chance in set(chances)}
        return Product(tuple(laws[chance] for chance in chances))

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return log(p (1 - q) / (q (1 - p))) Z = epsilon Z: only the own bit of a class speaks for it."""
        return self.epsilon * np.asarray(released, dtype=float)

    def targets(self, released: np.ndarray) -> np.ndarray:
        """Return the bits: fitted one by one, they estimate eta~ = q + (p - q) eta."""
        return released

    def shares(self, scores: FloatArray) -> FloatArray:
        """Return (scores - q) / (p - q)."""
        return np.asarray((scores - self.q) / math.tanh(self.epsilon / 4))

    def delta(self, epsilon: float) -> float:
        """Return p^2 (1 - exp(epsilon - own epsilon)), the privacy profile; 0 from the own epsilon on."""
        return 0.0 - self.p**2 * math.expm1(min(0.0, epsilon - self.epsilon))  # no negative zero


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return every unordered pair of classes, of ten at most: then three that hold the first, the last and an inner."""
    K = n_classes
    return list(itertools.combinations(range(K), 2)) if K <= 10 else [(0, 1), (0, K - 1), (K // 2, K - 1)]


@ZHAO.states("vector, privacy profile", "Theorem 1", "==")
def profile_cases() -> Cases:
    """delta(e) = p^2 (1 - exp(e - epsilon)) for every K."""
    for K, epsilon in itertools.product((2, 4, 10, 100), (0.2, 1.0, 2.0)):
        encoder = VectorEncoder(K, epsilon)
        loss = encoder.law(0).loss_against(encoder.law(K - 1))
        for e in np.arange(13) / 10 * epsilon:
            yield f"K={K} epsilon={epsilon:g} eps={e:g}", loss.delta(e), encoder.delta(e)


def audit_encoder(
    name: str, encoder: Any, epsilon: float, where: str = "Theorem 1", pairs: Any = None, **settings: Any
) -> PrivacyCheck:
    """Return the check that one label keeps (epsilon, 0) under the local relation, for every pair of classes."""
    pairs = class_pairs(encoder.n_classes) if pairs is None else pairs
    return ZHAO.promise(name, where, encoder, epsilon, pairs, Local(), **{"budget": 20_000, **settings})


_less = partial(audit_encoder, epsilon=0.99, expected=Verdict.FAIL)

CHECKS: list[Any] = [
    *ZHAO.rows(__name__),
    *(
        audit_encoder(f"vector K={K} eps={epsilon:g}", VectorEncoder(K, epsilon), epsilon)
        for K in (2, 4, 10, 100)
        for epsilon in (0.2, 1.0, 2.0)
    ),
    _less("vector K=2 is tight: 1 % less is refuted", VectorEncoder(2, 1.0), pairs=[(0, 1)]),
    _less("vector K=100 is tight: 1 % less is refuted", VectorEncoder(100, 1.0), pairs=[(0, 99)]),
]
