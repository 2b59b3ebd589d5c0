"""Cells of the line: intervals between quantiles, repeated values, symbols. Sees any difference in one dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.game.scorers.atoms import AtomScore, count_atoms
from audit.game.scorers.base import Training, shrunk_log_ratio
from audit.subjects import Outputs

_MOST_CELLS = 256


@dataclass(frozen=True)
class Histogram:
    """Estimated log-likelihood ratio of the interval in which a number lies.

    Parameters
    ----------
    edges : array, shape (k - 1,)
        Inner edges; interval i holds edges[i - 1] <= x < edges[i].
    ratios : array, shape (k,)
        Log-likelihood ratio of each interval.
    """

    edges: np.ndarray
    ratios: np.ndarray

    @classmethod
    def fit(cls, left: np.ndarray, right: np.ndarray, left_total: int, right_total: int) -> Histogram:
        """Intervals between quantiles of the pooled numbers; their number grows with the cube root."""
        pooled = np.sort(np.concatenate([left, right]), kind="stable")  # quick where both are sorted
        cells = int(np.clip(2.0 * len(pooled) ** (1 / 3), 2, _MOST_CELLS))
        edges = np.unique(pooled[(len(pooled) * np.arange(1, cells)) // cells])
        in_left, in_right = (
            np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1) for x in (left, right)
        )
        return cls(edges, shrunk_log_ratio(in_left, in_right, left_total, right_total))

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        return self.ratios[np.searchsorted(self.edges, numbers, side="right")]


@dataclass(frozen=True)
class CellScore:
    """Score of the repeated value or symbol when the output is one, else of its interval."""

    histogram: Histogram
    atoms: AtomScore | None
    complete: bool = True
    name: str = "cells"
    calibrated: bool = False

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if not outputs.is_scalar:
            return np.full(len(outputs), np.nan)
        scores = np.where(np.isnan(outputs.numbers), np.nan, self.histogram(outputs.numbers))
        if self.atoms is None:
            return scores
        special = self.atoms(outputs)
        return np.where(np.isnan(special), scores, special)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        return self._union(self.histogram.ratios >= upper), self._union(self.histogram.ratios <= lower)

    def _union(self, chosen: np.ndarray, most: int = 4) -> str:
        edges = np.concatenate([[-np.inf], self.histogram.edges, [np.inf]])
        starts = np.flatnonzero(chosen & ~np.r_[False, chosen[:-1]])
        stops = np.flatnonzero(chosen & ~np.r_[chosen[1:], False])
        parts = [f"[{edges[a]:.6g}, {edges[b + 1]:.6g})" for a, b in zip(starts, stops, strict=True)]
        more = f" and {len(parts) - most} more intervals" if len(parts) > most else ""
        intervals = " or ".join(parts[:most]) + more if parts else "no interval"
        return f"output in {intervals}" + (" or a special value" if self.atoms is not None else "")


class Cells:
    """One-dimensional outputs, mixed ones included."""

    learned = True
    needs_all = False

    def propose(self, training: Training) -> Sequence[CellScore]:
        if not (training.left.is_scalar and training.right.is_scalar):
            return []
        special = _special_values(training)
        left, right = (_ordinary(outputs, special) for outputs in (training.left, training.right))
        if len(left) + len(right) < 2:
            return []
        histogram = Histogram.fit(left, right, len(training.left), len(training.right))
        return [CellScore(histogram, special)]


def _special_values(training: Training) -> AtomScore | None:
    """The atoms, with everything that is not one left to the histogram."""
    atoms = count_atoms(training)
    return None if atoms is None else replace(atoms, rare=math.nan)


def _ordinary(outputs: Outputs, special: AtomScore | None) -> np.ndarray:
    keep = ~np.isnan(outputs.numbers)
    if special is not None:
        keep &= np.isnan(special(outputs))
    return outputs.numbers[keep]
