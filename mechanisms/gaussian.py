"""The Gaussian mechanism with the analytic calibration of Balle & Wang (2018), Theorem 8.

Departures: the closed form is solved for the deviation, where Algorithm 1 of the paper searches in another
parametrization, and the root is rounded up by one part in 10^9. Double-precision effects are outside every claim.
"""

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
from mechanisms import queries
from mechanisms.papers.rows import Paper

SOURCE, WHERE = "Balle & Wang 2018, Theorem 8", "Theorem 8"
ROUNDING = 1 + 1e-9
SETTINGS = ((0.25, 1e-5), (0.25, 0.05), (1.0, 1e-5), (1.0, 0.05))


def gaussian_delta(epsilon: float, shift: float) -> float:
    """Exact delta(epsilon) between N(0, 1) and N(shift, 1), shift > 0; Balle & Wang (2018)."""
    return float(ndtr(shift / 2 - epsilon / shift) - math.exp(epsilon + log_ndtr(-shift / 2 - epsilon / shift)))


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
    """Answer plus independent Gaussian noise on every coordinate; exactly (epsilon, delta)-DP."""

    query: Any  # dataset -> number, or vector of shape (d,)
    l2_sensitivity: float  # > 0: largest l2 change of the answer between neighbors
    epsilon: float  # > 0; with delta tight for a pair whose answers lie `l2_sensitivity` apart
    delta: float  # in (0, 1)

    def __post_init__(self) -> None:
        queries.admit(
            self, query=queries.require_query, l2_sensitivity=queries.scale, epsilon=positive, delta=open_probability
        )

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise."""
        return self.l2_sensitivity * analytic_deviation(self.epsilon, self.delta)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = queries.numeric_answer(self.query, dataset)
        return answer + rng.normal(scale=self.deviation, size=(size, *answer.shape))

    def law(self, dataset: Any) -> Any:
        """Law of one output."""
        answer, deviation = queries.numeric_answer(self.query, dataset), self.deviation
        if answer.ndim == 0:
            return Gaussian(float(answer), deviation)
        return Product(tuple(Gaussian(float(loc), deviation) for loc in answer))

    def privacy_loss(self, left: Any, right: Any) -> GaussianLoss:
        """Privacy loss of a pair: noise of a spherical law, so only the l2 distance of the answers matters."""
        shift = queries.numeric_answer(self.query, left) - queries.numeric_answer(self.query, right)
        return GaussianLoss(float(np.linalg.norm(np.atleast_1d(shift))) / self.deviation)


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
_BINS, _ROOT = queries.Histogram((0, 1, 2)), math.sqrt(2)
_FLIP, _FEW = ((np.ones(n), np.r_[0.0, np.ones(n - 1)]) for n in (20, 9))
_MOVE = (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2]))
_ROWS = np.vstack([np.ones((1, 4)), np.zeros((5, 4))])
_LABELS = tuple(Labeled(np.arange(8), np.r_[first, np.ones(7, dtype=int)]) for first in (1, 0))


def _promise(name: str, mechanism: Any, pair: Any, where: str = WHERE, relation: Any = None) -> PrivacyCheck:
    claimed = mechanism.epsilon, mechanism.delta
    name = f"{name} eps={claimed[0]:g} delta={claimed[1]:g}"
    return _PAPER.promise(name, where, mechanism, claimed, [pair], relation)


def _checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    count, bins, sums = (
        GaussianMechanism(query, sensitivity, epsilon, delta)
        for query, sensitivity in ((queries.count_positive, 1.0), (_BINS, _ROOT), (queries.column_sums, 2.0))
    )
    return [
        _promise("count", count, _FLIP),
        _promise("histogram", bins, _MOVE),
        _promise("four sums add-remove", sums, (_ROWS, _ROWS[1:]), relation=AddRemove()),
    ]


_LABEL_COUNT = GaussianMechanism(queries.count_positive_labels, 1.0, 1.0, 0.05)
_CLASSICAL = ClassicalGaussian(queries.count_positive, 1.0, 0.9, 1e-4)
_BELOW = GaussianMechanism(queries.count_positive, 1.0, 0.5, 0.1)
CHECKS: list[PrivacyCheck] = [
    *(check for setting in SETTINGS for check in _checks(*setting)),
    _promise("label count", _LABEL_COUNT, _LABELS, relation=LabelFlip()),
    _promise("classical calibration", _CLASSICAL, _FEW, "Dwork & Roth 2014, Theorem A.1"),
    _promise("decoy/below the classical deviation", _BELOW, _FEW),
]
