"""A class of VC dimension V to run services on: [0, V) with a threshold of its own on each unit interval.

Features are uniform, labels follow a threshold in the middle of each piece, flipped with probability gamma. Least
empirical error falls apart into V thresholds, so that a teacher is 2 V distances from the middle to the nearest
feature, and half a million teachers are drawn at once, whatever their examples. With labels flipped, the least error
is that of a random walk with drift, which no teacher follows for more than a few examples to either side: these steps
are drawn, and then the two features around the place of the least error. Where teachers miss the middle decides, so
that `PieceTask.teachers` is tested against training on drawn examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument

FloatArray = NDArray[np.float64]
_ROWS = 200_000  # thresholds drawn at once


@dataclass(frozen=True)
class PieceTask:
    """Uniform features on V pieces, labels by a threshold in the middle of each, flipped with probability gamma."""

    pieces: int  # V
    flip: float = 0.0  # gamma, at most 0.1

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
        passed = least_places(self.flip, self.window, sizes.size, rng)  # features that the threshold has passed
        moved = np.flatnonzero(passed)
        count, beyond = rng.binomial(sizes[moved], 0.5), np.abs(passed[moved])  # features on the side that it moved to
        inner = rng.beta(beyond, count + 1 - beyond)
        outer = inner + (1 - inner) * nearest(count - beyond, rng)
        found[moved] = 0.5 + np.sign(passed[moved]) * (inner + outer) / 4
        return np.asarray(found)

    def error(self, thresholds: FloatArray) -> float:
        """Return the true error of one threshold on each piece."""
        return float(self.flip + (1 - 2 * self.flip) * np.mean(np.abs(thresholds - 0.5)))


def least_places(flip: float, window: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the places where walks of errors are first least, from `window` steps left of 0 to as many right.

    On either side a walk starts at 0, and goes down by 1 with probability `flip`, else up.
    """
    steps = np.where(rng.random((2, size, window), dtype=np.float32) < flip, -1, 1).astype(np.int16)
    left, right = np.cumsum(steps, axis=2, dtype=np.int16)
    levels = np.concatenate([left[:, ::-1], np.zeros((size, 1), dtype=np.int16), right], axis=1)
    return np.argmin(levels, axis=1) - window


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
