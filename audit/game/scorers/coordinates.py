"""Score vectors coordinate by coordinate: by learned log-ratios, and by distances to the two inputs.

Both are exact for independent coordinates of the right form, and blind to structure that no marginal shows: they can
refute a claim, but never show that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.game.scorers.base import Score, Scorer, Training
from audit.game.scorers.rows import Layout, RowScore, at, finite_or_zero, nearness
from audit.game.scorers.scalars import Cells, CellScore
from audit.subjects import Outputs


@dataclass(frozen=True)
class CoordinateScore(Score):
    """Sum of the log-ratios of some coordinates."""

    parts: tuple[tuple[int, CellScore], ...]
    name = "coordinates"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        if outputs.is_scalar or outputs.numbers.shape[1] <= max(index for index, _ in self.parts):
            return np.full(len(outputs), np.nan)
        columns = ((np.ascontiguousarray(outputs.numbers[:, index]), part) for index, part in self.parts)
        return np.sum([part(Outputs(column, column)) for column, part in columns], axis=0)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        if len(self.parts) > 1:
            return super().describe(upper, lower)
        index, part = self.parts[0]
        plus, minus = part.describe(upper, lower)
        return f"coordinate {index}: {plus}", f"coordinate {index}: {minus}"

    @property
    def meaning(self) -> str:
        return f"sum of the log-ratios of {len(self.parts)} coordinates"


class Coordinates(Scorer):
    """Propose the sum of the coordinates' log-ratios, and the coordinate of largest divergence alone."""

    def propose(self, training: Training) -> Sequence[CoordinateScore]:
        left, right = training.sides
        if left.is_scalar or right.is_scalar or left.numbers.shape[1:] != right.numbers.shape[1:]:
            return []
        parts, divergences = [], []
        for index in range(left.numbers.shape[1]):
            columns = [np.sort(side.numbers[:, index]) for side in training.sides]  # the order carries no information
            column = Training(Outputs(columns[0], columns[0]), Outputs(columns[1], columns[1]))
            for score in Cells().propose(column):
                parts.append((index, score))
                divergences.append(float(np.nanmean(score(column.left)) - np.nanmean(score(column.right))))
        if not parts:
            return []
        return [CoordinateScore(tuple(parts)), CoordinateScore((parts[int(np.argmax(divergences))],))]


@dataclass(frozen=True)
class DistanceScore(RowScore):
    """Sum over coordinates of |x - right| - |x - left|, or of the squares, of the output or of its increments."""

    left: np.ndarray
    right: np.ndarray
    squared: bool
    increments: bool
    name: str

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        if self.increments:
            with np.errstate(invalid="ignore"):
                numbers = np.diff(numbers, axis=1, prepend=0.0)
        changed = np.flatnonzero(self.left != self.right)
        left, right, part = self.left[changed], self.right[changed], at(numbers, changed)
        if self.squared:
            return np.asarray(finite_or_zero(part) @ (left - right))
        return np.asarray(nearness(part, left, right).sum(axis=1))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        what = "nearness to left over right, summed over " + ("increments" if self.increments else "coordinates")
        return f"{what}, >= {upper:.6g}", f"{what}, <= {lower:.6g}"


class Distances(Scorer):
    """Propose nearness to the inputs, summed over coordinates; only the thresholds are learned.

    For independent Laplace noise of one scale this is the log-likelihood ratio up to that scale, however wide the
    output. The increments serve running sums.
    """

    learned = False

    def propose(self, training: Training) -> Sequence[DistanceScore]:
        if any(side.is_scalar for side in training.sides):
            return []
        width = training.left.numbers.shape[1]
        layout = Layout.of(training.pair, width)
        if layout.left is None or layout.right is None:
            return []
        kinds = ((False, False, "distances"), (True, False, "distances"), (False, True, "distances of increments"))
        return [DistanceScore(width, np.nan, layout.left, layout.right, *kind) for kind in kinds]
