"""Supporting lines of the trade-off function of a pair, from upper bounds of its hockey-stick divergence."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from audit.claims.polygon import FloatArray, upper_envelope
from audit.laws import Direction, PrivacyLoss

_FIRST = 65  # thresholds in each direction before refinement
_MOST = 12_000
_LARGEST = 700.0
_NOTHING = 1e-11


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
        """Every epsilon >= 0 that was looked at, with its direction."""
        return [(abs(t), "right" if t >= 0 else "left") for t in self._delta]

    def refine(self, thresholds: FloatArray) -> bool:
        """Add lines; False when there is nothing new or too much."""
        new = [t for t in map(float, thresholds) if t not in self._delta]
        if not new or len(self._delta) + len(new) > _MOST:
            return False
        for t in new:
            self._delta[t] = self.loss.delta(abs(t), "right" if t >= 0 else "left")
        return True

    def vertices(self, function: Callable[[float], float]) -> tuple[FloatArray, FloatArray]:
        """Give function - envelope at the vertices of the envelope, and a threshold that would sharpen each.

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
    """Give an epsilon beyond which next to nothing of delta is left, and at most the largest loss."""
    most = min(loss.max_loss(direction), _LARGEST)
    reach = min(1.0, most)
    while reach < most and loss.delta(reach, direction) > _NOTHING + loss.mass_at_infinity(direction):
        reach = min(2 * reach, most)
    return most if math.isfinite(most) and most <= 2 * reach else reach
