"""Theorems 5 and 12 and Lemmas 11 and 22 of Chaudhuri & Hsu (2011): how little private learners know from few examples.

All rest on one inequality: K datasets within b examples and K disjoint targets leave an alpha-private learner a mean
success of at most e^(alpha b) / (e^(alpha b) + K - 1). Learners are held against the statements exactly (A1 on the
kindest lists) and by packings, and the best label-private mechanism there is, by a linear program, against Lemma 11.

The family of Theorem 5 and Example 1: eta = 1 / (6 + 4 e^(alpha M)), centers z_i = i eta, i = 1, ..., floor(1 / eta)
- 1. Under P_i, x is uniform on [0, 1] or, half of the time, on the window [z_i - eta/3, z_i + eta/3], and y = +1 iff
x >= z_i. Every threshold outside the window errs with probability 1/4 + eta/6 at least; kappa = 1/2 + 3 / (4 eta).

Departures: the chain of Theorem 5 ends in "more than 2/3" where the numbers give at least 2, and 1/5 can be 1/4. The
proof of Lemma 11 loses alpha twice; read e^(-8 alpha s m), ln(|P|/2 - 1) / (8 alpha s). Theorem 12 as stated is void
for thresholds and for the circle (ddim - 1 = 0); the packing form of its proof is used. In the proof of Theorem 9 the
tail is printed as |G| exp(-3 a m / 20); weights exp(-alpha k / 2) give |G| exp(-3 alpha a m / 40). Packings are weak
on the exponential mechanism, which group privacy does not limit: they convict supports that depend on the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.special import softmax

from audit import Labeled, LabelFlip, PackingCheck, PrivacyClaim, Substitution
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.thresholds import THRESHOLDS, FloatArray
from mechanisms.papers.rows import CHAUDHURI, Cases


@dataclass(frozen=True)
class ConcentratedThresholdFamily:
    """Distributions P_1, ..., P_K with windows of width 2 eta / 3 around the true thresholds.

    Parameters
    ----------
    eta : float in (0, 1/3]
        Distance between centers.
    """

    eta: float

    @classmethod
    def for_samples(cls, epsilon: float, most: float) -> Self:
        """Return the family that defeats every epsilon-private learner with up to `most` examples."""
        return cls(1 / (6 + 4 * math.exp(epsilon * most)))

    @property
    def size(self) -> int:
        """K, the number of distributions."""
        return math.floor(1 / self.eta * (1 + 1e-12)) - 1

    @property
    def smoothness(self) -> float:
        """kappa: largest density of x."""
        return 0.5 + 3 / (4 * self.eta)

    def center(self, index: int) -> float:
        """z_i for 0 <= index < K, i = index + 1."""
        return (index + 1) * self.eta

    def cdf(self, index: int, x: FloatArray) -> FloatArray:
        """Distribution function of x in [0, 1]."""
        inside = np.clip((np.asarray(x) - self.center(index)) / (2 * self.eta / 3) + 0.5, 0, 1)
        return (np.asarray(x) + inside) / 2

    def error(self, index: int, threshold: FloatArray) -> FloatArray:
        """Classification error of thresholds under a distribution."""
        return np.abs(self.cdf(index, threshold) - self.cdf(index, np.array(self.center(index))))

    def draw(self, index: int, size: int, rng: np.random.Generator) -> Labeled:
        """Draw `size` labeled examples."""
        center, narrow = self.center(index), rng.random(size) < 0.5
        x = np.where(narrow, center + self.eta / 3 * rng.uniform(-1, 1, size), rng.random(size))
        return Labeled(x, np.where(x >= center, 1, -1))

    def best_success(self, epsilon: float, grid: FloatArray, index: int, records: int) -> float:
        """Return P(exponential mechanism on a grid hits the window) for the easiest list of `records` examples.

        Kindest: negatives at the left end of the window and positives at its right end, so that all of it makes no
        mistake; the split between the two is the best of all.
        """
        inside = np.abs(grid - self.center(index)) <= self.eta / 3
        left = np.count_nonzero(grid[~inside] < self.center(index))
        right = grid.size - left - np.count_nonzero(inside)
        negatives = np.arange(records + 1)
        outside = left * np.exp(-epsilon * negatives / 2) + right * np.exp(-epsilon * (records - negatives) / 2)
        count = np.count_nonzero(inside)
        return float(np.max(count / (count + outside)))


@dataclass(frozen=True)
class MovingExample:
    """One positive example at z_i = i / (K + 1) between 50 negatives at 0 and 49 positives at 1: b = 1.

    The target is where a halving learner must go, z_i / 2, within a quarter of the distance between neighbors.

    Parameters
    ----------
    size : int >= 2
        K.
    """

    size: int

    records: ClassVar[int] = 1  # b

    def dataset(self, index: int, rng: np.random.Generator) -> Labeled:
        """Return the dataset of a target."""
        X = np.r_[np.zeros(50), np.ones(49), self._place(index)]
        return Labeled(X, np.r_[np.full(50, -1), np.ones(50, int)])

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold lies in the target's interval."""
        return abs(threshold - self._place(index) / 2) < 0.999 / (4 * (self.size + 1))

    def _place(self, index: int) -> float:
        return (index + 1) / (self.size + 1)


@dataclass(frozen=True)
class EvenTargets:
    """m evenly spread points labeled by one of K equally spaced thresholds; targets are thresholds within `accuracy`.

    The packing form of Theorem 12, which holds for every set of points: balls of radius a around thresholds more than
    2 a apart are disjoint, and all m labels may differ.
    """

    size: int
    records: int
    accuracy: float

    def place(self, index: int) -> float:
        """The true threshold."""
        return index / (self.size - 1)

    def dataset(self, index: int, rng: np.random.Generator) -> Labeled:
        """Return m labeled points."""
        x = (np.arange(self.records) + 0.5) / self.records
        return Labeled(x, np.where(x >= self.place(index), 1, -1))

    def hits(self, index: int, threshold: float) -> bool:
        """Return whether a threshold is accurate."""
        return abs(threshold - self.place(index)) <= self.accuracy


@CHAUDHURI.states("packing identity for randomized response", "Lemma 22", "==")
def equality_cases() -> Cases:
    """On K-ary randomized response the packing value is epsilon itself.

    Compare ln((K - 1) p / (1 - p)) of K-ary randomized response, which hits with p = e^eps / (e^eps + K - 1).
    """
    cases: Cases = []
    for size, epsilon in ((10, 1.0), (100, 2.0), (10**6, 0.1)):
        rate = 1 / (1 + (size - 1) * math.exp(-epsilon))
        found = math.log(size - 1) + math.log(rate) - math.log1p(-rate)
        cases.append((f"K={size} eps={epsilon:g}", found, epsilon))
    return cases


@CHAUDHURI.states("success from M examples", "Theorem 5")
def success_cases(epsilon: float = 0.5) -> Cases:
    """On some distribution A1 comes within 1/5 at most half of the time, on every list of M examples."""
    cases = []
    for most in (4, 10, 20):
        family = ConcentratedThresholdFamily.for_samples(epsilon, most)
        grid, middle = THRESHOLDS.packing_cover(0.05 / family.smoothness), family.size // 2
        best = max(family.best_success(epsilon, grid, middle, m) for m in range(1, most + 1))
        cases.append((f"alpha={epsilon:g} M={most}", best, 0.5))
    return cases


@CHAUDHURI.states("error outside the window", "Theorem 5, proof", ">=")
def family_cases() -> Cases:
    """Every threshold outside the window errs with probability 1/4 + eta / 6 and more."""
    cases = []
    for eta in (0.3, 0.05, 0.01):
        family = ConcentratedThresholdFamily(eta)
        middle = family.size // 2
        ends = family.center(middle) + np.array([-1, 1]) * eta / 3
        cases.append((f"eta={eta:g}", float(family.error(middle, ends).min()), 0.25 + eta / 6))
        cases.append((f"eta={eta:g}, a quarter", float(family.error(middle, ends).min()), 0.25))
    return cases


@lru_cache(maxsize=32)
def best_private_success(records: int, epsilon: float, targets: tuple[int, ...]) -> float:
    """Return the largest least success, over all alpha-label-private mechanisms, at naming the class of the labels.

    Classes 0, ..., m of m ordered points; datasets are the labels by a threshold, neighbors differ by one class. The
    mechanism must be private on them, and name the class for each of the targets: a linear program.

    Parameters
    ----------
    records : int
        m.
    epsilon : float > 0
    targets : tuple of int
        Classes on which success counts.
    """
    size = records + 1
    rows = lil_matrix((2 * records * size + len(targets), size * size + 1))
    for dataset in range(records):
        for output in range(size):
            here, there = dataset * size + output, (dataset + 1) * size + output
            for row, (first, second) in enumerate(((here, there), (there, here))):
                rows[2 * here + row, first], rows[2 * here + row, second] = 1.0, -math.exp(epsilon)
    for row, target in enumerate(targets):
        rows[2 * records * size + row, target * size + target], rows[2 * records * size + row, size * size] = -1.0, 1.0
    sums = lil_matrix((size, size * size + 1))
    for dataset in range(size):
        sums[dataset, dataset * size : (dataset + 1) * size] = 1.0
    cost = np.r_[np.zeros(size * size), -1.0]
    found = linprog(cost, rows.tocsr(), np.zeros(rows.shape[0]), sums.tocsr(), np.ones(size), bounds=(0, 1))
    return float(-found.fun)


def lemma_targets(records: int, scale: float) -> tuple[int, ...]:
    """Return an s-packing of the ball of radius 4 s around the middle class, in the sample metric."""
    step, reach = math.floor(records * scale * (1 + 1e-9)) + 1, math.floor(4 * records * scale * (1 + 1e-9))
    middle = records // 2
    return tuple(range(middle - reach, middle + reach + 1, step))


@CHAUDHURI.states("success on a packing", "Lemma 11")
def optimal_cases() -> Cases:
    """Below ln(|P|/2 - 1) / (8 alpha s) examples no label-private mechanism succeeds half of the time.

    Compare the success of label-private mechanisms with 1/2, below the sample size of Lemma 11 (m = 20, s = 0.05).
    """
    cases = []
    targets = lemma_targets(20, 0.05)
    for epsilon in (0.05, 0.02):
        where = f"m=20 alpha={epsilon:g}"
        cases.append((f"best on all classes {where}", best_private_success(20, epsilon, tuple(range(21))), 0.5))
        cases.append((f"best on the packing {where}", best_private_success(20, epsilon, targets), 0.5))
    return cases


@CHAUDHURI.states("success on a packing, group privacy", "Lemma 11, proof")
def group_bound_cases() -> Cases:
    """The best label-private mechanism keeps the bound that group privacy gives."""
    targets, cases = lemma_targets(20, 0.05), []
    for epsilon in (0.05, 0.02, 0.5):
        bound = 1 / (1 + (len(targets) - 1) * math.exp(-8 * epsilon))
        cases.append((f"alpha={epsilon:g}", best_private_success(20, epsilon, targets), bound))
    return cases


def realizable_tail() -> float:
    """Return P(A2 makes more than 3 a m / 20 mistakes) on a realizable list of 2000 examples, alpha = 1/2, a = 0.1.

    31 negatives just left and 31 positives just right of a threshold of the cover, the others at 0 (-) and at 1 (+):
    every other threshold makes at least 31 > 3 a m / 20 = 30 mistakes.
    """
    grid = THRESHOLDS.packing_cover(0.025)
    X = np.r_[np.zeros(969), np.full(31, grid[10] - 1e-3), np.full(31, grid[10] + 1e-3), np.ones(969)]
    wrong = THRESHOLDS.mistakes(grid, Labeled(X, np.repeat([-1, 1], 1000)))
    return float(softmax(-0.25 * wrong)[wrong > 30].sum())


def tail_cases(rate: float) -> Cases:
    """Compare the tail with |G| exp(-rate a m), |G| = 20, a m = 200."""
    return [("m=2000 alpha=0.5", realizable_tail(), 20 * math.exp(-rate * 200))]


def audit_packing(name: str, learner: Any, claim: tuple[float, Any], design: Any, budget: int = 4_000) -> PackingCheck:
    """Return the check of a learner on K datasets within some examples of each other, and K disjoint targets."""
    head = CHAUDHURI.head(name)
    return PackingCheck(
        **head,
        learner=learner,
        claim=PrivacyClaim(claim[0], 0.0, claim[1], head["source"]),
        dataset_for=design.dataset,
        hits=design.hits,
        family_size=design.size,
        distance=design.records,
        budget=budget,
    )


def _few(algorithm: Any) -> PackingCheck:
    size = math.ceil(1 / (2 * algorithm.accuracy) - 1e-9)
    m = math.floor(math.log(size - 1) / algorithm.epsilon)
    where = f"{type(algorithm).__name__} alpha={algorithm.epsilon:g} accuracy={algorithm.accuracy:g} m={m}"
    design = EvenTargets(size, m, algorithm.accuracy)
    return audit_packing(f"few examples, {where}", algorithm, (algorithm.epsilon, LabelFlip()), design)


CHECKS: list[Any] = [
    *CHAUDHURI.rows(__name__),
    CHAUDHURI.quote("tail of A2", partial(tail_cases, 3 * 0.5 / 40)),
    CHAUDHURI.quote("tail of A2 as printed, to the letter", partial(tail_cases, 3 / 20)),
    CHAUDHURI.quote("tail of A2 as printed, with alpha", partial(tail_cases, 3 * 0.5 / 20)),
    *(_few(each) for each in (A1(0.5, 0.05), A1(0.5, 0.01), A1(0.1, 0.01), A3(0.5, 0.05))),
    audit_packing("packing audit of A1, moving example", A1(1.0, 0.1), (1.0, Substitution()), MovingExample(1000)),
]
