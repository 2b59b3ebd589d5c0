"""Learners that toss coins: consistent randomization, and how many teachers come near the mean score.

Definition 5.9 and Corollary 5.10 of Bassily, Thakurta & Thakkar (2018). A learner has consistent randomization if its
expected score over the data is the same for each outcome of its coins. Then most of k teachers lie within
t = sqrt(2 n) mu of the one expected score, whatever coins each has tossed.

Everything here is exact: `SmallSGD` runs one pass of SGD on all labels of a few records and on all orders or starting
points that its coins may choose. Shuffling is consistent; a starting point drawn at random is not. The learner that
starts at -6 or 6 is on-average stable, since one record moves it little, but its teachers gather in two places.

Readings, since the copy at hand has lost the formulas: two thirds of the teachers, k = 72 log(m / beta), and t from the
one-stage bound at failure 1/4 (`mechanisms.stability.average_stability`). Hoeffding's inequality gives exp(-k / 72).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import stats

from audit import InequalityCheck, Verdict
from audit.validate import integer, open_probability
from mechanisms.stability.average_stability import deviation
from mechanisms.stability.privacy_theorems import PAPER
from mechanisms.stability.sgd import FloatArray, OnePassSGD, one_pass, sigmoid

Cases = list[tuple[str, float, float]]
_QUERIES, _BETA = 100, 0.05


@dataclass(frozen=True)
class SmallSGD:
    """One pass of SGD on a few records with the feature 1, for all labels and all coins.

    Parameters
    ----------
    records : int >= 1
        n; shuffling runs n! orders on 2^n lists of labels.
    mean : float in (0, 1)
        P(label 1).
    shuffled : bool
        A coin chooses the order.
    starts : tuple of float
        A coin chooses the starting point.
    """

    records: int = 6
    mean: float = 0.3
    shuffled: bool = True
    starts: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        integer(self.records, "records", at_least=1)
        open_probability(self.mean, "mean")

    @property
    def labels(self) -> np.ndarray:
        """All lists of labels, shape (2^n, n)."""
        return np.array(list(itertools.product((0, 1), repeat=self.records)))

    @property
    def chances(self) -> FloatArray:
        """Probability of each list of labels, shape (2^n,)."""
        return np.asarray(np.where(self.labels == 1, self.mean, 1 - self.mean).prod(axis=1))

    def scores(self) -> FloatArray:
        """Run the learner: scores of shape (coins, 2^n)."""
        places = range(self.records)
        orders = list(itertools.permutations(places)) if self.shuffled else [tuple(places)]
        steps, rows = OnePassSGD().step_sizes(self.records), []
        for start, order in itertools.product(self.starts, orders):
            y = self.labels[:, list(order)]
            rows.append(sigmoid(one_pass(np.ones((*y.shape, 1)), y, steps, start=start)[:, 0]))
        return np.array(rows)

    def expected(self) -> FloatArray:
        """Return the expected score for each outcome of the coins."""
        return np.asarray(self.scores() @ self.chances)

    def stability(self) -> float:
        """Return mu: the root of the mean squared move when a record is replaced, over records, data and coins."""
        scores, codes, moves = self.scores(), np.arange(2**self.records), 0.0
        for place in range(self.records):
            changed = scores[:, codes ^ (1 << place)]  # where the fresh label is another one
            bits = codes >> place & 1
            differs = np.where(bits == 1, 1 - self.mean, self.mean)
            moves += float(((scores - changed) ** 2 @ (self.chances * differs)).mean())
        return math.sqrt(moves / self.records)

    def near(self) -> float:
        """Return P(the score lies within t of its mean over data and coins)."""
        scores, t = self.scores(), deviation(self.records, self.stability())
        return float(((np.abs(scores - self.expected().mean()) <= t) @ self.chances).mean())


SHUFFLED, RANDOM_START = SmallSGD(), SmallSGD(shuffled=False, starts=(-6.0, 6.0))


def coin_cases(learner: SmallSGD) -> Cases:
    """Compare the least and the largest expected score over the coins."""
    expected = learner.expected()
    return [(f"{expected.size} outcomes of the coins", float(expected.min()), float(expected.max()))]


def too_few_near(near: float, teachers: int) -> float:
    """Return the bound m P(at most 2/3 of k teachers are near) on the failure over all m queries."""
    return float(_QUERIES * stats.binom.cdf(math.floor(2 * teachers / 3), teachers, near))


def teacher_cases(factor: float) -> Cases:
    """Compare the failure of factor log(m / beta) teachers with beta: shuffled SGD, and any learner at the edge."""
    teachers = math.ceil(factor * math.log(_QUERIES / _BETA))
    found = {"shuffled SGD": SHUFFLED.near(), "three quarters near": 0.75}
    return [(f"{name} k={teachers}", too_few_near(near, teachers), _BETA) for name, near in found.items()]


def random_start_cases() -> Cases:
    """Compare the failure of as many teachers that start at random with beta."""
    teachers = math.ceil(72 * math.log(_QUERIES / _BETA))
    return [(f"start at -6 or 6 k={teachers}", too_few_near(RANDOM_START.near(), teachers), _BETA)]


def _check(name: str, theorem: str, statement: str, values: object, holds: bool, **more: object) -> InequalityCheck:
    return InequalityCheck(
        name=f"stability/coins {name}",
        source=f"{PAPER}, {theorem}",
        statement=statement,
        values=values,  # type: ignore[arg-type]
        expected=Verdict.PASS if holds else Verdict.FAIL,
        **more,  # type: ignore[arg-type]
    )


_ONE_MEAN = {"sense": "==", "tolerance": 1e-12}

CHECKS: list[InequalityCheck] = [
    _check(
        "of shuffled SGD",
        "Definition 5.9",
        "The expected score is the same for all orders of the records.",
        partial(coin_cases, SHUFFLED),
        holds=True,
        **_ONE_MEAN,
    ),
    _check(
        "of a random start",
        "Definition 5.9",
        "The expected score is the same for all starting points. This is false: SGD remembers where it began.",
        partial(coin_cases, RANDOM_START),
        holds=False,
        **_ONE_MEAN,
    ),
    _check(
        "and near teachers",
        "Corollary 5.10",
        "Two thirds of 72 log(m / beta) teachers lie within t of the expected score at all queries.",
        partial(teacher_cases, 72.0),
        holds=True,
    ),
    _check(
        "and near teachers, a quarter of them",
        "Corollary 5.10",
        "The same with 18 log(m / beta) teachers. This is false where three quarters are near.",
        partial(teacher_cases, 18.0),
        holds=False,
    ),
    _check(
        "and near teachers, random start",
        "Corollary 5.10 without consistent randomization",
        "The same for teachers that start at random. This is false: none of them is near.",
        random_start_cases,
        holds=False,
    ),
]
