"""Broken semi-private and semi-supervised learners: the exponent, the representatives, and records used twice.

After Bousquet et al. (2022), Theorems 4.10 and 4.11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.consistency.concepts import Singletons, Thresholds
from mechanisms.consistency.semi_private import SemiPrivateRelease, equal_pair, mistakes
from mechanisms.consistency.semi_supervised import (
    SemiSupervisedRelease,
    cube_counts,
    mean_preferred,
    preferred,
    records,
    replaced,
    shares,
)

BUDGET = 200_000
SOURCE = "claimed after Bousquet et al. 2022, Theorem 4.10"


@dataclass(frozen=True)
class FullEpsilon:
    """Weights exp(-epsilon mistakes) without the 1/2.

    True privacy: (log((1 + e^(epsilon m)) / (1 + e^(epsilon (m - 2)))), 0) on two complementary concepts and m equal
    labels, one flipped: 0.970 for m = 8 and the claimed 0.5.
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        wrong = SemiPrivateRelease(Singletons(), (0.35,), 1.0).mistakes(dataset)
        return rng.choice(wrong.size, size=size, p=softmax(-self.epsilon * wrong))


@dataclass(frozen=True)
class RepresentativesFromTheRecords:
    """The representatives are thresholds at the private features; the chosen threshold is released.

    True privacy: none, with mass 0.274 at epsilon = 1 on two records, one of which moves: the new threshold was no
    candidate before, and has weight e^(-1/2) among e^(-1/2), 1, e^(-1/2).
    """

    epsilon: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        candidates = np.r_[np.unique(dataset.X), 9.0]
        wrong = mistakes(Thresholds(), candidates[:, None], dataset.X[:, None], dataset.y)
        return rng.choice(candidates, size=size, p=softmax(-self.epsilon * wrong / 2))


@dataclass(frozen=True)
class LabeledRecordsReused:
    """The features of labeled records go into the density as well. Shows both noisy counts and the threshold's cube.

    True privacy: at most (2 epsilon, delta / 4) for a labeled record: its place in the density and its label are both
    paid for with epsilon. At the claimed (2, 0.004) the checked pair has an epsilon above 2.5.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        counts, side = cube_counts(dataset.X, 2)
        level = SemiSupervisedRelease(self.epsilon, self.delta).level
        noisy = counts + rng.laplace(scale=2 / self.epsilon, size=(size, 2))
        heights = np.where((counts > 0) & (noisy >= level), noisy, 0.0)
        cube = (rng.random(size) >= shares(heights)[:, 0]).astype(int)
        places = (cube + rng.random(size)) * side
        kept = rng.random(size) < preferred(dataset, places, self.epsilon)
        return np.column_stack([heights, np.where(kept, cube, -1)])

    def log_likelihood(self, dataset: Labeled, outputs: np.ndarray) -> np.ndarray:
        """Return the log-density of each output, for counts far above the threshold."""
        counts, side = cube_counts(dataset.X, 2)
        heights, chosen = outputs[:, :2], outputs[:, 2].astype(int)
        kept = shares(heights) * [
            mean_preferred(dataset, cube * side, (cube + 1) * side, self.epsilon) for cube in (0, 1)
        ]
        given = np.where(chosen < 0, 1 - kept.sum(axis=1), kept[np.arange(len(kept)), np.maximum(chosen, 0)])
        return -np.abs(heights - counts).sum(axis=1) * self.epsilon / 2 + np.log(given)


def _check(name: str, mechanism: Any, claim: tuple[float, float], pair: tuple[Labeled, Labeled]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/consistency/{name} eps={claim[0]:g} delta={claim[1]:g}",
        mechanism=mechanism,
        claim=PrivacyClaim(*claim, Substitution(), SOURCE),
        pairs=[pair],
        expected=Verdict.FAIL,
        budget=BUDGET if "reused" in name else BUDGET // 4,
    )


def _moved_record() -> tuple[Labeled, Labeled]:
    marks = np.array([0, 1])
    return Labeled(np.array([0.2, 0.6]), marks), Labeled(np.array([0.4, 0.6]), marks)


def _reused_pair() -> tuple[Labeled, Labeled]:
    """Labels that no threshold explains; a record of label 1 on the left becomes one of label 0 on the right."""
    base = records((24, 24), [(0.5, 1), *[(0.5, 0), (0.5, 1), (1.2, 0), (1.2, 1)] * 2])
    return base, replaced(base, 0, 1.2, 0, 48)


CHECKS: list[PrivacyCheck] = [
    _check("semi-private full epsilon", FullEpsilon(0.5), (0.5, 0.0), equal_pair(0.35, 8)),
    _check("semi-private candidates from the records", RepresentativesFromTheRecords(1.0), (1.0, 0.0), _moved_record()),
    _check("semi-supervised labelled records reused", LabeledRecordsReused(2.0, 0.004), (2.0, 0.004), _reused_pair()),
]
