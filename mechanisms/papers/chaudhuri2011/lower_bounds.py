"""Theorems 5 and 12 and Lemmas 11 and 22 of Chaudhuri & Hsu (2011): how little private learners know from few examples.

K datasets within b examples and K disjoint targets leave an alpha-private learner a mean success of at most
e^(alpha b) / (e^(alpha b) + K - 1). A1 is held against it exactly and by packings, the best label-private mechanism by
a linear program. Departures (docs/cover-learning.md): alpha is put back into the proof of Lemma 11; the packing form of
Theorem 12 is used, which as stated is void for thresholds and for the circle; the tail of Theorem 9 has 3 alpha / 40.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import bmat, eye, hstack, kron, vstack

from audit import GuaranteeCheck, Labeled
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.thresholds import THRESHOLDS, FloatArray, ThresholdProblem, hard_distance
from mechanisms.papers.rows import CHAUDHURI, Cases
from mechanisms.parts.exponential import choice_probabilities


def best_success(problem: ThresholdProblem, epsilon: float, grid: FloatArray, records: int) -> float:
    """Return P(exponential mechanism on a grid hits the window) for the easiest list of `records` examples."""
    # Kindest: negatives at the left end of the window and positives at its right end, so that all of it makes no
    # mistake; the split between the two is the best of all.
    inside = np.abs(grid - problem.target) <= problem.eta / 3
    left, count = np.count_nonzero(grid[~inside] < problem.target), np.count_nonzero(inside)
    negatives = np.arange(records + 1)
    outside = left * np.exp(-epsilon * negatives / 2)
    outside += (grid.size - left - count) * np.exp(-epsilon * (records - negatives) / 2)
    return float(np.max(count / (count + outside)))


@dataclass(frozen=True)
class MovingExample:
    """One positive example at z_i = i / (K + 1) between 50 negatives at 0 and 49 positives at 1: b = 1.

    The target is where a halving learner must go, z_i / 2, within a quarter of the distance between neighbors.
    """

    size: int  # K
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
    """The packing form of Theorem 12: m evenly spread points, labeled by one of K equally spaced thresholds."""

    size: int  # K
    records: int  # m: all labels may differ
    accuracy: float  # a: balls of this radius around thresholds more than 2 a apart are disjoint

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


@CHAUDHURI.states("success from M examples", "Theorem 5")
def success_cases(epsilon: float = 0.5) -> Cases:
    """On some distribution A1 comes within 1/5 at most half of the time, on every list of M examples."""
    for most in (4, 10, 20):
        problem = ThresholdProblem.hard(hard_distance(epsilon, most))
        grid = THRESHOLDS.packing_cover(0.05 / problem.smoothness)
        best = max(best_success(problem, epsilon, grid, m) for m in range(1, most + 1))
        yield f"alpha={epsilon:g} M={most}", best, 0.5


@CHAUDHURI.states("error outside the window", "Theorem 5, proof", ">=")
def family_cases() -> Cases:
    """Every threshold outside the window errs with probability 1/4 + eta / 6 and more."""
    for eta in (0.3, 0.05, 0.01):
        problem = ThresholdProblem.hard(eta)
        yield f"eta={eta:g}", float(problem.excess(problem.window).min()), 0.25 + eta / 6


@lru_cache(maxsize=32)
def best_private_success(records: int, epsilon: float, targets: tuple[int, ...]) -> float:
    """Return the largest least success, over all alpha-label-private mechanisms, at naming the class of the labels."""
    # Classes 0, ..., m of m = `records` ordered points; datasets are the labels by a threshold, neighbors differ by one
    # class. The mechanism must be private on them, and name the class for each of the targets, on which success counts:
    # a linear program in P(output | dataset), and the least success.
    size = records + 1
    here, there, factor = eye(records, size), eye(records, size, k=1), math.exp(epsilon)
    private = vstack([kron(one - factor * other, eye(size)) for one, other in ((here, there), (there, here))])
    hits = eye(size * size, format="csr")[[target * (size + 1) for target in targets]]
    upper = bmat([[private, None], [-hits, np.ones((len(targets), 1))]])
    sums = hstack([kron(eye(size), np.ones((1, size))), np.zeros((size, 1))])
    cost = np.r_[np.zeros(size * size), -1.0]
    return float(-linprog(cost, upper, np.zeros(upper.shape[0]), sums, np.ones(size), bounds=(0, 1)).fun)


def lemma_targets(records: int, scale: float) -> tuple[int, ...]:
    """Return an s-packing of the ball of radius 4 s around the middle class, in the sample metric."""
    step, reach = math.floor(records * scale * (1 + 1e-9)) + 1, math.floor(4 * records * scale * (1 + 1e-9))
    middle = records // 2
    return tuple(range(middle - reach, middle + reach + 1, step))


@CHAUDHURI.states("success on a packing", "Lemma 11")
def optimal_cases() -> Cases:
    """Below ln(|P|/2 - 1) / (8 alpha s) examples no label-private mechanism succeeds half of the time."""
    chosen = (("all classes", tuple(range(21))), ("the packing", lemma_targets(20, 0.05)))
    return [
        (f"best on {name} m=20 alpha={epsilon:g}", best_private_success(20, epsilon, targets), 0.5)
        for epsilon in (0.05, 0.02)
        for name, targets in chosen
    ]


@CHAUDHURI.states("success on a packing, group privacy", "Lemma 11, proof")
def group_bound_cases() -> Cases:
    """The best label-private mechanism keeps the bound that group privacy gives."""
    targets = lemma_targets(20, 0.05)
    for epsilon in (0.05, 0.02, 0.5):
        bound = 1 / (1 + (len(targets) - 1) * math.exp(-8 * epsilon))
        yield f"alpha={epsilon:g}", best_private_success(20, epsilon, targets), bound


def realizable_tail() -> float:
    """Return P(A2 makes more than 3 a m / 20 mistakes) on a realizable list of 2000 examples, alpha = 1/2, a = 0.1."""
    # 31 negatives just left and 31 positives just right of a threshold of the cover, the others at 0 (-) and at 1 (+):
    # every other threshold makes at least 31 > 3 a m / 20 = 30 mistakes.
    grid = THRESHOLDS.packing_cover(0.025)
    X = np.r_[np.zeros(969), np.full(31, grid[10] - 1e-3), np.full(31, grid[10] + 1e-3), np.ones(969)]
    wrong = THRESHOLDS.mistakes(grid, Labeled(X, np.repeat([-1, 1], 1000)))
    return float(choice_probabilities(wrong, 0.25)[wrong > 30].sum())


def tail_cases(rate: float) -> Cases:
    """Compare the tail with |G| exp(-rate a m), |G| = 20, a m = 200."""
    return [("m=2000 alpha=0.5", realizable_tail(), 20 * math.exp(-rate * 200))]


def draw_misses(learner: Any, design: Any, replicates: int, rng: np.random.Generator) -> list[bool]:
    """Return whether each of some runs misses its own target, drawn uniformly."""
    targets = rng.integers(0, design.size, replicates).tolist()
    return [not design.hits(target, learner(design.dataset(target, rng), 1, rng)[0]) for target in targets]


def audit_packing(name: str, learner: Any, epsilon: float, design: Any, budget: int = 4_000) -> GuaranteeCheck:
    """Return the check of a learner on K datasets within b examples of each other, and K disjoint targets."""
    # On average an epsilon-private learner hits with probability at most e^(epsilon b) / (e^(epsilon b) + K - 1).
    most = 1 / (1 + (design.size - 1) * math.exp(-epsilon * design.records))
    trials = partial(draw_misses, learner, design)
    return GuaranteeCheck(**CHAUDHURI.head(name), trials=trials, beta=most, budget=budget)


def _few(algorithm: Any) -> GuaranteeCheck:
    size = math.ceil(1 / (2 * algorithm.accuracy) - 1e-9)
    m = math.floor(math.log(size - 1) / algorithm.epsilon)
    where = f"{type(algorithm).__name__} alpha={algorithm.epsilon:g} accuracy={algorithm.accuracy:g} m={m}"
    design = EvenTargets(size, m, algorithm.accuracy)
    return audit_packing(f"few examples, {where}", algorithm, algorithm.epsilon, design)


CHECKS: list[Any] = [
    *CHAUDHURI.rows(__name__),
    CHAUDHURI.quote("tail of A2", partial(tail_cases, 3 * 0.5 / 40)),
    CHAUDHURI.quote("tail of A2 as printed, to the letter", partial(tail_cases, 3 / 20)),
    CHAUDHURI.quote("tail of A2 as printed, with alpha", partial(tail_cases, 3 * 0.5 / 20)),
    *(_few(each) for each in (A1(0.5, 0.05), A1(0.5, 0.01), A1(0.1, 0.01), A3(0.5, 0.05))),
    audit_packing("packing audit of A1, moving example", A1(1.0, 0.1), 1.0, MovingExample(1000)),
]
