"""Score rows of flags by how often each flag occurs in each group of coordinates that change alike.

A row of n flags takes too many values to count each. If the coordinates of one group are exchangeable given what they
share (a noisy threshold, for example), the counts of the flags in the groups carry all the information. Blocks of
coordinates that are copies of the input are treated as independent. Numbers that do not repeat act as one more flag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.game import tuning
from audit.game.scorers.base import RatioTable, Scorer, Training, log_ratio, shrunk_log_ratio
from audit.game.scorers.rows import (
    Layout,
    Rows,
    RowScore,
    at,
    few_outputs,
    finite_or_zero,
    numeric_rows,
    occurrences,
    positions,
    sample_of,
    symbol_ratio,
)


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


@dataclass(frozen=True)
class FlagScore(RowScore):
    """Sum over the blocks."""

    parts: tuple[FlagCounts, ...]
    name = "flags"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.sum([part(numbers) for part in self.parts], axis=0)

    @property
    def meaning(self) -> str:
        return " + ".join(map(str, self.parts))


class Flags(Scorer):
    """Read vectors of few distinct values, or of such values among others."""

    def propose(self, training: Training) -> Sequence[FlagScore]:
        rows = numeric_rows(training, tuning.MANY_ROWS)
        if rows is None:
            return []
        parts = fit_flag_counts(rows, Layout.of(training.pair, rows[0].shape[1]))
        return [FlagScore(rows[0].shape[1], symbol_ratio(training), parts)] if parts else []


@dataclass(frozen=True)
class VoteScore(RowScore):
    """Number of informative bits that vote for left, less the number that vote for right."""

    votes: np.ndarray
    name = "votes"

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        chosen = np.flatnonzero(self.votes)
        return np.asarray(finite_or_zero(at(numbers, chosen)) @ self.votes[chosen])

    @property
    def meaning(self) -> str:
        return " ".join(f"{'+' if v > 0 else '-'} x[{i}]" for i, v in enumerate(self.votes) if v)


class Votes(Scorer):
    """Read vectors of bits: every bit whose mean differs has one vote."""

    def propose(self, training: Training) -> Sequence[VoteScore]:
        rows = numeric_rows(training, tuning.MANY_ROWS)
        if rows is None or not np.isin(sample_of(rows, tuning.SAMPLE), (0, 1)).all() or few_outputs(rows):
            return []
        means = [side.mean(axis=0) for side in rows]
        variance = sum(mean * (1 - mean) / len(side) for mean, side in zip(means, rows, strict=True))
        differences = (means[0] - means[1]) / np.sqrt(variance + 1e-12)
        votes = np.sign(differences) * (np.abs(differences) > tuning.VOTE_ERRORS)
        return [VoteScore(rows[0].shape[1], symbol_ratio(training), votes)]


def fit_flag_counts(rows: Rows, layout: Layout) -> tuple[FlagCounts, ...]:
    """Fit one part per block; none when the outputs hold no flags, or so few values that atoms see all of them."""
    flags = frequent_flags(rows)
    if flags is None or few_outputs(rows):
        return ()
    groups = (tuple(block[group] for group in positions(layout.groups[block])) for block in layout.each_block())
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
    frequent = counts >= tuning.FLAG_COUNT
    if frequent.sum() < 2:
        return None
    totals = len(sides[0]), len(sides[1])
    ratios = shrunk_log_ratio(of_left, counts - of_left, *totals)
    rare = log_ratio(of_left[~frequent].sum(), (counts - of_left)[~frequent].sum(), *totals)
    return FlagCounts(flags, groups, RatioTable(keys[frequent], ratios[frequent], float(rare)))


def frequent_flags(rows: Rows) -> np.ndarray | None:
    """Return the values with a share above 1 % of all entries; None when there are none or too many."""
    values, counts = np.unique(sample_of(rows, tuning.SAMPLE), return_counts=True)
    frequent = values[counts > tuning.FREQUENT * counts.sum()]
    if not 0 < len(frequent) <= tuning.MOST_FLAGS:
        return None
    return frequent[1:] if len(frequent) == len(values) else frequent  # the last count follows from the others
