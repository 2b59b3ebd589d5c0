"""Score residues modulo round widths: noise that was rounded before an answer was added shows its grid there.

Noise of few decimals, or of single precision, lies on a grid that moves with the answer, which need not be known; so
does an output that is rounded on one side only. Widths are powers of 2 and of 10. The longest is a fifth of the spread:
cells of the output see longer ones. The shortest is 256 times the last place of the large outputs: below that, honest
noise in floating-point numbers is rough as well (Mironov 2012), and `audit.check_precision` looks there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.outputs.encode import Outputs
from audit.scorers.base import RatioTable, Score, Scorer, Training, columns, distinct, numeric_columns
from audit.scorers.rows import Layout

_CELLS = 64  # of a width
_OUTSIDE = _CELLS  # the code of numbers that are too large to have a residue, or not finite
_TRIED, _COORDINATES = 1000, 16  # outputs of either side, and coordinates, on which all widths are tried
_FEW = 64  # distinct numbers up to which counting them sees everything
_ERRORS = 5.0  # standard errors by which the sides must differ before the score competes
_SMALLEST, _LARGEST = 2.0**-900, 2.0**1000  # usual sizes beyond which sums overflow
_SINGLE = 0.0  # in place of a width: whether single precision holds the number


def find_residues(values: np.ndarray, width: Any, largest: float) -> np.ndarray:
    """Return the cell of x mod width, 0..63; multiples of the width lie in the middle of cell 0. Widths broadcast.

    An edge is not a decimal of few digits, so that rounding errors do not divide a grid between two cells.
    """
    if np.ndim(width) == 0 and width == _SINGLE:
        with np.errstate(over="ignore"):
            return np.where(np.isfinite(values), values == values.astype(np.float32), _OUTSIDE).astype(np.int64)
    inside = np.abs(values) <= largest  # not for NaN
    turns = np.floor(np.where(inside, values, 0.0) * (_CELLS / width) + 0.5).astype(np.int64)
    return np.where(inside, turns & (_CELLS - 1), _OUTSIDE)


@dataclass(frozen=True)
class ResidueScore(Score):
    """Log-ratio of the residue of one coordinate."""

    place: int
    width: float
    largest: float  # residues of larger numbers are not read
    table: RatioTable
    name = "residues"

    def __call__(self, outputs: Outputs) -> np.ndarray:
        numbers = columns(outputs)
        if numbers.shape[1] <= self.place:
            return np.full(len(outputs), np.nan)
        scores = self.table(find_residues(numbers[:, self.place], self.width, self.largest))
        return np.where(outputs.symbolic, np.nan, scores)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        ratios = self.table.ratios
        return self._event(self.table.keys[ratios >= upper]), self._event(self.table.keys[ratios <= lower])

    def _event(self, codes: np.ndarray, most: int = 3) -> str:
        if self.width == _SINGLE:
            return f"coordinate {self.place} {'is' if 1 in codes else 'is not'} a number of single precision"
        step, codes = self.width / _CELLS, codes[codes != _OUTSIDE]
        cells = [f"[{(code - 0.5) * step:.4g}, {(code + 0.5) * step:.4g})" for code in codes[:most].tolist()]
        more = f" and {len(codes) - most} more cells" if len(codes) > most else ""
        return f"coordinate {self.place} mod {self.width:.9g} in {' or '.join(cells) or 'no cell'}{more}"


class Residues(Scorer):
    """Propose the coordinate and the width at which few outputs of the two sides differ most, if they do."""

    def reads(self, training: Training) -> bool:
        sides = numeric_columns(training)
        if sides is None or sides[0].shape[1] != sides[1].shape[1]:
            return False
        return not _take_few_values(np.concatenate(_thin(sides)).ravel())

    def propose(self, training: Training) -> Sequence[ResidueScore]:
        sides = numeric_columns(training)
        if sides is None:
            return []
        places = _choose_places(training, sides[0].shape[1])
        strength, place, width, largest = max(_find_width(sides[0][:, i], sides[1][:, i], i) for i in places)
        if strength <= _ERRORS:
            return []
        table = RatioTable.fit(*(find_residues(side[:, place], width, largest) for side in sides))
        return [ResidueScore(place, width, largest, table)]


def _thin(sides: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [side[:: 1 + len(side) // _TRIED] for side in sides]


def _take_few_values(numbers: np.ndarray) -> bool:
    return len(distinct(np.sort(numbers))) <= _FEW


def _choose_places(training: Training, width: int) -> list[int]:
    """Return all coordinates if they are few; else those whose inputs differ, and others spaced evenly."""
    if width <= _COORDINATES:
        return list(range(width))
    layout = Layout.of(training.pair, width)
    changed = [] if layout.left is None else np.flatnonzero(layout.left != layout.right).tolist()
    spaced = np.linspace(0, width - 1, _COORDINATES).astype(int).tolist()
    return list(dict.fromkeys([*changed, *spaced]))[:_COORDINATES]


def _find_width(left: np.ndarray, right: np.ndarray, place: int) -> tuple[float, int, float, float]:
    """Return by how many standard errors the residues differ, the place, the width, and the largest number read."""
    few = [side[np.isfinite(side)] for side in _thin((left, right))]
    both = np.concatenate(few)
    usual = 0.0 if _take_few_values(both) or min(map(len, few)) < 2 else float(np.quantile(np.abs(both), 0.99))
    if not _SMALLEST < usual < _LARGEST:
        return 0.0, place, _SINGLE, 0.0
    largest = 2.0 ** math.ceil(math.log2(usual))
    is_single = bool(np.all(find_residues(both, _SINGLE, largest)))  # all are finite
    shortest = 256 * largest * 2.0 ** -(24 if is_single else 53)
    longest = min(float(np.subtract(*np.quantile(side, (0.75, 0.25)))) for side in few) / 10
    widths = [_SINGLE, *find_round_widths(shortest, longest)]
    strengths = separate(few[0], few[1], widths, largest)
    best = int(np.argmax(strengths))
    return float(strengths[best]), place, widths[best], largest


def find_round_widths(shortest: float, longest: float) -> list[float]:
    """Return the powers of 2 and of 10 between two widths."""
    if not 0 < shortest < longest:
        return []
    found = []
    for base in (2.0, 10.0):
        first, last = math.ceil(math.log(shortest, base)), math.floor(math.log(longest, base))
        found += [2.0**k if base == 2.0 else float(f"1e{k}") for k in range(first, last + 1)]
    return found


def separate(left: np.ndarray, right: np.ndarray, widths: Sequence[float], largest: float) -> np.ndarray:
    """Return the chi-square statistic of the residues for each width, scaled to mean 0 and variance 1 under one law.

    The first width is that of single precision.

    Cells that hold fewer than 5 numbers are not compared.
    """
    values = np.concatenate([left, right])
    others = find_residues(values, np.array(widths[1:])[:, None], largest)
    cells = np.concatenate([[find_residues(values, _SINGLE, largest)], others])
    cells += (_CELLS + 1) * (2 * np.arange(len(widths))[:, None] + (np.arange(cells.shape[1]) >= len(left)))
    counts = np.bincount(cells.ravel(), minlength=2 * len(widths) * (_CELLS + 1)).reshape(len(widths), 2, -1)
    total, share = counts.sum(axis=1), len(left) / cells.shape[1]
    used, expected = total >= 5, np.maximum(total, 1) * share
    chi = np.sum(used * (counts[:, 0] - expected) ** 2 / (expected * (1 - share)), axis=-1)
    freedom = np.maximum(used.sum(axis=-1) - 1, 1)
    return np.asarray((chi - freedom) / np.sqrt(2 * freedom))
