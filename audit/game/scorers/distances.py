"""Nearness to the two inputs, summed over the coordinates: nothing is learned but the thresholds.

For independent Laplace noise of one scale this is the log-likelihood ratio up to that scale, however wide the
output; taken on the increments it is so for running sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.game.scorers.base import Training
from audit.game.scorers.layout import Layout, RowScore, at, nearness


@dataclass(frozen=True)
class DistanceScore(RowScore):
    """Sum over coordinates of |x - right| - |x - left|, or of the squares, of the output or of its increments."""

    left: np.ndarray
    right: np.ndarray
    increments: bool
    squared: bool
    complete: bool = False
    calibrated: bool = False

    @property
    def name(self) -> str:
        return "distances of increments" if self.increments else "distances"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        if self.increments:
            with np.errstate(invalid="ignore"):
                numbers = np.diff(numbers, axis=1, prepend=0.0)
        changed = np.flatnonzero(self.left != self.right)
        left, right, part = self.left[changed], self.right[changed], at(numbers, changed)
        if self.squared:
            return np.asarray(np.where(np.isfinite(part), part, 0.0) @ (left - right))
        return np.asarray(nearness(part, left, right).sum(axis=1))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        what = "nearness to left over right, summed over " + ("increments" if self.increments else "coordinates")
        return f"{what}, >= {upper:.6g}", f"{what}, <= {lower:.6g}"


class Distances:
    """Vector outputs whose length is a multiple of the inputs' length."""

    learned = False
    needs_all = False

    def propose(self, training: Training) -> Sequence[DistanceScore]:
        if training.left.is_scalar or training.right.is_scalar:
            return []
        width = training.left.numbers.shape[1]
        layout = Layout.of(training.pair, width)
        if layout.left is None or layout.right is None:
            return []
        return [
            DistanceScore(width, float("nan"), layout.left, layout.right, increments, squared)
            for increments, squared in ((False, False), (False, True), (True, False))
        ]
