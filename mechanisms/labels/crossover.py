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

from audit import InequalityCheck
from audit.laws import Product
from mechanisms.labels.encoder import LabelEncoder
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder, UnaryLabelEncoder

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)


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


def ratio_by_law(encoder: LabelEncoder) -> float:
    """Return the squared signal-to-noise ratio of what one neighbor says for its own class against another one.

    Enumerated from the encoder's stated law: mean squared over variance of the difference of two targets.
    """
    law: Any = encoder.law(0)
    if isinstance(law, Product):
        parts: Any = law.laws[:2]
        own, other = (part.pmf for part in parts)
        outcomes = [(a - b, p * q) for a, p in own.items() for b, q in other.items()]
    else:
        outcomes = [((z == 0) - (z == 1), p) for z, p in law.pmf.items()]
    mean = math.fsum(x * p for x, p in outcomes)
    return mean**2 / math.fsum((x - mean) ** 2 * p for x, p in outcomes)


def crossover_by_law(epsilon: float) -> int:
    """Return the crossover by the ratios of the stated laws."""
    return next(
        K
        for K in count(2)
        if ratio_by_law(SymmetricUnaryLabelEncoder(K, epsilon)) > ratio_by_law(KaryRandomizedResponse(K, epsilon))
    )


def crossover_cases() -> list[tuple[str, float, float]]:
    """Compare crossovers by formula with those by the laws of the encoders."""
    return [(f"eps={epsilon:g}", crossover(epsilon), crossover_by_law(epsilon)) for epsilon in EPSILONS]


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
    _check("classes", "The formula finds the classes from which the laws favor the bits.", crossover_cases, 0.0),
    _check("as epsilon -> 0", "The vector mechanism has K / 4 times the squared ratio.", limit_cases, 1e-3),
]
