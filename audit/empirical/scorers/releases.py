"""Rows of flags with a few released values among them, as sparse-vector mechanisms that answer give.

How often each flag occurs says where the values were released, the values themselves how near they lie to either
input. Logistic regression on those few numbers sees both together; all of them are kept, since on such outputs the
rare events that tell most are the ones that a significance test of a coefficient would miss.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.empirical.scorers.base import Training
from audit.empirical.scorers.columns import Column
from audit.empirical.scorers.layout import Layout, numeric_rows, symbol_ratio
from audit.empirical.scorers.logistic import Design, LogisticScore, newton
from audit.empirical.scorers.patterns import PatternScore, fit_patterns

_MOST_ROWS = 400_000  # a side
_SAMPLE = 2000
_FEWEST_VALUES = 40  # distinct numbers in a block that holds released values rather than flags


class Releases:
    """Vectors in which flags repeat and other entries do not."""

    learned = True

    def propose(self, training: Training) -> Sequence[LogisticScore]:
        rows = numeric_rows(training, _MOST_ROWS)
        if rows is None:
            return []
        layout = Layout.of(training.pair, rows[0].shape[1])
        blocks = _blocks_with_values(rows, layout)
        patterns = fit_patterns(rows, layout) if blocks else ()
        if not patterns:
            return []
        kinds = ["sum"] if layout.left is None else ["sum", "nearness"]
        columns = [Column(kind, block, layout) for kind in kinds for block in blocks]
        return [_fit(rows, [*patterns, *columns], symbol_ratio(training))]


def _blocks_with_values(rows: tuple[np.ndarray, np.ndarray], layout: Layout) -> list[tuple[int, ...]]:
    sample = np.concatenate([side[:_SAMPLE] for side in rows])
    blocks = [np.flatnonzero(layout.blocks == block) for block in range(int(layout.blocks.max()) + 1)]
    return [tuple(map(int, block)) for block in blocks if len(np.unique(sample[:, block])) > _FEWEST_VALUES]


def _fit(
    rows: tuple[np.ndarray, np.ndarray], columns: Sequence[Column | PatternScore], of_symbols: float
) -> LogisticScore:
    pooled = np.concatenate(rows)
    design = Design.of(columns, pooled).linear()
    weights, _ = newton(design(pooled), np.arange(len(pooled)) < len(rows[0]))
    return LogisticScore(pooled.shape[1], of_symbols, design, weights, name="releases")
