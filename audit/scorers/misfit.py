"""Test whether outputs contradict log-odds that were fitted to a table of their features."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from scipy import special

from audit.scorers._arrays import distinct
from audit.scorers.rows import SAMPLE
from audit.statistics.linear_models import logistic

# Scorers of vectors and structures: tuned by `tests/core/scorers`, `benchmarks.bugs.event_values`
MISFIT_CELLS, MISFIT_ROUNDS = (16, 4), 3  # of each feature, alone and in pairs; corrections of each coordinate
MISFIT = 0.01  # level at which cells contradict the logistic regression, so that trees are fitted. TIME

_FEWEST = 2.0  # variance of the residuals in a cell that is tested


def is_contradicted(table: np.ndarray, odds: np.ndarray, of_left: np.ndarray, apart: Sequence[int]) -> bool:
    """Test the residuals in cells of one, two and three features; `table` has a row for each of them.

    What each feature in `apart` says by itself is read from cells of its own elsewhere, and is added to the log-odds
    first. The p-value of the least likely cells pays for all that were looked at.
    """
    fine, coarse, middles = zip(*(_cells(column, *MISFIT_CELLS) for column in table), strict=True)
    for cells in [fine[index] for index in apart] * MISFIT_ROUNDS:
        chance = logistic(odds)
        sums, spread = np.bincount(cells, of_left - chance), np.bincount(cells, chance * (1 - chance))
        odds = odds + np.clip(sums / np.maximum(spread, 1.0), -1.0, 1.0)[cells]
    gaps, variance = residuals(odds, of_left)
    above = [column > middle for column, middle in zip(table, middles, strict=True)]
    found = [_of_cells(fine, gaps, variance), _of_pairs(coarse, gaps, variance)]
    each = np.concatenate([*found, _of_triples(above, gaps, float(variance.sum()))])
    return bool(each.min() * len(each) < MISFIT)


def pvalues_alone(table: Iterable[np.ndarray], odds: np.ndarray, of_left: np.ndarray) -> np.ndarray:
    """Return the p-value of the residuals in cells of each feature, cut at quantiles of some outputs."""
    width = MISFIT_CELLS[0]
    each = ((column, column[:: 1 + len(column) // SAMPLE]) for column in table)
    return _of_cells(
        (_cut(column, _quantiles(np.sort(some), width)) for column, some in each), *residuals(odds, of_left)
    )


def residuals(odds: np.ndarray, of_left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the log-odds leave of the sides, and its variance."""
    chance = logistic(odds)
    return of_left - chance, chance * (1 - chance)


def _of_cells(
    cells: Iterable[np.ndarray], gaps: np.ndarray, variance: np.ndarray, width: int = MISFIT_CELLS[0]
) -> np.ndarray:
    """Return the p-value of the residuals in the cells of each feature."""
    sums = [[np.bincount(each, weights, width) for weights in (gaps, variance)] for each in cells]
    return _pvalues(*np.array(sums).swapaxes(0, 1))


def _of_pairs(cells: Sequence[np.ndarray], gaps: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the p-value of the residuals in the cells of each pair of features."""
    width = np.uint8(MISFIT_CELLS[1])
    pairs = [first * width + second for first, second in itertools.combinations(cells, 2)]
    return _of_cells(pairs, gaps, variance, int(width) ** 2) if pairs else np.ones(0)


def _of_triples(above: Sequence[np.ndarray], gaps: np.ndarray, variance: float) -> np.ndarray:
    """Return the p-values of the residuals of three features, each taken with the product of signs about the medians.

    The residuals are summed for each pattern of signs, and a Walsh transform gives the sums for all products at once.
    """
    codes = np.zeros(len(gaps), dtype=np.int64)
    for place, signs in enumerate(above):
        codes += signs.astype(np.int64) << place
    sums = np.bincount(codes, gaps, 1 << len(above))
    for place in range(len(above)):
        parts = sums.reshape(-1, 2, 1 << place)
        sums = np.stack([parts[:, 0] + parts[:, 1], parts[:, 0] - parts[:, 1]], axis=1).ravel()
    triples = [sum(1 << place for place in places) for places in itertools.combinations(range(len(above)), 3)]
    return np.asarray(2 * special.ndtr(-np.abs(sums[triples]) / np.sqrt(variance)))


def _cells(column: np.ndarray, fine: int, coarse: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the cell of each value, of at most `fine` with as many values in each, and of `coarse`, a part of it.

    The last one is the median, or the last value below it.
    """
    ordered = np.sort(column)
    edges, few = _quantiles(ordered, fine), _quantiles(ordered, coarse)
    cells = _cut(column, edges)
    middle = float(ordered[(len(ordered) - 1) // 2])
    return cells, np.searchsorted(few, np.append(-np.inf, edges), "right").astype(np.uint8)[cells], middle


def _quantiles(ordered: np.ndarray, cells: int) -> np.ndarray:
    return distinct(ordered[-(-np.arange(1, cells) * len(ordered) // cells) - 1])


def _cut(column: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.asarray((column >= edges[:, None]).sum(axis=0, dtype=np.uint8))  # much faster than `searchsorted`


def _pvalues(sums: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the p-value of the sums of residuals in the cells of each row."""
    used = variance > _FEWEST
    chi = np.sum(np.where(used, sums**2 / np.where(used, variance, 1.0), 0.0), axis=1)
    return np.asarray(special.chdtrc(np.maximum(1, used.sum(axis=1)), chi))
