"""Columns derived from a vector output: what a classifier may look at, screened by what each shows on its own.

Candidates are the coordinates, indicators of values that repeat, nearness to the inputs, summaries of the row and of
groups of coordinates, and sums, differences and products of two coordinates: joint structure that no marginal shows
is plain in one of these. Screening keeps a few of many, so that one bad coordinate among hundreds is found and
noise in the others does not drown it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from audit.game.scorers.layout import Layout, at, nearness

_CELLS = 16
_ALL_PAIRS = 8  # coordinates up to which every pair of them is a candidate
_MOST_PAIRS = 20
_DIGITS = 9
_ROWS_TIMES_COLUMNS = 1_000_000  # work that screening may cost
_FEWEST_ROWS, _MOST_ROWS = 8_000, 40_000


@dataclass(frozen=True)
class Column:
    """One derived number an output.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    of : tuple of int
        Coordinates.
    value : float
        What the indicator looks for.
    layout : Layout
        Where the inputs lie.
    """

    kind: str
    of: tuple[int, ...]
    layout: Layout = field(repr=False, compare=False)
    value: float = 0.0

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(KINDS[self.kind](self, at(numbers, np.array(self.of, dtype=int))), dtype=float)

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.of[:6])) + (", ..." if len(self.of) > 6 else "")
        return f"{self.kind} of {shown}" + (f" at {self.value:.6g}" if self.kind == "indicator" else "")


def _zeroed(numbers: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(numbers), numbers, 0.0)


def _near(column: Column, numbers: np.ndarray) -> np.ndarray:
    assert column.layout.left is not None
    assert column.layout.right is not None
    of = list(column.of)
    return np.asarray(nearness(numbers, column.layout.left[of], column.layout.right[of]).sum(axis=1))


def _first_finite(column: Column, numbers: np.ndarray) -> np.ndarray:
    where = np.isfinite(numbers).argmax(axis=1)
    return numbers[np.arange(len(numbers)), where]


KINDS: dict[str, Callable[[Column, np.ndarray], np.ndarray]] = {
    "coordinate": lambda column, x: x[:, 0],
    "indicator": lambda column, x: x[:, 0] == column.value,
    "sum": lambda column, x: np.round(_zeroed(x).sum(axis=1), _DIGITS),
    "difference": lambda column, x: np.round(x[:, 0] - x[:, 1], _DIGITS),
    "product": lambda column, x: (x[:, 0] - column.value) * (x[:, 1] - column.value),
    "largest": lambda column, x: x.max(axis=1),
    "smallest": lambda column, x: x.min(axis=1),
    "number finite": lambda column, x: np.isfinite(x).sum(axis=1),
    "first finite": _first_finite,
    "sum of squares": lambda column, x: (_zeroed(x) ** 2).sum(axis=1),
    "nearness": _near,
}


def candidates(rows: tuple[np.ndarray, np.ndarray], layout: Layout) -> list[Column]:
    """Every column worth screening for outputs like these."""
    sample = np.concatenate([side[:_FEWEST_ROWS] for side in rows])
    width = sample.shape[1]
    found = [Column("coordinate", (i,), layout) for i in range(width)]
    found += [Column("indicator", (i,), layout, value) for i in range(width) for value in _repeated(sample[:, i])]
    found += _of_groups(sample, layout)
    found += [
        Column(kind, pair, layout, value)
        for pair in _pairs(rows)
        for kind, value in (
            ("difference", 0.0),
            ("sum", 0.0),
            ("product", float(np.median(_zeroed(sample[:, list(pair)])))),
        )
    ]
    return found


def screened(rows: tuple[np.ndarray, np.ndarray], columns: Iterable[Column], most: int, least: float) -> list[Column]:
    """The columns that differ most between the sides, at most `most`, each by more than `least` standard errors."""
    columns = list(columns)
    size = int(np.clip(_ROWS_TIMES_COLUMNS // max(1, len(columns)), _FEWEST_ROWS, _MOST_ROWS))
    left, right = (side[:: max(1, len(side) // size)] for side in rows)
    strengths = np.array([separation(column(left), column(right)) for column in columns])
    order = np.argsort(-strengths, kind="stable")
    return [columns[i] for i in order[:most] if strengths[i] > least]


def separation(left: np.ndarray, right: np.ndarray) -> float:
    """Chi-square statistic of two samples over cells, standardised to mean 0 and variance 1 under one law."""
    sides = np.sort(left), np.sort(right)
    pooled = np.sort(np.concatenate(sides), kind="stable")
    edges = np.unique(pooled[np.arange(1, _CELLS) * len(pooled) // _CELLS])
    counts = [_cell_counts(side, edges) for side in sides]
    total = counts[0] + counts[1]
    used = total >= 5
    freedom = int(used.sum()) - 1
    if freedom < 1:
        return 0.0
    share = len(left) / (len(left) + len(right))
    expected = total[used] * share
    chi = float(np.sum((counts[0][used] - expected) ** 2 / (expected * (1 - share))))
    return (chi - freedom) / float(np.sqrt(2 * freedom))


def _cell_counts(ordered: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Cells between the edges, and each edge itself: values that repeat are cells of their own."""
    below, upto = (np.searchsorted(ordered, edges, side) for side in ("left", "right"))
    return np.diff(np.r_[0, np.column_stack([below, upto]).ravel(), len(ordered)])


def _repeated(column: np.ndarray, most: int = 3) -> list[float]:
    """Values with a share above 1 % in a column that also takes others, the most frequent first."""
    values, counts = np.unique(column, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    frequent = [float(values[i]) for i in order[: most + 1] if counts[i] > 0.01 * len(column)]
    return frequent[:most] if len(values) > 2 else []


def _of_groups(sample: np.ndarray, layout: Layout) -> list[Column]:
    everything = tuple(range(sample.shape[1]))
    mixed = not np.isfinite(sample).all()
    kinds = ["sum", "sum of squares", "largest", "smallest"] + ["number finite", "first finite"] * mixed
    found = [Column(kind, everything, layout) for kind in kinds]
    for members in layout.members():
        of = tuple(int(i) for i in members)
        if 1 < len(of) < len(everything):
            found += [Column(kind, of, layout) for kind in ["sum"] + ["number finite", "first finite"] * mixed]
        if layout.left is not None and layout.right is not None and layout.left[of[0]] != layout.right[of[0]]:
            found.append(Column("nearness", of, layout))
    if layout.left is not None:
        found.append(Column("nearness", everything, layout))
    return found


def _pairs(rows: tuple[np.ndarray, np.ndarray]) -> list[tuple[int, int]]:
    """All pairs of few coordinates; of many, those whose second moments differ most between the sides."""
    width = rows[0].shape[1]
    upper = np.triu_indices(width, 1)
    if width > _ALL_PAIRS:
        moments = [_second_moments(side, rows) for side in rows]
        change = np.abs(moments[0] - moments[1])[upper]
        chosen = np.argsort(-change, kind="stable")[:_MOST_PAIRS]
        upper = (upper[0][chosen], upper[1][chosen])
    return [(int(i), int(j)) for i, j in zip(*upper, strict=True)]


def _second_moments(side: np.ndarray, rows: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    pooled = _zeroed(np.concatenate([part[:_FEWEST_ROWS] for part in rows]))
    centre = np.median(pooled, axis=0)
    spread = np.mean(np.abs(pooled - centre), axis=0)
    plain = (_zeroed(side[:_MOST_ROWS]) - centre) / np.where(spread > 0, spread, 1.0)
    plain = np.clip(plain, -4, 4)
    return np.asarray(plain.T @ plain / len(plain))
