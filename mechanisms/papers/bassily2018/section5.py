"""Section 5: utility of the soft-label service. Theorems 5.6 and 5.14, Lemma 5.13, and the example of two Gaussians.

Teachers are cell means, drawn from counts, whose stability is exact (`stable_learners`). Readings: a bin must be as
wide as 4 t, with t = sqrt(2 n') mu from the one-stage bound, and two thirds of the teachers within t of their mean:
k >= 72 log(m / beta) beside the printed k.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mechanisms.papers.bassily2018.accuracy import online_alpha
from mechanisms.papers.bassily2018.algorithm6 import SoftTranscripts
from mechanisms.papers.bassily2018.algorithm8 import Test, both_tests
from mechanisms.papers.bassily2018.noise import printed_soft
from mechanisms.papers.bassily2018.section4 import guarantee
from mechanisms.papers.bassily2018.stable_learners import CellMeans
from mechanisms.papers.rows import BASSILY, Cases
from mechanisms.parts.sparse_vector import Noise


def stable_alpha(epsilon: float, delta: float, queries: int, cutoff: int, beta: float) -> float:
    """Return alpha_s of Theorem 5.6: alpha of Corollary 3.9 with T and m doubled."""
    return online_alpha(epsilon, delta, 2 * queries, 2 * cutoff, beta)


def soft_teachers(epsilon: float, delta: float, queries: int, cutoff: int, beta: float) -> int:
    """Return k = 4 alpha_s, or 72 log(m / beta) where that is more."""
    return math.ceil(max(4 * stable_alpha(epsilon, delta, queries, cutoff, beta), 72 * math.log(queries / beta)))


def stated_tests(dataset: tuple[Test, Test], bins: int) -> tuple[Test, Test]:
    """Return the tests that a dataset states."""
    return dataset


def edge_trials(queries: int, cutoff: int, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw trials of Theorem 5.6 at its edge: queries exactly alpha_s-stable on one partition, on the other not at all.

    The first T queries are stable on the shifted partition only.
    """
    alpha = math.ceil(stable_alpha(1.0, 1e-6, queries, cutoff, 0.05))
    shifted = np.arange(queries) < cutoff
    odd, even = np.full(queries, 3), np.full(queries, 4)
    tests = (odd, np.where(shifted, 0, alpha)), (even, np.where(shifted, alpha, 0))
    mechanism = SoftTranscripts(4, printed_soft(1.0, 1e-6, cutoff, queries), stated_tests)
    return np.asarray(np.all(mechanism(tests, replicates, rng) == np.where(shifted, even, odd), axis=1))


@dataclass(frozen=True)
class SoftScores:
    """Runs of Theorem 5.14 on cell means."""

    learners: CellMeans
    doubtful: int  # queries without weak quality, in the last cell; the others take the other cells in turn
    queries: int
    bins: int
    teachers: int
    noise: Noise

    @property
    def widest(self) -> float:
        """4 t: a bin must be as wide."""
        return 4 * max(cell.deviation() for cell in self.learners.cells)

    def cells(self) -> NDArray[np.int64]:
        """Return the cell of each query, the doubtful ones spread evenly."""
        last = len(self.learners.means) - 1
        cells = np.arange(self.queries) % last
        cells[np.linspace(0, self.queries - 1, self.doubtful).astype(int)] = last
        return cells

    def scores(self, replicates: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw teachers and noise; the released scores, nan for BOTTOM and no answer, shape (replicates, m)."""
        drawn = [both_tests(self.learners.draw(self.teachers, rng), self.bins) for _ in range(replicates)]
        cells = self.cells()
        first, second = (
            (np.array([each[i][0] for each in drawn])[:, cells], np.array([each[i][1] for each in drawn])[:, cells])
            for i in (0, 1)
        )
        codes = SoftTranscripts(self.bins, self.noise, stated_tests)((first, second), replicates, rng)
        return np.where(codes < 0, np.nan, codes / (2 * self.bins))

    def expected(self) -> NDArray[np.float64]:
        """Return E h_S(x) at each query."""
        return np.array([cell.expected for cell in self.learners.cells])[self.cells()]

    def near(self, within: float, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Draw trials: every query is answered, within `within` of the expected score (nan compares false)."""
        return np.asarray(np.all(np.abs(self.scores(replicates, rng) - self.expected()) <= within, axis=1))

    def strong(self, within: float, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Draw trials of Lemma 5.13 as well: queries of weak quality get the mid-point of an outer bin."""
        scores, sure = self.scores(replicates, rng), self.cells() < len(self.learners.means) - 1
        outer = np.where(self.expected() < 0.5, 0.5 / self.bins, 1 - 0.5 / self.bins)
        due = np.where(sure, np.abs(scores - outer) < 1e-9, np.abs(scores - self.expected()) <= within)
        return np.asarray(np.all(due & (np.abs(scores - self.expected()) <= within), axis=1))


MEANS = (0.02, 0.98, 0.03, 0.3)  # 0.3 lies on the border of two bins of width 1/10


@lru_cache
def full_run(size: int, queries: int = 1000, cutoff: int = 20, epsilon: float = 1.0) -> SoftScores:
    """Return the run of Theorem 5.14 at delta = 1e-6, beta = 0.05, tau = 1/10."""
    teachers = soft_teachers(epsilon, 1e-6, queries, cutoff, 0.05)
    noise = printed_soft(epsilon, 1e-6, cutoff, queries)
    return SoftScores(CellMeans(MEANS, size), cutoff, queries, 10, teachers, noise)


def fullest_bin_cases(near: int, far: int) -> Cases:
    """Compare the fullest bin's distance from 0.5, where `near` scores lie on both sides, with the width of a bin."""
    # The other `far` scores lie together in one bin: they win when they are more than half of the near ones.
    scores = np.r_[np.full(near // 2, 0.49), np.full(near - near // 2, 0.51), np.full(far, 0.93)]
    found = [(bins, both_tests(scores[:, None], bins)[0][0][0]) for bins in (10, 20, 50)]
    return [(f"tau=1/{bins}", abs(float(code) / (2 * bins) - 0.5), 1 / bins) for bins, code in found]


def unsure_probability(ratio: float, low: float = 0.1) -> float:
    """Return P(low < P(y = 1 | x) < 1 - low) for features N(+-v, sigma^2 I) with |v| / sigma = ratio."""
    # The log-odds are N(+-2 r^2, 4 r^2).
    edge = math.log((1 - low) / low)
    return float(np.diff(stats.norm.cdf(np.array([-edge, edge]), 2 * ratio**2, 2 * ratio))[0])


@BASSILY.states("soft two Gaussians", "example after Definition 5.11", "==", tolerance=3e-3)
def gaussian_cases() -> Cases:
    """P(p in (.1, .9)) is .521, .0680, .00384, 8.8e-5 at |v| / sigma = 1, 2, 3, 4."""
    return [(f"r={r}", unsure_probability(r), p) for r, p in {1: 0.521, 2: 0.0680, 3: 0.00384, 4: 8.8e-5}.items()]


FEW = full_run(6400, 200, 4, 8.0)
_PRINTED: dict[str, Any] = {"beta": 0.05, "slack": 0.05}

CHECKS = [
    *BASSILY.rows(__name__),
    *(
        guarantee(f"soft stable histograms m={m} T={t}", partial(edge_trials, m, t), **_PRINTED)
        for m, t in ((20, 1), (200, 5))
    ),
    guarantee("soft scores near their mean, weak quality becomes strong", partial(FEW.strong, 0.075), **_PRINTED),
    BASSILY.quote("soft fullest bin with 5/8 of the teachers near", partial(fullest_bin_cases, 50, 30)),
    BASSILY.quote("soft fullest bin with 2/3 of the teachers near", partial(fullest_bin_cases, 54, 26)),
]
