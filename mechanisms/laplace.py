"""The Laplace mechanism: noise of scale sensitivity / epsilon on every coordinate of an answer.

Implements Dwork, McSherry, Nissim & Smith (2006), as restated by Dwork & Roth
(2014), Definition 3.3 and Theorem 3.6. Departures from the text: none in the law; the noise is double-precision
floating point, whose low-order bits are outside every claim of this file (see Mironov 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import AddRemove, Group, Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Substitution
from audit.laws import Laplace, Product
from audit.validate import positive
from mechanisms.papers.bousquet2022.cells import DrawnVotes
from mechanisms.queries import (
    BoundedMean,
    Histogram,
    count_positive,
    count_positive_labels,
    numeric_answer,
    require_query,
)

SOURCE = "Dwork & Roth 2014, Theorem 3.6"
EPSILONS = (0.25, 1.0)


@dataclass(frozen=True)
class LaplaceMechanism:
    """Answer plus independent Laplace noise of scale l1_sensitivity / epsilon; (epsilon, 0)-DP.

    Parameters
    ----------
    query : callable
        dataset -> number, or vector of shape (d,).
    l1_sensitivity : float > 0
        Largest l1 change of the answer between neighbors.
    epsilon : float > 0
        Privacy parameter; tight for a pair whose answers lie `l1_sensitivity` apart.
    """

    query: Any
    l1_sensitivity: float
    epsilon: float

    def __post_init__(self) -> None:
        require_query(self.query)
        object.__setattr__(self, "l1_sensitivity", positive(self.l1_sensitivity, "l1_sensitivity"))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

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


def sums_of_cells(dataset: Labeled) -> np.ndarray:
    """Return the sum of (label - 1/2) over each of two cells, which are the features; labels in {0, 1}.

    A vote against HALF THE EXACT count of a cell looks like a leak. Only s + W > 0 is released, and the vector of the
    sums s has l1 sensitivity 1 under substitution (Bousquet et al. 2022, Theorem 3.1).
    """
    return np.bincount(dataset.X, weights=dataset.y - 0.5, minlength=2)


def _scalar_checks(epsilon: float) -> list[PrivacyCheck]:
    ones, flipped = np.ones(20), np.r_[0.0, np.ones(19)]
    count = LaplaceMechanism(count_positive, 1.0, epsilon)
    mean = BoundedMean(0.0, 1.0)
    bounded = LaplaceMechanism(mean, mean.sensitivity(16), epsilon)
    clamped = [(np.r_[-7.0, np.full(15, 0.5)], np.r_[9.0, np.full(15, 0.5)])]
    return [
        PrivacyCheck(
            name=f"laplace/count eps={epsilon:g}",
            mechanism=count,
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=[(ones, flipped)],
        ),
        PrivacyCheck(
            name=f"laplace/count add-remove eps={epsilon:g}",
            mechanism=count,
            claim=PrivacyClaim(epsilon, 0.0, AddRemove(), SOURCE),
            pairs=[(ones, ones[:-1])],
        ),
        PrivacyCheck(
            name=f"laplace/bounded mean eps={epsilon:g}",
            mechanism=bounded,
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=clamped,
        ),
    ]


def _histogram_checks(epsilon: float) -> list[PrivacyCheck]:
    histogram = Histogram((0, 1, 2))
    left, right = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 2])
    return [
        PrivacyCheck(
            name=f"laplace/histogram eps={epsilon:g}",
            mechanism=LaplaceMechanism(histogram, 2.0, epsilon),
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=[(left, right), (left, np.array([0, 0, 1, 1, 0]))],
        ),
        PrivacyCheck(
            name=f"laplace/histogram add-remove eps={epsilon:g}",
            mechanism=LaplaceMechanism(histogram, 1.0, epsilon),
            claim=PrivacyClaim(epsilon, 0.0, AddRemove(), SOURCE),
            pairs=[(left, left[1:]), (left, left[:-1])],
        ),
    ]


def _relation_checks() -> list[PrivacyCheck]:
    records = np.ones(12)
    labeled = Labeled(np.arange(8), np.ones(8, dtype=int))
    flipped = Labeled(np.arange(8), np.r_[0, np.ones(7, dtype=int)])
    return [
        PrivacyCheck(
            name="laplace/count group of 3 eps=0.5",
            mechanism=LaplaceMechanism(count_positive, 1.0, 0.5),
            claim=PrivacyClaim(1.5, 0.0, Group(3), "Dwork & Roth 2014, Theorem 2.2"),
            pairs=[(records, np.r_[0.0, 0.0, 0.0, records[3:]])],
        ),
        PrivacyCheck(
            name="laplace/label count eps=1",
            mechanism=LaplaceMechanism(count_positive_labels, 1.0, 1.0),
            claim=PrivacyClaim(1.0, 0.0, LabelFlip(), SOURCE),
            pairs=[(labeled, flipped)],
        ),
    ]


def _decoy_checks() -> list[PrivacyCheck]:
    cells = np.array([0, 0, 1, 1])
    base = Labeled(cells, np.array([0, 0, 0, 1]))
    label = Labeled(cells, np.array([1, 0, 0, 1]))
    move = Labeled(np.array([0, 1, 1, 1]), np.array([0, 1, 0, 1]))
    return [
        PrivacyCheck(
            name="decoy/laplace as a difference of exponentials eps=0.5",
            mechanism=DifferenceOfExponentials(count_positive, 1.0, 0.5),
            claim=PrivacyClaim(0.5, 0.0, Substitution(), SOURCE),
            pairs=[(np.ones(5), np.r_[0.0, np.ones(4)])],
        ),
        PrivacyCheck(
            name="decoy/laplace vote against the exact cell count eps=1",
            mechanism=DrawnVotes(1.0, sums_of_cells),
            claim=PrivacyClaim(1.0, 0.0, Substitution(), "Bousquet et al. 2022, Theorem 3.1"),
            pairs=[(base, label), (base, move)],
        ),
    ]


CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _scalar_checks(epsilon)),
    *(check for epsilon in EPSILONS for check in _histogram_checks(epsilon)),
    *_relation_checks(),
    *_decoy_checks(),
]
