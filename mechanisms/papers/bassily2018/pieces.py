"""A class of VC dimension V to run services on: [0, V) with a threshold of its own on each unit interval.

Features are uniform, labels follow a threshold in the middle of each piece, flipped with probability gamma. Least
empirical error falls apart into V thresholds, so that a teacher is 2 V distances from the middle to the nearest
feature, and half a million teachers are drawn at once, whatever their examples. With labels flipped, the least error
is that of a random walk with drift, which no teacher follows for more than a few examples to either side: the place
of its least value is drawn by its law, and then the two features around it. Where teachers miss the middle decides,
so that `PieceTask.teachers` is tested against training on drawn examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument

FloatArray = NDArray[np.float64]
_ROWS = 200_000  # thresholds drawn at once


@dataclass(frozen=True)
class PieceTask:
    """Uniform features on V pieces, labels by a threshold in the middle of each, flipped with probability `flip`.

    Parameters
    ----------
    pieces : int >= 1
        V.
    flip : float in [0, 0.1]
        gamma.
    """

    pieces: int
    flip: float = 0.0

    @property
    def window(self) -> int:
        """Steps of the walk on each side; its least value lies beyond with a probability below 1e-12."""
        return math.ceil(-30 / math.log(2 * math.sqrt(self.flip * (1 - self.flip))))

    def teachers(self, count: int, examples: int, rng: np.random.Generator) -> FloatArray:
        """Draw the thresholds of independent teachers with as many examples each, within their pieces, (count, V)."""
        if self.flip == 0:
            return self._clean(count, examples, rng)
        sizes = rng.multinomial(examples, np.full(self.pieces, 1 / self.pieces), size=count).ravel()
        if sizes.min() < 6 * self.window:
            raise InvalidArgument.of("examples", f"leave {6 * self.window} examples to each piece", examples)
        found = [self._noisy(sizes[start : start + _ROWS], rng) for start in range(0, sizes.size, _ROWS)]
        return np.concatenate(found).reshape(count, self.pieces)

    def _clean(self, count: int, examples: int, rng: np.random.Generator) -> FloatArray:
        """Draw thresholds half-way between the two features around the middle of each piece."""
        least = 2 * self.pieces - 1
        if examples < least:
            raise InvalidArgument.of("examples", f"be at least {least} for {self.pieces} pieces", examples)
        widths = free_widths(np.full(count, examples), 2 * self.pieces, rng)
        right, left = (np.minimum(self.pieces * np.column_stack(widths[side::2]), 0.5) for side in (0, 1))
        return np.asarray(0.5 + (right - left) / 2)

    def _noisy(self, sizes: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw thresholds: where the walk of errors is least first, between the two features around that place."""
        right, left = (np.minimum(width, 0.5) for width in free_widths(sizes, 2, rng))
        found = 0.5 + (right - left) / 2
        edges = least_places(self.flip, self.window).cumsum()[:-1]  # rounding leaves no place beyond
        passed = np.searchsorted(edges, rng.random(sizes.size)) - self.window  # features that the threshold has passed
        moved = np.flatnonzero(passed)
        count, beyond = rng.binomial(sizes[moved], 0.5), np.abs(passed[moved])  # features on the side that it moved to
        inner = rng.beta(beyond, count + 1 - beyond)
        outer = inner + (1 - inner) * nearest(count - beyond, rng)
        found[moved] = 0.5 + np.sign(passed[moved]) * (inner + outer) / 4
        return np.asarray(found)

    def error(self, thresholds: FloatArray) -> float:
        """Return the true error of one threshold on each piece."""
        return float(self.flip + (1 - 2 * self.flip) * np.mean(np.abs(thresholds - 0.5)))


@cache
def least_places(flip: float, window: int) -> FloatArray:
    """Return the law of the place where the walk of errors is first least, from `window` steps left to as many right.

    On either side the walk starts at 0, and goes down by 1 with probability `flip`, else up. The first of the least
    places is the last one on the left. So the least value is -m on the left, and the right side never falls below it;
    or the left side stays above 0, and the right side never falls below; or -m is reached on the right, where its first
    place counts, and the left side stays above it.
    """
    kept = [_above(-m, flip, window) for m in range(window + 1)]  # by floor, step and level
    stays = kept[0].sum(axis=1)  # at 0 or above, by the number of steps
    rises = np.append(1.0, (1 - flip) * stays[:-1])  # above 0
    found = np.zeros(2 * window + 1)
    found[window] = rises[window] * stays[window]
    steps = np.arange(1, window + 1)
    for m in range(window + 1):
        last = kept[m][steps, window - m] * rises[window - steps]
        found[window - steps] += last * kept[m][window].sum()
        if m > 0:
            first = flip * kept[m - 1][steps - 1, window - m + 1] * stays[window - steps]
            found[window + steps] += first * kept[m - 1][window].sum()
    return found


def _above(floor: int, flip: float, window: int) -> FloatArray:
    """Return the probabilities of step and level, -window to window, of a walk that has not gone below the floor."""
    found = np.zeros((window + 1, 2 * window + 1))
    found[0, window] = 1.0
    for step in range(window):
        found[step + 1, :-1] += flip * found[step, 1:]
        found[step + 1, 1:] += (1 - flip) * found[step, :-1]
        found[step + 1, : window + floor] = 0.0
    return found


def free_widths(sizes: NDArray[np.int64], sides: int, rng: np.random.Generator) -> list[FloatArray]:
    """Draw the distances from fixed places to the nearest of N uniform numbers on each side, `sides` arrays.

    No number lies within distances a_1, a_2, ... with probability (1 - a_1 - a_2 - ...)^N, whatever the places, as long
    as the intervals do not meet. Parts of a stick, Beta(1, N), Beta(1, N - 1), ... of the rest, have that law; the
    caller cuts them where intervals meet. N is 0 or at least sides - 1.
    """
    left, found = np.ones(sizes.size), []
    for taken in range(sides):
        found.append(np.where(sizes == 0, 1.0, left * nearest(np.maximum(sizes - taken, 0), rng)))
        left -= found[-1]
    return found


def nearest(count: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
    """Draw Beta(1, N), the least of N uniform numbers, as 1 - U^(1/N); 1 for N = 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(-rng.standard_exponential(count.size) / count))
