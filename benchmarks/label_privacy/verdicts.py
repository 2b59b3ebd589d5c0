"""Paired verdicts: "A beats B by m" over trials, by the exact sign test."""

from __future__ import annotations

import numpy as np
from scipy import stats

SIGNIFICANCE = 0.001


def ordering(first: np.ndarray, second: np.ndarray, margin: float = 0.0) -> str:
    """Judge "A's accuracy exceeds B's by more than `margin` in more trials than not".

    Gives "yes" or "no" when the exact binomial test of the paired trials rejects the opposite at `SIGNIFICANCE`, one
    side each, else "open". Trials with a difference of exactly `margin` count against either answer.
    """
    difference = first - second
    above, below = int(np.sum(difference > margin)), int(np.sum(difference < margin))
    if stats.binomtest(above, len(difference), 0.5, "greater").pvalue <= SIGNIFICANCE:
        return "yes"
    return "no" if stats.binomtest(below, len(difference), 0.5, "greater").pvalue <= SIGNIFICANCE else "open"


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the mean over trials, and the half-width of its 95 % Student interval (approximate: for reading)."""
    return float(values.mean()), float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))


def shown(values: np.ndarray) -> str:
    """Show mean and half-width, in thousandths."""
    mean, width = interval(values)
    return f"{mean:.3f}±{width:.3f}"
