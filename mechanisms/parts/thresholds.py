"""Thresholds on the unit interval: least empirical error among x -> 1[x >= t], the class of VC dimension 1."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


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


def wrong_votes(thresholds: FloatArray, features: FloatArray, theta: float) -> NDArray[np.int64]:
    """Count the thresholds that differ from theta at each feature, shape (m,).

    Only features between the outermost thresholds are looked up: elsewhere all agree with theta.
    """
    ordered = np.sort(thresholds)
    wrong = np.zeros(features.size, dtype=np.int64)
    near = np.flatnonzero((features >= min(ordered[0], theta)) & (features < max(ordered[-1], theta)))
    ones = np.searchsorted(ordered, features[near], side="right")
    wrong[near] = np.where(features[near] >= theta, ordered.size - ones, ones)
    return wrong
