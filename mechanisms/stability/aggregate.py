"""Sub-sample and aggregate: k teachers on disjoint chunks vote, and stable winners are released.

Implements A_subSamp, Algorithm 4 of Bassily, Thakurta & Thakkar (2018), Corollary 3.10 and Theorem 3.11, and its use
for binary classification (their section 4.1, Corollary 4.1). Any learner serves: nothing is asked of it for privacy.

A fitted service is not a release. It holds the teachers, which know the records, and its session, which counts what was
spent. It answers in its own process and refuses to be copied or pickled: a copy could ask again with other noise. What
may be published are its answers, or a student (`mechanisms.stability.transfer`).

Departures: the distance is `safe`, not the literal gap, and records are assigned to chunks independently, not by
position; both literal readings are private only in part (`mechanisms.stability.votes`, `mechanisms.stability.chunks`).
An empty chunk votes 0, a chunk with one label votes for it.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import integer, nonnegative, open_probability, positive
from mechanisms.estimator import Classifier, Estimator, noise_source
from mechanisms.stability.calibration import Calibration
from mechanisms.stability.chunks import Assignment, assignment_rule
from mechanisms.stability.online import CalibratedRelease, OnlineQueryRelease, draw_transcripts
from mechanisms.stability.votes import count_votes, distance_rule, winner


@dataclass(frozen=True)
class VoteTable:
    """Questions to a table of votes: dataset -> (winners, distances). A record is one teacher's votes, shape (m,).

    Parameters
    ----------
    labels : int >= 1
    distance : {"safe", "exact", "gap", "gap_minus_one"}
    """

    labels: int = 2
    distance: str = "safe"

    def __post_init__(self) -> None:
        integer(self.labels, "labels", at_least=1)
        distance_rule(self.distance)

    def __call__(self, votes: Any) -> tuple[np.ndarray, np.ndarray]:
        counts = count_votes(votes, self.labels)
        return winner(counts), distance_rule(self.distance)(counts)


@dataclass(frozen=True)
class ChunkedVotes:
    """Questions to records in chunks: votes of the teachers trained on them, then a `VoteTable`.

    Parameters
    ----------
    teacher : callable
        list of records -> votes on the m queries, integers of shape (m,).
    chunks : int >= 1
        Number of teachers k.
    assignment : callable
        (dataset, chunks) -> chunk of each record, the same at every call.
    table : VoteTable
    """

    teacher: Callable[[list[Any]], Any]
    chunks: int
    assignment: Callable[[Any, int], np.ndarray]
    table: VoteTable = VoteTable()

    def __call__(self, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.table(chunk_votes(self.teacher, dataset, self.assignment(dataset, self.chunks), self.chunks))


@dataclass(frozen=True)
class ReassignedTranscripts:
    """Transcripts of a service that assigns the records anew in every run.

    Parameters
    ----------
    teacher, chunks, table
        As for `ChunkedVotes`. A teacher may have a method `of_runs` that returns what `runs_votes` does, at once.
    calibration : Calibration
    assignment : {"independent", "hash"} or callable
        (dataset, chunks, rng) -> chunk of each record.
    """

    teacher: Callable[[list[Any]], Any]
    chunks: int
    calibration: Calibration
    assignment: str | Assignment = "independent"
    table: VoteTable = VoteTable()

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        assign = assignment_rule(self.assignment)
        assigned = [assign(dataset, self.chunks, rng) for _ in range(max(size, 1))]
        of_runs = getattr(self.teacher, "of_runs", partial(runs_votes, self.teacher))
        tables = self.table(of_runs(dataset, assigned, self.chunks))
        values, distances = (part.reshape(len(assigned), -1) for part in tables)
        levels = (distances - self.calibration.threshold) / self.calibration.lam
        return draw_transcripts(values[:size], levels[:size], self.calibration.epochs, rng)


def chunk_votes(teacher: Callable[[list[Any]], Any], dataset: Any, assigned: np.ndarray, chunks: int) -> np.ndarray:
    """Return the votes of the teachers of all chunks, shape (chunks, m); a teacher may get no records."""
    members: list[list[Any]] = [[] for _ in range(chunks)]
    for chunk, record in zip(assigned.tolist(), dataset, strict=True):
        members[chunk].append(record)
    return np.array([teacher(records) for records in members]).reshape(chunks, -1)


def runs_votes(
    teacher: Callable[[list[Any]], Any], dataset: Any, assigned: Sequence[np.ndarray], chunks: int
) -> np.ndarray:
    """Return the votes of all chunks in some runs, by the chunks of the records in each; shape (chunks, runs m)."""
    return np.concatenate([chunk_votes(teacher, dataset, run, chunks) for run in assigned], axis=1)


class Service(Estimator):
    """A learner whose fitted object holds private data, and whose answers are the release."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters of a service that is not fitted; a fitted one is refused."""
        if hasattr(self, "session_"):
            raise InvalidArgument(
                f"a fitted {type(self).__name__} must not be copied or pickled: it holds the teachers and the privacy "
                "budget; publish its answers, or train a KnowledgeTransferLearner"
            )
        return dict(vars(self))


class Constant:
    """A teacher that gives one label everywhere."""

    def __init__(self, label: int) -> None:
        self.label = label

    def __call__(self, points: Any) -> np.ndarray:
        return np.full(len(points), self.label)


class SubsampleAggregate(Service, Classifier):
    """Answers classification queries with the votes of teachers; all answers together (epsilon, delta)-DP.

    Parameters
    ----------
    learner : estimator with fit(X, y) and predict(X), or callable (X, y) -> callable
        Trained once a chunk, on a copy.
    n_teachers : int >= 1
        k.
    epsilon, delta, cutoff, max_queries
        As for `OnlineQueryRelease`; all of predict's rows over the life of the object count.
    labels : int >= 2, optional
        Labels are 0 to labels - 1.
    assignment : {"independent", "hash", "position"}
    distance : {"safe", "exact", "gap", "gap_minus_one"}
        Only the first two are private as claimed.
    calibrated : bool, optional
        The least threshold that the proof allows (`calibration.least`), in place of the reconstructed constants.
    random_state : None, int or Generator
        See `Estimator`.
    """

    def __init__(
        self,
        learner: Any,
        n_teachers: int,
        epsilon: float,
        delta: float,
        cutoff: int = 1,
        max_queries: int = 1000,
        labels: int = 2,
        assignment: str = "independent",
        distance: str = "safe",
        calibrated: bool = False,
        random_state: Any = None,
    ) -> None:
        if not (callable(learner) or hasattr(learner, "fit")):
            raise InvalidArgument.of("learner", "have fit(X, y), or be callable as (X, y)", learner)
        self.learner = learner
        self.n_teachers = integer(n_teachers, "n_teachers", at_least=1)
        self.epsilon, self.delta = positive(epsilon, "epsilon"), open_probability(delta, "delta")
        self.cutoff = integer(cutoff, "cutoff", at_least=1)
        self.max_queries = integer(max_queries, "max_queries", at_least=1)
        self.labels = integer(labels, "labels", at_least=2)
        assignment_rule(assignment)
        distance_rule(distance)
        self.assignment, self.distance = assignment, distance
        self.calibrated, self.random_state = calibrated, random_state

    @property
    def release(self) -> OnlineQueryRelease:
        """The release that the answers go through."""
        settings = self.epsilon, self.delta, self.cutoff, self.max_queries
        return CalibratedRelease(*settings, variant="least") if self.calibrated else OnlineQueryRelease(*settings)

    def fit(self, X: Any, y: Any) -> Self:
        """Assign the records to chunks, train the teachers, and begin a run.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
        y : array of integers 0 to labels - 1, shape (n,)
        """
        X, y = np.asarray(X), np.asarray(y)
        if y.ndim != 1 or len(X) != len(y):
            raise InvalidArgument.of("y", f"have shape ({len(X)},)", y.shape)
        if y.size and not np.isin(y, np.arange(self.labels)).all():
            raise InvalidArgument.of("y", f"hold labels 0 to {self.labels - 1}", np.unique(y))
        rng = noise_source(self.random_state)
        records = list(zip(X, y, strict=True))
        assigned = assignment_rule(self.assignment)(records, self.n_teachers, rng)
        chunks = [np.flatnonzero(assigned == chunk) for chunk in range(self.n_teachers)]
        self.teachers_ = [taught(self.learner, X[chunk], y[chunk]) for chunk in chunks]
        self.session_ = self.release.open(None, rng)
        self.asked_ = 0
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Release a label for each row of X, -1 where the teachers are not sure (BOTTOM), -2 when the run has ended."""
        session, points = self._fitted("session_"), np.asarray(X)
        if self.asked_ + len(points) > self.max_queries:
            raise InvalidArgument.of("X", f"leave at most max_queries = {self.max_queries} queries in all", len(points))
        self.asked_ += len(points)
        votes = np.array([np.asarray(teacher(points), dtype=np.int64) for teacher in self.teachers_])
        winners, distances = VoteTable(self.labels, self.distance)(votes.reshape(len(votes), -1))
        answers = zip(winners.tolist(), distances.tolist(), strict=True)
        return np.array([session.ask(lambda _, pair=pair: pair) for pair in answers], dtype=np.int64)


class BinaryClassificationService(SubsampleAggregate):
    """Sub-sample and aggregate for two labels, with the number of teachers and the cutoff that Corollary 4.1 names.

    Parameters
    ----------
    learner
        An (alpha, beta / k)-agnostic PAC learner, for the guarantee; any, for privacy.
    epsilon, delta, max_queries
        As for `SubsampleAggregate`.
    alpha, bayes_gap : float >= 0
        Excess error of a teacher, and the least error of the class (gamma).
    beta : float in (0, 1)
        Failure probability: a third each for teachers, sampling and noise.
    random_state
        See `Estimator`.

    Raises
    ------
    InvalidArgument
        When the cutoff would reach the number of queries: the guarantee is void.
    """

    def __init__(
        self,
        learner: Any,
        epsilon: float,
        delta: float,
        max_queries: int,
        alpha: float,
        bayes_gap: float = 0.0,
        beta: float = 0.05,
        random_state: Any = None,
    ) -> None:
        self.alpha, self.bayes_gap = nonnegative(alpha, "alpha"), nonnegative(bayes_gap, "bayes_gap")
        self.beta = open_probability(beta, "beta")
        teachers, cutoff = service_size(epsilon, delta, max_queries, alpha + bayes_gap, beta)
        super().__init__(learner, teachers, epsilon, delta, cutoff, max_queries, random_state=random_state)


def printed_teachers(epsilon: float, delta: float, cutoff: int, max_queries: int, beta: float, labels: int = 2) -> int:
    """Return k = 136 log(4 m T / min(delta, beta/2)) sqrt(T log(2/delta)) / epsilon, odd for two labels."""
    least = min(open_probability(delta, "delta"), open_probability(beta, "beta") / 2)
    root = math.sqrt(integer(cutoff, "cutoff", at_least=1) * math.log(2 / delta)) / positive(epsilon, "epsilon")
    teachers = math.ceil(136 * math.log(4 * integer(max_queries, "max_queries", at_least=1) * cutoff / least) * root)
    return teachers + (labels == 2 and teachers % 2 == 0)


def service_size(epsilon: float, delta: float, max_queries: int, error: float, beta: float) -> tuple[int, int]:
    """Return the number of teachers and the cutoff of Corollary 4.1, which depend on each other.

    T = ceil(3 B), B = error m + sqrt(m log(3 k / beta) / 2); iterated from T = 1.
    """
    queries, cutoff = integer(max_queries, "max_queries", at_least=1), 1
    for _ in range(100):
        teachers = printed_teachers(epsilon, delta, cutoff, queries, beta)
        errors = nonnegative(error, "error") * queries + math.sqrt(queries * math.log(3 * teachers / beta) / 2)
        wanted = math.ceil(3 * errors)
        if wanted >= queries:
            raise InvalidArgument.of("max_queries", f"exceed the cutoff 3 B = {wanted}", queries)
        if wanted == cutoff:
            break
        cutoff = wanted
    return teachers, cutoff


def taught(learner: Any, X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], Any]:
    """Train one teacher: a constant for a chunk without records or with one label, else what the learner gives."""
    seen = np.unique(y)
    if seen.size < 2:
        return Constant(int(seen[0]) if seen.size else 0)
    if hasattr(learner, "fit"):
        predict: Callable[[np.ndarray], Any] = copy.deepcopy(learner).fit(X, y).predict
        return predict
    return learner(X, y)
