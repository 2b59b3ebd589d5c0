"""The least epsilon of the exponential mechanism on a public cover: closed form, and by listing all datasets.

For the learners A1 and A2 of Chaudhuri & Hsu (2011), Theorems 7 and 9, over ALL pairs of m examples that differ in k:

    epsilon_k(m) = ln(1 + P (e^(k alpha) - 1)),    P = 1 / (1 + rho e^(-alpha (m - 2 k) / 2)),

where a point x splits the cover into those that label it +1 and those that label it -1, and rho is the least ratio of
the smaller part R to the larger part L, both non-empty: 1 / (J - 1) for J thresholds, (J/2 - 1) / (J/2 + 1) for an even
number J of directions on the circle.

Argument. ln(p_g / p'_g) = (alpha / 2) d_g + ln sum_h p_h e^(-alpha d_h / 2), with d = k' - k in [-k, k]: largest when
d_g = k and d_h = -k wherever the weight lies. The pair: S has m - k copies of x with the label that is right on L and k
with the other, S' has m copies of the former; then P = P(A(S) in L). Only labels change between S and S', so that
substitution and label flip have one worst case. The text proves epsilon <= alpha; the closed form is not in it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit, logsumexp

from audit import Labeled
from audit.errors import InvalidArgument
from audit.validate import integer, positive

LogWeights = Callable[[np.ndarray], np.ndarray]


def worst_epsilon(epsilon: float, records: int, ratio: float, steps: int = 1) -> float:
    """Return the exact epsilon of A1 or A2 over all pairs of lists that differ in `steps` examples.

    Parameters
    ----------
    epsilon : float > 0
        alpha; weights are exp(-alpha k / 2).
    records : int >= 1
        m.
    ratio : float in (0, 1]
        rho, the least |R| / |L|.
    steps : int, 1 <= steps <= records
        k.
    """
    alpha, m = positive(epsilon, "epsilon"), integer(records, "records", at_least=1)
    k = integer(steps, "steps", at_least=1)
    if k > m:
        raise InvalidArgument.of("steps", f"be at most records = {m}", steps)
    concentrated = expit(alpha * (m - 2 * k) / 2 - math.log(positive(ratio, "ratio")))
    return float(np.log1p(concentrated * math.expm1(k * alpha)))


def threshold_ratio(size: int) -> float:
    """Return rho for a cover of `size` thresholds: one on the small side."""
    return 1 / (integer(size, "size", at_least=2) - 1)


def circle_ratio(size: int) -> float:
    """Return rho for an even number of directions, x orthogonal to one of them: ties are labeled +1."""
    half = integer(size, "size", at_least=4) / 2
    if size % 2:
        raise InvalidArgument.of("size", "be even", size)
    return (half - 1) / (half + 1)


def worst_pair(point: float, records: int, label: int = 1, steps: int = 1) -> tuple[Labeled, Labeled]:
    """Return the pair at a point: `steps` labels of the left list are flipped, the right list is unanimous."""
    X, y = np.full(records, point), np.full(records, label)
    return Labeled(X, np.r_[np.full(steps, -label), y[steps:]]), Labeled(X, y)


def example_mistakes(size: int) -> np.ndarray:
    """Return the mistakes of `size` thresholds on every kind of example, shape (2 (size + 1), size).

    Kind 2 i is a point above i of the thresholds with label +1 (wrong for those that label it -1), kind 2 i + 1 the
    same point with label -1.
    """
    thresholds, cells = np.arange(size)[None, :], np.arange(size + 1)[:, None]
    missed = (thresholds >= cells).astype(int)
    return np.stack([missed, 1 - missed], axis=1).reshape(-1, size)


def enumerated_epsilon(
    kinds: np.ndarray, records: int, log_weights: LogWeights, labels_only: bool = False, steps: int = 1
) -> float:
    """Return the largest loss over all datasets of `records` examples and all neighbors `steps` examples away.

    Parameters
    ----------
    kinds : int array, shape (kinds, hypotheses)
        Mistakes on one example of each kind; rows 2 i and 2 i + 1 differ in the label only.
    records : int >= 1
    log_weights : callable
        Numbers of mistakes, shape (..., hypotheses) -> log-weights of the same shape.
    labels_only : bool
        Neighbors differ in one label, not in one example; steps = 1.
    steps : int >= 1
    """
    kept = _sums(kinds, records - steps)
    changed = kinds if steps == 1 else _sums(kinds, steps)
    logs = log_weights(kept[:, None, :] + changed[None, :, :])
    logs = logs - logsumexp(logs, axis=-1, keepdims=True)
    if labels_only:
        return float(np.max(np.abs(logs[:, 0::2] - logs[:, 1::2])))
    return float(np.max(np.ptp(logs, axis=1)))


def label_flip_epsilon(predictions: np.ndarray, epsilon: float) -> float:
    """Return the largest loss under a label flip for fixed points, over all 2^m labelings.

    Parameters
    ----------
    predictions : array in {-1, +1}, shape (hypotheses, m), m <= 16
        Labels of the points under the hypotheses of the cover.
    epsilon : float > 0
    """
    records = predictions.shape[1]
    if records > 16:
        raise InvalidArgument.of("predictions", "have at most 16 points to list all labellings", predictions.shape)
    labels = 1 - 2 * ((np.arange(2**records)[:, None] >> np.arange(records)) & 1)
    logs = _log_probabilities((records - labels @ predictions.T) / 2, positive(epsilon, "epsilon"))
    flips = (np.arange(2**records) ^ (1 << bit) for bit in range(records))
    return max(float(np.max(np.abs(logs - logs[flipped]))) for flipped in flips)


def worst_flip(predictions: np.ndarray, epsilon: float) -> tuple[float, np.ndarray, int]:
    """Return the largest loss over labelings that are + or - from some point on; with labels and flipped index.

    For thresholds, points in ascending order, no other labeling is worse: `label_flip_epsilon` agrees wherever all
    2^m can be listed (a finding, tested up to m = 12, not a proof).

    Parameters
    ----------
    predictions : array in {-1, +1}, shape (hypotheses, m)
    epsilon : float > 0
    """
    records = predictions.shape[1]
    rising = np.where(np.arange(records)[None, :] >= np.arange(records + 1)[:, None], 1, -1)
    labels = np.vstack([rising, -rising])
    mistakes = (records - labels @ predictions.T) / 2
    before = _log_probabilities(mistakes, epsilon)
    flipped = mistakes[:, None, :] + labels[:, :, None] * predictions.T[None, :, :]
    losses = np.max(np.abs(before[:, None, :] - _log_probabilities(flipped, epsilon)), axis=2)
    row, index = np.unravel_index(np.argmax(losses), losses.shape)
    return float(losses[row, index]), labels[row], int(index)


def _log_probabilities(mistakes: np.ndarray, epsilon: float) -> np.ndarray:
    logs = -epsilon / 2 * mistakes
    return np.asarray(logs - logsumexp(logs, axis=-1, keepdims=True))


def _sums(kinds: np.ndarray, count: int) -> np.ndarray:
    """Return the mistakes on every multiset of `count` examples, shape (multisets, hypotheses)."""
    picks = list(itertools.combinations_with_replacement(range(len(kinds)), count))
    return np.array([kinds[list(pick)].sum(axis=0) for pick in picks])
