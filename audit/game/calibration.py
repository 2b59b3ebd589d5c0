"""Scores that say themselves how often a guess is right, because fresh outputs bear them out.

A score fitted as a log-likelihood ratio is usually too bold. One slope and one offset, fitted on outputs that the
score has not seen, make it honest; when no bin of scores contradicts the line, the share of right guesses beyond a
threshold follows from all outputs together rather than from the few beyond it. A line that some bin contradicts may
still say best where to cut, but not what the cut is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from audit.game.thresholds import Ranked, Sides, TestDesign, Thresholds, best_thresholds

_BINS = 200  # of equal mass, in which the line is fitted
_TESTED = (0.001, 0.003, 0.01, 0.03, *np.linspace(0.1, 0.9, 9), 0.97, 0.99, 0.997, 0.999)  # cuts of the test of fit
_MISFIT = 0.001  # level of the test
_CERTAIN = 3.0  # standard errors that the slope must differ from 0 by
_STEPS = 12


@dataclass(frozen=True)
class Line:
    """slope * score + offset is a log-likelihood ratio; only nearly so when the counts show that it is bent."""

    slope: float
    offset: float
    bent: bool = False

    @classmethod
    def through(cls, ranked: Ranked) -> Line | None:
        """Fit to fresh scores of both sides; None when it is flat, or the fit does not converge."""
        pooled = ranked.pooled
        if not len(pooled) or not np.isfinite(pooled[[0, -1]]).all():
            return None
        edges = np.unique(pooled[np.arange(1, _BINS) * len(pooled) // _BINS])
        left, right = (_counts(side, edges) for side in ranked.sides)
        starts = np.r_[0, np.searchsorted(pooled, edges)]
        centres = np.add.reduceat(pooled, np.minimum(starts, len(pooled) - 1)) / np.maximum(left + right, 1)
        fitted = _logistic(centres, left, right)
        if fitted is None:
            return None
        offset, slope, error = fitted
        if slope < _CERTAIN * error:
            return None
        return cls(slope - error, offset, cls(slope, offset)._misfit(ranked.sides, pooled) < _MISFIT)

    def _misfit(self, ordered: Sides, pooled: np.ndarray) -> float:
        """p-value of the counts between the tested cuts, given the line."""
        edges = np.unique(pooled[(np.array(_TESTED) * len(pooled)).astype(int)])
        left = _counts(ordered[0], edges)
        chances = special.expit(self.slope * pooled + self.offset)
        sums = np.r_[0.0, np.cumsum(chances)]
        spread = np.r_[0.0, np.cumsum(chances * (1 - chances))]
        cuts = np.r_[0, np.searchsorted(pooled, edges), len(pooled)]
        expected, variance = np.diff(sums[cuts]), np.diff(spread[cuts])
        used = variance > 5
        freedom = int(used.sum()) - 2
        if freedom < 1:
            return 0.0
        return float(stats.chi2.sf(np.sum((left - expected)[used] ** 2 / variance[used]), freedom))

    def best_thresholds(self, scores: Ranked, design: TestDesign, allowance: float) -> tuple[Thresholds, float]:
        """The thresholds that the line finds best, and what it promises as far as the counts allow.

        Parameters
        ----------
        scores : Ranked
            Those that the line was fitted to.
        design : TestDesign
        allowance : float
            Standard errors by which the estimate may exceed what the counts show; must lie below it, if < 0.
        """
        ratios = scores.on_line(self.slope, self.offset)
        chosen = best_thresholds(ratios, design, 0.0, stated=True)
        plus, minus = ratios.pooled >= chosen.upper, ratios.pooled <= chosen.lower
        right = (special.expit(ratios.pooled[plus]).sum() + special.expit(-ratios.pooled[minus]).sum()) / ratios.total
        wrong = (special.expit(-ratios.pooled[plus]).sum() + special.expit(ratios.pooled[minus]).sum()) / ratios.total
        seen = chosen.frequencies(ratios)
        stated, counted = design.estimated_bound(
            np.array([right, seen[0]]), np.array([wrong, seen[1]]), np.full(2, chosen.used), 0.0
        )
        error = 2 / math.sqrt(1 + sum(seen) * ratios.total)
        estimated_bound = min(stated, counted + allowance * error)
        upper, lower = ((threshold - self.offset) / self.slope for threshold in (chosen.upper, chosen.lower))
        return Thresholds(upper, lower), float(estimated_bound)


def _counts(ordered: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.diff(np.r_[0, np.searchsorted(ordered, edges), len(ordered)])


def _logistic(x: np.ndarray, left: np.ndarray, right: np.ndarray) -> tuple[float, float, float] | None:
    """Offset, slope, and the slope's standard error of grouped logistic regression; None without convergence."""
    scale = float(np.std(x))
    if not scale > 0:
        return None
    design = np.column_stack([np.ones(len(x)), x / scale])
    weights, total = np.zeros(2), left + right
    for _ in range(_STEPS):
        chance = special.expit(design @ weights)
        information = (design * (total * chance * (1 - chance))[:, None]).T @ design
        if not np.linalg.cond(information) < 1e12:
            return None
        step = np.linalg.solve(information, design.T @ (left - total * chance))
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            error = math.sqrt(float(np.linalg.inv(information)[1, 1]))
            return float(weights[0]), float(weights[1]) / scale, error / scale
    return None
