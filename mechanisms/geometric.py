"""The geometric mechanism: two-sided geometric noise on integer answers.

Implements Ghosh, Roughgarden & Sundararajan (2009), and the fact that truncation to a public
range is post-processing. The noise k has probability (1 - r) / (1 + r) * r^|k| with r = exp(-epsilon / sensitivity).
Departure from the text: the noise is drawn as the difference of two one-sided geometric variables, which has
exactly that law; the vector form adds independent noise to every coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import AddRemove, Group, Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Finite, Product, TwoSidedGeometric
from audit.validate import integer, positive
from mechanisms.queries import Histogram, count_positive, count_positive_labels, integer_answer, require_query

SOURCE = "Ghosh, Roughgarden & Sundararajan 2009, geometric mechanism"
EPSILONS = (0.25, 1.0)


@dataclass(frozen=True)
class GeometricMechanism:
    """Integer answer plus independent two-sided geometric noise; (epsilon, 0)-DP.

    Parameters
    ----------
    query : callable
        dataset -> integer, or integer vector of shape (d,).
    sensitivity : int >= 1
        Largest l1 change of the answer between neighbors.
    epsilon : float > 0
        Privacy parameter; tight for a pair whose answers lie `sensitivity` apart.
    """

    query: Any
    sensitivity: int
    epsilon: float

    def __post_init__(self) -> None:
        require_query(self.query)
        object.__setattr__(self, "sensitivity", integer(self.sensitivity, "sensitivity", at_least=1))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @property
    def ratio(self) -> float:
        """Ratio of the probabilities of two adjacent noise values."""
        return math.exp(-self.epsilon / self.sensitivity)

    def _noise(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        success = -math.expm1(-self.epsilon / self.sensitivity)
        return rng.geometric(success, size=shape) - rng.geometric(success, size=shape)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = integer_answer(self.query, dataset)
        return answer + self._noise((size, *answer.shape), rng)

    def law(self, dataset: Any) -> Any:
        """Law of one output."""
        answer = integer_answer(self.query, dataset)
        if answer.ndim == 0:
            return TwoSidedGeometric(int(answer), self.ratio)
        return Product(tuple(TwoSidedGeometric(int(loc), self.ratio) for loc in answer))


@dataclass(frozen=True)
class TruncatedGeometric(GeometricMechanism):
    """Noisy answer clamped to the public range [0, most]: post-processing, still (epsilon, 0)-DP.

    Both ends carry atoms, which looks like a leak; each atom's log-ratio is epsilon at most.
    """

    most: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "most", integer(self.most, "most", at_least=1))

    def _answer(self, dataset: Any) -> int:
        answer = integer_answer(self.query, dataset)
        if answer.ndim or not 0 <= answer <= self.most:
            raise InvalidArgument.of("query", f"answer with an integer in [0, {self.most}]", answer)
        return int(answer)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.clip(self._answer(dataset) + self._noise((size,), rng), 0, self.most)

    def law(self, dataset: Any) -> Finite:
        """Law of one output: the interior terms of the geometric, the tails added to the ends."""
        answer, ratio = self._answer(dataset), self.ratio
        center = (1 - ratio) / (1 + ratio)
        table: dict[Hashable, float] = {z: center * ratio ** abs(z - answer) for z in range(self.most + 1)}
        table[0] = ratio**answer / (1 + ratio)
        table[self.most] = ratio ** (self.most - answer) / (1 + ratio)
        return Finite(table)


def _checks(epsilon: float) -> list[PrivacyCheck]:
    records, changed = np.ones(20), np.r_[0.0, np.ones(19)]
    histogram = Histogram((0, 1, 2))
    left, right = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2])
    return [
        PrivacyCheck(
            name=f"geometric/count eps={epsilon:g}",
            mechanism=GeometricMechanism(count_positive, 1, epsilon),
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=[(records, changed)],
        ),
        PrivacyCheck(
            name=f"geometric/count add-remove eps={epsilon:g}",
            mechanism=GeometricMechanism(count_positive, 1, epsilon),
            claim=PrivacyClaim(epsilon, 0.0, AddRemove(), SOURCE),
            pairs=[(records, records[1:])],
        ),
        PrivacyCheck(
            name=f"geometric/histogram eps={epsilon:g}",
            mechanism=GeometricMechanism(histogram, 2, epsilon),
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=[(left, right)],
        ),
        PrivacyCheck(
            name=f"decoy/geometric clamped to the public range eps={epsilon:g}",
            mechanism=TruncatedGeometric(count_positive, 1, epsilon, most=4),
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=[(np.zeros(4), np.r_[1.0, np.zeros(3)]), (np.array([1.0, 1.0, 0.0, 0.0]), np.r_[1.0, np.zeros(3)])],
        ),
    ]


def _relation_checks() -> list[PrivacyCheck]:
    labeled = Labeled(np.arange(8), np.ones(8, dtype=int))
    flipped = Labeled(np.arange(8), np.r_[0, np.ones(7, dtype=int)])
    return [
        PrivacyCheck(
            name="geometric/label count eps=0.5",
            mechanism=GeometricMechanism(count_positive_labels, 1, 0.5),
            claim=PrivacyClaim(0.5, 0.0, LabelFlip(), SOURCE),
            pairs=[(labeled, flipped)],
        ),
        PrivacyCheck(
            name="geometric/count group of 2 eps=0.5",
            mechanism=GeometricMechanism(count_positive, 1, 0.5),
            claim=PrivacyClaim(1.0, 0.0, Group(2), "Dwork & Roth 2014, Theorem 2.2"),
            pairs=[(np.ones(6), np.r_[0.0, 0.0, np.ones(4)])],
        ),
    ]


CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _checks(epsilon)),
    *_relation_checks(),
]
