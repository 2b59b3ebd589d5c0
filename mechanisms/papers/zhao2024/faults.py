"""Broken variants: each changes one part of a mechanism or of a learner, and states its real privacy.

`Concealed` hides the law. Where two bits of ten leak a little each, or one of very many, the audit is given the
likelihood that was promised (`Promised`), which the guess game puts to the test on fresh outputs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import Labeled, LabelFlip, Local
from mechanisms.papers.rows import ZHAO, Concealed, Fault
from mechanisms.papers.zhao2024.baselines import LaplaceEncoder, PriorResponseEncoder, ResponseEncoder, respond
from mechanisms.papers.zhao2024.network import PublicFeatures
from mechanisms.papers.zhao2024.theorems import minimizer_cases
from mechanisms.papers.zhao2024.vector import FloatArray, VectorEncoder, class_pairs

Chances = Callable[[VectorEncoder, NDArray[np.bool_]], FloatArray]


@dataclass(frozen=True)
class Changed(VectorEncoder):
    """The vector mechanism with other probabilities of a 1."""

    new_chances: Chances

    def chances(self, own: NDArray[np.bool_]) -> FloatArray:
        """Return P(Z(j) = 1) as replaced."""
        return self.new_chances(VectorEncoder(self.n_classes, self.epsilon), own)


def leave_bit(place: int, right: VectorEncoder, own: NDArray[np.bool_]) -> FloatArray:
    """Return chances that leave one bit as it is: the loop over the bits stops short, or skips one."""
    return np.where(np.arange(right.n_classes) == place % right.n_classes, own, right.chances(own))


def loosen_bit(place: int, right: VectorEncoder, own: NDArray[np.bool_]) -> FloatArray:
    """Return chances that give one bit odds of e^(3 epsilon / 2) each way."""
    loose = VectorEncoder(right.n_classes, 3 * right.epsilon).chances(own)
    return np.where(np.arange(right.n_classes) == place, loose, right.chances(own))


# name -> the changed chances, from the right mechanism and whether a place is the label's own; the true epsilon
BITS: dict[str, tuple[Chances, Callable[[float], float]]] = {
    "full epsilon per bit": (lambda right, own: VectorEncoder(2, 2 * right.epsilon).chances(own), lambda eps: 2 * eps),
    "last bit clean": (partial(leave_bit, -1), lambda eps: math.inf),
    "keep or resample": (
        lambda right, own: np.where(own, right.p + (1 - right.p) * right.q, right.q),
        lambda eps: math.log1p(math.exp(eps / 2) * (1 + math.exp(eps / 2))),
    ),
    "mixed rates": (
        lambda right, own: np.where(own, right.p, 1 / (1 + math.exp(right.epsilon))),
        lambda eps: 1.5 * eps,
    ),
    "true bit only": (lambda right, own: np.where(own, right.p, 0.0), lambda eps: math.inf),
}


def _same(size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random((size, 1))


def draw_twice(encoder: Any, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw anew in each of two epochs, and release both."""
    return np.hstack([encoder(label, size, rng) for _ in range(2)])


@dataclass(frozen=True)
class Promised:
    """The sampler of a fault beside the likelihood of the mechanism that was meant."""

    encoder: VectorEncoder

    def __call__(self, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.encoder(label, size, rng)

    def log_likelihood(self, label: int, outputs: np.ndarray) -> np.ndarray:
        """Return the promised log-probabilities, up to a constant."""
        return self.encoder.epsilon * np.asarray(outputs)[:, label].astype(float)


def keep_like_a_bit(K: int, epsilon: float, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Keep the label with probability e^epsilon / (1 + e^epsilon), as if there were two classes."""
    kept = rng.random(size) < 1 / (1 + math.exp(-epsilon))
    return np.asarray((label + np.where(kept, 0, rng.integers(1, K, size=size))) % K)


def keep_then_resample(K: int, epsilon: float, label: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Keep the label with the right probability, and otherwise draw from ALL classes."""
    kept = rng.random(size) < ResponseEncoder(K, epsilon).law(0).pmf[0]
    return np.where(kept, label, rng.integers(K, size=size))


def count_prior(labels: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release every label under a prior counted from all labels: (6, 2, 0) keep one class, (5, 3, 0) two."""
    encoder = PriorResponseEncoder(3, 1.0, prior=np.bincount(labels.y, minlength=3))
    return encoder.release(np.tile(labels.y, size), rng).reshape(size, -1)


def pretrain_on_labels(labels: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release labels, and the features of one point from a network that learned the private labels themselves."""
    released = respond(np.tile(labels.y, size), 3, 1.0, rng).reshape(size, -1)
    seen = PublicFeatures(labels.X, labels.y, hidden=2, epochs=3)(np.array([[0.25]]))
    return np.hstack([released, np.tile(seen, (size, 1))])


def _fault(name: str, truth: float, mechanism: Any, pairs: Any, claimed: float = 1.0, budget: int = 20_000) -> Fault:
    relation = LabelFlip() if isinstance(pairs[0][0], Labeled) else Local()
    return ZHAO.fault(name, truth, "Theorem 1", mechanism, claimed, pairs, relation, budget=budget)


def _bits(name: str, K: int, budget: int, epsilon: float = 1.0) -> Fault:
    """Return a fault of the chances, over every pair of classes, by its bits; at epsilon != 1 with the promise."""
    encoder = Changed(K, epsilon, BITS[name][0])
    mechanism = Concealed(encoder) if epsilon == 1 else Promised(encoder)
    return _fault(f"{name} K={K} eps={epsilon:g}", BITS[name][1](epsilon), mechanism, class_pairs(K), epsilon, budget)


def _flip(*labels: int, at: int = 0, to: int = 1) -> list[tuple[Labeled, Labeled]]:
    y, X = np.array(labels), np.linspace(0, 1, len(labels))[:, None]
    return [(Labeled(X, y), Labeled(X, np.where(np.arange(len(y)) == at, to, y)))]


_FOUR, _THREE, _OWN = VectorEncoder(4, 1.0), class_pairs(3), np.arange(4)
_PAIRS = [(c, c + 1) for c in range(0, 1_000, 2)]  # every class is in one
_LIKE_BIT, _RESAMPLES = partial(keep_like_a_bit, 10), partial(keep_then_resample, 4, 1.0)
_BAD, _LOOSE = (Changed(1_000, 1.0, partial(change, 617)) for change in (leave_bit, loosen_bit))
_FEWER = Changed(100, 1.0, partial(leave_bit, 61))

FAULTS: list[Fault] = [
    *(_bits(name, K, budget) for name in BITS for K, budget in ((4, 40_000), (10, 200_000))),
    *(_bits(name, 10, 100_000, eps) for name in ("full epsilon per bit", "keep or resample") for eps in (0.2, 2.0)),
    # one uniform for all bits: the own bit alone is 1 with probability p - q
    _fault("shared uniform", math.inf, lambda c, n, rng: _same(n, rng) < _FOUR.chances(c == _OWN), class_pairs(4)),
    # all bits flip or none: the odd bit out is the label
    _fault("shared flip", math.inf, lambda c, n, rng: (c == _OWN) ^ (_same(n, rng) < _FOUR.q), class_pairs(4)),
    _fault("fresh each epoch", 2.0, partial(draw_twice, _FOUR), class_pairs(4), budget=40_000),
    _fault("one bad bit among 1,000", math.inf, Concealed(_BAD), [(616, 617)], budget=10_000),
    _fault("one bad bit among 100", math.inf, Promised(_FEWER), _PAIRS[:50], budget=100_000),
    _fault("one loose bit among 1,000", 2.0, Promised(_LOOSE), _PAIRS[308:316]),
    *(
        _fault(f"keeps like a bit K=10 eps={eps:g}", eps + math.log(9), partial(_LIKE_BIT, eps), class_pairs(10), eps)
        for eps in (0.2, 1.0, 2.0)
    ),
    _fault("keeps then resamples K=4", math.log1p(4 * math.e / 3), _RESAMPLES, class_pairs(4), budget=40_000),
    _fault("prior from the labels", math.inf, count_prior, _flip(0, 0, 0, 0, 0, 0, 1, 1, at=5), budget=4_000),
    _fault("pretrained on the labels", math.inf, pretrain_on_labels, _flip(0, 0, 1, 0, 1, 2), budget=4_000),
    # noise of scale 1 / epsilon, as if one coordinate moved
    *(
        _fault(f"laplace scale one K=3 eps={e:g}", 2 * e, Concealed(LaplaceEncoder(3, 2 * e)), _THREE, e)
        for e in (1.0, 2.0)
    ),
]


CHECKS: list[Any] = [
    *(fault.check for fault in FAULTS),
    ZHAO.quote("fault/network scores, softmax head", partial(minimizer_cases, "softmax"), "==", tolerance=0.03),
]
