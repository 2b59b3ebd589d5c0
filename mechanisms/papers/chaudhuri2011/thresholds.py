"""Thresholds on the unit interval: section 3 of Chaudhuri & Hsu (2011).

h_w(x) = +1 if x >= w, else -1, for w in [0, 1]. Two hypotheses disagree with probability rho(h, h') = P[h(x) != h'(x)],
x from the uniform reference distribution, or from a sample. Lemma 13 proves that a set exists which is an s-packing and
an s-cover, and leaves the choice open; here it is canonical, so that a learner has one support.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from audit import Labeled
from audit.errors import InvalidArgument
from audit.validate import positive
from mechanisms.papers.rows import CHAUDHURI

FloatArray = np.ndarray
IntArray = np.ndarray
Pair = tuple[Labeled, Labeled]


@dataclass(frozen=True)
class ThresholdClass:
    """Thresholds w in [0, 1]; a point on the threshold is labeled +1. VC dimension 1.

    Under the uniform distribution rho(h_s, h_t) = |s - t|: the diameter is 1 and the doubling dimension too (a ball is
    an interval; two of half the length cover it).
    """

    doubling_dim: ClassVar[float] = 1.0

    def predict(self, hypotheses: FloatArray, X: FloatArray) -> IntArray:
        """Return the label of each point under each hypothesis, shape (hypotheses, points)."""
        return np.where(unit_features(X)[None, :] >= np.asarray(hypotheses)[:, None], 1, -1)

    def mistakes(self, hypotheses: FloatArray, dataset: Labeled) -> IntArray:
        """Count the mistakes of each hypothesis, shape (hypotheses,); one example moves each count by at most 1."""
        return count_wrong(hypotheses, unit_features(dataset.X), signed_labels(dataset.y))

    def sample_disagreement(self, first: FloatArray, second: FloatArray, X: FloatArray) -> FloatArray:
        """Return rho under the uniform distribution on a sample, repetitions counted."""
        ordered = np.sort(unit_features(X))
        below = [np.searchsorted(ordered, w, side="left") for w in (first, second)]
        return np.abs(below[0] - below[1]) / ordered.size

    def cover_size(self, radius: float) -> int:
        """Number of hypotheses in `packing_cover`."""
        return 1 if positive(radius, "radius") >= 0.5 else math.ceil(1 / (2 * radius))

    def packing_cover(self, radius: float) -> FloatArray:
        """Return (2 j + 1) / (2 J), J = ceil(1 / (2 s)): spacing 1/J > s, covering radius 1 / (2 J) <= s."""
        size = self.cover_size(radius)
        return (2 * np.arange(size) + 1) / (2 * size)

    def sample_packing_cover(self, X: FloatArray, radius: float) -> FloatArray:
        """Return a set that is an s-packing and an s-cover of the class in the sample metric.

        A hypothesis is known by the number c of points that it labels -1. From the left, the smallest c that is not
        covered yet is covered by the largest one in reach. Thresholds lie halfway between two points of the sample;
        they depend on the points alone.
        """
        values, counts = np.unique(unit_features(X), return_counts=True)
        if values.size == 0 or values[-1] >= 1:
            raise InvalidArgument.of("X", "hold points in [0, 1), at least one: no threshold labels 1 negative", X)
        cuts = np.r_[0, np.cumsum(counts)]
        reach = math.floor(positive(radius, "radius") * cuts[-1] * (1 + 1e-12))
        chosen = [int(np.searchsorted(cuts, reach, side="right")) - 1]
        while cuts[-1] > cuts[chosen[-1]] + reach:
            bare = cuts[np.searchsorted(cuts, cuts[chosen[-1]] + reach, side="right")]
            chosen.append(int(np.searchsorted(cuts, bare + reach, side="right")) - 1)
        return np.r_[0.0, (values[:-1] + values[1:]) / 2, 1.0][chosen]


THRESHOLDS = ThresholdClass()


def count_wrong(cuts: FloatArray, x: FloatArray, y: IntArray) -> IntArray:
    """Count the labels that differ from those of x >= cut, for each cut, in O((m + cuts) log m)."""
    ones, others = (np.searchsorted(np.sort(x[y == label]), cuts, side="left") for label in (1, -1))
    return ones + np.count_nonzero(y == -1) - others


def unit_features(X: object) -> FloatArray:
    """Return features as a float array of shape (m,) in [0, 1], or raise `InvalidArgument`.

    Clipping them silently would hide a broken sensitivity.
    """
    array = np.asarray(X, dtype=float)
    if array.ndim != 1:
        raise InvalidArgument.of("X", "have shape (m,)", array.shape)
    if not np.all((array >= 0) & (array <= 1)):
        raise InvalidArgument.of("X", "lie in [0, 1]", array[~((array >= 0) & (array <= 1))][0].item())
    return array


def signed_labels(y: object) -> IntArray:
    """Return labels as an integer array of shape (m,) in {-1, +1}, or raise `InvalidArgument`."""
    array = np.asarray(y)
    if array.ndim != 1 or not np.all((array == 1) | (array == -1)):
        raise InvalidArgument.of("y", "hold labels -1 and +1, shape (m,)", y)
    return array.astype(np.int64)


guarantee = partial(CHAUDHURI.guarantee, beta=0.1, budget=4_000)
