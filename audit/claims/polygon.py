"""Convex functions known at points: what lies below them for certain, and lines below them.

Nothing here samples or knows what a claim is. All bounds are polygons, so that linear functions attain their
extremes at vertices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def polygon_below(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the vertices of a polygon that lies below every convex, nonnegative function through the given points.

    Parameters
    ----------
    x : array, strictly increasing, at least 4 points
    y : array of the same shape
        Values of the function there.

    Notes
    -----
    On a cell [x_i, x_(i+1)] a convex function lies above both neighboring secants, extended into the cell. They
    meet at the fraction (s_(i+1) - s_i) / (s_(i+1) - s_(i-1)) of the cell, s the slopes. The first and last cell
    have one neighbor, and the function may jump at its ends.
    """
    width = np.diff(x)
    slope = np.diff(y) / width
    left, right = np.r_[np.nan, slope[:-1]], np.r_[slope[1:], np.nan]
    turn = right - left
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(turn > 0, np.clip((right - slope) / turn, 0.0, 1.0), 0.5)
    share[0], share[-1] = 0.0, 1.0
    from_left = y[:-1] + left * share * width
    from_right = y[1:] - right * (1 - share) * width
    low = np.fmin(from_left, from_right)
    points = np.stack([x[:-1] + share * width, x[1:]], axis=1).ravel()[:-1]
    values = np.stack([low, y[1:]], axis=1).ravel()[:-1]
    return _without_negatives(points, values)


def _without_negatives(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the vertices of the larger of a polygon and 0: those where it crosses 0 are new."""
    crossing = np.flatnonzero(y[:-1] * y[1:] < 0)
    share = y[crossing] / (y[crossing] - y[crossing + 1])
    new = x[crossing] + share * (x[crossing + 1] - x[crossing])
    at = crossing + 1
    return np.insert(x, at, new), np.maximum(np.insert(y, at, 0.0), 0.0)


def symmetrised(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the vertices of the larger of a decreasing polygon and its reflection at the diagonal."""
    reflected_x, first = np.unique(y, return_index=True)
    reflected_y = np.minimum.reduceat(x[np.argsort(y, kind="stable")], np.unique(np.sort(y), return_index=True)[1])
    assert len(first) == len(reflected_y)
    grid = np.unique(np.r_[x, reflected_x])
    own = np.interp(grid, x, y)
    other = np.interp(grid, reflected_x, reflected_y, right=0.0)
    gap = own - other
    crossing = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[crossing] / (gap[crossing] - gap[crossing + 1])
    points = grid[crossing] + share * (grid[crossing + 1] - grid[crossing])
    values = own[crossing] + share * (own[crossing + 1] - own[crossing])
    return np.r_[grid, points], np.r_[np.maximum(own, other), values]


def upper_envelope(slopes: FloatArray, intercepts: FloatArray) -> list[int]:
    """Give the indices of the lines intercept - slope x that form their upper envelope on x >= 0, left to right.

    Parameters
    ----------
    slopes : array, strictly decreasing, > 0
    intercepts : array of the same shape
    """
    chain: list[int] = []
    for j in range(len(slopes)):
        while chain and intercepts[j] >= intercepts[chain[-1]]:
            chain.pop()  # flatter and higher at 0: the steeper line is never on top
        while len(chain) > 1 and _meet(slopes, intercepts, chain[-2], j) <= _meet(slopes, intercepts, *chain[-2:]):
            chain.pop()
        chain.append(j)
    return chain


def _meet(slopes: FloatArray, intercepts: FloatArray, i: int, j: int) -> float:
    return float((intercepts[i] - intercepts[j]) / (slopes[i] - slopes[j]))
