"""Thresholds on the unit interval: section 3 of Chaudhuri & Hsu (2011).

h_w(x) = +1 if x >= w, else -1, for w in [0, 1]. Two hypotheses disagree with probability rho(h, h') = P[h(x) != h'(x)],
x from the uniform reference distribution, or from a sample. Lemma 13 proves that a set exists which is an s-packing and
an s-cover, and leaves the choice open; here it is canonical, so that a learner has one support.

`ThresholdProblem`: distributions of examples, among them the hard family of Theorem 5 and Example 1: eta = 1 / (6 + 4
e^(alpha M)), centers z_i = i eta. Under P_i, x is uniform on [0, 1] or, half of the time, on the window [z_i - eta/3,
z_i + eta/3], and y = +1 iff x >= z_i. The checks look at the middle one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from audit import Labeled
from audit.errors import InvalidArgument
from audit.validate import positive
from mechanisms.papers.rows import CHAUDHURI
from mechanisms.parts.exponential import choice_probabilities
from mechanisms.parts.records import as_records, require_features

FloatArray = np.ndarray
IntArray = np.ndarray
Pair = tuple[Labeled, Labeled]


@dataclass(frozen=True)
class ThresholdClass:
    """Thresholds w in [0, 1]; a point on the threshold is labeled +1. VC dimension 1; rho(h_s, h_t) = |s - t|."""

    doubling_dim: ClassVar[float] = 1.0  # a ball is an interval; two of half the length cover it

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
        """Return a set that is an s-packing and an s-cover of the class in the sample metric."""
        # A hypothesis is known by the number c of points that it labels -1. From the left, the smallest c that is not
        # covered yet is covered by the largest one in reach. Thresholds lie halfway between two points of the sample;
        # they depend on the points alone.
        values, counts = np.unique(unit_features(X), return_counts=True)
        if values.size == 0 or values[-1] >= 1:
            raise InvalidArgument("`X` must hold points in [0, 1), at least one: no threshold labels 1 negative")
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
    """Return features as a float array of shape (m,) in [0, 1], or raise `InvalidArgument`."""
    # Clipping them silently would hide a broken sensitivity.
    if (shape := as_records(X).shape)[1:]:
        raise InvalidArgument.of("X", "have shape (m,)", shape)
    return require_features(X, 1, in_unit_cube=True)[:, 0]


def signed_labels(y: object) -> IntArray:
    """Return labels as an integer array of shape (m,) in {-1, +1}, or raise `InvalidArgument`."""
    array = np.asarray(y)
    if array.ndim != 1 or not np.all((array == 1) | (array == -1)):
        raise InvalidArgument("`y` must hold labels -1 and +1, shape (m,)")
    return array.astype(np.int64)


guarantee = partial(CHAUDHURI.guarantee, beta=0.1, budget=4_000)


def hard_distance(epsilon: float, most: float) -> float:
    """Return eta of the family that defeats every epsilon-private learner with up to `most` examples."""
    return 1 / (6 + 4 * math.exp(epsilon * most))


@dataclass(frozen=True)
class ThresholdProblem:
    """I.i.d. examples of a threshold with random label noise."""

    target: float = 0.5  # the true threshold
    noise: float = 0.0  # each label is flipped with this probability, below 1/2
    eta: float = 0.0  # of the family, with the target for its center; x is uniform for 0

    @classmethod
    def hard(cls, eta: float) -> Self:
        """Return the middle distribution of the family."""
        return cls((math.floor(1 / eta * (1 + 1e-12)) + 1) // 2 * eta, 0.0, eta)

    @property
    def smoothness(self) -> float:
        """kappa: largest density of x."""
        return 0.5 + 3 / (4 * self.eta) if self.eta else 1.0

    @property
    def window(self) -> FloatArray:
        """Both ends of the window."""
        return self.target + np.array([-1, 1]) * self.eta / 3

    def cdf(self, x: Any) -> FloatArray:
        """Distribution function of x in [0, 1]."""
        at = np.asarray(x, dtype=float)
        if not self.eta:
            return at
        return (at + np.clip((at - self.target) / (2 * self.eta / 3) + 0.5, 0, 1)) / 2

    def excess(self, thresholds: Any) -> FloatArray:
        """Return the error of thresholds beyond that of the best one."""
        return np.asarray((1 - 2 * self.noise) * np.abs(self.cdf(thresholds) - self.cdf(self.target)))

    def draw(self, m: int, rng: np.random.Generator) -> Labeled:
        """Draw m examples one by one."""
        near = rng.random(m) < 0.5 if self.eta else np.zeros(m, dtype=bool)
        close = self.target + self.eta / 3 * rng.uniform(-1, 1, m) if self.eta else 0.0
        x = np.where(near, close, rng.random(m))
        return Labeled(x, np.where((x >= self.target) ^ (rng.random(m) < self.noise), 1, -1))

    def draw_mistakes(self, grid: FloatArray, m: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the numbers of mistakes of an ascending grid on m examples, shape (replicates, grid)."""
        # The examples fall into the cells between grid points and the target; cells on one side of the target share the
        # probability of a wrong label.
        cuts = np.unique(np.r_[grid, self.target])
        edges = np.r_[0.0, cuts, 1.0]
        masses = np.maximum(np.diff(self.cdf(edges)), 0.0)
        ones = np.where(edges[:-1] >= self.target, 1 - self.noise, self.noise)
        table = rng.multinomial(m, np.r_[masses * ones, masses * (1 - ones)], size=replicates)
        positives, negatives = table[:, : masses.size], table[:, masses.size :]
        missed = np.cumsum(positives, axis=1) + negatives.sum(axis=1, keepdims=True) - np.cumsum(negatives, axis=1)
        return np.asarray(missed[:, np.searchsorted(cuts, grid)])

    def failures(
        self,
        epsilon: float,
        accuracy: float,
        m: int,
        replicates: int,
        rng: np.random.Generator,
        smoothness: float = 1.0,
        exponent: Callable[..., Any] | None = None,
    ) -> FloatArray:
        """Return P(excess > accuracy | data) of A1 for fresh data, shape (replicates,); the cover is for a known kappa.

        `exponent` replaces epsilon k / 2 by another function of the mistakes (and m).
        """
        grid = THRESHOLDS.packing_cover(accuracy / (4 * smoothness))
        mistakes = self.draw_mistakes(grid, m, replicates, rng)
        penalty = epsilon / 2 * mistakes if exponent is None else exponent(mistakes, m)
        bad = self.excess(grid) > accuracy * (1 + 1e-12)
        return np.asarray(choice_probabilities(penalty, 1.0)[:, bad].sum(axis=1))

    def draw_within(
        self, epsilon: float, accuracy: float, m: int, replicates: int, rng: np.random.Generator, **more: Any
    ) -> np.ndarray:
        """Draw whether A1 comes within the accuracy, on fresh data; arguments as for `failures`."""
        return np.asarray(rng.random(replicates) >= self.failures(epsilon, accuracy, m, replicates, rng, **more))
