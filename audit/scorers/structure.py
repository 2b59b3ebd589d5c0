"""Score outputs that are not vectors of one length by their structure: lists, tuples, sets, dicts and text.

Each output becomes a row of numbers (length, first and last entry, extremes, sum, order, repeats, counts of the
entries or characters that occur most), to which the scorers of vectors apply. They read nothing else of the output.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.outputs.encode import Outputs
from audit.scorers.base import Score, Scorer, Training
from audit.scorers.rows import SAMPLE, STRUCTURE_ROWS

# Scorers of vectors and structures: tuned by `tests/core/scorers`, `benchmarks.bugs.event_values`
STRUCTURE_ENTRIES = 1_000  # of a text or a list, half at each end; its length counts in any case
MOST_COUNTED = 8  # entries of a structure whose occurrences are counted


@dataclass(frozen=True)
class Embedding:
    """Numbers of one output; shape (size, 11 + counted) for a batch."""

    counted: tuple[Any, ...]  # entries or characters whose occurrences are counted

    def __call__(self, rows: Sequence[Any]) -> Outputs:
        table = np.array([self._numbers(row) for row in rows], dtype=float)
        return Outputs(table, table.reshape(len(rows), -1))

    def _numbers(self, row: Any) -> list[float]:
        entries = _entries(row)
        length, most = len(entries), STRUCTURE_ENTRIES
        if length > most:
            entries = entries[: most // 2] + entries[-(most // 2) :]
        values = [_as_number(entry) for entry in entries]
        counts = Counter(map(_hashable, entries))
        if not values:
            return [float(_is_container(row))] + [0.0] * (10 + len(self.counted))
        steps = list(itertools.pairwise(values))  # a few numbers: arrays would cost more than they save
        summary = [1.0, length, values[0], values[-1], min(values), max(values), sum(values)]
        rising, falling = sum(b - a > 0 for a, b in steps), sum(b - a < 0 for a, b in steps)
        order = [rising, falling, len(counts), max(counts.values())]
        return summary + order + [counts[entry] for entry in self.counted]


@dataclass(frozen=True)
class StructureScore(Score):
    """A score of vectors, applied to the embedded outputs."""

    embedding: Embedding
    inner: Score
    name: str

    def __call__(self, outputs: Outputs) -> np.ndarray:
        return self.inner(self.embedding(outputs.raw))

    def describe(self, upper: float, lower: float) -> tuple[str, str]:
        plus, minus = self.inner.describe(upper, lower)
        return f"structure of the output: {plus}", f"structure of the output: {minus}"


@dataclass(frozen=True)
class Structure(Scorer):
    """Read outputs of varying length by one of the scorers of vectors."""

    member: Scorer
    of_structures = True

    def propose(self, training: Training) -> Sequence[StructureScore]:
        left, right = (side.raw[:: max(1, -(-len(side) // STRUCTURE_ROWS))] for side in training.sides)
        sample = [*left[:SAMPLE], *right[:SAMPLE]]
        found = Counter(_hashable(entry) for row in sample for entry in _entries(row))
        ranked = sorted(found.items(), key=lambda item: (-item[1], repr(item[0])))
        embedding = Embedding(tuple(entry for entry, _ in ranked[:MOST_COUNTED]))
        scores = self.member.propose(Training(embedding(left), embedding(right)))
        return [StructureScore(embedding, score, f"structure, {score.name}") for score in scores]


def _is_container(row: Any) -> bool:
    return isinstance(row, (str, bytes, list, tuple, set, frozenset, dict, np.ndarray))


def _entries(row: Any) -> list[Any]:
    if isinstance(row, dict):
        return list(row.items())
    if isinstance(row, (set, frozenset)):
        return sorted(row, key=repr)
    if isinstance(row, np.ndarray):
        return row.ravel().tolist()
    return list(row) if _is_container(row) else [row]


def _hashable(entry: Any) -> Any:
    return entry if isinstance(entry, (str, int, float, bool, type(None))) else repr(entry)


def _as_number(entry: Any) -> float:
    """Return the entry itself when it is a number, the code of a character, the length of anything longer."""
    if isinstance(entry, (bool, int, float, np.number, np.bool_)):
        number = float(entry)
        return number if math.isfinite(number) else 0.0
    if isinstance(entry, str):
        return float(ord(entry)) if len(entry) == 1 else float(len(entry))
    return float(len(entry)) if hasattr(entry, "__len__") else 0.0
