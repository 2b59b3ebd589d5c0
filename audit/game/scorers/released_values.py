"""Rows of flags with a few released values among them, as sparse-vector mechanisms that answer give.

How often each flag occurs says where the values were released, the values themselves how near they lie to either
input. The two speak together: a value that was compared with a hidden threshold bounds that threshold, and with it
what the flags before it tell. So the counts of flags are also weighed by how low the lowest value lies, along ramps
that are level beyond their ends: a threshold far below every answer tells no more than one just below. Logistic
regression sees all of it; every number is kept, since on such outputs the rare events that tell most are the ones
that a significance test of a coefficient, or of the ramps together, would miss. The score without any ramp competes
with the one that has them: they are noise where the values are not the ones that were compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from audit.game.scorers.base import Training
from audit.game.scorers.flags import PatternScore, fit_patterns, frequent_flags, groups_of
from audit.game.scorers.layout import Layout, RowScore, at, nearness, numeric_rows, occurrences, symbol_ratio
from audit.game.scorers.logistic import newton

_MOST_ROWS = 400_000  # a side
_SAMPLE = 2000
_FEWEST_VALUES = 40  # distinct numbers in a block that holds released values rather than flags
_CLIP = 4.0  # standard deviations beyond which a value counts no more: a few far ones would bend the fit
_KNOTS = (0.1, 0.5, 0.9)  # quantiles of the lowest value between which the weight of a flag changes evenly


@dataclass(frozen=True)
class Block:
    """Numbers derived from one copy of the input; shape (size, features) from the block's coordinates.

    Parameters
    ----------
    of : int array, shape (b,)
        Coordinates.
    left, right : arrays of shape (b,), or None
        The inputs there.
    counted : tuple of (flag, int array)
        A flag, and the coordinates of a group (within the block) in which it is counted.
    knots : tuple of float
        Of the lowest value, where ramps end; with none, and no flag counted, the values stand alone.
    centre, scale : float
        Median and standard deviation of the lowest value.
    """

    of: np.ndarray
    left: np.ndarray | None
    right: np.ndarray | None
    counted: tuple[tuple[float, np.ndarray], ...]
    knots: tuple[float, ...]
    centre: float
    scale: float

    @classmethod
    def fit(cls, of: np.ndarray, layout: Layout, flags: np.ndarray, sample: np.ndarray) -> Block:
        """Lay knots where the lowest values of a sample of rows lie."""
        lowest, released = _lowest(sample[:, of])
        values = lowest[released]
        known = layout.left is not None and layout.right is not None
        left, right = (side[of] if known and side is not None else None for side in (layout.left, layout.right))
        groups = groups_of(layout.groups[of])
        needed = flags[:-1] if len(flags) > 1 else flags  # the last count nearly follows from the others
        counted = tuple((float(flag), group) for flag in needed for group in groups)
        knots, centre = tuple(np.quantile(values, _KNOTS)), float(np.median(values))
        return cls(of, left, right, counted, knots, centre, float(np.std(values)) or 1.0)

    @property
    def plain(self) -> Block:
        """The values alone."""
        return replace(self, counted=(), knots=())

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        part = at(numbers, self.of)
        lowest, released = _lowest(part)
        total = np.clip(np.where(np.isfinite(part), part - self.centre, 0.0).sum(axis=1) / self.scale, -_CLIP, _CLIP)
        ramps = [_ramp(lowest, *ends) for ends in pairwise(self.knots)]
        counts = [occurrences(at(part, group), flag) for flag, group in self.counted]
        columns = [released, total]
        if self.left is not None and self.right is not None:
            columns.append(nearness(part, self.left, self.right).sum(axis=1))
        columns += [*ramps, *counts, *(count * ramp for count in counts for ramp in ramps)]
        return np.column_stack(columns)


Parts: TypeAlias = tuple[PatternScore | Block, ...]


@dataclass(frozen=True)
class ReleasedValuesScore(RowScore):
    """Fitted log-odds of left."""

    parts: Parts
    weights: np.ndarray
    complete: bool = False
    name: str = "releases"
    calibrated: bool = False

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(_design(self.parts, numbers) @ self.weights)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        what = f"log-odds of flags and released values ({len(self.weights)} terms)"
        return f"{what} >= {upper:.6g}", f"{what} <= {lower:.6g}"


class ReleasedValues:
    """Vectors in which flags repeat and other entries do not."""

    learned = True
    needs_all = False

    def propose(self, training: Training) -> Sequence[ReleasedValuesScore]:
        rows = numeric_rows(training, _MOST_ROWS)
        if rows is None:
            return []
        layout = Layout.of(training.pair, rows[0].shape[1])
        sample = np.concatenate([side[:_SAMPLE] for side in rows])
        with_values = [block for block in layout.each_block() if _holds_values(sample[:, block])]
        patterns = fit_patterns(rows, layout) if with_values else ()
        flags = frequent_flags(rows)
        if not patterns or flags is None:
            return []
        blocks = [Block.fit(of, layout, flags, sample) for of in with_values]
        of_symbols, width = symbol_ratio(training), rows[0].shape[1]
        designs: list[Parts] = [(*patterns, *(block.plain for block in blocks)), (*patterns, *blocks)]
        return [ReleasedValuesScore(width, of_symbols, parts, _weights(rows, parts)) for parts in designs]


def _holds_values(sample: np.ndarray) -> bool:
    return len(np.unique(sample)) > _FEWEST_VALUES


def _lowest(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lowest finite entry of each row, and whether there is one."""
    lowest = np.where(np.isfinite(part), part, np.inf).min(axis=1)
    return lowest, lowest < np.inf


def _ramp(lowest: np.ndarray, low: float, high: float) -> np.ndarray:
    """-1 up to `low`, 0 from `high` on and where nothing was released."""
    return np.clip((lowest - high) / (high - low), -1.0, 0.0) if high > low else np.where(lowest < high, -1.0, 0.0)


def _design(parts: Parts, numbers: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(numbers)), *(part(numbers) for part in parts)])


def _weights(rows: tuple[np.ndarray, np.ndarray], parts: Parts) -> np.ndarray:
    of_left = np.arange(sum(map(len, rows))) < len(rows[0])
    return newton(_design(parts, np.concatenate(rows)), of_left)[0]
