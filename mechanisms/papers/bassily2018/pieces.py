"""A class of VC dimension V to run services on: [0, V) with a threshold of its own on each unit interval.

Features are uniform, labels follow a threshold in the middle of each piece, flipped with probability gamma. Least
empirical error falls apart into V thresholds. Each is the place where a random walk with drift, the errors, is least:
the middle without flips, else a few examples to either side. These steps are drawn, and then the two features around
that place, so that half a million teachers are drawn at once, whatever their examples. Where teachers miss the middle
decides, so that `PieceTask.teachers` is tested against training on drawn examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument

FloatArray = NDArray[np.float64]
_ROWS = 200_000  # thresholds drawn at once, with their walks


@dataclass(frozen=True)
class PieceTask:
    """Uniform features on V pieces, labels by a threshold in the middle of each, flipped with probability gamma."""

    pieces: int  # V
    flip: float = 0.0  # gamma, at most 0.1

    @property
    def window(self) -> int:
        """Steps of the walk on each side; its least value lies beyond with a probability below 1e-12."""
        return math.ceil(-30 / math.log(2 * math.sqrt(self.flip * (1 - self.flip)))) if self.flip else 0

    def teachers(self, count: int, examples: int, rng: np.random.Generator) -> FloatArray:
        """Draw the thresholds of independent teachers with as many examples each, within their pieces, (count, V)."""
        sizes = rng.multinomial(examples, np.full(self.pieces, 1 / self.pieces), size=count).ravel()
        if sizes.min() < 6 * self.window:
            raise InvalidArgument.of("examples", f"leave {6 * self.window} examples to each piece", examples)
        rows = _ROWS if self.window else sizes.size
        found = [self._thresholds(sizes[start : start + rows], rng) for start in range(0, sizes.size, rows)]
        return np.concatenate(found).reshape(count, self.pieces)

    def _thresholds(self, sizes: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw thresholds: where the walk of errors is least first, between the two features around that place."""
        right, left = (np.minimum(width, 0.5) for width in free_widths(sizes, rng))
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


def free_widths(sizes: NDArray[np.int64], rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw the distances from the middle to the nearest of N uniform numbers on its right, and on its left.

    No number lies within distances a and b with probability (1 - a - b)^N, as long as the intervals do not leave the
    piece. Two parts of a stick, Beta(1, N) and Beta(1, N - 1) of the rest, have that law; the caller cuts them.
    """
    right = nearest(sizes, rng)
    return right, np.where(sizes == 0, 1.0, (1 - right) * nearest(np.maximum(sizes - 1, 0), rng))


def nearest(count: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
    """Draw Beta(1, N), the least of N uniform numbers, as 1 - U^(1/N); 1 for N = 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(-rng.standard_exponential(count.size) / count))
