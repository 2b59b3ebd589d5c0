"""Test whether outputs contradict log-odds that were fitted to a table of their features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import special

from audit.game import tuning
from audit.game.scorers.base import distinct, logistic

_FEWEST = 2.0  # variance of the residuals in a cell that is tested


def is_contradicted(table: np.ndarray, odds: np.ndarray, of_left: np.ndarray, apart: Sequence[int]) -> bool:
    """Test the residuals in cells of one, two and three features; `table` has a row for each of them.

    What each feature in `apart` says by itself is read from cells of its own elsewhere, and is added to the log-odds
    first. The p-value of the least likely cells pays for all that were looked at.
    """
    fine, coarse = zip(*(_cells(column, *tuning.MISFIT_CELLS) for column in table), strict=True)
    for cells in [fine[index] for index in apart] * tuning.MISFIT_ROUNDS:
        chance = logistic(odds)
        sums, spread = np.bincount(cells, of_left - chance), np.bincount(cells, chance * (1 - chance))
        odds = odds + np.clip(sums / np.maximum(spread, 1.0), -1.0, 1.0)[cells]
    chance = logistic(odds)
    gaps, variance = of_left - chance, chance * (1 - chance)
    width = tuning.MISFIT_CELLS[0]
    alone = [[np.bincount(cells, weights, width) for cells in fine] for weights in (gaps, variance)]
    found = [_pvalues(*map(np.array, alone)), _of_pairs(np.array(coarse), gaps, variance)]
    found += _of_triples(table, gaps, float(variance.sum()))
    each = np.concatenate(found)
    return bool(each.min() * len(each) < tuning.MISFIT)


def _of_pairs(cells: np.ndarray, gaps: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the p-value of the residuals in the cells of each pair of features."""
    features, width = len(cells), tuning.MISFIT_CELLS[1]
    each = (cells[:, None, :] == np.arange(width)[:, None]).reshape(features * width, -1).astype(np.float32)
    pairs = np.triu_indices(features, 1)
    sums, spread = (
        ((each * weights) @ each.T).reshape(features, width, features, width).swapaxes(1, 2)[pairs]
        for weights in np.array([gaps, variance], np.float32)
    )
    return _pvalues(sums.reshape(-1, width**2), spread.reshape(-1, width**2))


def _of_triples(table: np.ndarray, gaps: np.ndarray, variance: float) -> Iterator[np.ndarray]:
    """Yield the p-values of the residuals of three features, each taken with the product of signs about the medians."""
    middles = np.array([np.median(column) for column in table])[:, None]
    signs, gaps = np.where(table > middles, np.float32(1), np.float32(-1)), gaps.astype(np.float32)
    for first in range(len(table) - 2):
        products = (signs[first + 1 :] * (signs[first] * gaps)) @ signs[first + 1 :].T
        yield 2 * special.ndtr(-np.abs(products[np.triu_indices(len(products), 1)]) / np.sqrt(variance))


def _cells(column: np.ndarray, fine: int, coarse: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cell of each value, of at most `fine` with as many values in each, and of `coarse`, a part of it."""
    ordered = np.sort(column)
    edges = distinct(ordered[-(-np.arange(1, fine) * len(ordered) // fine) - 1])
    few = distinct(ordered[-(-np.arange(1, coarse) * len(ordered) // coarse) - 1])
    cells = np.asarray((column >= edges[:, None]).sum(axis=0, dtype=np.uint8))  # much faster than `searchsorted`
    return cells, np.searchsorted(few, np.append(-np.inf, edges), "right")[cells]


def _pvalues(sums: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return the p-value of the sums of residuals in the cells of each row."""
    used = variance > _FEWEST
    chi = np.sum(np.where(used, sums**2 / np.where(used, variance, 1.0), 0.0), axis=1)
    return np.asarray(special.chdtrc(np.maximum(1, used.sum(axis=1)), chi))
