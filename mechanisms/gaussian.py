"""The Gaussian mechanism with the analytic calibration of Balle & Wang.

Implements Balle & Wang (2018), Theorem 8 (the exact privacy profile) and the calibration that it gives: the
smallest noise whose profile at epsilon is at most delta. Departures from the text: Algorithm 1 of the paper
searches in another parametrization; here the closed form is solved directly for the deviation, and the root is
rounded up by one part in 10^9, so that the delta of the law lies below the promised one. Double-precision effects
are outside every claim of this file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from audit import AddRemove, Labeled, LabelFlip, PrivacyCheck
from audit.laws import Gaussian, GaussianLoss, Product
from audit.validate import open_probability, positive
from mechanisms.papers.rows import Paper
from mechanisms.queries import (
    Histogram,
    column_sums,
    count_positive,
    count_positive_labels,
    numeric_answer,
    require_query,
)

SOURCE, WHERE = "Balle & Wang 2018, Theorem 8", "Theorem 8"
ROUNDING = 1 + 1e-9
SETTINGS = ((0.25, 1e-5), (0.25, 0.05), (1.0, 1e-5), (1.0, 0.05))


def gaussian_delta(epsilon: float, shift: float) -> float:
    """Exact delta(epsilon) between N(0, 1) and N(shift, 1), shift > 0; Balle & Wang (2018)."""
    return float(
        ndtr(shift / 2 - epsilon / shift) - math.exp(epsilon + log_ndtr(-shift / 2 - epsilon / shift)),
    )


@lru_cache(maxsize=256)
def analytic_deviation(epsilon: float, delta: float) -> float:
    """Return the smallest deviation, per unit of l2 sensitivity, that is (epsilon, delta)-DP, rounded up."""
    epsilon, delta = positive(epsilon, "epsilon"), open_probability(delta, "delta")

    def excess(log_deviation: float) -> float:
        return gaussian_delta(epsilon, math.exp(-log_deviation)) - delta

    low, high = 0.0, 0.0
    while excess(low) < 0:
        low -= 1.0
    while excess(high) > 0:
        high += 1.0
    return math.exp(brentq(excess, low, high, xtol=1e-14, rtol=1e-14)) * ROUNDING if low < high else ROUNDING


@dataclass(frozen=True)
class GaussianMechanism:
    """Answer plus independent Gaussian noise on every coordinate; exactly (epsilon, delta)-DP.

    Parameters
    ----------
    query : callable
        dataset -> number, or vector of shape (d,).
    l2_sensitivity : float > 0
        Largest l2 change of the answer between neighbors.
    epsilon : float > 0
    delta : float in (0, 1)
        Both tight for a pair whose answers lie `l2_sensitivity` apart.
    """

    query: Any
    l2_sensitivity: float
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        require_query(self.query)
        object.__setattr__(self, "l2_sensitivity", positive(self.l2_sensitivity, "l2_sensitivity"))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", open_probability(self.delta, "delta"))

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise."""
        return self.l2_sensitivity * analytic_deviation(self.epsilon, self.delta)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = numeric_answer(self.query, dataset)
        return answer + rng.normal(scale=self.deviation, size=(size, *answer.shape))

    def law(self, dataset: Any) -> Any:
        """Law of one output."""
        answer, deviation = numeric_answer(self.query, dataset), self.deviation
        if answer.ndim == 0:
            return Gaussian(float(answer), deviation)
        return Product(tuple(Gaussian(float(loc), deviation) for loc in answer))

    def privacy_loss(self, left: Any, right: Any) -> GaussianLoss:
        """Privacy loss of a pair: noise of a spherical law, so only the l2 distance of the answers matters."""
        shift = numeric_answer(self.query, left) - numeric_answer(self.query, right)
        return GaussianLoss(float(np.linalg.norm(np.atleast_1d(shift))) / self.deviation)


@dataclass(frozen=True)
class RotatedNoise(GaussianMechanism):
    """Decoy: the noise vector is mixed by a public reflection; the spherical law does not notice.

    The reflection x -> x - 2 mean(x) makes every coordinate of the noise depend on every draw.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = numeric_answer(self.query, dataset)
        noise = rng.normal(scale=self.deviation, size=(size, *answer.shape))
        return answer + noise - 2 * noise.mean(axis=1, keepdims=True)


def classical_deviation(epsilon: float, delta: float) -> float:
    """Deviation per unit of sensitivity of Dwork & Roth (2014), Theorem A.1; proved for epsilon < 1 only."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@dataclass(frozen=True)
class ClassicalGaussian(GaussianMechanism):
    """The textbook calibration, admissible for epsilon <= 1; private, with more noise than it needs."""

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise."""
        return self.l2_sensitivity * classical_deviation(self.epsilon, self.delta)


_PAPER = Paper("gaussian", "Balle & Wang 2018")
_BINS, _ROOT = Histogram((0, 1, 2)), math.sqrt(2)
_FLIP, _FEW = ((np.ones(n), np.r_[0.0, np.ones(n - 1)]) for n in (20, 9))
_MOVE, _OTHER = (
    (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2])),
    (np.array([0, 0, 1, 2]), np.array([1, 0, 1, 2])),
)
_ROWS = np.vstack([np.ones((1, 4)), np.zeros((5, 4))])
_LABELS = tuple(Labeled(np.arange(8), np.r_[first, np.ones(7, dtype=int)]) for first in (1, 0))


def _promise(name: str, mechanism: Any, pair: Any, where: str = WHERE, relation: Any = None) -> PrivacyCheck:
    claimed = mechanism.epsilon, mechanism.delta
    name = f"{name} eps={claimed[0]:g} delta={claimed[1]:g}"
    return _PAPER.promise(name, where, mechanism, claimed, [pair], relation)


def _checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    count, bins, sums = (
        GaussianMechanism(query, sensitivity, epsilon, delta)
        for query, sensitivity in ((count_positive, 1.0), (_BINS, _ROOT), (column_sums, 2.0))
    )
    return [
        _promise("count", count, _FLIP),
        _promise("histogram", bins, _MOVE),
        _promise("four sums add-remove", sums, (_ROWS, _ROWS[1:]), relation=AddRemove()),
    ]


_LABEL_COUNT = GaussianMechanism(count_positive_labels, 1.0, 1.0, 0.05)
_CLASSICAL, _ROTATED = ClassicalGaussian(count_positive, 1.0, 0.9, 1e-4), RotatedNoise(_BINS, _ROOT, 1.0, 0.05)
_BELOW = GaussianMechanism(count_positive, 1.0, 0.5, 0.1)
CHECKS: list[PrivacyCheck] = [
    *(check for setting in SETTINGS for check in _checks(*setting)),
    _promise("label count", _LABEL_COUNT, _LABELS, relation=LabelFlip()),
    _promise("classical calibration", _CLASSICAL, _FEW, "Dwork & Roth 2014, Theorem A.1"),
    _promise("decoy/rotated noise", _ROTATED, _OTHER),
    _promise("decoy/below the classical deviation", _BELOW, _FEW),
]
