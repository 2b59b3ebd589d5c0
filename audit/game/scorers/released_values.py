"""Score rows of flags with a few released values among them, as sparse-vector mechanisms return.

The counts of the flags say where the values were released; the values say how near they lie to either input. A value
that was compared with a hidden threshold also bounds that threshold, and so changes what the flags before it say. The
counts of flags are therefore also weighted by the lowest value, along ramps that are level beyond their ends: a
threshold far below every answer says no more than one just below. Logistic regression combines the features. No
coefficient is dropped: on such outputs the most informative events are rare, and a significance test would miss them.
A score without ramps competes with the one that has them, since ramps are noise where other values were compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from audit.game import tuning
from audit.game.logistic import fit_logistic
from audit.game.scorers.base import Scorer, Training
from audit.game.scorers.flags import FlagCounts, fit_flag_counts, frequent_flags
from audit.game.scorers.rows import (
    Layout,
    RowScore,
    at,
    nearness,
    numeric_rows,
    occurrences,
    positions,
    sample_of,
    symbol_ratio,
)


@dataclass(frozen=True)
class BlockFeatures:
    """Features of one copy of the input; shape (size, features) from the block's coordinates."""

    of: np.ndarray  # coordinates; shape (b,)
    left: np.ndarray | None  # the inputs there; shape (b,), or None
    right: np.ndarray | None
    # A flag, and the coordinates of a group (within the block) in which it is counted
    counted: tuple[tuple[float, np.ndarray], ...]
    # Of the lowest value, where ramps end. Without knots and counted flags, only the values are features.
    knots: tuple[float, ...]
    center: float  # median and standard deviation of the lowest value
    scale: float

    @classmethod
    def fit(cls, of: np.ndarray, layout: Layout, flags: np.ndarray, sample: np.ndarray) -> BlockFeatures:
        """Put knots where the lowest values of a sample of rows lie."""
        lowest, released = _lowest(sample[:, of])
        values = lowest[released]
        left, right = (None if side is None else side[of] for side in (layout.left, layout.right))
        needed = flags[:-1] if len(flags) > 1 else flags  # the last count nearly follows from the others
        counted = tuple((float(flag), group) for flag in needed for group in positions(layout.groups[of]))
        knots, center = tuple(np.quantile(values, tuning.KNOTS)), float(np.median(values))
        return cls(of, left, right, counted, knots, center, float(np.std(values)) or 1.0)

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        part = at(numbers, self.of)
        lowest, released = _lowest(part)
        total = np.where(np.isfinite(part), part - self.center, 0.0).sum(axis=1) / self.scale
        columns = [released, np.clip(total, -tuning.CLIP, tuning.CLIP)]
        if self.left is not None and self.right is not None:
            columns.append(nearness(part, self.left, self.right).sum(axis=1))
        ramps = [_ramp(lowest, *ends) for ends in pairwise(self.knots)]
        counts = [occurrences(at(part, group), flag) for flag, group in self.counted]
        columns += [*ramps, *counts, *(count * ramp for count in counts for ramp in ramps)]
        return np.column_stack(columns)


Parts = tuple[FlagCounts | BlockFeatures, ...]


@dataclass(frozen=True)
class ReleasedValuesScore(RowScore):
    """Fitted log-odds of left."""

    parts: Parts
    weights: np.ndarray
    name = "releases"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(_table(self.parts, numbers) @ self.weights)

    @property
    def meaning(self) -> str:
        return f"log-odds of flags and released values ({len(self.weights)} terms)"


class ReleasedValues(Scorer):
    """Read vectors in which flags repeat and other entries do not."""

    def propose(self, training: Training) -> Sequence[ReleasedValuesScore]:
        rows = numeric_rows(training, tuning.MANY_ROWS)
        if rows is None:
            return []
        layout, sample = Layout.of(training.pair, rows[0].shape[1]), sample_of(rows, tuning.SAMPLE)
        with_values = [of for of in layout.each_block() if len(np.unique(sample[:, of])) > tuning.FEW_OUTPUTS]
        counts = fit_flag_counts(rows, layout) if with_values else ()
        flags = frequent_flags(rows)
        if not counts or flags is None:
            return []
        blocks = [BlockFeatures.fit(of, layout, flags, sample) for of in with_values]
        pooled, of_symbols = np.concatenate(rows), symbol_ratio(training)
        of_left = np.arange(len(pooled)) < len(rows[0])
        plain = [replace(block, counted=(), knots=()) for block in blocks]
        designs: list[Parts] = [(*counts, *plain), (*counts, *blocks)]
        fitted = [(parts, fit_logistic(_table(parts, pooled), of_left)[0]) for parts in designs]
        return [ReleasedValuesScore(pooled.shape[1], of_symbols, *fit) for fit in fitted]


def _lowest(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest finite entry of each row, and whether there is one."""
    lowest = np.where(np.isfinite(part), part, np.inf).min(axis=1)
    return lowest, lowest < np.inf


def _ramp(lowest: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return -1 up to `low`, 0 from `high` on and where nothing was released."""
    return np.clip((lowest - high) / (high - low), -1.0, 0.0) if high > low else np.where(lowest < high, -1.0, 0.0)


def _table(parts: Parts, numbers: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(numbers)), *(part(numbers) for part in parts)])
