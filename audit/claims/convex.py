"""Convex functions known at points: polygons below them, and supporting lines of a pair's trade-off function.

All bounds are polygons: linear functions attain their extremes at the vertices.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from audit.laws import Direction, PrivacyLoss

FloatArray = NDArray[np.float64]

_FIRST = 65  # thresholds in each direction before refinement
_MOST = 12_000
_LARGEST = 700.0
_NEGLIGIBLE = 1e-11


def polygon_below(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the vertices of a polygon that lies below every convex, nonnegative function through the given points.

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
    """Return the vertices of the larger of a polygon and 0: those where it crosses 0 are new."""
    crossing = np.flatnonzero(y[:-1] * y[1:] < 0)
    share = y[crossing] / (y[crossing] - y[crossing + 1])
    new = x[crossing] + share * (x[crossing + 1] - x[crossing])
    at = crossing + 1
    return np.insert(x, at, new), np.maximum(np.insert(y, at, 0.0), 0.0)


def symmetrized(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the vertices of the larger of a decreasing polygon and its reflection at the diagonal."""
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
    """Return the indices of the lines intercept - slope x that form their upper envelope on x >= 0, left to right.

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


class SupportingLines:
    """Lines below T(left, right): 1 - delta(t) - e^t alpha, for a growing set of real t.

    delta is the divergence of right from left. At t = -epsilon it is 1 - e^t + e^t times the divergence of left from
    right at epsilon, so both directions enter, each at epsilon >= 0.

    Parameters
    ----------
    loss : PrivacyLoss
    """

    def __init__(self, loss: PrivacyLoss) -> None:
        self.loss = loss
        self._delta: dict[float, float] = {}
        steps = np.linspace(0.0, 1.0, _FIRST)
        self.refine(np.r_[_reach(loss, "right") * steps, -_reach(loss, "left") * steps[1:]])

    def points(self) -> list[tuple[float, Direction]]:
        """Return every epsilon >= 0 that was looked at, with its direction."""
        return [(abs(t), "right" if t >= 0 else "left") for t in self._delta]

    def refine(self, thresholds: FloatArray) -> bool:
        """Add lines; return False if none is new or there are too many."""
        new = [t for t in map(float, thresholds) if t not in self._delta]
        if not new or len(self._delta) + len(new) > _MOST:
            return False
        for t in new:
            self._delta[t] = self.loss.delta(abs(t), "right" if t >= 0 else "left")
        return True

    def vertices(self, function: Callable[[float], float]) -> tuple[FloatArray, FloatArray]:
        """Return function - envelope at the vertices of the envelope, and a threshold that would sharpen each.

        The vertices include the envelope's ends at alpha = 0 and at height 0. The function is compared with the other
        order of the pair too: T(right, left) is the inverse of T(left, right), hence the reflected vertices.
        """
        t = np.array(sorted(self._delta, reverse=True))
        delta = np.minimum([self._delta[float(x)] for x in t], 1.0)
        slopes = np.exp(t)
        intercepts = np.where(t >= 0, 1 - delta, slopes * (1 - delta))
        kept = upper_envelope(slopes, intercepts)
        t, k, c = t[kept], slopes[kept], intercepts[kept]
        alphas = np.clip(np.r_[0.0, (c[:-1] - c[1:]) / (k[:-1] - k[1:]), c[-1] / k[-1]], 0.0, 1.0)
        heights = np.maximum(np.r_[c[0], c[:-1] - k[:-1] * alphas[1:-1], 0.0], 0.0)
        between = np.r_[t[0] + 1.0, (t[:-1] + t[1:]) / 2, t[-1] - 1.0]
        vertical = np.array([function(float(alpha)) for alpha in alphas]) - heights
        horizontal = np.array([function(float(height)) for height in heights]) - alphas
        gaps = np.maximum(vertical, horizontal)
        close = np.r_[False, t[:-1] - t[1:] < 1e-13 * (1 + np.abs(t[1:])), False]
        between[close] = t[0]  # already known: nothing left to gain there
        return gaps, np.clip(between, -_LARGEST, _LARGEST)


def _reach(loss: PrivacyLoss, direction: Direction) -> float:
    """Return an epsilon, at most the largest loss, beyond which delta is negligible."""
    most = min(loss.max_loss(direction), _LARGEST)
    reach = min(1.0, most)
    while reach < most and loss.delta(reach, direction) > _NEGLIGIBLE + loss.mass_at_infinity(direction):
        reach = min(2 * reach, most)
    return most if math.isfinite(most) and most <= 2 * reach else reach
