"""Soft labels with a test too many or a bin too few: what the two partitions may not share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck
from mechanisms.faults.stability.noise import fault_check
from mechanisms.stability.calibration import printed_soft
from mechanisms.stability.soft_labels import SOURCE, SoftTranscripts, histograms

CALIBRATION = printed_soft(1.0, 1e-6, 1, 1000)


@dataclass(frozen=True)
class SameNoiseTwice(SoftTranscripts):
    """The test of the shifted partition reuses threshold and noise of the first test.

    True privacy: no finite epsilon: where both distances are equal the second test never passes; it does with
    probability 1 - 2 G(1) = 0.0109 when the first distance is one lower and the second one higher (T = 1).
    """

    law = None  # type: ignore[assignment]  # the law above is that of fresh noise

    def second_passes(
        self, level: float, old: np.ndarray, noise: np.ndarray, renewed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Compare with what the first test was compared with."""
        return np.asarray(level + noise > old)


@dataclass(frozen=True)
class BinsFromTheData:
    """The partition starts at the median score of the teachers, so that their scores fall into the middle of a bin.

    True privacy: none (delta near 1 for every epsilon): the released mid-point is the median, to the last digit.
    """

    soft: SoftTranscripts

    def __call__(self, scores: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        median = np.median(scores, axis=0)
        centered = np.clip(np.asarray(scores) - median + (0.5 - 0.5 / self.soft.bins), 0, 1)
        codes = self.soft(centered, size, rng)
        return np.where(codes >= 0, codes / (2 * self.soft.bins) - 0.5 + 0.5 / self.soft.bins + median, codes)


@dataclass(frozen=True)
class OtherBinsShown:
    """Each answer also releases which bins of the first partition are empty.

    True privacy: none (delta = 1 for every epsilon): a teacher alone in its bin is seen.
    """

    soft: SoftTranscripts

    def __call__(self, scores: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        seen = (histograms(scores, self.soft.bins)[0] > 0).ravel()
        return np.hstack([self.soft(scores, size, rng), np.broadcast_to(seen, (size, seen.size))])


def equal_distances(threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables of one query with distances (d, d) and (d - 1, d + 1) of the two partitions, d near w.

    Bins of width 1/4: scores 0.45 lie in the fullest bins of both, 0.3 in that of the first only, 0.55 in that of the
    second only; the first teacher goes from 0.3 to 0.55.
    """
    both, each = 2 * round(threshold), 10
    left = np.r_[0.3, np.full(both, 0.45), np.full(each, 0.3), np.full(each + 1, 0.55)][:, None]
    right = left.copy()
    right[0] = 0.55
    return left, right


def _scores(first: float) -> np.ndarray:
    return np.r_[first, np.full(2000, 0.30), np.full(2000, 0.35)][:, None]


_SOFT = SoftTranscripts(4, CALIBRATION)


def _check(name: str, mechanism: Any, pair: Any, **settings: Any) -> PrivacyCheck:
    return fault_check(f"soft labels, {name}", mechanism, (1.0, 1e-6), [pair], SOURCE, **{"budget": 2_000, **settings})


CHECKS: list[PrivacyCheck] = [
    _check("same noise twice", SameNoiseTwice(4, CALIBRATION), equal_distances(CALIBRATION.threshold), budget=100_000),
    _check("bins from the data", BinsFromTheData(_SOFT), (_scores(0.30), _scores(0.35))),
    _check("other bins shown", OtherBinsShown(_SOFT), (_scores(0.30), _scores(0.9))),
]
