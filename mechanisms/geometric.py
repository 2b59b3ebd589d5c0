"""The geometric mechanism of Ghosh, Roughgarden & Sundararajan (2009): two-sided geometric noise on integer answers.

The noise k has probability (1 - r) / (1 + r) * r^|k|, r = exp(-epsilon / sensitivity). It is drawn as the difference of
two one-sided geometric variables; truncation to a public range is post-processing.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import AddRemove, Group, Labeled, LabelFlip, PrivacyCheck
from audit.errors import InvalidArgument
from audit.laws import Finite, Product, TwoSidedGeometric
from audit.validate import positive
from mechanisms.papers.rows import Paper
from mechanisms.queries import (
    Histogram,
    admit,
    count,
    count_positive,
    count_positive_labels,
    held,
    integer_answer,
    require_query,
)

SOURCE, WHERE = "Ghosh, Roughgarden & Sundararajan 2009, geometric mechanism", "geometric mechanism"
EPSILONS = (0.25, 1.0)


@dataclass(frozen=True)
class GeometricMechanism:
    """Integer answer plus independent two-sided geometric noise; (epsilon, 0)-DP."""

    query: Any  # dataset -> integer, or integer vector of shape (d,)
    sensitivity: int  # >= 1: largest l1 change of the answer between neighbors
    epsilon: float  # > 0; tight for a pair whose answers lie `sensitivity` apart

    def __post_init__(self) -> None:
        admit(self, query=require_query, sensitivity=count, epsilon=positive)

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
        admit(self, most=count)

    def _answer(self, dataset: Any) -> int:
        answer = integer_answer(self.query, dataset)
        if answer.ndim or not 0 <= answer <= self.most:
            raise InvalidArgument(f"`query` must answer with an integer in [0, {self.most}]")
        return int(answer)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.clip(self._answer(dataset) + self._noise((size,), rng), 0, self.most)

    def law(self, dataset: Any) -> Finite:
        """Law of one output: the interior terms of the geometric, the tails added to the ends."""
        held(self.most, "most")
        answer, ratio = self._answer(dataset), self.ratio
        center = (1 - ratio) / (1 + ratio)
        table: dict[Hashable, float] = {z: center * ratio ** abs(z - answer) for z in range(self.most + 1)}
        table[0] = ratio**answer / (1 + ratio)
        table[self.most] = ratio ** (self.most - answer) / (1 + ratio)
        return Finite(table)


_PAPER = Paper("geometric", "Ghosh, Roughgarden & Sundararajan 2009")
_RECORDS, _ZERO, _ONE = np.ones(20), np.zeros(4), np.r_[1.0, np.zeros(3)]
_MOVE = (np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2]))
_LABELS = tuple(Labeled(np.arange(8), np.r_[first, np.ones(7, dtype=int)]) for first in (1, 0))
_TWO = (np.ones(6), np.r_[0.0, 0.0, np.ones(4)])


def _checks(epsilon: float) -> list[PrivacyCheck]:
    count, bins = GeometricMechanism(count_positive, 1, epsilon), GeometricMechanism(Histogram((0, 1, 2)), 2, epsilon)
    flip, gone = (_RECORDS, np.r_[0.0, np.ones(19)]), (_RECORDS, _RECORDS[1:])
    clamped = TruncatedGeometric(count_positive, 1, epsilon, most=4)
    ends = [(_ZERO, _ONE), (np.array([1.0, 1.0, 0.0, 0.0]), _ONE)]
    return [
        _PAPER.promise(f"count eps={epsilon:g}", WHERE, count, epsilon, [flip]),
        _PAPER.promise(f"count add-remove eps={epsilon:g}", WHERE, count, epsilon, [gone], AddRemove()),
        _PAPER.promise(f"histogram eps={epsilon:g}", WHERE, bins, epsilon, [_MOVE]),
        _PAPER.promise(f"decoy/clamped to the public range eps={epsilon:g}", WHERE, clamped, epsilon, ends),
    ]


_HALF, _GROUP = GeometricMechanism(count_positive, 1, 0.5), "Dwork & Roth 2014, Theorem 2.2"
_LABEL_COUNT = GeometricMechanism(count_positive_labels, 1, 0.5)
CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _checks(epsilon)),
    _PAPER.promise("label count eps=0.5", WHERE, _LABEL_COUNT, 0.5, [_LABELS], LabelFlip()),
    _PAPER.promise("count group of 2 eps=0.5", _GROUP, _HALF, 1.0, [_TWO], Group(2)),
]
