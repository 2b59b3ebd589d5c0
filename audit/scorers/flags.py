"""Score rows of flags, with or without a few released values among them, as sparse-vector mechanisms return.

A row of n flags takes too many values to count each. If the coordinates of one group are exchangeable given a
common part (a noisy threshold, for example), the counts of the flags in the groups carry all the information. Blocks of
coordinates that are copies of the input are treated as independent. Numbers that do not repeat act as one more flag.

Released values say how near they lie to either input. A value that was compared with a hidden threshold also bounds
that threshold, and so changes the meaning of the flags before it. The counts of flags are therefore also weighted by
the lowest value, along ramps that are level beyond their ends: a threshold far below every answer says no more than one
just below. Logistic regression combines the features. No coefficient is dropped: on such outputs the most informative
events are rare, and a significance test would miss them. A score without ramps competes with the one that has them,
since ramps are noise where other values were compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import special

from audit.scorers.base import (
    Layout,
    RatioTable,
    Scorer,
    Training,
    count_keys,
    fit_logistic,
    log_ratio,
    positions,
    shrunk_log_ratio,
)
from audit.scorers.counts import Atoms, AtomScore
from audit.scorers.rows import (
    CLIP,
    FEW_OUTPUTS,
    MANY_ROWS,
    SAMPLE,
    Rows,
    RowScore,
    at,
    few_outputs,
    nearness,
    numeric_rows,
    occurrences,
    sample_of,
    symbol_ratio,
)

# Counting scorers: atoms, cells, flags: tuned by `tests/core/events`, `benchmarks.bugs.event_values`
ADDITIVE_MISFIT = 0.05  # level at which counts contradict that flags say as much wherever they stand in a group
FLAG_COUNT = 20  # occurrences that give a pattern of flags a cell of its own
MOST_FLAGS = 6  # distinct flags
FREQUENT = 0.01  # share that makes a value a flag, or an indicator a feature
KNOTS = (0.1, 0.5, 0.9)  # quantiles of the lowest released value between which the weight of a flag changes evenly


@dataclass(frozen=True)
class FlagCounts:
    """Estimated log-likelihood ratio of the counts of flags in the groups of one block."""

    flags: np.ndarray
    groups: tuple[np.ndarray, ...]
    table: RatioTable

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        return self.table(count_flags(numbers, self.flags, self.groups))

    def __str__(self) -> str:
        return f"log-ratio of the flags' counts in {len(self.groups)} groups"


class SmoothedAtoms(Atoms):
    """Count vectors; where they take few values, shrink log-ratios toward sums of those of their flags.

    Of a transcript that ends at the first "yes", the log-ratio changes evenly with the number of "no" before it, in
    each group of answers that change alike. Rare transcripts then borrow strength from those beside them.
    """

    of_vectors = True

    def reads_values(self, training: Training) -> bool:
        return True

    def propose(self, training: Training) -> Sequence[AtomScore]:
        return [replace(score, table=_shrink(score.table, training)) for score in super().propose(training)]


def _shrink(table: RatioTable, training: Training) -> RatioTable:
    """Shrink the log-ratios toward a logistic regression on the counts of the flags in the groups, if it fits them."""
    plain = training.has_vectors and all(side.symbols is None for side in training.sides)
    rows = (training.left.numbers, training.right.numbers)
    flags = frequent_flags(rows) if plain and few_outputs(rows) else None
    if flags is None:
        return table
    keys = [side.keys() for side in training.sides]
    found, left, right = count_keys(*map(np.sort, keys))
    kept = np.isin(found, table.keys)
    shown = np.concatenate(rows)[np.unique(np.concatenate(keys), return_index=True)[1][kept]]
    groups = positions(Layout.of(training.pair, rows[0].shape[1]).groups)
    counts = [occurrences(at(shown, group), flag) for group in groups for flag in flags]
    x = np.column_stack([np.ones(len(shown)), *counts])
    freedom = len(shown) - np.linalg.matrix_rank(x)
    if freedom < 2 or len(groups) < 2:  # one group: nothing says which answers change alike
        return table
    left, right = left[kept], right[kept]
    expected = x @ fit_logistic(x, left, left + right)[0]
    misfit = np.sum((left - (left + right) * special.expit(expected)) ** 2 * (1 / (left + 0.5) + 1 / (right + 0.5)))
    if special.chdtrc(freedom, misfit) < ADDITIVE_MISFIT:
        return table
    totals = len(rows[0]), len(rows[1])
    return replace(table, ratios=shrunk_log_ratio(left, right, *totals, expected - np.log(totals[0] / totals[1])))


def fit_flag_counts(rows: Rows, layout: Layout) -> tuple[FlagCounts, ...]:
    """Fit one part per block; none when the outputs hold no flags, or so few values that atoms see all of them."""
    flags = frequent_flags(rows)
    if flags is None or few_outputs(rows):
        return ()
    groups = (tuple(block[group] for group in positions(layout.groups[block])) for block in positions(layout.blocks))
    parts = [_fit_block(rows, flags, of_block) for of_block in groups]
    return tuple(part for part in parts if part is not None)


def count_flags(numbers: np.ndarray, flags: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """Return one integer per row: the number of times that each flag occurs in each group, in mixed radix."""
    keys = np.zeros(len(numbers), dtype=np.int64)
    for group in groups:
        part = at(numbers, group)
        for flag in flags:
            keys = keys * (len(group) + 1) + occurrences(part, flag)
    return keys


def _fit_block(rows: Rows, flags: np.ndarray, groups: tuple[np.ndarray, ...]) -> FlagCounts | None:
    if len(flags) * sum(np.log2(len(group) + 1) for group in groups) > 60:  # the key would not fit 64 bits
        return None
    sides = [count_flags(side, flags, groups) for side in rows]
    keys, where, counts = np.unique(np.concatenate(sides), return_inverse=True, return_counts=True)
    of_left = np.bincount(where[: len(sides[0])], minlength=len(keys))
    frequent = counts >= FLAG_COUNT
    if frequent.sum() < 2:
        return None
    totals = len(sides[0]), len(sides[1])
    ratios = shrunk_log_ratio(of_left, counts - of_left, *totals)
    rare = log_ratio(of_left[~frequent].sum(), (counts - of_left)[~frequent].sum(), *totals)
    return FlagCounts(flags, groups, RatioTable(keys[frequent], ratios[frequent], float(rare)))


def frequent_flags(rows: Rows) -> np.ndarray | None:
    """Return the values with a share above 1 % of all entries; None when there are none or too many."""
    values, counts = np.unique(sample_of(rows, SAMPLE), return_counts=True)
    frequent = values[counts > FREQUENT * counts.sum()]
    if not 0 < len(frequent) <= MOST_FLAGS:
        return None
    return frequent[1:] if len(frequent) == len(values) else frequent  # the last count follows from the others


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
        knots, center = tuple(np.quantile(values, KNOTS)), float(np.median(values))
        return cls(of, left, right, counted, knots, center, float(np.std(values)) or 1.0)

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        part = at(numbers, self.of)
        lowest, released = _lowest(part)
        total = np.where(np.isfinite(part), part - self.center, 0.0).sum(axis=1) / self.scale
        columns = [released, np.clip(total, -CLIP, CLIP)]
        if self.left is not None and self.right is not None:
            columns.append(nearness(part, self.left, self.right))
        ramps = [_ramp(lowest, *ends) for ends in pairwise(self.knots)]
        counts = [occurrences(at(part, group), flag) for flag, group in self.counted]
        columns += [*ramps, *counts, *(count * ramp for count in counts for ramp in ramps)]
        return np.column_stack(columns)


Parts = tuple[FlagCounts | BlockFeatures, ...]


@dataclass(frozen=True)
class FlagScore(RowScore):
    """Fitted log-odds of left."""

    parts: Parts
    weights: np.ndarray
    name = "flags"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.asarray(_table(self.parts, numbers) @ self.weights)

    def meaning(self) -> str:
        return f"log-odds of flags and released values ({len(self.weights)} terms)"


class Flags(Scorer):
    """Read vectors of flags, or of flags among entries that do not repeat."""

    of_vectors = True

    def propose(self, training: Training) -> Sequence[FlagScore]:
        rows = numeric_rows(training, MANY_ROWS)
        if rows is None:
            return []
        layout, sample = Layout.of(training.pair, rows[0].shape[1]), sample_of(rows, SAMPLE)
        counts, flags, of_symbols = fit_flag_counts(rows, layout), frequent_flags(rows), symbol_ratio(training)
        if not counts:
            return []
        sums = FlagScore(rows[0].shape[1], of_symbols, counts, np.r_[0.0, np.ones(len(counts))])
        with_values = [of for of in positions(layout.blocks) if len(np.unique(sample[:, of])) > FEW_OUTPUTS]
        if flags is None or not with_values:
            return [sums]
        blocks = [BlockFeatures.fit(of, layout, flags, sample) for of in with_values]
        pooled = np.concatenate(rows)
        of_left = np.arange(len(pooled)) < len(rows[0])
        plain = [replace(block, counted=(), knots=()) for block in blocks]
        designs: list[Parts] = [(*counts, *plain), (*counts, *blocks)]
        fitted = [(parts, fit_logistic(_table(parts, pooled), of_left)[0]) for parts in designs]
        return [sums, *(FlagScore(pooled.shape[1], of_symbols, *fit) for fit in fitted)]


def _lowest(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest finite entry of each row, and whether there is one."""
    lowest = np.where(np.isfinite(part), part, np.inf).min(axis=1)
    return lowest, lowest < np.inf


def _ramp(lowest: np.ndarray, low: float, high: float) -> np.ndarray:  # -1 up to `low`, 0 from `high` on
    return np.clip((lowest - high) / (high - low), -1.0, 0.0) if high > low else np.where(lowest < high, -1.0, 0.0)


def _table(parts: Parts, numbers: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(numbers)), *(part(numbers) for part in parts)])
