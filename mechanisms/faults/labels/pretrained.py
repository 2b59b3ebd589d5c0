"""Pretraining that is not public: the features of LP-1ST* are learned from the private labels themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit import Labeled, LabelFlip
from mechanisms.faults.labels.bits import fault_check
from mechanisms.labels.neighbors import as_points
from mechanisms.labels.pretrained import OneStageRelease, PublicFeatures
from mechanisms.labels.two_stage import flips


@dataclass(frozen=True)
class PretrainedOnTheLabels:
    """The released labels, and the features of one point, which a network learned from the private labels.

    True privacy: none; the features are a function of the labels without noise.
    """

    release: OneStageRelease

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        seen = PublicFeatures(dataset.X, dataset.y, hidden=2, epochs=3)(as_points([0.25]))
        return np.hstack([self.release(dataset, size, rng), np.tile(seen, (size, 1))])


CHECKS = [
    fault_check(
        "pretrained on the labels",
        PretrainedOnTheLabels(OneStageRelease(3, 1.0)),
        1.0,
        flips((0, 0, 1, 0, 1, 2), 3)[:3],
        LabelFlip(),
        budget=4_000,
    )
]
