"""Vector mechanisms with the wrong bits: too truthful, forgotten, shared, or drawn anew.

The audit is told neither which bit nor which pair of classes is at fault, and at epsilon = 1 it sees nothing but the
bits. Where two bits of ten leak a little each, or one of very many, it is also given the likelihood that was promised
(`Promised`): a score, right or wrong, that the guess game puts to the test on fresh outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder, class_pairs

SOURCE = "claimed after Zhao et al. 2024, Theorem 1"


@dataclass(frozen=True)
class BrokenBits:
    """Base of the faults: K bits of one label, made from K uniforms.

    Parameters
    ----------
    n_classes : int >= 2
    epsilon : float > 0
        What is claimed.
    """

    n_classes: int
    epsilon: float

    @property
    def right(self) -> SymmetricUnaryLabelEncoder:
        """The mechanism that was meant."""
        return SymmetricUnaryLabelEncoder(self.n_classes, self.epsilon)

    def probabilities(self, label: int) -> np.ndarray:
        """Return P(Z(j) = 1), shape (K,)."""
        return np.where(np.arange(self.n_classes) == label, self.right.p_keep, self.right.q_flip)

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((size, self.n_classes)) < self.probabilities(label)).view(np.int8)


@dataclass(frozen=True)
class FullEpsilonPerBit(BrokenBits):
    """e^epsilon in the place of e^(epsilon/2): each of two bits costs epsilon.

    True privacy: (2 epsilon, 0), for every pair of classes.
    """

    @property
    def right(self) -> SymmetricUnaryLabelEncoder:
        """The mechanism for twice epsilon."""
        return SymmetricUnaryLabelEncoder(self.n_classes, 2 * self.epsilon)


@dataclass(frozen=True)
class LastBitClean(BrokenBits):
    """The loop over the bits stops one short: the last bit is released as it is.

    True privacy: none for the last class (delta = 1 for every epsilon); (epsilon, 0) between any two others.
    """

    def probabilities(self, label: int) -> np.ndarray:
        """Return P(Z(j) = 1), the last one 0 or 1."""
        found = super().probabilities(label)
        found[-1] = label == self.n_classes - 1
        return found


@dataclass(frozen=True)
class OneBadBit(BrokenBits):
    """One bit among many is released as it is.

    True privacy: none for its class (delta = 1 for every epsilon); (epsilon, 0) between any two others.
    """

    bad: int

    def probabilities(self, label: int) -> np.ndarray:
        """Return P(Z(j) = 1), that of the bad bit 0 or 1."""
        found = super().probabilities(label)
        found[self.bad] = label == self.bad
        return found


@dataclass(frozen=True)
class OneLooseBit(BrokenBits):
    """One bit among many has a third of the noise's odds: its odds ratio is e^(3 epsilon / 2), not e^(epsilon / 2).

    True privacy: (2 epsilon, 0) between its class and any other; (epsilon, 0) between any two others.
    """

    loose: int

    def probabilities(self, label: int) -> np.ndarray:
        """Return P(Z(j) = 1), that of the loose bit with odds e^(3 epsilon / 2) and 1 / e^(3 epsilon / 2)."""
        found = super().probabilities(label)
        keep = 1 / (1 + math.exp(-1.5 * self.epsilon))
        found[self.loose] = keep if label == self.loose else 1 - keep
        return found


@dataclass(frozen=True)
class KeepOrResample(BrokenBits):
    """The own bit is set with probability p, and otherwise drawn like all the others.

    True privacy: (ln((p + q^2) / q^2), 0), for every pair of classes: 1.202, 1.680, 2.408 at epsilon = 0.2, 1, 2.
    """

    def probabilities(self, label: int) -> np.ndarray:
        """Return P(Z(j) = 1), the own one p + (1 - p) q."""
        p, q = self.right.p_keep, self.right.q_flip
        return np.where(np.arange(self.n_classes) == label, p + (1 - p) * q, q)


@dataclass(frozen=True)
class MixedRates(BrokenBits):
    """p of the symmetric mechanism with q = 1 / (1 + e^epsilon) of the optimized one.

    True privacy: (1.5 epsilon, 0), for every pair of classes.
    """

    def probabilities(self, label: int) -> np.ndarray:
        """Return P(Z(j) = 1)."""
        other = 1 / (1 + math.exp(self.epsilon))
        return np.where(np.arange(self.n_classes) == label, self.right.p_keep, other)


@dataclass(frozen=True)
class TrueBitOnly(BrokenBits):
    """Only the own bit is randomized, the others are 0.

    True privacy: none: delta = p for every epsilon (0.622 at epsilon = 1), an output with one bit names the label.
    """

    def probabilities(self, label: int) -> np.ndarray:
        """Return P(Z(j) = 1)."""
        return np.where(np.arange(self.n_classes) == label, self.right.p_keep, 0.0)


@dataclass(frozen=True)
class SharedUniform(BrokenBits):
    """One uniform for all bits.

    True privacy: none: delta = p - q for every epsilon (0.245 at epsilon = 1), when the own bit is 1 and no other.
    """

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random((size, 1)) < self.probabilities(label)).view(np.int8)


@dataclass(frozen=True)
class SharedFlip(BrokenBits):
    """One coin flips all bits of the one-hot vector or none.

    True privacy: none from K = 3 on (delta = 1 for every epsilon): the odd bit out is the label.
    """

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        flipped = rng.random((size, 1)) < self.right.q_flip
        return ((np.arange(self.n_classes) == label) ^ flipped).view(np.int8)


@dataclass(frozen=True)
class FreshEachEpoch(BrokenBits):
    """The bits are drawn anew in each of two epochs; both are released.

    True privacy: (2 epsilon, 0), for every pair of classes.
    """

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.hstack([self.right(label, size, rng) for _ in range(2)])


@dataclass(frozen=True)
class Promised:
    """The sampler of a fault beside the likelihood of the mechanism that was meant.

    True privacy: that of the mechanism inside.
    """

    bits: BrokenBits

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.bits(label, size, rng)

    def log_likelihood(self, label: int, outputs: np.ndarray) -> np.ndarray:
        """Return the promised log-probabilities, up to a constant."""
        return self.bits.epsilon * np.asarray(outputs)[:, label].astype(float)


def fault_check(
    name: str, mechanism: Any, epsilon: float, pairs: list[Any], relation: Any = None, **settings: Any
) -> PrivacyCheck:
    """Return a check of a fault that expects conviction; the local relation unless said otherwise."""
    return PrivacyCheck(
        name=f"fault/labels {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, relation or Local(), SOURCE),
        pairs=pairs,
        expected=Verdict.FAIL,
        **{"budget": 20_000, **settings},
    )


def _everywhere(kind: type[BrokenBits], K: int, epsilon: float, budget: int, promised: bool = False) -> PrivacyCheck:
    """Return a check over every pair of classes."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in kind.__name__).strip()
    mechanism = Promised(kind(K, epsilon)) if promised else kind(K, epsilon)
    return fault_check(f"{words} K={K} eps={epsilon:g}", mechanism, epsilon, class_pairs(K), budget=budget)


MANY = 1_000


def _cover(K: int) -> list[tuple[int, int]]:
    """Return pairs such that every class is in one."""
    return [(c, c + 1) for c in range(0, K, 2)]


CHECKS: list[PrivacyCheck] = [
    *(
        _everywhere(kind, K, 1.0, budget)
        for kind in (FullEpsilonPerBit, LastBitClean, KeepOrResample, MixedRates)
        for K, budget in ((4, 40_000), (10, 200_000))
    ),
    *(
        _everywhere(kind, 10, epsilon, 100_000, promised=True)
        for kind in (FullEpsilonPerBit, KeepOrResample)
        for epsilon in (0.2, 2.0)
    ),
    *(_everywhere(kind, 4, 1.0, 20_000) for kind in (TrueBitOnly, SharedUniform, SharedFlip)),
    _everywhere(FreshEachEpoch, 4, 1.0, 40_000),
    fault_check("one bad bit among 1,000", OneBadBit(MANY, 1.0, 617), 1.0, [(616, 617)], budget=10_000),
    fault_check("one bad bit among 100", Promised(OneBadBit(100, 1.0, 61)), 1.0, _cover(100), budget=100_000),
    fault_check("one loose bit among 1,000", Promised(OneLooseBit(MANY, 1.0, 617)), 1.0, _cover(MANY)[300:316]),
]
