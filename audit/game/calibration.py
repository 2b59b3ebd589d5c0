"""Calibrate a score by a line, fitted on outputs that the score has not seen.

A score fitted as a log-likelihood ratio is usually too bold. If no bin of scores contradicts the line, the share of
right guesses beyond a threshold follows from all outputs rather than from the few beyond it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.game import tuning
from audit.game.scorers.base import fit_logistic
from audit.game.thresholds import Ranked, TestDesign, Thresholds, best_thresholds


def mean_bound(design: TestDesign, seen: Sequence[tuple[float, float]], used: int, penalty: float) -> float:
    """Estimate the bound from frequencies of right and wrong guesses that took no part in the choice of thresholds."""
    right, wrong = np.mean(seen, axis=0)
    return float(design.estimated_bound(np.array(right), np.array(wrong), np.array(used), penalty))


@dataclass(frozen=True)
class Line:
    """Calibrate a score: slope * score + offset is a log-likelihood ratio, or nearly so if the counts show a misfit."""

    slope: float
    offset: float
    misfit: bool = False

    @classmethod
    def through(cls, ranked: Ranked) -> Line | None:
        """Fit to fresh scores of both sides; None when the line is flat."""
        pooled = ranked.pooled
        if not len(pooled) or not np.isfinite(pooled[[0, -1]]).all():
            return None
        edges = np.unique(pooled[np.arange(1, tuning.LINE_BINS) * len(pooled) // tuning.LINE_BINS])
        left, right = (_counts(side, edges) for side in ranked.sides)
        starts = np.r_[0, np.searchsorted(pooled, edges)]
        centers = np.add.reduceat(pooled, np.minimum(starts, len(pooled) - 1)) / np.maximum(left + right, 1)
        scale = float(np.std(centers))
        if not scale > 0:
            return None
        design = np.column_stack([np.ones(len(centers)), centers / scale])
        weights, errors = fit_logistic(design, left, left + right, ridge=1e-6)
        if weights[1] < tuning.LINE_ERRORS * errors[1]:
            return None
        offset, slope, error = float(weights[0]), float(weights[1]) / scale, float(errors[1]) / scale
        return cls(slope - error, offset, cls(slope, offset)._fit_pvalue(ranked) < tuning.LINE_MISFIT)

    def _fit_pvalue(self, ranked: Ranked) -> float:
        """Return the p-value of the counts between the tested cuts, given the line."""
        pooled = ranked.pooled
        edges = np.unique(pooled[(np.array(tuning.LINE_CUTS) * len(pooled)).astype(int)])
        chances = special.expit(self.slope * pooled + self.offset)
        sums = np.r_[0.0, np.cumsum(chances)]
        spread = np.r_[0.0, np.cumsum(chances * (1 - chances))]
        cuts = np.r_[0, np.searchsorted(pooled, edges), len(pooled)]
        expected, variance = np.diff(sums[cuts]), np.diff(spread[cuts])
        used = variance > 5
        freedom = int(used.sum()) - 2
        if freedom < 1:
            return 0.0
        gaps = _counts(ranked.sides[0], edges) - expected
        return float(special.chdtrc(freedom, np.sum(gaps[used] ** 2 / variance[used])))

    def proposal(self, scores: Ranked, design: TestDesign, allowance: float) -> tuple[float, Thresholds]:
        """Return the estimated bound, at most `allowance` standard errors above the counts, and its thresholds."""
        left, right = (self.slope * side + self.offset for side in scores.sides)
        ratios = Ranked((left, right), scores.sizes)
        chosen = best_thresholds(ratios, design, 0.0, stated=True)
        plus, minus = ratios.pooled[ratios.pooled >= chosen.upper], ratios.pooled[ratios.pooled <= chosen.lower]
        correct = (special.expit(plus).sum() + special.expit(-minus).sum()) / ratios.total
        wrong = (special.expit(-plus).sum() + special.expit(minus).sum()) / ratios.total
        seen = chosen.frequencies(ratios)
        stated, counted = (mean_bound(design, [pair], chosen.used, 0.0) for pair in ((correct, wrong), seen))
        error = 2 / math.sqrt(1 + sum(seen) * ratios.total)
        upper, lower = ((threshold - self.offset) / self.slope for threshold in (chosen.upper, chosen.lower))
        return min(stated, counted + allowance * error), Thresholds(upper, lower)


def _counts(ordered: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.diff(np.r_[0, np.searchsorted(ordered, edges), len(ordered)])
