"""The largest error of K scores grows like sqrt(ln K), from thousands of classes on.

Checks the growth that Zhao et al. (2024, section 4.1 and Appendix B.1) read off a union bound. The evaluator takes K
independent scores of k bits each, of which every bit is 1 with probability q, as the bits of all classes but the
label's own are: E max_j |Bin(k, q) / k - q|, from the distribution function to the power K. Its limit is sqrt(2 p q /
k) sqrt(ln 2K).

Departure: none; but "grows like" is asymptotic. On K = 2 to 128 the fitted exponent of ln 2K lies far from 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from audit import InequalityCheck, RateCheck, Verdict
from mechanisms.labels.encoder import FloatArray
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

SOURCE = "Zhao et al. 2024, Appendix B.1"


@dataclass(frozen=True)
class LargestDeviation:
    """Evaluator: K -> expected largest error of K independent scores.

    Parameters
    ----------
    epsilon : float > 0
    n_neighbors : int >= 1
        k.
    """

    epsilon: float
    n_neighbors: int

    def __call__(self, n_classes: int) -> float:
        levels, tails = self._tails
        below = np.exp(n_classes * np.log1p(-np.minimum(tails, 1 - 1e-16)))  # P(all K deviations < level)
        return float(np.sum(np.diff(levels, prepend=0.0) * (1 - below)))

    @property
    def limit(self) -> float:
        """sqrt(2 p q / k)."""
        q = SymmetricUnaryLabelEncoder(2, self.epsilon).q_flip
        return math.sqrt(2 * q * (1 - q) / self.n_neighbors)

    @cached_property
    def _tails(self) -> tuple[FloatArray, FloatArray]:
        """Return the possible deviations in increasing order, and the probability of at least each of them."""
        q, counts = SymmetricUnaryLabelEncoder(2, self.epsilon).q_flip, np.arange(self.n_neighbors + 1)
        deviations = np.abs(counts / self.n_neighbors - q)
        order = np.argsort(deviations)
        masses = stats.binom.pmf(counts, self.n_neighbors, q)[order]
        return deviations[order], np.cumsum(masses[::-1])[::-1]


def log_classes(n_classes: int) -> float:
    """Return ln 2K."""
    return math.log(2 * n_classes)


def bound_cases() -> list[tuple[str, float, float]]:
    """Compare the expected largest error with sqrt(ln(2 K) / (2 k)), which bounds it for any K scores."""
    cases = []
    for epsilon in (0.5, 1.0, 2.0):
        for k in (50, 200, 2_000):
            largest = LargestDeviation(epsilon, k)
            cases += [
                (f"eps={epsilon:g} k={k} K={K}", largest(K), math.sqrt(log_classes(K) / (2 * k)))
                for K in (2, 10, 100, 10_000)
            ]
    return cases


def _rate_check(name: str, statement: str, sizes: tuple[int, ...], **settings: Any) -> RateCheck:
    return RateCheck(
        name=f"labels/largest error {name}",
        source=SOURCE,
        statement=statement,
        evaluator=LargestDeviation(1.0, 200),
        sizes=sizes,
        scale=log_classes,
        exponent=-0.5,
        margin=0.1,
        **settings,
    )


CHECKS: list[Any] = [
    _rate_check(
        "grows like sqrt(ln K)",
        "The expected largest error of K scores grows like (ln 2K)^1/2.",
        tuple(2**j for j in range(20, 41, 4)),
        horizon=2**40,
    ),
    _rate_check(
        "for few classes",
        "K = 2 to 128 does not show the exponent 1/2, nor refute it.",
        tuple(2**j for j in range(1, 8)),
        horizon=2**40,
        expected=Verdict.INCONCLUSIVE,
    ),
    InequalityCheck(
        name="labels/largest error bound",
        source=SOURCE,
        statement="The expected largest error of K scores is at most sqrt(ln(2 K) / (2 k)).",
        values=bound_cases,
    ),
]
