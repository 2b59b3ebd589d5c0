"""The vector mechanism: a label becomes a random bit for each class.

Implements the release of Zhao et al. (2024), equations (14) and (17), and the claim of their Theorem 1; it is the
symmetric unary encoding of basic RAPPOR. Bit j of Z is 1 with probability p = e^(eps/2) / (1 + e^(eps/2)) when j is the
label and q = 1 - p otherwise, with a fresh uniform for EVERY bit; the same Z serves every epoch of training.

For two labels y and y' only two bits matter; the privacy loss is epsilon (Z(y) - Z(y')), which takes the values
epsilon, 0, -epsilon with probabilities p^2, 2 p q, q^2 under y. Hence epsilon is attained with probability p^2, by
every pair of classes and whatever their number, and

    delta(e) = p^2 (1 - exp(e - epsilon))  for 0 <= e <= epsilon,   total variation tanh(epsilon / 4).

Departure: labels run from 0. `OptimizedUnaryLabelEncoder` (p = 1/2, q = 1 / (1 + e^eps)) is an extension that the text
hints at only.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from audit import InequalityCheck, Local, PrivacyCheck, PrivacyClaim, Verdict
from audit.laws import Finite, Product
from mechanisms.labels.encoder import FloatArray, Head, LabelEncoder, require_label

THEOREM = "Zhao et al. 2024, Theorem 1"
_LARGEST = 700.0  # its exponential is a finite double; a bit flips less often than once in 1e304 draws either way


@dataclass(frozen=True)
class UnaryLabelEncoder(LabelEncoder):
    """K independent bits, likelier at the label's own place; subclasses say how likely."""

    head: ClassVar[Head] = "sigmoid"

    @property
    @abstractmethod
    def p_keep(self) -> float:
        """Probability p of a 1 at the label's own bit."""

    @property
    @abstractmethod
    def q_flip(self) -> float:
        """Probability q of a 1 at any other bit."""

    def release(self, labels: NDArray[np.int64], rng: np.random.Generator) -> np.ndarray:
        """Draw K bits for every label, shape (n, K)."""
        uniform = rng.random((len(labels), self.n_classes))
        bits = uniform < self.q_flip
        own = np.arange(len(labels)), labels
        bits[own] = uniform[own] < self.p_keep
        return bits.view(np.int8)

    def law(self, label: Any) -> Product:
        """Law of the bits: independent."""
        own, other = (Finite({1: p, 0: 1 - p}) for p in (self.p_keep, self.q_flip))
        at = require_label(label, self.n_classes)
        return Product(tuple(own if j == at else other for j in range(self.n_classes)))

    def log_evidence(self, released: np.ndarray) -> FloatArray:
        """Return log(p (1 - q) / (q (1 - p))) Z: only the own bit of a class speaks for it."""
        p, q = self.p_keep, self.q_flip
        return math.log(p * (1 - q) / (q * (1 - p))) * np.asarray(released, dtype=float)

    def targets(self, released: np.ndarray) -> np.ndarray:
        """Return the bits: fitted one by one, they estimate q + (p - q) eta."""
        return released

    def frequencies(self, released: np.ndarray) -> FloatArray:
        """Return the unbiased estimates (mean Z - q) / (p - q) of the class frequencies, shape (K,)."""
        return np.asarray((released.mean(axis=0) - self.q_flip) / (self.p_keep - self.q_flip))


@dataclass(frozen=True)
class SymmetricUnaryLabelEncoder(UnaryLabelEncoder):
    """The vector mechanism; (epsilon, 0)-DP for any two labels, tight for every pair and every K."""

    @property
    def p_keep(self) -> float:
        """e^(epsilon/2) / (1 + e^(epsilon/2))."""
        return 1 / (1 + math.exp(-self.epsilon / 2))

    @property
    def q_flip(self) -> float:
        """1 / (1 + e^(epsilon/2))."""
        return 1 / (1 + math.exp(min(self.epsilon / 2, _LARGEST)))

    def delta(self, epsilon: float) -> float:
        """Return p^2 (1 - exp(epsilon - own epsilon)), the privacy profile; 0 from the own epsilon on."""
        return self.p_keep**2 * -math.expm1(min(0.0, epsilon - self.epsilon))


@dataclass(frozen=True)
class OptimizedUnaryLabelEncoder(UnaryLabelEncoder):
    """The asymmetric variant: the own bit is a fair coin; (epsilon, 0)-DP for any two labels, tight."""

    @property
    def p_keep(self) -> float:
        """1/2."""
        return 0.5

    @property
    def q_flip(self) -> float:
        """1 / (1 + e^epsilon)."""
        return 1 / (1 + math.exp(min(self.epsilon, _LARGEST)))


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return every unordered pair of classes."""
    return list(itertools.combinations(range(n_classes), 2))


def profile_cases() -> list[tuple[str, float, float]]:
    """Compare delta of the law with its closed form, for every eps of {0, 0.1, ..., 1.2} epsilon."""
    return [
        (f"K={K} epsilon={epsilon:g} eps={share * epsilon:g}", loss.delta(share * epsilon), form(share * epsilon))
        for K in (2, 4, 10, 100)
        for epsilon in (0.2, 1.0, 2.0)
        for encoder in [SymmetricUnaryLabelEncoder(K, epsilon)]
        for loss, form in [(encoder.law(0).loss_against(encoder.law(K - 1)), encoder.delta)]
        for share in np.arange(13) / 10
    ]


def enumerated_cases() -> list[tuple[str, float, float]]:
    """Compare epsilon with the largest loss over all 2^K outputs and all pairs of classes."""
    cases = []
    for kind, K, epsilon in itertools.product(
        (SymmetricUnaryLabelEncoder, OptimizedUnaryLabelEncoder), (2, 3, 6), (0.2, 1.0, 2.0)
    ):
        encoder = kind(K, epsilon)
        outputs = np.array(list(itertools.product((0, 1), repeat=K)))
        ones = np.where(np.eye(K, dtype=bool), encoder.p_keep, encoder.q_flip)
        logs = outputs @ np.log(ones).T + (1 - outputs) @ np.log1p(-ones).T
        cases.append((f"{kind.__name__} K={K} epsilon={epsilon:g}", float(np.max(np.ptp(logs, axis=1))), epsilon))
    return cases


def _check(kind: type[UnaryLabelEncoder], K: int, epsilon: float, what: str = "", **settings: Any) -> PrivacyCheck:
    short = "vector" if kind is SymmetricUnaryLabelEncoder else "optimized unary"
    claimed = settings.pop("claimed", epsilon)
    return PrivacyCheck(
        name=f"labels/{short} K={K} eps={epsilon:g}{what}",
        mechanism=kind(K, epsilon),
        claim=PrivacyClaim(claimed, 0.0, Local(), THEOREM),
        **{"pairs": class_pairs(K) if K <= 10 else [(0, 1), (0, K - 1), (K // 2, K - 1)], "budget": 20_000, **settings},
    )


_identity = partial(InequalityCheck, source=THEOREM, sense="==")

CHECKS: list[Any] = [
    *(_check(SymmetricUnaryLabelEncoder, K, epsilon) for K in (2, 4, 10, 100) for epsilon in (0.2, 1.0, 2.0)),
    *(_check(OptimizedUnaryLabelEncoder, K, 1.0) for K in (2, 10)),
    *(
        _check(
            SymmetricUnaryLabelEncoder,
            K,
            1.0,
            " is tight: 1 % less is refuted",
            claimed=0.99,
            pairs=[(0, K - 1)],
            expected=Verdict.FAIL,
        )
        for K in (2, 100)
    ),
    _identity(
        name="labels/vector, all outputs",
        statement="The largest loss over all 2^K outputs and all pairs is epsilon.",
        values=enumerated_cases,
        tolerance=1e-12,
    ),
    _identity(
        name="labels/vector, privacy profile",
        statement="delta(e) = p^2 (1 - exp(e - epsilon)) for every K.",
        values=profile_cases,
        tolerance=1e-9,
    ),
]
