"""The one derived column that differs most, cut into cells: a plain witness of joint structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.game.scorers.base import Training
from audit.game.scorers.cells import Cells, CellScore
from audit.game.scorers.features import Column
from audit.game.scorers.layout import RowScore
from audit.subjects import Outputs

_PLACES = 9  # digits to which a column is rounded, so that equal differences of floating-point sums are equal


@dataclass(frozen=True)
class ProjectionScore(RowScore):
    """Log-ratio of the cell in which one derived column lies."""

    column: Column
    cells: CellScore
    complete: bool = False
    name: str = "projection"
    calibrated: bool = False

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return self.cells(_as_outputs(self.column, numbers))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        plus, minus = self.cells.describe(upper, lower)
        return f"{self.column}: {plus}", f"{self.column}: {minus}"


def fit_projection(
    rows: tuple[np.ndarray, np.ndarray], columns: Sequence[Column], of_symbols: float
) -> ProjectionScore | None:
    """The first column, cut into cells; None when no cell can be made."""
    sides = [_as_outputs(columns[0], side) for side in rows]
    cells = Cells().propose(Training(sides[0], sides[1], None, (None, None)))
    return ProjectionScore(rows[0].shape[1], of_symbols, columns[0], cells[0]) if cells else None


def _as_outputs(column: Column, numbers: np.ndarray) -> Outputs:
    values = column(numbers)
    return Outputs(values, np.round(values, _PLACES))
