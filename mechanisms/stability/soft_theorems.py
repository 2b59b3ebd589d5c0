"""Utility of the soft-label service: Theorems 5.6 and 5.14, Lemma 5.13, and the example of two Gaussians.

Of Bassily, Thakurta & Thakkar (2018), section 5. Teachers are `CellMeanLearner`s, drawn from counts, whose stability
is exact (`mechanisms.stability.average_stability`); all queries of a cell see the same scores, so that a run with
86,795 teachers costs what its queries cost.

Readings: a bin must be as wide as 4 t, with t = sqrt(2 n') mu from the one-stage bound (the printed one is four times
larger), and two thirds of the teachers within t of their mean, so that no far bin can win: k >= 72 log(m / beta)
beside the printed k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from audit import GuaranteeCheck, InequalityCheck, Verdict
from mechanisms.stability.average_stability import CellStability, deviation
from mechanisms.stability.base_learners import CellMeans
from mechanisms.stability.calibration import Calibration, printed_soft
from mechanisms.stability.instability import BOTTOM
from mechanisms.stability.privacy_theorems import PAPER
from mechanisms.stability.soft_labels import SoftTranscripts, Table, both_tests


def stable_alpha(epsilon: float, delta: float, queries: int, cutoff: int, beta: float) -> float:
    """Return alpha_s = 34 log(16 m T / min(delta, beta / 2)) sqrt(2 T log(2 / delta)) / epsilon (Theorem 5.6)."""
    scale = math.sqrt(2 * cutoff * math.log(2 / delta)) / epsilon
    return 34 * math.log(16 * queries * cutoff / min(delta, beta / 2)) * scale


def soft_teachers(epsilon: float, delta: float, queries: int, cutoff: int, beta: float) -> int:
    """Return k = 4 alpha_s, or 72 log(m / beta) where that is more."""
    return math.ceil(max(4 * stable_alpha(epsilon, delta, queries, cutoff, beta), 72 * math.log(queries / beta)))


@dataclass(frozen=True)
class StatedTests(SoftTranscripts):
    """Transcripts where the outcome of both tests is stated: a dataset is ((codes, distances), (codes, distances))."""

    def tests(self, dataset: Any) -> tuple[Table, Table]:
        """Return the dataset itself."""
        return dataset


@dataclass(frozen=True)
class StableHistograms:
    """Trials of Theorem 5.6 at its edge: queries exactly alpha_s-stable on one partition, on the other not at all.

    Parameters
    ----------
    queries, cutoff : int
        m and T; the first T queries are stable on the shifted partition only.
    beta : float
    """

    queries: int
    cutoff: int
    beta: float = 0.05

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        alpha = math.ceil(stable_alpha(1.0, 1e-6, self.queries, self.cutoff, self.beta))
        shifted = np.arange(self.queries) < self.cutoff
        odd, even = np.full(self.queries, 3), np.full(self.queries, 4)
        tests = (odd, np.where(shifted, 0, alpha)), (even, np.where(shifted, alpha, 0))
        mechanism = StatedTests(4, printed_soft(1.0, 1e-6, self.cutoff, self.queries))
        released = mechanism(tests, replicates, rng)
        return np.asarray(np.all(released == np.where(shifted, even, odd), axis=1))


@dataclass(frozen=True)
class SoftRun(SoftTranscripts):
    """Transcripts of queries in few cells: a dataset is (scores of teachers in each cell, cell of each query)."""

    def tests(self, dataset: Any) -> tuple[Table, Table]:
        """Return the tests of each query, from those of its cell."""
        scores, cells = dataset
        first, second = ((codes[cells], distances[cells]) for codes, distances in both_tests(scores, self.bins))
        return first, second


@dataclass(frozen=True)
class SoftScores:
    """A run of Theorem 5.14 on cell means.

    Parameters
    ----------
    means : tuple of float
        P(label 1) in each cell; queries without weak quality lie in the last cell.
    size : int
        n', examples of a teacher.
    doubtful : int
        Queries in the last cell; the others take the other cells in turn.
    queries, cutoff, bins, n_teachers : int
    calibration : Calibration
    """

    means: tuple[float, ...]
    size: int
    doubtful: int
    queries: int
    bins: int
    n_teachers: int
    calibration: Calibration

    @property
    def widest(self) -> float:
        """4 t: a bin must be as wide."""
        share = 1 / len(self.means)
        stability = max(CellStability(self.size, share, mean).stability for mean in self.means)
        return 4 * deviation(self.size, stability)

    def cells(self) -> NDArray[np.int64]:
        """Return the cell of each query, the doubtful ones spread evenly."""
        last = len(self.means) - 1
        cells = np.arange(self.queries) % last
        cells[np.linspace(0, self.queries - 1, self.doubtful).astype(int)] = last
        return cells

    def mechanism(self) -> SoftTranscripts:
        """Return what releases the scores."""
        return SoftRun(self.bins, self.calibration)

    def scores(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw teachers and noise; the released scores, nan for BOTTOM and no answer, shape (m,)."""
        teachers = CellMeans(self.means, self.size).draw(self.n_teachers, rng)
        codes = self.mechanism()((teachers, self.cells()), 1, rng)[0]
        return np.where(codes <= BOTTOM, np.nan, codes / (2 * self.bins))

    def expected(self) -> NDArray[np.float64]:
        """Return E h_S(x) at each query."""
        share = 1 / len(self.means)
        return np.array([CellStability(self.size, share, mean).expected for mean in self.means])[self.cells()]


@dataclass(frozen=True)
class ScoresNear:
    """Trials: every query is answered, within `within` of the expected score.

    With `confident` only queries of weak quality count, and their score must be the mid-point of an outer bin.
    """

    run: SoftScores
    within: float
    confident: bool = False

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        return np.array([self.holds(rng) for _ in range(replicates)])

    def holds(self, rng: np.random.Generator) -> bool:
        """Play one run."""
        scores, cells = self.run.scores(rng), self.run.cells()
        if not self.confident:
            return bool(np.all(np.abs(scores - self.run.expected()) <= self.within))  # nan compares false
        sure = cells < len(self.run.means) - 1
        outer = np.where(self.run.expected() < 0.5, 0.5 / self.run.bins, 1 - 0.5 / self.run.bins)
        return bool(np.all(np.abs(scores - outer)[sure] < 1e-9))


def fullest_bin_cases(near: int, far: int) -> list[tuple[str, float, float]]:
    """Compare the fullest bin's distance from 0.5, where `near` scores lie on both sides, with the width of a bin.

    The other `far` scores lie together in one bin: they win when they are more than half of the near ones.
    """
    scores = np.r_[np.full(near // 2, 0.49), np.full(near - near // 2, 0.51), np.full(far, 0.93)]
    cases = []
    for bins in (10, 20, 50):
        (codes, _), _ = both_tests(scores[:, None], bins)
        cases.append((f"tau=1/{bins}", abs(float(codes[0]) / (2 * bins) - 0.5), 1 / bins))
    return cases


MEANS = (0.02, 0.98, 0.03, 0.3)  # 0.3 lies on the border of two bins of width 1/10


@lru_cache
def full_run(size: int, queries: int = 1000, cutoff: int = 20, epsilon: float = 1.0) -> SoftScores:
    """Return the run of Theorem 5.14 at delta = 1e-6, beta = 0.05, tau = 1/10."""
    teachers = soft_teachers(epsilon, 1e-6, queries, cutoff, 0.05)
    return SoftScores(MEANS, size, cutoff, queries, 10, teachers, printed_soft(epsilon, 1e-6, cutoff, queries))


def unsure_probability(ratio: float, low: float = 0.1) -> float:
    """Return P(low < P(y = 1 | x) < 1 - low) for features N(+-v, sigma^2 I) with |v| / sigma = ratio.

    The log-odds are N(+-2 r^2, 4 r^2).
    """
    edge = math.log((1 - low) / low)
    return float(np.diff(stats.norm.cdf(np.array([-edge, edge]), 2 * ratio**2, 2 * ratio))[0])


def gaussian_cases() -> list[tuple[str, float, float]]:
    """Compare P(p in (.1, .9)) with .521, .0680, .00384, 8.8e-5."""
    known = {1: 0.521, 2: 0.0680, 3: 0.00384, 4: 8.8e-5}
    return [(f"r={r}", unsure_probability(r), value) for r, value in known.items()]


@dataclass(frozen=True)
class UnsurePoints:
    """Losses: whether a drawn point has P(y = 1 | x) in (.1, .9); features in R^dim, v along the diagonal."""

    ratio: float
    dim: int = 3

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.float64]:
        center = np.full(self.dim, self.ratio / math.sqrt(self.dim))
        signs = np.where(rng.random(replicates) < 0.5, 1.0, -1.0)
        x = signs[:, None] * center + rng.standard_normal((replicates, self.dim))
        densities = [np.exp(-np.sum((x - sign * center) ** 2, axis=1) / 2) for sign in (1, -1)]
        p = densities[0] / (densities[0] + densities[1])
        return ((p > 0.1) & (p < 0.9)).astype(float)


def _guarantee(name: str, theorem: str, statement: str, trials: Any) -> GuaranteeCheck:
    return GuaranteeCheck(
        name=f"stability/soft {name}",
        source=f"{PAPER}, {theorem}",
        statement=statement,
        trials=trials,
        beta=0.05,
        slack=0.05,
        budget=128,
    )


def _fullest(share: str, remark: str, values: Any) -> InequalityCheck:
    return InequalityCheck(
        name=f"stability/soft fullest bin with {share} near",
        source=f"{PAPER}, Theorem 5.14, proof",
        statement=f"The fullest bin is one of the two that the interval meets when {share} lie in it. {remark}",
        values=values,
        expected=Verdict.FAIL if "false" in remark else Verdict.PASS,
    )


_FEW = full_run(6400, 200, 4, 4.0)

CHECKS: list[GuaranteeCheck | InequalityCheck] = [
    *(
        _guarantee(
            f"stable histograms m={queries} T={cutoff}",
            "Theorem 5.6",
            "alpha_s-stable queries get their fullest bin, T of them that of the shifted partition.",
            StableHistograms(queries, cutoff),
        )
        for queries, cutoff in ((20, 1), (200, 5))
    ),
    _guarantee(
        "weak quality becomes strong, m=200 T=4",
        "Lemma 5.13",
        "Queries of weak quality get the mid-point of an outer bin.",
        ScoresNear(_FEW, 0.0, confident=True),
    ),
    _guarantee(
        "all scores near their mean, m=200 T=4",
        "Theorem 5.14",
        "All queries are answered within 3/4 of a bin of the expected score, T of them without weak quality.",
        ScoresNear(_FEW, 0.075),
    ),
    _fullest(
        "5/8 of the teachers", "This is false: 3/8 in one far bin outvote 5/16.", partial(fullest_bin_cases, 50, 30)
    ),
    _fullest("2/3 of the teachers", "The far third ties at most.", partial(fullest_bin_cases, 54, 26)),
    InequalityCheck(
        name="stability/soft two Gaussians",
        source=f"{PAPER}, example after Definition 5.11",
        statement="P(p in (.1, .9)) is .521, .0680, .00384, 8.8e-5 at |v| / sigma = 1, 2, 3, 4.",
        values=gaussian_cases,
        sense="==",
        tolerance=3e-3,
    ),
    InequalityCheck(
        name="stability/soft two Gaussians, drawn",
        source=f"{PAPER}, example after Definition 5.11",
        statement="The log-odds are normal: as many drawn points are unsure as computed.",
        losses=UnsurePoints(1.0),
        bound=unsure_probability(1.0),
        sense="==",
        tolerance=0.03,
        budget=20_000,
    ),
]
