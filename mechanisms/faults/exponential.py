"""Broken exponential mechanisms: missing factor 2, wrong sensitivity, candidates that look at the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.exponential import complementary_pair, label_mistakes, threshold_mistakes

BUDGET = 200_000
SOURCE = "claimed after McSherry & Talwar 2007, Theorem 6"


@dataclass(frozen=True)
class FullEpsilon:
    """Weights exp(-epsilon err), without the factor 1/2, for a score that moves in both directions.

    True privacy: (log[(1 + e^(eps m)) / (1 + e^(eps (m - 2)))], 0) on two constant hypotheses and m labels, of
    which one flips: 0.970 for m = 8 at the claimed 0.5; 2 epsilon in the limit.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        weights = softmax(-self.epsilon * label_mistakes(dataset, (0, 1)))
        return rng.choice(2, size=size, p=weights)


@dataclass(frozen=True)
class MarginScore:
    """Scores by mistakes minus hits, which one label moves by 2, with the sensitivity declared as 1.

    True privacy: (log[(1 + e^(eps m)) / (1 + e^(eps (m - 2)))], 0) on two constant hypotheses and m labels, of
    which one flips: 1.891 for m = 4 at the claimed 1; 2 epsilon in the limit.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        margin = 2 * label_mistakes(dataset, (0, 1)) - len(dataset)
        return rng.choice(2, size=size, p=softmax(-self.epsilon * margin / 2))


@dataclass(frozen=True)
class CandidatesFromTheData:
    """Thresholds to choose from are the feature values of the private records.

    True privacy: none on a pair that replaces one feature value: the new value is released with its own
    probability under the softmax, 0.339 on the pair below, and never by the other side; delta(epsilon') is at
    least that for every epsilon'.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        candidates = np.sort(dataset.X)
        weights = softmax(-self.epsilon / 2 * threshold_mistakes(dataset, tuple(candidates)))
        return candidates[rng.choice(len(candidates), size=size, p=weights)]


@dataclass(frozen=True)
class WorstLeftOut:
    """The right weights, but the worst candidate is left out of the draw.

    True privacy: none on a pair that changes which candidate is the worst: what is worst on one side never comes
    out there. On the pair below delta(epsilon') = 1 / (1 + e^(epsilon / 2)) = 0.378 for every epsilon', at the
    claimed 1.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        mistakes = label_mistakes(dataset, (0, 1, 2))
        kept = np.flatnonzero(np.arange(3) != np.argmax(mistakes))
        return kept[rng.choice(2, size=size, p=softmax(-self.epsilon / 2 * mistakes[kept]))]


def _check(name: str, mechanism: Any, epsilon: float, pair: tuple[Any, Any]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/exponential {name} eps={epsilon:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET,
    )


def _feature_pair() -> tuple[Labeled, Labeled]:
    x = np.linspace(0.1, 0.9, 5)
    labels = (x >= 0.5).astype(int)
    return Labeled(x, labels), Labeled(np.r_[x[:2], 0.45, x[3:]], labels)


def _label_pair() -> tuple[Labeled, Labeled]:
    x = np.arange(6)
    return Labeled(x, np.array([0, 0, 0, 1, 1, 2])), Labeled(x, np.array([0, 0, 0, 1, 2, 2]))


CHECKS: list[PrivacyCheck] = [
    _check("full epsilon", FullEpsilon(0.5), 0.5, complementary_pair(8)),
    _check("margin score", MarginScore(1.0), 1.0, complementary_pair(4)),
    _check("candidates from the data", CandidatesFromTheData(1.0), 1.0, _feature_pair()),
    _check("worst left out", WorstLeftOut(1.0), 1.0, _label_pair()),
]
