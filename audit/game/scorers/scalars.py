"""Score single numbers: the number itself, and cells of the line, which see any difference in one dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.game import tuning
from audit.game.scorers.atoms import AtomScore, count_atoms
from audit.game.scorers.base import Score, Scorer, Training, merged, shrunk_log_ratio
from audit.subjects import Outputs


@dataclass(frozen=True)
class SignedOutput(Score):
    """sign * output; symbols abstain."""

    sign: int
    name = "monotone"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        return self.sign * outputs.numbers if outputs.is_scalar else np.full(len(outputs), np.nan)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        plus, minus = (">=", "<=") if self.sign > 0 else ("<=", ">=")
        return f"output {plus} {self.sign * upper:.9g}", f"output {minus} {self.sign * lower:.9g}"


class Monotone(Scorer):
    """Propose both directions of the line, for laws whose likelihood ratio is monotone."""

    learned = False

    def propose(self, training: Training) -> Sequence[SignedOutput]:
        usable = all(outputs.is_scalar for outputs in training.sides)
        usable = usable and not all(np.isnan(outputs.numbers).all() for outputs in training.sides)
        return [SignedOutput(1), SignedOutput(-1)] if usable else []


@dataclass(frozen=True)
class CellScore(Score):
    """Estimated log-likelihood ratio of the repeated value or symbol when the output is one, else of its interval."""

    edges: np.ndarray  # inner edges; interval i holds edges[i - 1] <= x < edges[i]; shape (k - 1,)
    ratios: np.ndarray  # log-likelihood ratio of each interval; shape (k,)
    atoms: AtomScore | None  # of the values that repeat; NaN for any other
    name = "cells"
    complete = True

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if not outputs.is_scalar:
            return np.full(len(outputs), np.nan)
        cells = self.ratios[np.searchsorted(self.edges, outputs.numbers, side="right")]
        scores = np.where(np.isnan(outputs.numbers), np.nan, cells)
        if self.atoms is None:
            return scores
        special = self.atoms(outputs)
        return np.where(np.isnan(special), scores, special)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        return self._union(self.ratios >= upper), self._union(self.ratios <= lower)

    def _union(self, chosen: np.ndarray, most: int = 4) -> str:
        edges = np.concatenate([[-np.inf], self.edges, [np.inf]])
        starts = np.flatnonzero(chosen & ~np.r_[False, chosen[:-1]])
        stops = np.flatnonzero(chosen & ~np.r_[chosen[1:], False])
        parts = [f"[{edges[a]:.6g}, {edges[b + 1]:.6g})" for a, b in zip(starts, stops, strict=True)]
        more = f" and {len(parts) - most} more intervals" if len(parts) > most else ""
        intervals = " or ".join(parts[:most]) + more if parts else "no interval"
        return f"output in {intervals}" + (" or a special value" if self.atoms is not None else "")


class Cells(Scorer):
    """Cut the line into intervals between quantiles of the pooled numbers; their number grows with the cube root."""

    def propose(self, training: Training) -> Sequence[CellScore]:
        if not all(outputs.is_scalar for outputs in training.sides):
            return []
        atoms = count_atoms(training)
        if atoms is not None:  # what is not an atom is left to the intervals
            atoms = replace(atoms, table=replace(atoms.table, rare=math.nan))
        left, right = (_ordinary(outputs, atoms) for outputs in training.sides)
        pooled = merged(left, right)
        if len(pooled) < 2:
            return []
        cells = int(np.clip(2.0 * len(pooled) ** (1 / 3), 2, tuning.MOST_CELLS))
        edges = np.unique(pooled[(len(pooled) * np.arange(1, cells)) // cells])
        counts = [np.bincount(np.searchsorted(edges, x, "right"), minlength=len(edges) + 1) for x in (left, right)]
        ratios = shrunk_log_ratio(counts[0], counts[1], len(training.left), len(training.right))
        return [CellScore(edges, ratios, atoms)]


def _ordinary(outputs: Outputs, atoms: AtomScore | None) -> np.ndarray:
    """Return the numbers that are not atoms."""
    keep = ~np.isnan(outputs.numbers)
    if atoms is not None:
        keep &= np.isnan(atoms(outputs))
    return outputs.numbers[keep]
