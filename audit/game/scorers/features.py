"""Derive features from vector outputs, and keep the few that differ most between the two sides.

Candidates are the coordinates, indicators of values that repeat, nearness to the inputs, summaries of the row and of
groups of coordinates, and sums, differences and products of two coordinates. Joint structure that no marginal shows
appears in one of these. Screening finds one bad coordinate among hundreds, where noise in the others would hide it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from audit.game import tuning
from audit.game.scorers.base import merged
from audit.game.scorers.rows import Layout, Rows, at, finite_or_zero, nearness, sample_of


@dataclass(frozen=True)
class Feature:
    """One derived number per output."""

    kind: str  # a key of `KINDS`
    of: tuple[int, ...]  # coordinates
    layout: Layout = field(repr=False, compare=False)  # where the inputs lie
    value: float = 0.0  # what the indicator looks for, or the center of a product

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return np.asarray(KINDS[self.kind](self, at(numbers, np.array(self.of, dtype=int))), dtype=float)

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.of[:6])) + (", ..." if len(self.of) > 6 else "")
        return f"{self.kind} of {shown}" + (f" at {self.value:.6g}" if self.kind == "indicator" else "")


def _near(feature: Feature, numbers: np.ndarray) -> np.ndarray:
    assert feature.layout.left is not None
    assert feature.layout.right is not None
    of = list(feature.of)
    return np.asarray(nearness(numbers, feature.layout.left[of], feature.layout.right[of]).sum(axis=1))


KINDS: dict[str, Callable[[Feature, np.ndarray], np.ndarray]] = {
    "coordinate": lambda feature, x: x[:, 0],
    "indicator": lambda feature, x: x[:, 0] == feature.value,
    "sum": lambda feature, x: np.round(finite_or_zero(x).sum(axis=1), tuning.SCORE_DECIMALS),
    "difference": lambda feature, x: np.round(x[:, 0] - x[:, 1], tuning.SCORE_DECIMALS),
    "product": lambda feature, x: (x[:, 0] - feature.value) * (x[:, 1] - feature.value),
    "largest": lambda feature, x: x.max(axis=1),
    "smallest": lambda feature, x: x.min(axis=1),
    "number finite": lambda feature, x: np.isfinite(x).sum(axis=1),
    "first finite": lambda feature, x: x[np.arange(len(x)), np.isfinite(x).argmax(axis=1)],
    "sum of squares": lambda feature, x: (finite_or_zero(x) ** 2).sum(axis=1),
    "nearness": _near,
}


def chosen_features(rows: Rows, layout: Layout) -> list[Feature]:
    """Return the screened features, best first; all coordinates too when they are few or nothing stands out."""
    everything = derived_features(rows, layout)
    strengths = np.array(separations(rows, everything))
    best = np.argsort(-strengths, kind="stable")[: tuning.MOST_FEATURES]
    chosen = [everything[i] for i in best if strengths[i] > tuning.FEATURE_ERRORS]
    width = rows[0].shape[1]
    if width <= tuning.FEW_COORDINATES or not chosen:
        chosen += [feature for feature in everything[: min(width, tuning.MOST_FEATURES)] if feature not in chosen]
    return chosen


def derived_features(rows: Rows, layout: Layout) -> list[Feature]:
    """Return every feature worth screening for outputs like these; the coordinates come first."""
    sample = sample_of(rows, tuning.SCREENED_ROWS[0])
    width = sample.shape[1]
    found = [Feature("coordinate", (i,), layout) for i in range(width)]
    found += [Feature("indicator", (i,), layout, value) for i in range(width) for value in _repeated(sample[:, i])]
    found += _of_groups(sample, layout)
    for pair in _pairs(rows):
        middle = float(np.median(finite_or_zero(sample[:, list(pair)])))
        found += [Feature(kind, pair, layout) for kind in ("difference", "sum")]
        found.append(Feature("product", pair, layout, middle))
    return found


def separations(rows: Rows, features: list[Feature]) -> list[float]:
    """Return the separation of each feature, on as many rows as a fixed amount of work allows."""
    size = int(np.clip(tuning.SCREENING_WORK // max(1, len(features)), *tuning.SCREENED_ROWS))
    left, right = (side[:: max(1, len(side) // size)] for side in rows)
    return [separation(feature(left), feature(right)) for feature in features]


def separation(left: np.ndarray, right: np.ndarray) -> float:
    """Return the chi-square statistic of two samples over cells, with mean 0 and variance 1 under one law.

    scikit-learn's `f_classif` would miss a change of spread, and its `mutual_info_classif` takes seconds per feature.
    """
    sides = np.sort(left), np.sort(right)
    pooled = merged(*sides)
    edges = np.unique(pooled[np.arange(1, tuning.SCREENING_CELLS) * len(pooled) // tuning.SCREENING_CELLS])
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
    """Count between the edges, and at each edge itself: values that repeat are cells of their own."""
    below, upto = (np.searchsorted(ordered, edges, side) for side in ("left", "right"))
    return np.diff(np.r_[0, np.column_stack([below, upto]).ravel(), len(ordered)])


def _repeated(column: np.ndarray, most: int = 3) -> list[float]:
    """Return the values with a share above 1 % in a column that also takes others, the most frequent first."""
    values, counts = np.unique(column, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    return [float(values[i]) for i in order if counts[i] > tuning.FREQUENT * len(column) and len(values) > 2]


def _of_groups(sample: np.ndarray, layout: Layout) -> list[Feature]:
    everything = tuple(range(sample.shape[1]))
    mixed = [] if np.isfinite(sample).all() else ["number finite", "first finite"]
    found = [Feature(kind, everything, layout) for kind in ["sum", "sum of squares", "largest", "smallest", *mixed]]
    for members in layout.members():
        of = tuple(int(i) for i in members)
        if 1 < len(of) < len(everything):
            found += [Feature(kind, of, layout) for kind in ["sum", *mixed]]
        if layout.left is not None and layout.right is not None and layout.left[of[0]] != layout.right[of[0]]:
            found.append(Feature("nearness", of, layout))
    return found if layout.left is None else [*found, Feature("nearness", everything, layout)]


def _pairs(rows: Rows) -> list[tuple[int, int]]:
    """Return all pairs of few coordinates; of many, those whose second moments differ most between the sides."""
    width = rows[0].shape[1]
    upper = np.triu_indices(width, 1)
    if width > tuning.ALL_PAIRS:
        pooled = finite_or_zero(sample_of(rows, tuning.SCREENED_ROWS[0]))
        center = np.median(pooled, axis=0)
        spread = np.mean(np.abs(pooled - center), axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        plain = [(finite_or_zero(side[: tuning.SCREENED_ROWS[1]]) - center) / scale for side in rows]
        left, right = (np.clip(side, -tuning.CLIP, tuning.CLIP) for side in plain)
        change = np.abs(left.T @ left / len(left) - right.T @ right / len(right))[upper]
        chosen = np.argsort(-change, kind="stable")[: tuning.MOST_PAIRS]
        upper = (upper[0][chosen], upper[1][chosen])
    return [(int(i), int(j)) for i, j in zip(*upper, strict=True)]
