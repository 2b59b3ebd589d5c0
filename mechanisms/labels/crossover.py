"""From how many classes on the vector mechanism beats randomized response: a signal-to-noise rule.

Between the true class and another one, k neighbors of one class give score differences with the squared ratios of mean
to deviation

    vector:               tanh(eps / 4)^2 / (2 p q),
    randomized response:  l^2 / ((e^eps + 1) / (e^eps + K - 1) - l^2),    l = (e^eps - 1) / (e^eps + K - 1),

times k. The first does not depend on K, the second falls like 1 / K: the vector mechanism is ahead from a number of
classes on that grows with epsilon, and behind below it. Zhao et al. (2024, section 5.1) say that for few classes the
two are "nearly the same"; `mechanisms.labels.orderings` has the witness.
"""

from __future__ import annotations

import math
from itertools import count
from typing import Any

from audit.checks.utility import InequalityCheck
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder, UnaryLabelEncoder

CROSSOVERS = {0.1: 5, 0.2: 5, 0.5: 5, 1.0: 6, 2.0: 8, 3.0: 11, 4.0: 17, 6.0: 43}
"""Smallest number of classes at which the vector mechanism is ahead."""


def vector_ratio(encoder: UnaryLabelEncoder) -> float:
    """Return the squared signal-to-noise ratio of one neighbor's bits."""
    p, q = encoder.p_keep, encoder.q_flip
    return (p - q) ** 2 / (p * (1 - p) + q * (1 - q))


def response_ratio(n_classes: int, epsilon: float) -> float:
    """Return the squared signal-to-noise ratio of one neighbor's randomized response."""
    total = math.exp(epsilon) + n_classes - 1
    signal = math.expm1(epsilon) / total
    return signal**2 / ((math.exp(epsilon) + 1) / total - signal**2)


def crossover(epsilon: float) -> int:
    """Return the smallest number of classes at which the vector mechanism has the larger ratio."""
    vector = vector_ratio(SymmetricUnaryLabelEncoder(2, epsilon))
    return next(K for K in count(2) if vector > response_ratio(K, epsilon))


def crossover_cases() -> list[tuple[str, float, float]]:
    """Compare crossovers with their table."""
    return [(f"eps={epsilon:g}", crossover(epsilon), K) for epsilon, K in CROSSOVERS.items()]


def limit_cases() -> list[tuple[str, float, float]]:
    """Compare the ratio of ratios with K / 4 at small epsilon."""
    epsilon = 1e-4
    vector = vector_ratio(SymmetricUnaryLabelEncoder(2, epsilon))
    return [(f"K={K}", vector / response_ratio(K, epsilon), K / 4) for K in (2, 4, 10, 100)]


def _check(name: str, statement: str, values: Any, tolerance: float) -> InequalityCheck:
    return InequalityCheck(
        name=f"labels/crossover {name}",
        source="signal-to-noise ratios after Zhao et al. 2024, (16) and (18)",
        statement=statement,
        values=values,
        sense="==",
        tolerance=tolerance,
    )


CHECKS: list[Any] = [
    _check("classes", "The vector mechanism is ahead from K = 5 on at eps <= 0.5, 43 at 6.", crossover_cases, 0.0),
    _check("as epsilon -> 0", "The vector mechanism has K / 4 times the squared ratio.", limit_cases, 1e-3),
]
