"""Test whether outputs contradict log-odds that were fitted to a table of their features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np
from scipy import special

from audit.game import tuning
from audit.game.scorers.base import distinct

_FEWEST = 2.0  # variance of the residuals in a cell that is tested


def is_contradicted(table: np.ndarray, odds: np.ndarray, of_left: np.ndarray, apart: Sequence[int]) -> bool:
    """Test the residuals in cells of one, two and three features; `table` has a row for each output.

    What each feature in `apart` says by itself is read from cells of its own elsewhere, and is added to the log-odds
    first. The p-value of the least likely cells pays for all that were looked at.
    """
    fine, coarse = zip(*(_cells(column, *tuning.MISFIT_CELLS) for column in table.T), strict=True)
    for cells in [fine[index] for index in apart] * tuning.MISFIT_ROUNDS:
        chance = special.expit(odds)
        sums, spread = np.bincount(cells, of_left - chance), np.bincount(cells, chance * (1 - chance))
        odds = odds + np.clip(sums / np.maximum(spread, 1.0), -1.0, 1.0)[cells]
    chance = special.expit(odds)
    gaps, variance = of_left - chance, chance * (1 - chance)
    found = [_pvalue(np.bincount(cells, gaps), np.bincount(cells, variance)) for cells in fine]
    found += _of_pairs(coarse, gaps, variance)
    found += _of_triples(table, gaps, float(variance.sum()))
    return min(found) * len(found) < tuning.MISFIT


def _of_pairs(cells: Sequence[np.ndarray], gaps: np.ndarray, variance: np.ndarray) -> Iterator[float]:
    """Yield the p-value of the residuals in the cells of each pair of features."""
    each = np.concatenate([own[:, None] == np.arange(own.max() + 1) for own in cells], axis=1, dtype=np.float32)
    sums, spread = (each.T @ (each * weights[:, None]) for weights in np.array([gaps, variance], np.float32))
    starts = np.cumsum([0, *(own.max() + 1 for own in cells)])
    for pair in combinations([slice(*ends) for ends in pairwise(starts)], 2):
        yield _pvalue(sums[pair], spread[pair])


def _of_triples(table: np.ndarray, gaps: np.ndarray, variance: float) -> Iterator[float]:
    """Yield the p-value of the residuals of three features, each taken with the product of signs about the medians."""
    signs, gaps = np.where(table > np.median(table, axis=0), np.float32(1), np.float32(-1)), gaps.astype(np.float32)
    for first, second in combinations(range(table.shape[1]), 2):
        product = (signs[:, first] * signs[:, second] * gaps) @ signs[:, second + 1 :]
        yield from 2 * special.ndtr(-np.abs(product) / np.sqrt(variance))


def _cells(column: np.ndarray, fine: int, coarse: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of each value, of at most `fine` with as many values in each, and of `coarse`, a part of it."""
    ordered = np.sort(column)
    edges = distinct(ordered[-(-np.arange(1, fine) * len(ordered) // fine) - 1])
    few = distinct(ordered[-(-np.arange(1, coarse) * len(ordered) // coarse) - 1])
    cells = np.searchsorted(edges, column, "right")
    return cells, np.searchsorted(few, np.append(-np.inf, edges), "right")[cells]


def _pvalue(sums: np.ndarray, variance: np.ndarray) -> float:
    """Return the p-value of the sums of residuals in some cells."""
    used = variance > _FEWEST
    return float(special.chdtrc(max(1, int(used.sum())), np.sum(sums[used] ** 2 / variance[used])))
