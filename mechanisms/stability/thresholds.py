"""Thresholds on the unit interval, the class of VC dimension 1 on which services are run at full size.

`ThresholdERM` is the teacher of the runs of Corollary 4.1 and Theorems 4.3 to 4.7 of Bassily, Thakurta & Thakkar
(2018): x -> 1[x >= t], t half-way between the two features around the first least empirical error. With uniform
features and labels 1[x >= theta] a teacher is two gaps, the distances of the nearest examples to the right and left
of theta. `ThresholdTask.teachers` draws those, in O(1) a teacher whatever its examples, and `wrong_votes` counts all
votes from the sorted thresholds.

Departure: the paper assumes some PAC learner; this one is ours. With a share of labels flipped at random (the agnostic
case) no O(1) law is known to us, and the teachers are trained on drawn examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument
from audit.validate import closed_probability, real
from mechanisms.estimator import Classifier

FloatArray = NDArray[np.float64]
_MOST_CELLS = 4_000_000  # examples drawn at once


class ThresholdERM(Classifier):
    """Least empirical error among x -> 1[x >= t], features in [0, 1]; O(n log n)."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features of shape (n,) or (n, 1) in [0, 1] and labels 0 or 1."""
        features, labels = np.asarray(X, dtype=float), np.asarray(y)
        if features.ndim == 2 and features.shape[1] == 1:
            features = features[:, 0]
        if features.ndim != 1 or features.shape != labels.shape:
            raise InvalidArgument.of("X", f"have shape ({labels.size},) or ({labels.size}, 1)", np.shape(X))
        if not (np.all(features >= 0) and np.all(features <= 1)):
            raise InvalidArgument.of("X", "lie in [0, 1]", features)
        if not np.isin(labels, (0, 1)).all():
            raise InvalidArgument.of("y", "hold labels 0 and 1", np.unique(labels))
        self.threshold_ = float(best_thresholds(features[None], labels[None])[0])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return 1[x >= t]."""
        threshold = self._fitted("threshold_")
        return (np.asarray(X, dtype=float).reshape(len(X)) >= threshold).astype(np.int64)


def best_thresholds(features: FloatArray, labels: np.ndarray) -> FloatArray:
    """Return the threshold of each row of examples, shape (rows,); features and labels have shape (rows, n)."""
    order = np.argsort(features, axis=1)
    ordered = np.take_along_axis(features, order, axis=1)
    ones = np.take_along_axis(labels, order, axis=1).astype(np.int32)
    rows = len(ordered)
    steps = np.concatenate([np.zeros((rows, 1), dtype=np.int32), np.cumsum(2 * ones - 1, axis=1)], axis=1)
    edges = np.concatenate([np.zeros((rows, 1)), ordered, np.ones((rows, 1))], axis=1)
    steps[:, 1:-1][ordered[:, 1:] == ordered[:, :-1]] = np.iinfo(np.int32).max  # equal features stand on one side
    cut = np.argmin(steps, axis=1)[:, None]
    return np.asarray((np.take_along_axis(edges, cut, 1) + np.take_along_axis(edges, cut + 1, 1))[:, 0] / 2)


@dataclass(frozen=True)
class ThresholdTask:
    """Uniform features on [0, 1], labels 1[x >= theta], each flipped with probability `flip`.

    Parameters
    ----------
    theta : float in [0, 1]
    flip : float in [0, 1/2)
        The least error of the class, gamma.
    """

    theta: float = 0.5
    flip: float = 0.0

    def __post_init__(self) -> None:
        closed_probability(self.theta, "theta")
        if not 0 <= real(self.flip, "flip") < 0.5:
            raise InvalidArgument.of("flip", "lie in [0, 1/2)", self.flip)

    def labels(self, features: FloatArray, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the labels of features of any shape."""
        return ((features >= self.theta) ^ (rng.random(features.shape) < self.flip)).astype(np.int64)

    def error(self, thresholds: Any) -> FloatArray:
        """Return the true error of thresholds."""
        return np.asarray(self.flip + (1 - 2 * self.flip) * np.abs(np.asarray(thresholds) - self.theta))

    def teachers(self, sizes: Any, rng: np.random.Generator) -> FloatArray:
        """Draw the thresholds of independent teachers, shape (k,), from the numbers of examples of each."""
        sizes = np.asarray(sizes, dtype=np.int64)
        return self._from_gaps(sizes, rng) if self.flip == 0 else self.trained(sizes, rng)

    def trained(self, sizes: Any, rng: np.random.Generator) -> FloatArray:
        """Draw examples and train: the law of `teachers` by definition, for any flip; chunks of equal size only."""
        sizes = np.asarray(sizes, dtype=np.int64)
        if np.unique(sizes).size != 1:
            raise InvalidArgument.of("sizes", "be equal for teachers that are trained", sizes)
        size, at_once = int(sizes[0]), max(1, _MOST_CELLS // max(1, int(sizes[0])))
        found = []
        for start in range(0, sizes.size, at_once):
            features = rng.random((min(at_once, sizes.size - start), size))
            found.append(best_thresholds(features, self.labels(features, rng)))
        return np.concatenate(found)

    def _from_gaps(self, sizes: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        right, left = free_widths(sizes, 2, rng)
        return np.asarray((np.minimum(self.theta + right, 1) + np.maximum(self.theta - left, 0)) / 2)


def free_widths(sizes: NDArray[np.int64], sides: int, rng: np.random.Generator) -> list[FloatArray]:
    """Draw the distances from fixed places to the nearest of N uniform numbers on each side, `sides` arrays.

    No number lies within distances a_1, a_2, ... with probability (1 - a_1 - a_2 - ...)^N, whatever the places, as long
    as the intervals do not meet. Parts of a stick, Beta(1, N), Beta(1, N - 1), ... of what is left, have that law; the
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


def wrong_votes(thresholds: FloatArray, features: FloatArray, theta: float) -> NDArray[np.int64]:
    """Count the teachers that differ from 1[x >= theta] at each feature, shape (m,).

    Only features between the outermost thresholds are looked up: elsewhere all teachers agree with theta.
    """
    ordered = np.sort(thresholds)
    wrong = np.zeros(features.size, dtype=np.int64)
    near = np.flatnonzero((features >= min(ordered[0], theta)) & (features < max(ordered[-1], theta)))
    ones = np.searchsorted(ordered, features[near], side="right")
    wrong[near] = np.where(features[near] >= theta, ordered.size - ones, ones)
    return wrong
