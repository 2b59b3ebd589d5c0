"""Soft labels: release the bin into which the teachers' scores fall, trying two partitions of [0, 1].

Implements Algorithms 6, 7 and 8 of Bassily, Thakurta & Thakkar (2018), Theorem 5.4. With bins of width tau = 1 / bins,
the first partition is [0, tau], (tau, 2 tau], ...; the second is shifted by tau / 2, its two half bins at the ends are
a class that cannot win. Each query asks the first partition; where that fails a new threshold is drawn and the second
one is asked with fresh noise. An answer from the second adds 1 to the counter, BOTTOM adds 2, each with a new
threshold; beyond 2 T there are no answers. So the transcript is that of at most 2 m sub-queries with at most 2 T + 2
BOTTOMs, and the constants are those of Algorithm 3 with T and m doubled.

An answer is a multiple of tau / 2: odd multiples are mid-points of the first partition, even ones of the second, so
that it shows which test passed. Codes below are these multiples.

Readings: a histogram with a single bin has an infinite distance. Departure: the distance is `safe`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer, open_probability, positive
from mechanisms.estimator import noise_source
from mechanisms.stability.aggregate import Service
from mechanisms.stability.calibration import Calibration, printed_soft
from mechanisms.stability.chunks import assignment_rule
from mechanisms.stability.instability import BOTTOM
from mechanisms.stability.online import NO_ANSWER, EpochWeights, Session, Transcript
from mechanisms.stability.votes import safe_distance, winner

SOURCE = "Bassily, Thakurta & Thakkar 2018, Theorem 5.4"
MOST_QUERIES = 6  # of a law: up to 3^m transcripts

Table = tuple[np.ndarray, np.ndarray]  # codes and distances, shape (m,)


def histograms(scores: Any, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Count scores in the bins of both partitions; shapes (m, bins) and (m, bins - 1), half bins left out.

    Parameters
    ----------
    scores : array, shape (teachers, m), entries in [0, 1]
    bins : int >= 1
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or not (np.all(table >= 0) and np.all(table <= 1)):
        raise InvalidArgument.of("scores", "have shape (teachers, m) and entries in [0, 1]", scores)
    scaled = table * integer(bins, "bins", at_least=1)
    first = np.maximum(np.ceil(scaled) - 1, 0)
    second = np.ceil(scaled - 0.5) - 1
    return _counted(first, bins), _counted(second, bins - 1)


def _counted(cells: np.ndarray, bins: int) -> np.ndarray:
    """Count entries 0, ..., bins - 1 of each column; others are not counted."""
    return (cells[..., None] == np.arange(bins)).sum(axis=0)


def both_tests(scores: Any, bins: int) -> tuple[Table, Table]:
    """Return codes and distances of the first and of the shifted partition.

    With one bin the first test always passes, and nothing asks the second.
    """
    plain, shifted = histograms(scores, bins)
    first = (2 * winner(plain) + 1, safe_distance(plain))
    if bins == 1:
        return first, first
    return first, (2 * winner(shifted) + 2, safe_distance(shifted))


@dataclass(frozen=True)
class SoftTranscripts:
    """Transcripts of a fixed list of soft-label queries; (epsilon, delta)-DP with `printed_soft`.

    Parameters
    ----------
    bins : int >= 1
        1 / tau.
    calibration : Calibration
        `epochs` is 2 T + 2: what the counter reaches when the run stops at c > 2 T.
    scores : callable, optional
        dataset -> scores of the teachers, shape (teachers, m); a dataset is such a table unless said otherwise, and a
        record one teacher's scores.

    Notes
    -----
    The output has shape (size, m): multiples of tau / 2, BOTTOM, NO_ANSWER.
    """

    bins: int
    calibration: Calibration
    scores: Callable[[Any], Any] = np.asarray

    def tests(self, dataset: Any) -> tuple[Table, Table]:
        """Return codes and distances of both tests."""
        return both_tests(self.scores(dataset), self.bins)

    def levels(self, distances: np.ndarray) -> np.ndarray:
        """Return (d - w) / lam."""
        return np.asarray((distances - self.calibration.threshold) / self.calibration.lam)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        (plain, near), (shifted, far) = self.tests(dataset)
        output = np.full((size, plain.size), NO_ANSWER)
        threshold: Any = rng.laplace(size=size)
        counter = np.zeros(size, dtype=int)
        for j, (level, shifted_level) in enumerate(zip(self.levels(near), self.levels(far), strict=True)):
            running = counter <= self.calibration.epochs - 2
            noise, renewed = rng.laplace(scale=2, size=size), rng.laplace(size=size)
            first = level + noise > threshold
            second = self.second_passes(shifted_level, threshold, noise, renewed, rng)
            answers = np.where(first, plain[j], np.where(second, shifted[j], BOTTOM))
            output[running, j] = answers[running]
            counter += np.where(first, 0, np.where(second, 1, 2))
            threshold = np.where(first, threshold, np.where(second, renewed, rng.laplace(size=size)))
        return output

    def second_passes(
        self, level: float, old: np.ndarray, noise: np.ndarray, renewed: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Say in which runs the shifted partition passes: fresh noise against the new threshold, not the old ones."""
        return np.asarray(level + rng.laplace(scale=2, size=renewed.size) > renewed)

    def law(self, dataset: Any) -> Finite:
        """Law of one transcript."""
        (plain, near), (shifted, far) = self.tests(dataset)
        if plain.size > MOST_QUERIES:
            raise InvalidArgument.of("queries", f"be at most {MOST_QUERIES} for the law to be computed", plain.size)
        weights = EpochWeights(np.r_[self.levels(near), self.levels(far)])
        return Finite(dict(self._walk(np.r_[plain, shifted], weights)))

    def _walk(self, codes: np.ndarray, weights: EpochWeights) -> Iterator[tuple[Transcript, float]]:
        """Extend transcripts query by query; sub-query m + j is the shifted test of query j."""
        queries = codes.size // 2
        stack: list[tuple[Transcript, np.ndarray, int]] = [((), weights.fresh, 0)]
        while stack:
            prefix, running, counter = stack.pop()
            j = len(prefix)
            if j == queries or counter > self.calibration.epochs - 2:
                yield prefix + (NO_ANSWER,) * (queries - j), float(running.sum())
                continue
            failed = weights.renewed(running, j)
            stack.append(((*prefix, int(codes[j])), running * weights.above[j], counter))
            stack.append(((*prefix, int(codes[queries + j])), failed * weights.above[queries + j], counter + 1))
            stack.append(((*prefix, BOTTOM), weights.renewed(failed, queries + j), counter + 2))


class SoftLabelService(Service):
    """Answers soft-label queries with bins of the teachers' scores; all answers together (epsilon, delta)-DP.

    Parameters
    ----------
    learner : callable
        (X, y) -> callable from points to scores in [0, 1]; for an empty chunk as well.
    n_teachers : int >= 1
    epsilon : float > 0
    delta : float in (0, 1)
    bins : int >= 1
        1 / tau.
    cutoff : int >= 1
        T.
    max_queries : int >= 1
    assignment : {"independent", "hash", "position"}
        See `mechanisms.stability.chunks`.
    random_state : None, int or Generator
        See `Estimator`.
    """

    def __init__(
        self,
        learner: Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], Any]],
        n_teachers: int,
        epsilon: float,
        delta: float,
        bins: int = 10,
        cutoff: int = 1,
        max_queries: int = 1000,
        assignment: str = "independent",
        random_state: Any = None,
    ) -> None:
        if not callable(learner):
            raise InvalidArgument.of("learner", "be callable as (X, y)", learner)
        self.learner = learner
        self.n_teachers, self.bins = integer(n_teachers, "n_teachers", at_least=1), integer(bins, "bins", at_least=1)
        self.epsilon, self.delta = positive(epsilon, "epsilon"), open_probability(delta, "delta")
        self.cutoff = integer(cutoff, "cutoff", at_least=1)
        self.max_queries = integer(max_queries, "max_queries", at_least=1)
        assignment_rule(assignment)
        self.assignment, self.random_state = assignment, random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Assign the records to chunks, train the teachers, and begin a run (Algorithm 7)."""
        X, y = np.asarray(X), np.asarray(y)
        if y.ndim != 1 or len(X) != len(y):
            raise InvalidArgument.of("y", f"have shape ({len(X)},)", y.shape)
        rng = noise_source(self.random_state)
        assigned = assignment_rule(self.assignment)(list(zip(X, y, strict=True)), self.n_teachers, rng)
        chunks = [np.flatnonzero(assigned == chunk) for chunk in range(self.n_teachers)]
        self.teachers_ = [self.learner(X[chunk], y[chunk]) for chunk in chunks]
        calibration = printed_soft(self.epsilon, self.delta, self.cutoff, self.max_queries)
        self.session_, self.asked_ = Session(calibration, None, rng), 0
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Release a score for each row of X, nan for BOTTOM and where the run has ended (Algorithm 8)."""
        session, points = self._fitted("session_"), np.asarray(X)
        if self.asked_ + len(points) > self.max_queries:
            raise InvalidArgument.of("X", f"leave at most max_queries = {self.max_queries} queries in all", len(points))
        self.asked_ += len(points)
        scores = np.array([np.asarray(teacher(points), dtype=float) for teacher in self.teachers_])
        tests = both_tests(scores.reshape(len(scores), -1), self.bins)
        return np.array([self._answer(session, *((codes[j], d[j]) for codes, d in tests)) for j in range(len(points))])

    def _answer(self, session: Session, first: tuple[int, float], second: tuple[int, float]) -> float:
        if session.bottoms > 2 * self.cutoff:
            return float("nan")
        if session.passes(first[1]):
            return float(first[0]) / (2 * self.bins)
        session.pay()
        if session.passes(second[1]):
            return float(second[0]) / (2 * self.bins)
        session.pay()
        return float("nan")


def column(stable: int, wandering: int, at: float, elsewhere: float) -> np.ndarray:
    """Return the scores of `stable` teachers at one value and of `wandering` ones at another, shape (teachers,)."""
    return np.r_[np.full(stable, at), np.full(wandering, elsewhere)]


def soft_pair(distances: tuple[int, ...], teachers: int = 401) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables that differ in the first teacher; distances of the first partition move by one, some each way.

    Bins of width 1/4: scores 0.3 lie in bin (.25, .5] and in the shifted bin (.125, .375]; the others, at 0.7, in
    (.5, .75] and in (.625, .875].
    """
    columns = []
    for d in distances:
        wandering = (teachers - 2 * d - 1) // 2
        columns.append(column(teachers - wandering, wandering, 0.3, 0.7))
    left = np.stack(columns, axis=1)
    left[0, 1::2] = 0.7
    right = left.copy()
    right[0] = np.where(left[0] == 0.3, 0.7, 0.3)
    return left, right


def _checks() -> list[PrivacyCheck]:
    checks = []
    for epsilon, delta, cutoff in ((1.0, 1e-6, 1), (1.0, 1e-2, 1), (4.0, 1e-2, 2)):
        calibration = printed_soft(epsilon, delta, cutoff, 1000)
        level = round(calibration.threshold)
        teachers = 2 * level + 401
        pairs = [soft_pair((level,) * 4, teachers), soft_pair((0,) * 4, 41)]
        checks.append(
            PrivacyCheck(
                name=f"stability/soft labels eps={epsilon:g} delta={delta:g} T={cutoff}",
                mechanism=SoftTranscripts(4, calibration),
                claim=PrivacyClaim(epsilon, delta, Substitution(), SOURCE),
                pairs=pairs,
                budget=20_000,
            )
        )
    return checks


CHECKS: list[PrivacyCheck] = _checks()
