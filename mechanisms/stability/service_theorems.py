"""Corollary 4.1: a voting service answers everything, and errs on few queries.

Lemma 4.2 and Corollary 4.1 of Bassily, Thakurta & Thakkar (2018). The counting lemma is compared with its exact
extremum; the corollary is run, with teachers on thresholds (`mechanisms.stability.long_runs`): the printed cutoff is so
large that the runs come nowhere near it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from audit import ConsistencyCheck, GuaranteeCheck, InequalityCheck
from audit.validate import integer
from mechanisms.stability.aggregate import service_size
from mechanisms.stability.long_runs import ThresholdService, released_queries
from mechanisms.stability.privacy_theorems import PAPER, quietly_printed
from mechanisms.stability.thresholds import ThresholdTask

CUTOFF_RULE = f"{PAPER}, Corollary 4.1"
THIRD = Fraction(1, 3)
LAYOUTS = (  # teachers, mistakes of each, share
    (5, 2, THIRD),
    (7, 3, THIRD),
    (10, 4, THIRD),
    (100, 7, THIRD),
    (101, 10, Fraction(1, 2)),
    (999, 1, THIRD),
    (33, 20, Fraction(2, 5)),
)


def most_bad_points(teachers: int, mistakes: int, share: Fraction, points: int) -> int:
    """Return the largest number of points on which more than share * k of k teachers err; each errs `mistakes` times.

    Each such point takes floor(share k) + 1 of the k B mistakes, and they can be dealt in turn.
    """
    return min(points, teachers * mistakes // (math.floor(share * teachers) + 1))


def dealt_mistakes(teachers: int, mistakes: int, each: int, points: int) -> np.ndarray:
    """Deal mistakes in turn, `each` teachers a point, until the teachers have `mistakes` each; shape (k, m).

    Points in turn go to the next teachers in the circle, so that no teacher meets a point twice.
    """
    table = np.zeros((teachers, points), dtype=bool)
    bad = min(points, teachers * mistakes // integer(each, "each", at_least=1))
    dealt = np.arange(bad * each)
    table[dealt % teachers, dealt // each] = True
    return table


def lemma_cases() -> list[tuple[str, float, float]]:
    """Compare the extremum with the largest integer below B / share."""
    return [
        (f"k={k} B={b} share={share}", most_bad_points(k, b, share, 10**9), math.ceil(b / share) - 1)
        for k, b, share in LAYOUTS
    ]


def attained_cases() -> list[tuple[str, float, float]]:
    """Compare the points with too many wrong teachers, when mistakes are dealt in turn, with the extremum."""
    cases = []
    for k, b, share in LAYOUTS:
        most = most_bad_points(k, b, share, 10**9)
        table = dealt_mistakes(k, b, math.floor(share * k) + 1, most + 1)
        assert table.sum(axis=1).max() <= b
        cases.append((f"k={k} B={b} share={share}", float(np.sum(table.sum(axis=0) > share * k)), float(most)))
    return cases


@dataclass(frozen=True)
class AnswersAll:
    """Trials of Corollary 4.1: no query is left unanswered, and wrong values and BOTTOMs together are at most T.

    Parameters
    ----------
    service : ThresholdService
    cutoff : int
        T.
    """

    service: ThresholdService
    cutoff: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        runs = [self.service.run(rng) for _ in range(replicates)]
        return np.array([run.unanswered == 0 and run.wrong + run.bottoms <= self.cutoff for run in runs])


@dataclass(frozen=True)
class SpreadMistakes:
    """Trials on the worst layout: half of the teachers err on each of 2 B queries, at the start; the rest is unanimous.

    Parameters
    ----------
    mistakes : int >= 1
        B, of each teacher.
    cutoff : int >= 1
        T; 3 B as printed.
    queries, n_teachers : int
    """

    mistakes: int
    cutoff: int
    queries: int
    n_teachers: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        nearly_half = Fraction(self.n_teachers - 2, 2 * self.n_teachers)
        bad = most_bad_points(self.n_teachers, self.mistakes, nearly_half, self.queries)
        distances = np.where(np.arange(self.queries) < bad, 0, (self.n_teachers - 1) // 2)
        noise = quietly_printed(1.0, 1e-6, self.cutoff, self.queries)
        runs = [released_queries(distances, noise, rng) for _ in range(replicates)]
        return np.array([asked == self.queries and np.sum(~released) <= self.cutoff for released, asked in runs])


@dataclass(frozen=True)
class Misclassified:
    """Losses along n: the share of queries with a wrong value or none, for a service of fixed teachers and cutoff."""

    trials: AnswersAll

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        service = replace(self.trials.service, records=n)
        return np.array([1 - service.run(rng).right / service.queries for _ in range(replicates)])


def threshold_trials(
    task: ThresholdTask, records: int, queries: int, epsilon: float, delta: float, alpha: float
) -> AnswersAll:
    """Size a service by Corollary 4.1 for teachers of excess error alpha, and give its trials."""
    teachers, cutoff = service_size(epsilon, delta, queries, alpha + task.flip, 0.05)
    noise = quietly_printed(epsilon, delta, cutoff, queries)
    return AnswersAll(ThresholdService(task, records, teachers, noise, queries), cutoff)


_FLIPPED = threshold_trials(ThresholdTask(0.5, 0.1), 320_000, 1000, 50.0, 1e-2, 0.12)
_CERTAIN = threshold_trials(ThresholdTask(), 320_000, 1000, 50.0, 1e-2, 0.12)

CHECKS: list[GuaranteeCheck | InequalityCheck | ConsistencyCheck] = [
    InequalityCheck(
        name="stability/counting mistakes",
        source=f"{PAPER}, Lemma 4.2",
        statement="Fewer than B / share points have over share * k wrong teachers of k, if each errs B times.",
        values=lemma_cases,
    ),
    InequalityCheck(
        name="stability/counting mistakes, the most that there can be",
        source=f"{PAPER}, Lemma 4.2",
        statement="Dealt in turn, mistakes make floor(k B / (floor(share k) + 1)) such points.",
        values=attained_cases,
        sense="==",
        tolerance=0.0,
    ),
    GuaranteeCheck(
        name="stability/service answers all, realizable",
        source=CUTOFF_RULE,
        statement="With T = 3 B all queries are answered, wrong values and BOTTOMs are at most T: n = 1e8, m = 1,000.",
        trials=threshold_trials(ThresholdTask(), 10**8, 1000, 4.0, 1e-6, 0.01),
        beta=0.05,
        slack=0.05,
        budget=256,
    ),
    GuaranteeCheck(
        name="stability/service answers all, a tenth of the labels flipped",
        source=CUTOFF_RULE,
        statement="The same where no threshold errs on less than a tenth: 100 examples a teacher, m = 1,000.",
        trials=_FLIPPED,
        beta=0.05,
        slack=0.05,
        budget=256,
    ),
    GuaranteeCheck(
        name="stability/service answers all, mistakes spread out",
        source=CUTOFF_RULE,
        statement="With T = 3 B the run does not end early even where the mistakes of all teachers meet in pairs.",
        trials=SpreadMistakes(10, 30, 2000, 200_001),
        beta=0.05,
        slack=0.05,
        budget=256,
    ),
    ConsistencyCheck(
        name="stability/service errs less with more records",
        source=f"{CUTOFF_RULE}, Theorem 4.3",
        statement="The share of queries with a wrong answer or none tends to 0 with n, 3,000 teachers and m = 1,000.",
        losses=Misclassified(_CERTAIN),
        bayes_risk=0.0,
        tolerance=0.02,
        sizes=(10**5, 10**6, 10**7),
        budget=3_000,
    ),
]
