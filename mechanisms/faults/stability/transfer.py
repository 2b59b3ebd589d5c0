"""Private labels, and then the private data once more: knowledge transfer that leaves its accounting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck
from mechanisms.faults.stability.noise import REFERENCE, fault_check
from mechanisms.faults.stability.thresholds import DELTA
from mechanisms.stability.aggregate import VoteTable
from mechanisms.stability.calibration import Calibration
from mechanisms.stability.instability import BOTTOM
from mechanisms.stability.online import Transcripts
from mechanisms.stability.vote_pairs import unstable_pair

SOURCE = "Bassily, Thakurta & Thakkar 2018, Algorithm 5"


@dataclass(frozen=True)
class TrueLabelForBottom(Transcripts):
    """The student's training labels: the majority stands in for BOTTOM "for training only".

    True privacy: none (delta = 1 for every epsilon) once a student shows the labels it was trained on.
    """

    law = None  # type: ignore[assignment]

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        values, _ = self.answers(dataset)
        released = super().__call__(dataset, size, rng)
        return np.where(released < 0, values, released)


@dataclass(frozen=True)
class StudentTunedOnPrivateData:
    """The student's regularization is the one with the smaller error on the private labels.

    Students predict the released labels of the public points, or the constant 0. Data: private labels.
    True privacy: none (delta = 1 for every epsilon): where both err equally often one record decides which is chosen.
    """

    calibration: Calibration

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        votes = np.asarray(dataset)[:, None]
        labels = Transcripts(VoteTable(), self.calibration)(votes, size, rng)
        coins = rng.integers(2, size=labels.shape)
        student = np.where(labels == BOTTOM, coins, labels)
        constant_is_better = int(2 * votes.sum() < len(votes))
        return np.hstack([student, np.full((size, 1), constant_is_better)])


_BALANCED = np.r_[np.zeros(20, dtype=int), np.ones(20, dtype=int)]
_ONE_LESS = np.r_[np.zeros(21, dtype=int), np.ones(19, dtype=int)]

CHECKS: list[PrivacyCheck] = [
    fault_check(
        "true label for bottom",
        TrueLabelForBottom(VoteTable(), REFERENCE),
        (1.0, DELTA),
        [unstable_pair(4)],
        SOURCE,
        budget=2_000,
    ),
    fault_check(
        "student tuned on private data",
        StudentTunedOnPrivateData(REFERENCE),
        (1.0, DELTA),
        [(_BALANCED, _ONE_LESS)],
        SOURCE,
        budget=2_000,
    ),
]
