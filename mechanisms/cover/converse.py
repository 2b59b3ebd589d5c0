"""Theorems 5 and 12 and Lemma 11 as checks: how little private learners can know from few examples; the tail of A2.

From Chaudhuri & Hsu (2011). All three rest on one inequality: K datasets within b examples and K disjoint targets leave
an alpha-private learner a mean success of at most e^(alpha b) / (e^(alpha b) + K - 1). Learners are held against their
statements exactly (A1 on the kindest lists) and by packings (`PackingCheck`), and the best label-private mechanism
there is, found by a linear program, is held against Lemma 11.

Departures from the text: the proof of Lemma 11 loses alpha twice; read e^(-8 alpha s m), ln(|P|/2 - 1) / (8 alpha s).
Theorem 12 as stated is void for thresholds and for the circle (ddim - 1 = 0); the packing form of its proof is used. In
the proof of Theorem 9 the tail is printed as |G| exp(-3 a m / 20); weights exp(-alpha k / 2) give
|G| exp(-3 alpha a m / 40).
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.special import softmax

from audit import InequalityCheck, Labeled, LabelFlip, PackingCheck, PrivacyClaim, Verdict
from mechanisms.cover.hard_family import ConcentratedThresholdFamily
from mechanisms.cover.learners import LabelPrivateCoverLearner, ReferenceCoverLearner
from mechanisms.cover.packing import EvenTargets
from mechanisms.cover.thresholds import ThresholdClass

PAPER = "Chaudhuri & Hsu 2011"
THEOREM_5, LEMMA_11, THEOREM_12, THEOREM_9 = (
    f"{PAPER}, {part}" for part in ("Theorem 5", "Lemma 11", "Theorem 12, proof", "Theorem 9, proof")
)
Cases = list[tuple[str, float, float]]


def concentrated_grid(family: ConcentratedThresholdFamily, accuracy: float = 0.2) -> np.ndarray:
    """Return the cover of A1 when kappa is that of the family."""
    return ThresholdClass().packing_cover(accuracy / (4 * family.smoothness))


def success_cases(epsilon: float = 0.5) -> Cases:
    """Compare the success of A1 on the kindest list of up to M examples of the middle distribution with 1/2."""
    cases = []
    for most in (4, 10, 20):
        family = ConcentratedThresholdFamily.for_samples(epsilon, most)
        grid, middle = concentrated_grid(family), family.size // 2
        best = max(family.best_success(epsilon, grid, middle, m) for m in range(1, most + 1))
        cases.append((f"alpha={epsilon:g} M={most}", best, 0.5))
    return cases


def family_cases() -> Cases:
    """Compare the least error outside the window with that of thresholds at its ends, and with 1/4."""
    cases = []
    for eta in (0.3, 0.05, 0.01):
        family = ConcentratedThresholdFamily(eta)
        middle = family.size // 2
        ends = family.center(middle) + np.array([-1, 1]) * eta / 3
        cases.append((f"eta={eta:g}", float(family.error(middle, ends).min()), family.least_error_outside))
        cases.append((f"eta={eta:g}, a quarter", float(family.error(middle, ends).min()), 0.25))
    return cases


def packing_bound(epsilon: float, size: int) -> float:
    """Return ln(K - 1) / alpha: with no more examples nobody succeeds on all of K targets half of the time."""
    return math.log(size - 1) / epsilon


def lemma_bound(epsilon: float, scale: float, size: int) -> float:
    """Return ln(|P| / 2 - 1) / (8 alpha s) of Lemma 11."""
    return math.log(size / 2 - 1) / (8 * epsilon * scale)


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


def exponential_success(records: int, epsilon: float) -> float:
    """Return the largest success of the exponential mechanism over all m + 1 classes at naming a class."""
    classes = np.arange(records + 1)
    chances = softmax(-epsilon / 2 * np.abs(classes[:, None] - classes[None, :]), axis=1)
    return float(np.max(np.diag(chances)))


def lemma_targets(records: int, scale: float) -> tuple[int, ...]:
    """Return an s-packing of the ball of radius 4 s around the middle class, in the sample metric."""
    step, reach = math.floor(records * scale * (1 + 1e-9)) + 1, math.floor(4 * records * scale * (1 + 1e-9))
    middle = records // 2
    return tuple(range(middle - reach, middle + reach + 1, step))


def optimal_cases() -> Cases:
    """Compare what label-private mechanisms reach with 1/2, below the sample size of Lemma 11 (m = 20, s = 0.05)."""
    cases = []
    targets = lemma_targets(20, 0.05)
    for epsilon in (0.05, 0.02):
        where = f"m=20 alpha={epsilon:g}"
        cases.append((f"exponential {where}", exponential_success(20, epsilon), 0.5))
        cases.append((f"best on all classes {where}", best_private_success(20, epsilon, tuple(range(21))), 0.5))
        cases.append((f"best on the packing {where}", best_private_success(20, epsilon, targets), 0.5))
    return cases


def group_bound_cases() -> Cases:
    """Compare the optimum on the packing with e^(alpha b) / (e^(alpha b) + |P| - 1), b = 8 s m."""
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
    grid = ThresholdClass().packing_cover(0.025)
    X = np.r_[np.zeros(969), np.full(31, grid[10] - 1e-3), np.full(31, grid[10] + 1e-3), np.ones(969)]
    wrong = ThresholdClass().mistakes(grid, Labeled(X, np.repeat([-1, 1], 1000)))
    return float(softmax(-0.25 * wrong)[wrong > 30].sum())


def tail_cases(rate: float) -> Cases:
    """Compare the tail with |G| exp(-rate a m), |G| = 20, a m = 200."""
    return [("m=2000 alpha=0.5", realizable_tail(), 20 * math.exp(-rate * 200))]


def _packing_check(name: str, learner: Any, epsilon: float, accuracy: float) -> PackingCheck:
    size = math.ceil(1 / (2 * accuracy) - 1e-9)
    records = math.floor(packing_bound(epsilon, size))
    design = EvenTargets(size, records, accuracy)
    return PackingCheck(
        name=f"cover/few examples, {name} alpha={epsilon:g} accuracy={accuracy:g} m={records}",
        source=THEOREM_12,
        statement="Below ln(K - 1) / alpha examples a label-private learner is accurate at most half of the time.",
        learner=learner,
        claim=PrivacyClaim(epsilon, 0.0, LabelFlip(), THEOREM_12),
        dataset_for=design.dataset,
        hits=design.hits,
        family_size=size,
        distance=records,
        budget=4_000,
    )


CHECKS: list[InequalityCheck | PackingCheck] = [
    InequalityCheck(
        name="cover/success from M examples",
        source=THEOREM_5,
        statement="On some distribution A1 comes within 1/5 at most half of the time, on every list of M examples.",
        values=success_cases,
    ),
    InequalityCheck(
        name="cover/error outside the window",
        source=THEOREM_5 + ", proof",
        statement="Every threshold outside the window errs with probability 1/4 + eta / 6 and more.",
        values=family_cases,
        sense=">=",
    ),
    InequalityCheck(
        name="cover/success on a packing",
        source=LEMMA_11,
        statement="Below ln(|P|/2 - 1) / (8 alpha s) examples no label-private mechanism succeeds half of the time.",
        values=optimal_cases,
    ),
    InequalityCheck(
        name="cover/success on a packing, group privacy",
        source=LEMMA_11 + ", proof",
        statement="The best label-private mechanism keeps the bound that group privacy gives.",
        values=group_bound_cases,
    ),
    InequalityCheck(
        name="cover/tail of A2",
        source=THEOREM_9,
        statement="P(more than 3 a m / 20 mistakes) <= |G| exp(-3 alpha a m / 40) on realizable data.",
        values=partial(tail_cases, 3 * 0.5 / 40),
    ),
    *(
        InequalityCheck(
            name=f"cover/tail of A2 as printed, {how}",
            source=THEOREM_9,
            statement=f"P(more than 3 a m / 20 mistakes) <= |G| exp({exponent}); false with the 1/2 in the weights.",
            values=partial(tail_cases, rate),
            expected=Verdict.FAIL,
        )
        for how, exponent, rate in (
            ("to the letter", "-3 a m / 20", 3 / 20),
            ("with alpha", "-3 alpha a m / 20", 3 * 0.5 / 20),
        )
    ),
    _packing_check("A1", ReferenceCoverLearner(0.5, 0.05), 0.5, 0.05),
    _packing_check("A1", ReferenceCoverLearner(0.5, 0.01), 0.5, 0.01),
    _packing_check("A1", ReferenceCoverLearner(0.1, 0.01), 0.1, 0.01),
    _packing_check("A3", LabelPrivateCoverLearner(0.5, 0.05), 0.5, 0.05),
]
