"""On-average stability: Definitions 5.7 and 5.9, Lemma 5.8, Corollary 5.10, Theorem 2, and Steele's inequality (1986).

With S(i) the data with record i replaced by an independent draw,

    mu^2 = sup_x (1 / n) sum_i E (h_S(x) - h_S(i)(x))^2,    Var h_S(x) <= (n / 2) mu^2    (Steele),
    P(|h_S(x) - E h_S(x)| > t) <= n mu^2 / (2 t^2).

Departures (docs/stability-learning.md): squares in place of first powers, in Theorem 2 on both sides; Chebyshev alone
in place of the lemma's detour through good coins; two thirds of the teachers. SGD is one pass over logistic losses, L =
1, on a few records with the feature 1, where all labels and all orders are listed. A later step s contracts by 1 - p
eta_s: (1 / n) sum_i E |A(S) - A(S(i))| <= the mean of 2 L eta_t prod_{s > t} (1 - p eta_s), p the penalty.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from audit import RateCheck
from mechanisms.papers.bassily2018.section4 import guarantee
from mechanisms.papers.rows import BASSILY, Cases

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class CellMeans:
    """Learners that give the mean label of a cell of uniform features, 1/2 in an empty one; drawn from counts."""

    means: tuple[float, ...]  # P(label 1) in each cell
    size: int  # n', examples of each learner

    def draw(self, learners: int, rng: np.random.Generator) -> FloatArray:
        """Draw the scores of independent learners, shape (learners, cells)."""
        cells = len(self.means)
        counts = rng.multinomial(self.size, np.full(cells, 1 / cells), size=learners)
        return np.where(counts > 0, rng.binomial(counts, self.means) / np.maximum(counts, 1), 0.5)

    @property
    def cells(self) -> list[CellStability]:
        """The exact stability of each cell."""
        return [CellStability(self.size, 1 / len(self.means), mean) for mean in self.means]


@dataclass(frozen=True)
class CellStability:
    """Exact mean, variance and stability of the mean label of one cell."""

    size: int  # n, examples
    share: float  # mass of the cell
    mean: float  # P(label 1) in the cell

    @property
    def expected(self) -> float:
        """E h_S(x): 1/2 where the cell is empty."""
        empty = (1 - self.share) ** self.size
        return empty / 2 + (1 - empty) * self.mean

    @property
    def variance(self) -> float:
        """Var h_S(x): within the counts, and between an empty cell and another."""
        counts = np.arange(1, self.size + 1)
        empty = (1 - self.share) ** self.size
        within = np.sum(stats.binom.pmf(counts, self.size, self.share) / counts) * self.mean * (1 - self.mean)
        return float(within + empty * (1 - empty) * (self.mean - 0.5) ** 2)

    @property
    def squared(self) -> float:
        """mu^2, with M the other examples in the cell."""
        # The record stays in the cell: (y - y')^2 / (M + 1)^2. It enters or leaves: (y - mean of M)^2 / (M + 1)^2, and
        # 1/4 where M = 0.
        others, noise = np.arange(self.size), self.mean * (1 - self.mean)
        masses = stats.binom.pmf(others, self.size - 1, self.share)
        crossing = np.where(others > 0, noise * (1 + 1 / np.maximum(others, 1)), 0.25)
        moves = self.share**2 * 2 * noise + 2 * self.share * (1 - self.share) * crossing
        return float(np.sum(masses * moves / (others + 1) ** 2))

    def deviation(self, two_stage: bool = False, failure: float = 0.25) -> float:
        """Return t with P(|h - E h| > t) <= failure: by Chebyshev, or as Lemma 5.8 has it, by its detour."""
        rule = two_stage_deviation if two_stage else deviation
        return rule(self.size, math.sqrt(self.squared), failure)

    def stays_near(self, two_stage: bool, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Draw learners; whether each score lies within t of its expectation."""
        counts = rng.binomial(self.size, self.share, size=replicates)
        scores = np.where(counts > 0, rng.binomial(counts, self.mean) / np.maximum(counts, 1), 0.5)
        return np.asarray(np.abs(scores - self.expected) <= self.deviation(two_stage))


def deviation(size: int, stability: float, failure: float = 0.25) -> float:
    """Return sqrt(n / (2 failure)) mu."""
    return math.sqrt(size / (2 * failure)) * stability


def two_stage_deviation(size: int, stability: float, failure: float = 0.25) -> float:
    """Return sqrt(2 n) mu / failure."""
    return math.sqrt(2 * size) * stability / failure


CELLS = tuple(itertools.starmap(CellStability, itertools.product((40, 400, 4000), (1.0, 0.25, 0.1), (0.02, 0.3, 0.5))))


def steele_cases() -> Cases:
    """Compare the variance of a cell's mean label with (n / 2) mu^2."""
    return [(f"n={c.size} mass={c.share:g} p={c.mean:g}", c.variance, c.size / 2 * c.squared) for c in CELLS]


def tight_cases() -> Cases:
    """Compare the ratio of the two with 1, n = 4,000."""
    return [(name, variance / bound, 1.0) for name, variance, bound in steele_cases() if name.startswith("n=4000 ")]


def first_record_runs(n: int, power: int) -> tuple[list[int], list[int]]:
    """List the label of the first record over all labels of n records, and powers of its moves if one is redrawn."""
    lists = list(itertools.product((0, 1), repeat=n))
    places = itertools.product(lists, range(n), (0, 1))
    return [labels[0] for labels in lists], [
        abs(labels[0] - fresh) ** power if place == 0 else 0 for labels, place, fresh in places
    ]


def first_record_cases(power: int) -> Cases:
    """Compare the variance 1/4 with (n / 2) mu^2 for the first record's label, mu by differences to a power."""
    # One record of n matters, and its label changes with probability 1/2: the mean power of differences is 1 / (2 n).
    runs = [(n, *first_record_runs(n, power)) for n in (2, 4, 7)]
    return [(f"n={n}", float(np.var(h)), n / 2 * float(np.mean(moves)) ** (2 / power)) for n, h, moves in runs]


def first_record_shuffled_cases(power: int) -> Cases:
    """Compare mu of the first record's label, 1 / sqrt(2 n), with the uniform stability of it on shuffled data."""
    # A replaced record comes first with probability 1 / n, and moves the score by 1 at most: 1 / sqrt(n) by squares.
    sizes = (3, 5, 8)
    return [(f"n={n}", math.sqrt(np.mean(first_record_runs(n, 2)[1])), (1 / n) ** (1 / power)) for n in sizes]


STEPS: dict[str, Callable[[NDArray[np.int64], int], FloatArray]] = {  # (t = 1, ..., n; n) -> step sizes
    "decreasing": lambda t, n: 10 / (t + 10.0),
    "root": lambda t, n: np.full(len(t), n**-0.5),
    "constant": lambda t, n: np.full(len(t), 0.5),
}


@dataclass(frozen=True)
class OnePassSGD:
    """Logistic regression on the feature 1 by one pass of stochastic gradients in data order. Not private."""

    steps: str = "decreasing"  # 10 / (t + 10), "root" 1 / sqrt(n), or "constant" 1/2
    penalty: float = 0.1  # weight of theta^2 / 2

    def step_sizes(self, n: int) -> FloatArray:
        """Return eta_1, ..., eta_n."""
        return STEPS[self.steps](np.arange(1, n + 1), n)

    def largest_moves(self, n: int) -> FloatArray:
        """Return 2 L eta_t prod_{s > t} (1 - p eta_s) for each place t of the record, shape (n,): never exceeded."""
        steps = self.step_sizes(n)
        later = np.cumprod((1 - self.penalty * steps)[::-1])[::-1]
        return 2 * steps * np.append(later[1:], 1.0)

    def train(self, labels: NDArray[np.int64], start: float = 0.0) -> FloatArray:
        """Run theta <- theta - eta_t ((h - y_t) + penalty theta) over lists of labels, shape (lists, n), at once."""
        theta = np.full(len(labels), start)
        for step, y in zip(self.step_sizes(labels.shape[1]), labels.T, strict=True):
            theta = theta - step * (expit(theta) - y + self.penalty * theta)
        return theta


@dataclass(frozen=True)
class SmallSGD:
    """One pass of SGD on a few records with the feature 1, for all labels and all coins: exact."""

    learner: OnePassSGD
    records: int = 6  # shuffling runs n! orders on 2^n lists of labels
    mean: float = 0.3  # P(label 1)
    is_shuffled: bool = True  # a coin chooses the order
    starts: tuple[float, ...] = (0.0,)  # a coin chooses the starting point

    @property
    def labels(self) -> np.ndarray:
        """All lists of labels, shape (2^n, n)."""
        return np.array(list(itertools.product((0, 1), repeat=self.records)))

    @property
    def chances(self) -> FloatArray:
        """Probability of each list of labels, shape (2^n,)."""
        return np.asarray(np.where(self.labels == 1, self.mean, 1 - self.mean).prod(axis=1))

    def parameters(self) -> FloatArray:
        """Run the learner: theta of shape (coins, 2^n)."""
        places = range(self.records)
        orders = list(itertools.permutations(places)) if self.is_shuffled else [tuple(places)]
        coins = itertools.product(self.starts, orders)
        return np.array([self.learner.train(self.labels[:, list(order)], start) for start, order in coins])

    def scores(self) -> FloatArray:
        """Return the scores of the learner, shape (coins, 2^n)."""
        return np.asarray(expit(self.parameters()))

    def expected(self) -> FloatArray:
        """Return the expected score for each outcome of the coins."""
        return np.asarray(self.scores() @ self.chances)

    def mean_move(self, outcomes: FloatArray, power: int) -> float:
        """Return the mean power of the move of an outcome when a record is replaced: over records, data and coins."""
        codes, total = np.arange(2**self.records), 0.0
        for place in range(self.records):
            changed = outcomes[:, codes ^ (1 << place)]  # where the fresh label is another one
            differs = np.where(codes >> place & 1 == 1, 1 - self.mean, self.mean)
            total += float((np.abs(outcomes - changed) ** power @ (self.chances * differs)).mean())
        return total / self.records

    def stability(self) -> float:
        """Return mu: the root of the mean squared move of the score."""
        return math.sqrt(self.mean_move(self.scores(), 2))

    def near(self) -> float:
        """Return P(the score lies within t of its mean over data and coins)."""
        scores, t = self.scores(), deviation(self.records, self.stability())
        return float(((np.abs(scores - self.expected().mean()) <= t) @ self.chances).mean())


SHUFFLED = SmallSGD(OnePassSGD(penalty=0.0))
RANDOM_START = replace(SHUFFLED, is_shuffled=False, starts=(-6.0, 6.0))
LEARNERS = [OnePassSGD(steps, penalty) for steps, penalty in (("decreasing", 0.1), ("root", 0.0), ("constant", 0.0))]


def parameter_move(learner: OnePassSGD, is_shuffled: bool = False) -> float:
    """Return E |A(S) - A(S(i))|, the mean over the replaced record i."""
    small = SmallSGD(learner, is_shuffled=is_shuffled)
    return small.mean_move(small.parameters(), 1)


def order_cases(learner: OnePassSGD) -> Cases:
    """Compare the move in data order with that on shuffled data."""
    return [("6 records", parameter_move(learner), parameter_move(learner, True))]


def uniform_cases(learner: OnePassSGD) -> Cases:
    """Compare the move in data order with the mean of the largest moves."""
    return [("6 records", parameter_move(learner), float(learner.largest_moves(6).mean()))]


def squared_bound(n: int) -> float:
    """Return the mean square of the largest moves, with decreasing steps and a penalty."""
    return float(np.mean(LEARNERS[0].largest_moves(n) ** 2))


def coin_cases(learner: SmallSGD) -> Cases:
    """Compare the least and the largest expected score over the coins."""
    expected = learner.expected()
    return [(f"{expected.size} outcomes of the coins", float(expected.min()), float(expected.max()))]


def teacher_cases(factor: float, near: dict[str, Callable[[], float]]) -> Cases:
    """Compare the bound m P(at most 2/3 of factor log(m / beta) teachers are near) with beta: m = 100, beta = .05."""
    k = math.ceil(factor * math.log(100 / 0.05))
    bounds = {name: 100 * stats.binom.cdf(math.floor(2 * k / 3), k, found()) for name, found in near.items()}
    return [(f"{name} k={k}", float(bound), 0.05) for name, bound in bounds.items()]


_NEAR: dict[str, Callable[[], float]] = {"shuffled SGD": SHUFFLED.near, "three quarters near": lambda: 0.75}
_FAR = {"start at -6 or 6": RANDOM_START.near}
_ONE_MEAN: dict[str, Any] = {"sense": "==", "tolerance": 1e-12}
_POWERS, _SHUFFLED_POWERS = first_record_cases, first_record_shuffled_cases
STATED: dict[str, tuple[Callable[[], Cases], dict[str, Any]]] = {
    "average Steele": (steele_cases, {}),
    "average Steele is tight": (tight_cases, {"sense": "==", "tolerance": 0.01}),
    "average by first powers": (partial(_POWERS, 1), {}),
    "average by squares, first record": (partial(_POWERS, 2), {"tolerance": 1e-12}),
    "average squares under first powers": (partial(_SHUFFLED_POWERS, 1), {}),
    "average squares under squares": (partial(_SHUFFLED_POWERS, 2), {"tolerance": 1e-12}),
    "coins of shuffled SGD": (partial(coin_cases, SHUFFLED), _ONE_MEAN),
    "coins of a random start": (partial(coin_cases, RANDOM_START), _ONE_MEAN),
    "coins and near teachers": (partial(teacher_cases, 72.0, _NEAR), {}),
    "coins and near teachers, a quarter of them": (partial(teacher_cases, 18.0, _NEAR), {}),
    "coins and near teachers, random start": (partial(teacher_cases, 72.0, _FAR), {}),
}

CHECKS = [
    *(BASSILY.quote(name, cases, **settings) for name, (cases, settings) in STATED.items()),
    *(
        guarantee(
            f"average score near its mean n={size}{', as printed' * two_stage}",
            partial(CellStability(size, 0.25, 0.3).stays_near, two_stage),
            0.25,
            budget=4096,
        )
        for size, two_stage in itertools.product((40, 400, 4000), (False, True))
    ),
    *(
        BASSILY.quote(f"sgd {each.steps} steps, {name}", partial(cases, each), sense)
        for each, (name, cases, sense) in itertools.product(
            LEARNERS,
            (("order of the records", order_cases, "=="), ("uniform stability of shuffled data", uniform_cases, "<=")),
        )
    ),
    RateCheck(
        **BASSILY.head("sgd decreasing steps, rate of the stability"),
        evaluator=squared_bound,
        sizes=(10**3, 10**4, 10**5, 10**6),
        exponent=2.0,
        margin=0.02,
    ),
]
