"""Remark 4.12 for every class and every learner: half as many labels as the VC dimension are not enough.

Bousquet et al. (2022): "a sample of size O(VC(C)) is necessary in order to learn a concept class C even without the
privacy requirement". A class of dimension d labels some d points in all 2^d ways; let the points be equally likely and
the labels a fair coin each. What m records do not show, with probability (1 - 1/d)^m, no learner knows: its mean error
is (1/2) (1 - 1/d)^m at least, whatever it does, and Markov's inequality gives for the concept that is worst for it

    P(error > 1/8) >= ((1/2) (1 - 1/d)^m - 1/8) / (7/8) >= 1/7        for m = floor(d / 2), d >= 2.

The least mean error over all learners is also found by listing all samples and concepts, for small d and m.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from audit import InequalityCheck
from mechanisms.consistency.concepts import ConceptClass, Intervals, Quadrants, Singletons, Thresholds

REMARK = "Bousquet et al. 2022, Remark 4.12"
Cases = list[tuple[str, float, float]]
UNION = 8  # intervals whose union the learners below learn
DIMENSION = 2 * UNION


def mean_error(dimension: int, records: int) -> float:
    """Return (1/2) (1 - 1/d)^m."""
    return 0.5 * (1 - 1 / dimension) ** records


def least_mean_error(dimension: int, records: int) -> float:
    """Return the least mean error of all learners, over all 2^d concepts and d^m samples, by listing them.

    After a labeled sample the best answer at each point is the label of most of the concepts that agree with it.
    """
    concepts = np.array(list(product((0, 1), repeat=dimension)))
    total = 0.0
    for sample in product(range(dimension), repeat=records):
        for shown in np.unique(concepts[:, sample], axis=0):
            left = concepts[np.all(concepts[:, sample] == shown, axis=1)]
            ones = left.mean(axis=0)
            total += len(left) * float(np.minimum(ones, 1 - ones).mean())
    return total / (len(concepts) * dimension**records)


def listed_cases() -> Cases:
    """Compare the least mean error with the formula."""
    sizes = ((1, 1), (2, 0), (2, 1), (2, 3), (3, 2), (3, 4), (4, 2), (4, 4), (5, 2), (6, 3))
    return [(f"d={d} m={m}", least_mean_error(d, m), mean_error(d, m)) for d, m in sizes]


def necessary_cases() -> Cases:
    """Compare what Markov's inequality gives at floor(d / 2) records with 1/7."""
    sizes = (*range(2, 40), 100, 1_000, 10**6)
    return [(f"d={d}", (mean_error(d, d // 2) - 1 / 8) / (7 / 8), 1 / 7) for d in sizes]


def shattered_cases() -> Cases:
    """Compare the ways in which classes label some d of a few points with 2^d."""
    rng, cases = np.random.default_rng(412), []
    known: tuple[ConceptClass, ...] = (Thresholds(), Singletons(), Intervals(), Quadrants())
    for concepts in known:
        places = rng.random((6, concepts.dim))
        chosen = combinations(range(6), concepts.vc_dim)
        ways = max(len(concepts.representatives(places[list(rows)])) for rows in chosen)
        cases.append((type(concepts).__name__, float(ways), 2.0**concepts.vc_dim))
    # a list of labels of 2 k points has at most k runs of ones
    lists = np.array(list(product((0, 1), repeat=8)))
    runs = lists[:, 0] + np.sum(np.diff(lists, axis=1) == 1, axis=1)
    cases.append(("unions of 4 intervals", float(np.sum(runs <= 4)), 2.0**8))
    return cases


@dataclass(frozen=True)
class NearestErrors:
    """Losses: the error of the nearest neighbor on unions of intervals, at points that these label in all ways.

    Parameters
    ----------
    records : int
        m; the target and the records are drawn anew each time.
    """

    records: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        points = np.arange(DIMENSION)
        errors = np.empty(replicates)
        for index in range(replicates):
            target, seen = rng.integers(2, size=DIMENSION), rng.integers(DIMENSION, size=self.records)
            nearest = seen[np.argmin(np.abs(points[:, None] - seen), axis=1)]
            errors[index] = np.mean(target[nearest] != target)
        return errors


def nearest_check(name: str, records: int, **settings: Any) -> InequalityCheck:
    """Return a check that the nearest neighbor keeps the bound for floor(d / 2) records."""
    return InequalityCheck(
        name=name,
        source=REMARK,
        statement="On a random target the learner errs as often as the bound for half as many records as d says.",
        losses=NearestErrors(records),
        bound=mean_error(DIMENSION, DIMENSION // 2),
        sense=">=",
        slack=0.05,
        budget=4_000,
        **settings,
    )


CHECKS: list[InequalityCheck] = [
    InequalityCheck(
        name="consistency/semi-private/remark 4.12 every learner",
        source=REMARK,
        statement="The least mean error of all learners of d shattered points from m records is (1/2) (1 - 1/d)^m.",
        values=listed_cases,
        sense="==",
        tolerance=1e-9,
    ),
    InequalityCheck(
        name="consistency/semi-private/remark 4.12 every class",
        source=REMARK,
        statement="From floor(d / 2) records every learner errs by over 1/8 with probability 1/7, on some concept.",
        values=necessary_cases,
        sense=">=",
    ),
    InequalityCheck(
        name="consistency/semi-private/remark 4.12 shattered points",
        source=REMARK,
        statement="Classes of dimension d label some d points in all 2^d ways.",
        values=shattered_cases,
        sense="==",
        tolerance=0.0,
    ),
    nearest_check("consistency/semi-private/remark 4.12 nearest neighbor", DIMENSION // 2),
]
