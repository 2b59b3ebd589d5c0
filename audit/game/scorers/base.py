"""What a scorer is: it reads training outputs of both sides and proposes scores.

A score is a real function of one output that grows with the likelihood ratio of left over right; NaN abstains.
Adding a scorer takes one file in this folder and one line in `SCORERS`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import special

from audit.subjects import Outputs


@dataclass(frozen=True)
class Training:
    """Training outputs of one pair, with what a scorer may ask the mechanism.

    Parameters
    ----------
    left, right : Outputs
        Drawn on the left and on the right dataset; never used again after training.
    mechanism : callable
        The subject itself, for its optional methods.
    pair : tuple
        The two datasets.
    """

    left: Outputs
    right: Outputs
    mechanism: Any
    pair: tuple[Any, Any]


class Score(Protocol):
    """A fitted score."""

    @property
    def name(self) -> str:
        """Shown in reports."""
        ...

    @property
    def complete(self) -> bool:
        """Whether every difference between the two output laws shows in it, given enough outputs."""
        ...

    @property
    def calibrated(self) -> bool:
        """Whether the score is the log-likelihood ratio itself, as stated rather than as learned."""
        ...

    def __call__(self, outputs: Outputs) -> np.ndarray:
        """Scores, shape (size,); NaN abstains."""
        ...

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        """The events {score >= upper} and {score <= lower} in words."""
        ...


class Scorer(Protocol):
    """Proposes scores; an empty list when the outputs are not of its kind."""

    @property
    def learned(self) -> bool:
        """True when the score is fitted, so that the outputs it was fitted on flatter it."""
        ...

    @property
    def needs_all(self) -> bool:
        """True when it takes a fit on all outputs, not on half of them, to say whether the score is complete."""
        ...

    def propose(self, training: Training) -> Sequence[Score]:
        """Fit on training outputs."""
        ...


def log_ratio(left: np.ndarray, right: np.ndarray, left_total: int, right_total: int) -> np.ndarray:
    """Estimated log-likelihood ratio of cells from their counts, with half a count more on each side."""
    return np.log((left + 0.5) / (left_total + 0.5)) - np.log((right + 0.5) / (right_total + 0.5))


def shrunk_log_ratio(left: np.ndarray, right: np.ndarray, left_total: int, right_total: int) -> np.ndarray:
    """`log_ratio` of many cells, drawn towards 0 as far as chance explains it: rare cells look extreme by chance.

    Each estimate is normal about the true ratio; the true ratios are taken as normal about 0, with the variance that
    the excess of the estimates over their errors shows (empirical Bayes, after DerSimonian and Laird 1986). A cell
    that stands out from so many alike ones is drawn in by no more than its deviance says (James and Stein 1961): a few
    rare cells that tell all are lost in that variance when the frequent ones tell nothing.
    """
    ratios = log_ratio(left, right, left_total, right_total)
    errors = 1 / (left + 0.5) + 1 / (right + 0.5)
    weights = 1 / errors
    spread = float(np.sum(weights * ratios**2)) - weights.size
    variance = max(1.0, spread) / float(weights.sum())
    alike = variance / (variance + errors)
    alone = 1 - 2 * math.log(ratios.size + 1) / np.maximum(_deviance(left, right, left_total, right_total), 1e-12)
    return np.asarray(ratios * np.maximum(alike, alone))


def _deviance(left: np.ndarray, right: np.ndarray, left_total: int, right_total: int) -> np.ndarray:
    """Of counts from the hypothesis of equal frequencies; 1 in the mean when that holds."""
    both, share = left + right, left_total / (left_total + right_total)
    parts = special.rel_entr(left, both * share) + special.rel_entr(right, both * (1 - share))
    return np.asarray(2 * parts)
