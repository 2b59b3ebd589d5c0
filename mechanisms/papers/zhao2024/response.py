"""Randomized response on labels (LP-1ST), without and with a prior: the baselines of section 5 of Zhao et al. (2024).

RRWithPrior is Algorithm 2 of Ghazi, Golowich, Kumar, Manurangsi & Zhang (2021, "Deep learning with label differential
privacy"): with the classes sorted by decreasing prior, w_k = e^eps / (e^eps + k - 1) * (sum of the k largest priors),
k* = argmax w_k (the first). Among the k* likeliest classes a label is released by k*-ary randomized response; another
label becomes one of them, uniformly. The prior must not depend on the label. epsilon is attained when k* >= 2; k* = 1
releases a constant.

Departure: classes of equal prior are sorted by index.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument
from audit.laws import Finite
from mechanisms.papers.zhao2024.vector import FloatArray, LabelEncoder, audit_encoder, one_hot, require_label

GHAZI = "Ghazi, Golowich, Kumar, Manurangsi & Zhang 2021"


@dataclass(frozen=True)
class ResponseEncoder(LabelEncoder):
    """The label with probability e^epsilon / (e^epsilon + K - 1), else one of the others; (epsilon, 0)-DP, tight."""

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one label for every label, shape (n,)."""
        return respond(labels, self.n_classes, self.epsilon, rng)

    def law(self, label: Any) -> Finite:
        """Return the law of the released label."""
        at, rest = require_label(label, self.n_classes), math.exp(-self.epsilon)
        total = 1 + (self.n_classes - 1) * rest
        return Finite({j: (1.0 if j == at else rest) / total for j in range(self.n_classes)})

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return epsilon for the released class, 0 for the others."""
        return np.asarray(self.epsilon * one_hot(released, self.n_classes), dtype=float)

    def targets(self, released: np.ndarray) -> np.ndarray:
        """Return unit vectors."""
        return one_hot(released, self.n_classes)

    def shares(self, scores: FloatArray) -> FloatArray:
        """Return (scores - other) / (own - other), by the probabilities of the law."""
        rest = math.exp(-self.epsilon)
        return np.asarray((scores * (1 + (self.n_classes - 1) * rest) - rest) / -math.expm1(-self.epsilon))


@dataclass(frozen=True)
class PriorResponseEncoder(ResponseEncoder):
    """Randomized response among the likeliest classes; (epsilon, 0)-DP, and (0, 0)-DP when one class is left."""

    prior: Any = field(kw_only=True)  # K numbers >= 0, public or computed from private releases of other labels

    def __post_init__(self) -> None:
        super().__post_init__()
        prior = np.asarray(self.prior, dtype=float)
        if prior.shape != (self.n_classes,) or not (np.all(prior >= 0) and 0 < prior.sum() < math.inf):
            raise InvalidArgument.of("prior", f"be {self.n_classes} numbers >= 0 with a positive sum", self.prior)
        object.__setattr__(self, "prior", tuple((prior / prior.sum()).tolist()))

    def rank(self, priors: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sort the classes by decreasing prior, shape (n, K), and give how many are kept, k* in shape (n,)."""
        order = np.argsort(-priors, axis=1, kind="stable")
        best = np.cumsum(np.take_along_axis(priors, order, axis=1), axis=1)
        return order, np.argmax(best / (1 + np.arange(priors.shape[1]) * math.exp(-self.epsilon)), axis=1) + 1

    @property
    def kept_classes(self) -> list[int]:
        """The k* likeliest classes, likeliest first."""
        order, sizes = self.rank(np.array([self.prior]))
        return order[0, : sizes[0]].tolist()

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one label for every label, shape (n,)."""
        return self.release_under(labels, np.broadcast_to(np.array(self.prior), (len(labels), self.n_classes)), rng)

    def release_under(
        self, labels: NDArray[np.int64], priors: FloatArray, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw one label for every label, each under a prior of its own, shape (n, K)."""
        order, kept = self.rank(priors)
        place = np.argmax(order == np.asarray(labels)[:, None], axis=1)
        among = respond(np.minimum(place, kept - 1), kept, self.epsilon, rng)
        anywhere = rng.integers(0, kept)
        return np.asarray(order[np.arange(len(labels)), np.where(place < kept, among, anywhere)])

    def law(self, label: Any) -> Finite:
        """Return the law of the released label, on the kept classes."""
        at, kept = require_label(label, self.n_classes), self.kept_classes
        return Finite(dict(zip(kept, self.kernel()[at, kept].tolist(), strict=True)))

    def kernel(self) -> FloatArray:
        """Return P(release = column | label = row), shape (K, K)."""
        kept, rest = self.kept_classes, math.exp(-self.epsilon)
        rows = np.zeros((self.n_classes, self.n_classes))
        rows[:, kept] = 1 / len(kept)
        rows[np.ix_(kept, kept)] = rest / (1 + (len(kept) - 1) * rest)
        rows[kept, kept] = 1 / (1 + (len(kept) - 1) * rest)
        return rows

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return the logarithms of the kernel's columns of the released classes."""
        return np.log(np.maximum(self.kernel(), np.finfo(float).tiny)).T[released]


def respond(labels: NDArray[np.int64], sizes: Any, epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw from randomized response on {0, ..., size - 1}, a size for each label or one for all."""
    stay = rng.random(len(labels)) < 1 / (1 + (sizes - 1) * math.exp(-epsilon))
    jump = rng.integers(1, np.maximum(sizes, 2), size=len(labels))
    return np.asarray((labels + np.where(stay, 0, jump)) % sizes)


_PRIORS: list[tuple[str, PriorResponseEncoder, float]] = [
    ("2 of 3 kept", PriorResponseEncoder(3, 1.0, prior=(5, 3, 0)), 1.0),
    ("3 of 5 kept", PriorResponseEncoder(5, 2.0, prior=(0.6, 0.2, 0.1, 0.05, 0.05)), 2.0),
    ("uniform, all 10 kept", PriorResponseEncoder(10, 0.5, prior=np.ones(10)), 0.5),
    ("constant release", PriorResponseEncoder(3, 1.0, prior=(6, 2, 0)), 0.0),
]

CHECKS: list[Any] = [
    *(
        audit_encoder(f"response K={K} eps={epsilon:g}", ResponseEncoder(K, epsilon), epsilon, "Kairouz et al. 2016")
        for K in (2, 10)
        for epsilon in (0.2, 1.0)
    ),
    *(
        audit_encoder(f"response with prior, {name}", encoder, epsilon, f"{GHAZI}, Theorem 3")
        for name, encoder, epsilon in _PRIORS
    ),
]
