"""The Laplace mechanism: noise of scale sensitivity / epsilon on every coordinate of an answer.

Dwork, McSherry, Nissim & Smith (2006), as restated by Dwork & Roth (2014), Theorem 3.6. Low-order bits of the noise are
outside every claim of this file (see Mironov 2012).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import AddRemove, Group, Labeled, LabelFlip, PrivacyCheck
from audit.laws import Laplace, Product
from audit.validate import positive
from mechanisms.papers.rows import Paper
from mechanisms.queries import (
    BoundedMean,
    Histogram,
    admit,
    count_positive,
    count_positive_labels,
    numeric_answer,
    require_query,
    scale,
)

SOURCE, WHERE = "Dwork & Roth 2014, Theorem 3.6", "Theorem 3.6"
EPSILONS = (0.25, 1.0)


@dataclass(frozen=True)
class LaplaceMechanism:
    """Answer plus independent Laplace noise of scale l1_sensitivity / epsilon; (epsilon, 0)-DP."""

    query: Any  # dataset -> number, or vector of shape (d,)
    l1_sensitivity: float  # > 0: largest l1 change of the answer between neighbors
    epsilon: float  # > 0; tight for a pair whose answers lie `l1_sensitivity` apart

    def __post_init__(self) -> None:
        admit(self, query=require_query, l1_sensitivity=scale, epsilon=positive)

    @property
    def scale(self) -> float:
        """Scale of the noise: its mean absolute value."""
        return self.l1_sensitivity / self.epsilon

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = numeric_answer(self.query, dataset)
        return answer + rng.laplace(scale=self.scale, size=(size, *answer.shape))

    def law(self, dataset: Any) -> Any:
        """Law of one output."""
        answer = numeric_answer(self.query, dataset)
        if answer.ndim == 0:
            return Laplace(float(answer), self.scale)
        return Product(tuple(Laplace(float(loc), self.scale) for loc in answer))


@dataclass(frozen=True)
class DifferenceOfExponentials(LaplaceMechanism):
    """Decoy: no Laplace variate in sight, but the difference of two exponentials is one."""

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answer = numeric_answer(self.query, dataset)
        noise = rng.exponential(self.scale, size=(2, size, *answer.shape))
        return answer + noise[0] - noise[1]


_PAPER = Paper("laplace", "Dwork & Roth 2014")
_BINS, _MOVED = Histogram((0, 1, 2)), np.array([0, 1, 1, 1, 2])
_RECORDS, _BINNED, _MEAN = np.ones(20), np.array([0, 0, 1, 1, 2]), BoundedMean(0.0, 1.0)
_FLIP, _GONE = (_RECORDS, np.r_[0.0, np.ones(19)]), (_RECORDS, _RECORDS[:-1])
_CLAMPED = (np.r_[-7.0, np.full(15, 0.5)], np.r_[9.0, np.full(15, 0.5)])
_THREE = (np.ones(12), np.r_[np.zeros(3), np.ones(9)])
_LABELS = tuple(Labeled(np.arange(8), np.r_[first, np.ones(7, dtype=int)]) for first in (1, 0))


def _checks(epsilon: float) -> list[PrivacyCheck]:
    count, mean, replaced, gone = (
        LaplaceMechanism(query, sensitivity, epsilon)
        for query, sensitivity in ((count_positive, 1.0), (_MEAN, _MEAN.sensitivity(16)), (_BINS, 2.0), (_BINS, 1.0))
    )
    pairs, fewer = [(_BINNED, _MOVED), (_BINNED, np.array([0, 0, 1, 1, 0]))], [(_BINNED, _BINNED[1:])]
    return [
        _PAPER.promise(f"{name} eps={epsilon:g}", WHERE, mechanism, epsilon, changed, relation)
        for name, mechanism, changed, relation in (
            ("count", count, [_FLIP], None),
            ("count add-remove", count, [_GONE], AddRemove()),
            ("bounded mean", mean, [_CLAMPED], None),
            ("histogram", replaced, pairs, None),
            ("histogram add-remove", gone, [*fewer, (_BINNED, _BINNED[:-1])], AddRemove()),
        )
    ]


_DIFFERENCE, _FIVE = DifferenceOfExponentials(count_positive, 1.0, 0.5), (np.ones(5), np.r_[0.0, np.ones(4)])
_HALF, _LABEL_COUNT = LaplaceMechanism(count_positive, 1.0, 0.5), LaplaceMechanism(count_positive_labels, 1.0, 1.0)
CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _checks(epsilon)),
    _PAPER.promise("count group of 3 eps=0.5", "Theorem 2.2", _HALF, 1.5, [_THREE], Group(3)),
    _PAPER.promise("label count eps=1", WHERE, _LABEL_COUNT, 1.0, [_LABELS], LabelFlip()),
    _PAPER.promise("decoy/as a difference of exponentials eps=0.5", WHERE, _DIFFERENCE, 0.5, [_FIVE]),
]
