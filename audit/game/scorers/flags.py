"""Rows of flags: how often each flag occurs in each group of coordinates that change alike, and votes of bits.

A row of n flags takes too many values to count each; if coordinates of one group are exchangeable given what is
shared (a noisy threshold, say), the counts of flags in the groups are all there is to see. Blocks of coordinates
that are copies of the input are treated as independent. Numbers that do not repeat are one more flag, "a value".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit.game.scorers.base import Training, log_ratio, shrunk_log_ratio
from audit.game.scorers.layout import (
    Layout,
    RowScore,
    at,
    few_outputs,
    numeric_rows,
    occurrences,
    symbol_ratio,
)

_MOST_FLAGS = 6
_FEWEST = 20  # a pattern counts when it was seen this often; all rarer ones share one cell
_MOST_ROWS = 400_000  # a side
_TELLING = 3.0  # standard errors that a bit must differ by to have a vote


@dataclass(frozen=True)
class PatternScore:
    """Estimated log-likelihood ratio of the counts of flags in the groups of one block."""

    flags: np.ndarray
    groups: tuple[np.ndarray, ...]
    keys: np.ndarray
    ratios: np.ndarray
    rare: float

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        keys = pattern_keys(numbers, self.flags, self.groups)
        where = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[where] == keys, self.ratios[where], self.rare)

    def __str__(self) -> str:
        return f"log-ratio of the flags' counts in {len(self.groups)} groups"


@dataclass(frozen=True)
class FlagScore(RowScore):
    """Sum over the blocks."""

    parts: tuple[PatternScore, ...]
    complete: bool = False
    name: str = "flags"
    calibrated: bool = False

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        return np.sum([part(numbers) for part in self.parts], axis=0)

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        names = " + ".join(map(str, self.parts))
        return f"{names} >= {upper:.6g}", f"{names} <= {lower:.6g}"


class Flags:
    """Vectors of few distinct values, or of such values among others."""

    learned = True
    needs_all = False

    def propose(self, training: Training) -> Sequence[FlagScore]:
        rows = numeric_rows(training, _MOST_ROWS)
        if rows is None:
            return []
        parts = fit_patterns(rows, Layout.of(training.pair, rows[0].shape[1]))
        return [FlagScore(rows[0].shape[1], symbol_ratio(training), parts)] if parts else []


@dataclass(frozen=True)
class VoteScore(RowScore):
    """How many of the telling bits speak for left, less those that speak for right."""

    votes: np.ndarray
    complete: bool = False
    name: str = "votes"
    calibrated: bool = False

    def rate(self, numbers: np.ndarray) -> np.ndarray:
        chosen = np.flatnonzero(self.votes)
        bits = at(numbers, chosen)
        return np.asarray(np.where(np.isfinite(bits), bits, 0.0) @ self.votes[chosen])

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        signs = " ".join(f"{'+' if v > 0 else '-'} x[{i}]" for i, v in enumerate(self.votes) if v)
        return f"{signs} >= {upper:.6g}", f"{signs} <= {lower:.6g}"


class Votes:
    """Vectors of bits: every bit whose mean differs has one vote."""

    learned = True
    needs_all = False

    def propose(self, training: Training) -> Sequence[VoteScore]:
        rows = numeric_rows(training, _MOST_ROWS)
        if rows is None or not all(np.isin(side[:2000], (0, 1)).all() for side in rows) or few_outputs(rows):
            return []
        means = [side.mean(axis=0) for side in rows]
        variance = sum(mean * (1 - mean) / len(side) for mean, side in zip(means, rows, strict=True))
        differences = (means[0] - means[1]) / np.sqrt(variance + 1e-12)
        votes = np.sign(differences) * (np.abs(differences) > _TELLING)
        return [VoteScore(rows[0].shape[1], symbol_ratio(training), votes)]


def fit_patterns(rows: tuple[np.ndarray, np.ndarray], layout: Layout) -> tuple[PatternScore, ...]:
    """One score a block; none when the outputs hold no flags, or no more than counting rows would see."""
    flags = frequent_flags(rows)
    if flags is None or few_outputs(rows):
        return ()
    parts = [
        _fit_block(rows, flags, tuple(block[group] for group in groups_of(layout.groups[block])))
        for block in layout.each_block()
    ]
    return tuple(part for part in parts if part is not None)


def pattern_keys(numbers: np.ndarray, flags: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """One integer an output: the number of times that each flag occurs in each group, in mixed radix."""
    keys = np.zeros(len(numbers), dtype=np.int64)
    for group in groups:
        part = at(numbers, group)
        for flag in flags:
            keys = keys * (len(group) + 1) + occurrences(part, flag)
    return keys


def _fit_block(
    rows: tuple[np.ndarray, np.ndarray], flags: np.ndarray, groups: tuple[np.ndarray, ...]
) -> PatternScore | None:
    if len(flags) * sum(np.log2(len(group) + 1) for group in groups) > 60:
        return None
    sides = [pattern_keys(side, flags, groups) for side in rows]
    keys, where, counts = np.unique(np.concatenate(sides), return_inverse=True, return_counts=True)
    of_left = np.bincount(where[: len(sides[0])], minlength=len(keys))
    frequent = counts >= _FEWEST
    if frequent.sum() < 2:
        return None
    totals = len(sides[0]), len(sides[1])
    ratios = shrunk_log_ratio(of_left, counts - of_left, *totals)
    rare = log_ratio(of_left[~frequent].sum(), (counts - of_left)[~frequent].sum(), *totals)
    return PatternScore(flags, groups, keys[frequent], ratios[frequent], float(rare))


def groups_of(labels: np.ndarray) -> tuple[np.ndarray, ...]:
    """Positions of each label."""
    return tuple(np.flatnonzero(labels == label) for label in np.unique(labels))


def frequent_flags(rows: tuple[np.ndarray, np.ndarray]) -> np.ndarray | None:
    """Values with a share above 1 % of all entries; None when there are none or too many."""
    values, counts = np.unique(np.concatenate([side[:2000].ravel() for side in rows]), return_counts=True)
    frequent = values[counts > 0.01 * counts.sum()]
    if not 0 < len(frequent) <= _MOST_FLAGS:
        return None
    return frequent[1:] if len(frequent) == len(values) else frequent  # the last count follows from the others
