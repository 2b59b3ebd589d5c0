"""Vectors coordinate by coordinate: the sum of the coordinates' log-ratios, and the best coordinate alone.

Exact for independent coordinates; blind to structure that no marginal shows, so it can refute and not acquit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.game.scorers.base import Training
from audit.game.scorers.cells import Cells, CellScore
from audit.subjects import Outputs


@dataclass(frozen=True)
class CoordinateScore:
    """Sum of the log-ratios of some coordinates."""

    parts: tuple[tuple[int, CellScore], ...]
    complete: bool = False
    name: str = "coordinates"
    calibrated: bool = False

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if outputs.is_scalar or outputs.numbers.shape[1] <= max(index for index, _ in self.parts):
            return np.full(len(outputs), np.nan)
        return np.sum([part(_column(outputs, index)) for index, part in self.parts], axis=0)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        if len(self.parts) == 1:
            index, part = self.parts[0]
            plus, minus = part.describe(upper, lower)
            return f"coordinate {index}: {plus}", f"coordinate {index}: {minus}"
        names = f"sum of the log-ratios of {len(self.parts)} coordinates"
        return f"{names} >= {upper:.6g}", f"{names} <= {lower:.6g}"


class Coordinates:
    """Vector outputs."""

    learned = True
    needs_all = False

    def propose(self, training: Training) -> Sequence[CoordinateScore]:
        left, right = training.left, training.right
        if left.is_scalar or right.is_scalar or left.numbers.shape[1:] != right.numbers.shape[1:]:
            return []
        parts, divergences = [], []
        for index in range(left.numbers.shape[1]):
            sides = _sorted(_column(left, index)), _sorted(_column(right, index))
            for score in Cells().propose(Training(*sides, None, training.pair)):
                parts.append((index, score))
                divergences.append(_divergence(score, *sides))
        if not parts:
            return []
        return [CoordinateScore(tuple(parts)), CoordinateScore((parts[int(np.argmax(divergences))],))]


def _column(outputs: Outputs, index: int) -> Outputs:
    column = np.ascontiguousarray(outputs.numbers[:, index])
    return Outputs(column, column)


def _sorted(column: Outputs) -> Outputs:
    """Its order says nothing, and is used over and over."""
    numbers = np.sort(column.numbers)
    return Outputs(numbers, numbers)


def _divergence(score: CellScore, left: Outputs, right: Outputs) -> float:
    """Estimated symmetric Kullback-Leibler divergence of one coordinate."""
    means = [float(np.nanmean(score(side))) for side in (left, right)]
    return means[0] - means[1]
