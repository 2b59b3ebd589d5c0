"""A tree of cells, all of whose prunings give their opinion at once, weighted by how well they told past sides.

A pruning cuts the line into cells of different sizes; in each cell the outputs come from the left with one unknown
probability, or with probability one half. The prunings are too many to list, but one pass over the tree averages
over all of them: an event that fills a few cells costs a few bits to find, whatever happens in the rest of the line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

_CUT = math.log(0.5)  # log prior probability that a cell is cut in two, and that it is not
_EVEN, _UNEVEN = math.log(0.75), math.log(0.25)  # that a cell which is not cut says nothing about the side, or does
_PRIOR = 0.5  # pseudo-counts of Krichevsky and Trofimov, in a cell that says something


def tree_predictions(counts: np.ndarray) -> np.ndarray:
    """Probability of "left" for the next output in each of the finest cells.

    Parameters
    ----------
    counts : array, shape (2, 2^depth)
        Past outputs from the left and from the right in each of the finest cells.

    Returns
    -------
    array, shape (2^depth,)

    References
    ----------
    Willems, Shtarkov and Tjalkens (1995), "The context-tree weighting method: basic properties", IEEE Transactions
    on Information Theory 41: the weighting of a tree by a recursion from its leaves.
    """
    levels = [counts]
    while levels[-1].shape[1] > 1:
        levels.append(levels[-1][:, ::2] + levels[-1][:, 1::2])
    evidence, told = _uncut(np.concatenate(levels, axis=1))
    sizes = [level.shape[1] for level in levels]
    own, opinions = _split(evidence, sizes), _split(told, sizes)
    weighted = next(own)
    cut: list[np.ndarray] = []  # posterior probability that a cell is cut, the smallest cells first
    for whole in own:
        apart = weighted[::2] + weighted[1::2]
        weighted = np.logaddexp(whole, apart) + _CUT
        cut.append(np.exp(apart + _CUT - weighted))
    return _along_paths(list(opinions)[::-1], cut[::-1])


def _along_paths(opinions: list[np.ndarray], cut: list[np.ndarray]) -> np.ndarray:
    """Opinions of the cells that hold a leaf, weighted by the chance that the path to it ends there."""
    reach, found = np.ones(1), np.zeros(1)
    for opinion, share in zip(opinions, cut, strict=False):
        found = np.repeat(found + reach * (1 - share) * opinion, 2)
        reach = np.repeat(reach * share, 2)
    return np.asarray(found + reach * opinions[-1])


def _uncut(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-probability of the sides seen in cells that are not cut, and their probability of "left"."""
    left, right = counts
    total = left + right
    even = _EVEN - total * math.log(2)
    uneven = _UNEVEN + special.betaln(left + _PRIOR, right + _PRIOR) - math.log(math.pi)  # B(1/2, 1/2) = pi
    both = np.logaddexp(even, uneven)
    share = np.exp(uneven - both)
    return both, 0.5 + share * ((left + _PRIOR) / (total + 2 * _PRIOR) - 0.5)


def _split(values: np.ndarray, sizes: list[int]) -> Iterator[np.ndarray]:
    return iter(np.split(values, np.cumsum(sizes)[:-1]))
