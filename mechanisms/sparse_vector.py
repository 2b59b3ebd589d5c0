"""Sparse vector, paid below the threshold: says TOP for free and pays for each BOTTOM.

Implements A_sparse of Bassily, Thakurta & Thakkar (2018), Algorithm 1 and Theorem 2.7, after Dwork & Roth (2014),
Theorems 3.25 and 3.26: a noisy threshold w + Lap(lam); each query q gets fresh Lap(2 lam); TOP when it lies strictly
above the noisy threshold, else BOTTOM and a new noisy threshold. It goes on while the number of BOTTOMs is at most
the cutoff T, so up to T + 1 of them are released; then queries get no answer.

Departures from the text: the stream of queries is fixed in advance (adaptive streams are covered by the proof, not
by this code); `strict_cutoff=True` stops at T BOTTOMs, as textbooks do; the noise scale is a parameter, and
`calibrated` sets it to the printed sqrt(32 T log(1/delta)) / epsilon. An output is a row of codes: 1 TOP, 0 BOTTOM,
-1 no answer.

An epoch is the run of queries up to and including a BOTTOM. One epoch is exactly (2 / lam, 0)-DP in the worst case:
shifting the threshold noise by one costs 1 / lam, the BOTTOM costs 2 / (2 lam). Epochs are independent given the
queries; each is one integral over the threshold noise, so the law of short transcripts is computed by quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from audit import AddRemove, PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, open_probability, positive, real
from mechanisms.quadrature import TAIL, laplace_cdf, laplace_density, panelled_nodes
from mechanisms.queries import column_sums, require_query, vector_answer

SOURCE = "Bassily, Thakurta & Thakkar 2018, Theorem 2.7"
EPOCH_SOURCE = "Dwork & Roth 2014, Theorem 3.23, mirrored"
TOP, BOTTOM, NO_ANSWER = 1, 0, -1
MOST_QUERIES = 12  # of a law: there are up to 2^m transcripts
THRESHOLD = 2.0  # of the checks

Transcript = tuple[int, ...]


@dataclass(frozen=True)
class SparseVectorBelow:
    """Transcript of TOP and BOTTOM over a fixed list of queries; each BOTTOM costs at most 2 / lam.

    Parameters
    ----------
    queries : callable
        dataset -> vector of shape (m,), each entry of sensitivity 1.
    threshold : float, finite
    cutoff : int >= 1
        T; up to T + 1 BOTTOMs are released.
    lam : float > 0
        Scale of the threshold noise; the query noise has scale 2 lam.
    strict_cutoff : bool, optional
        Stop at T BOTTOMs instead.
    """

    queries: Any
    threshold: float
    cutoff: int
    lam: float
    strict_cutoff: bool = False

    def __post_init__(self) -> None:
        require_query(self.queries, "queries")
        threshold = real(self.threshold, "threshold")
        if not math.isfinite(threshold):
            raise InvalidArgument.of("threshold", "be finite", self.threshold)
        object.__setattr__(self, "threshold", threshold)
        object.__setattr__(self, "cutoff", integer(self.cutoff, "cutoff", at_least=1))
        object.__setattr__(self, "lam", positive(self.lam, "lam"))

    @classmethod
    def calibrated(cls, queries: Any, threshold: float, cutoff: int, epsilon: float, delta: float) -> Self:
        """Build the mechanism with the printed noise scale, for which Theorem 2.7 claims (epsilon, delta)."""
        return cls(queries, threshold, cutoff, printed_lam(epsilon, delta, cutoff))

    @property
    def most_bottoms(self) -> int:
        """Largest number of BOTTOMs in a transcript."""
        return self.cutoff + (0 if self.strict_cutoff else 1)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers = vector_answer(self.queries, dataset)
        output = np.full((size, answers.size), NO_ANSWER, dtype=np.int8)
        noisy_threshold = self.threshold + rng.laplace(scale=self.lam, size=size)
        bottoms = np.zeros(size, dtype=int)
        for i, answer in enumerate(answers):
            running = bottoms < self.most_bottoms
            above = answer + rng.laplace(scale=2 * self.lam, size=size) > noisy_threshold
            output[running, i] = np.where(above[running], TOP, BOTTOM)
            fell = running & ~above
            bottoms += fell
            noisy_threshold[fell] = self._next_thresholds(noisy_threshold[fell], rng)
        return output

    def _next_thresholds(self, previous: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.threshold + rng.laplace(scale=self.lam, size=previous.size)

    def _levels(self, dataset: Any) -> tuple[float, ...]:
        """Distance of each answer from the threshold, in units of lam."""
        levels = (vector_answer(self.queries, dataset) - self.threshold) / self.lam
        if levels.size > MOST_QUERIES:
            raise InvalidArgument.of("queries", f"be at most {MOST_QUERIES} for the law to be computed", levels.size)
        return tuple(levels.tolist())

    def law(self, dataset: Any) -> Finite:
        """Law of one transcript, as a row of codes."""
        return Finite(dict(epoch_transcripts(self._levels(dataset), self.most_bottoms)))


@dataclass(frozen=True)
class ThresholdDrawnOnce(SparseVectorBelow):
    """Decoy: the threshold noise is never redrawn.

    It is paid once and each BOTTOM costs 1 / lam: (most_bottoms + 1) / lam in all, less than 2 most_bottoms / lam.
    """

    def _next_thresholds(self, previous: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return previous

    def law(self, dataset: Any) -> Finite:
        """Law of one transcript, as a row of codes."""
        return Finite(dict(shared_threshold_transcripts(self._levels(dataset), self.most_bottoms)))


def printed_lam(epsilon: float, delta: float, cutoff: int) -> float:
    """Noise scale sqrt(32 T log(1/delta)) / epsilon of Algorithm 1."""
    delta, cutoff = open_probability(delta, "delta"), integer(cutoff, "cutoff", at_least=1)
    return math.sqrt(32 * cutoff * math.log(1 / delta)) / positive(epsilon, "epsilon")


@lru_cache(maxsize=64)
def epoch_transcripts(levels: tuple[float, ...], most_bottoms: int) -> tuple[tuple[Transcript, float], ...]:
    """Probability of every transcript when each BOTTOM renews the threshold noise."""
    stops, goes_on = _epochs(np.array(levels))

    def extend(prefix: Transcript, mass: float, bottoms: int) -> Iterator[tuple[Transcript, float]]:
        start, rest = len(prefix), len(levels) - len(prefix)
        if bottoms == most_bottoms or rest == 0:
            yield prefix + (NO_ANSWER,) * rest, mass
            return
        yield prefix + (TOP,) * rest, mass * goes_on[start]
        for run in range(rest):
            stopped = prefix + (TOP,) * run + (BOTTOM,)
            yield from extend(stopped, mass * stops[start, start + run], bottoms + 1)

    return tuple(extend((), 1.0, 0))


@lru_cache(maxsize=64)
def shared_threshold_transcripts(levels: tuple[float, ...], most_bottoms: int) -> tuple[tuple[Transcript, float], ...]:
    """Probability of every transcript when one threshold noise serves all queries."""
    weights, above, below = _nodes(np.array(levels))
    result = []
    for transcript, _ in epoch_transcripts(levels, most_bottoms):
        mass = weights
        for i, code in enumerate(transcript):
            mass = mass * {TOP: above[i], BOTTOM: below[i], NO_ANSWER: 1.0}[code]
        result.append((transcript, float(mass.sum())))
    return tuple(result)


def _nodes(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights of the threshold noise at its nodes, and P(TOP), P(BOTTOM) of each query there."""
    nodes, weights = panelled_nodes(np.append(levels, 0.0), -TAIL, TAIL, 0.5)
    margin = (levels[:, None] - nodes) / 2
    return weights * laplace_density(nodes), laplace_cdf(margin), laplace_cdf(-margin)


def _epochs(levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(an epoch that starts at s stops at j), and P(it is still running at the end)."""
    weights, above, below = _nodes(levels)
    stops, goes_on = np.zeros((levels.size, levels.size)), np.zeros(levels.size)
    for start in range(levels.size):
        survived = weights
        for j in range(start, levels.size):
            stops[start, j] = np.sum(survived * below[j])
            survived = survived * above[j]
        goes_on[start] = survived.sum()
    return stops, goes_on


def rows_at(level: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Three rows of [0, 1]^m whose sums lie `level` above THRESHOLD - 1/2 plus `changed`, the first row."""
    rest = (THRESHOLD + level - 0.5) / 2
    return np.vstack([changed, rest, rest])


def prefix_then_last(prefix: int, lam: float, epochs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """`prefix` queries that fall by one, then one that rises by one, all near the threshold; near the worst."""
    level = np.tile(lam * np.r_[np.full(prefix, -0.15), -0.04], epochs)
    first = np.tile(np.r_[np.ones(prefix), 0.0], epochs)
    return rows_at(level, first), rows_at(level, 1 - first)


def _epoch_checks(epsilon: float) -> list[PrivacyCheck]:
    lam, queries = 2 / epsilon, 8
    left, right = prefix_then_last(queries - 1, lam)
    return [
        PrivacyCheck(
            name=f"sparse vector/one epoch eps={epsilon:g}",
            mechanism=SparseVectorBelow(column_sums, THRESHOLD, 1, lam, strict_cutoff=True),
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), EPOCH_SOURCE),
            pairs=[(left, right), (right, left)],
        ),
        PrivacyCheck(
            name=f"sparse vector/one epoch add-remove eps={epsilon:g}",
            mechanism=SparseVectorBelow(column_sums, THRESHOLD, 1, lam, strict_cutoff=True),
            claim=PrivacyClaim(epsilon, 0.0, AddRemove(), EPOCH_SOURCE),
            pairs=[(left, left[1:])],
        ),
    ]


def _run_checks(epsilon: float, delta: float, cutoff: int) -> list[PrivacyCheck]:
    tag = f"T={cutoff} eps={epsilon:g} delta={delta:g}"
    mechanism = SparseVectorBelow.calibrated(column_sums, THRESHOLD, cutoff, epsilon, delta)
    first = np.tile(np.r_[np.ones(3), 0.0], 2)
    pair = (rows_at(np.zeros(8), first), rows_at(np.zeros(8), 1 - first))
    pure = 2 * mechanism.most_bottoms / mechanism.lam
    return [
        PrivacyCheck(
            name=f"sparse vector/as printed {tag}",
            mechanism=mechanism,
            claim=PrivacyClaim(epsilon, delta, Substitution(), SOURCE),
            pairs=[pair],
        ),
        PrivacyCheck(
            name=f"sparse vector/epochs composed {tag}",
            mechanism=mechanism,
            claim=PrivacyClaim(pure, 0.0, Substitution(), f"{EPOCH_SOURCE}, and composition of T + 1 epochs"),
            pairs=[pair],
        ),
    ]


def _decoy_checks() -> list[PrivacyCheck]:
    pair = prefix_then_last(3, 4.0, epochs=2)
    return [
        PrivacyCheck(
            name="decoy/sparse vector threshold drawn once eps=0.75",
            mechanism=ThresholdDrawnOnce(column_sums, THRESHOLD, 1, 4.0),
            claim=PrivacyClaim(0.75, 0.0, Substitution(), "Lyu, Su & Li 2017, Algorithm 1, mirrored"),
            pairs=[pair, pair[::-1]],
        ),
        PrivacyCheck(
            name="decoy/sparse vector T + 1 bottoms eps=1",
            mechanism=SparseVectorBelow(column_sums, THRESHOLD, 1, 4.0),
            claim=PrivacyClaim(1.0, 0.0, Substitution(), f"{EPOCH_SOURCE}, and composition of 2 epochs"),
            pairs=[pair, pair[::-1]],
        ),
    ]


CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in (0.25, 0.5, 1.0, 2.0) for check in _epoch_checks(epsilon)),
    *(check for cutoff in (1, 2) for check in _run_checks(1.0, 0.01, cutoff)),
    *_decoy_checks(),
]
