"""PATE for private labels: teachers on disjoint parts of the data vote, noise is added, a student learns the winners.

Zhao et al. (2024, section 2) describe PATE as a method for central label privacy, and do not compare with it: each
teacher learns from one part, the labels are replaced by a noisy majority vote, and a student learns from those. The
vote is that of Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson (2018, GNMax): the class of the largest count
after independent Gaussian noise. The points that the student asks about are training points, whose features are public.

Proof note. The parts and the queries are drawn without the labels. One label changes one teacher, which changes, at
each query, two counts by 1: all q count vectors move by at most sqrt(2 q) in l2. They are released with Gaussian noise
of the deviation that Balle & Wang (2018) give for this sensitivity, and only their largest entries are shown:
(epsilon, delta)-DP under label flip. The winners leak less than the noisy counts: their law is exact here, one integral
for each class.

Departures: no votes are withheld when teachers disagree (the "confident" variant), the accounting is that of the
Gaussian mechanism and does not look at the votes, ties of a teacher go to its first class, and the student is not
semi-supervised.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer
from mechanisms.estimator import noise_source
from mechanisms.gaussian import analytic_deviation
from mechanisms.labels.encoder import FloatArray, one_hot, require_labels
from mechanisms.labels.neighbors import NeighborSum, TargetClassifier, TargetModel, as_points

SOURCE = "Papernot, Song, Mironov, Raghunathan, Talwar & Erlingsson 2018, section 4, as a label-private learner"
_REACH, _NODES = 12.0, 400  # the normal law beyond 12 deviations is below 1e-32; more nodes change no digit


@dataclass(frozen=True)
class NoisyVote:
    """The winners of counts with Gaussian noise, calibrated for all queries together.

    Parameters
    ----------
    n_classes : int >= 2
    epsilon : float > 0
    delta : float in (0, 1)
    queries : int >= 1
        q.
    """

    n_classes: int
    epsilon: float
    delta: float
    queries: int

    @property
    def deviation(self) -> float:
        """Deviation of the noise on each count."""
        return math.sqrt(2 * self.queries) * analytic_deviation(self.epsilon, self.delta)

    def winners(self, counts: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a winner for each row of counts, shape (..., K)."""
        return np.asarray(np.argmax(counts + rng.normal(scale=self.deviation, size=counts.shape), axis=-1))

    def chances(self, counts: NDArray[Any]) -> FloatArray:
        """Return the probability that each class wins, shape (K,)."""
        return win_chances(tuple(np.asarray(counts).tolist()), self.deviation)


@lru_cache(maxsize=4096)
def win_chances(counts: tuple[int, ...], deviation: float) -> FloatArray:
    """Return P(count + noise is the largest) for each class: the integral of its density times the others' cdf."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    at, mass = _REACH * nodes, _REACH * weights * np.exp(-((_REACH * nodes) ** 2) / 2) / math.sqrt(2 * math.pi)
    below = ndtr(at + (np.array(counts)[:, None, None] - np.array(counts)[None, :, None]) / deviation)
    own = np.eye(len(counts), dtype=bool)
    found = np.prod(np.where(own[..., None], 1.0, below), axis=1) @ mass
    return np.asarray(found / found.sum())


def part_votes(
    points: FloatArray,
    labels: NDArray[np.int64],
    parts: list[NDArray[Any]],
    asked: FloatArray,
    n_classes: int,
    teacher: Callable[[], TargetModel],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the counts of the votes of teachers at the queries, shape (q, K); each teacher has a stream of its own."""
    counts = np.zeros((len(asked), n_classes), dtype=np.int64)
    for part, own in zip(parts, rng.spawn(len(parts)), strict=True):
        model = teacher().fit(points[part], one_hot(labels[part], n_classes), own)
        counts[np.arange(len(asked)), model.scores(asked).argmax(axis=1)] += 1
    return counts


@dataclass
class PATELabelTrainer(TargetClassifier):
    """A student of noisy votes; (epsilon, delta)-DP under label flip, for central privacy: the trainer is trusted.

    Parameters
    ----------
    n_classes : int >= 2
    epsilon : float > 0
    delta : float in (0, 1)
    n_teachers : int >= 1
        Parts of the data; at most the number of records.
    n_queries : int >= 1
        Training points that the student learns from; at most the number of records.
    teacher, student : callable
        `() -> TargetModel`.
    random_state : int, optional
        Source of the parts, the queries, the noise and the models' own randomness.
    """

    n_classes: int
    epsilon: float
    delta: float
    n_teachers: int
    n_queries: int
    teacher: Callable[[], TargetModel]
    student: Callable[[], TargetModel]
    random_state: Any = None
    model_: TargetModel = field(init=False, repr=False)
    ties_: int = field(init=False, repr=False)

    def fit(self, X: ArrayLike, y: ArrayLike) -> PATELabelTrainer:
        """Train the teachers, let them vote, and train the student; only the student is kept.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
            Public features.
        y : array, shape (n,)
            Labels in {0, ..., K - 1}; private.

        Raises
        ------
        InvalidArgument
            For features that are not finite, labels outside {0, ..., K - 1}, lengths that differ, or fewer records
            than teachers or queries.
        """
        points, labels = self._checked(X, y)
        for name in ("n_teachers", "n_queries"):
            if integer(getattr(self, name), name, at_least=1) > len(points):
                raise InvalidArgument.of(name, f"be at most {len(points)}, the records", getattr(self, name))
        rng = noise_source(self.random_state)
        self.ties_ = int(rng.spawn(1)[0].integers(2**63))
        parts = np.array_split(rng.permutation(len(points)), self.n_teachers)
        asked = points[rng.permutation(len(points))[: self.n_queries]]
        counts = part_votes(points, labels, parts, asked, self.n_classes, self.teacher, rng)
        released = self.vote.winners(counts, rng)
        self.model_ = self.student().fit(asked, one_hot(released, self.n_classes), rng)
        return self

    @property
    def vote(self) -> NoisyVote:
        """The release of the winners."""
        return NoisyVote(self.n_classes, self.epsilon, self.delta, self.n_queries)

    def _n_classes(self) -> int:
        return self.n_classes


@dataclass(frozen=True)
class PATERelease:
    """The winners that the student of PATE is told, with nearest neighbors for teachers; output: (size, q).

    A dataset is `Labeled`. Record i is in part i mod `n_teachers`, and the queries are the first records.

    Parameters
    ----------
    vote : NoisyVote
    n_teachers : int >= 1
    n_neighbors : int >= 1
        Of the teachers.
    """

    vote: NoisyVote
    n_teachers: int
    n_neighbors: int = 1

    def counts(self, dataset: Labeled) -> NDArray[np.int64]:
        """Return the votes, shape (q, K)."""
        points, labels = as_points(dataset.X), require_labels(dataset.y, self.vote.n_classes)
        asked, rng = points[: self.vote.queries], np.random.default_rng(0)
        return part_votes(points, labels, self.parts(len(points)), asked, self.vote.n_classes, self._teacher, rng)

    def parts(self, n: int) -> list[NDArray[Any]]:
        """Return the records of each teacher."""
        return [np.arange(first, n, self.n_teachers) for first in range(self.n_teachers)]

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        counts = self.counts(dataset)
        return self.vote.winners(np.broadcast_to(counts, (size, *counts.shape)), rng)

    def law(self, dataset: Labeled) -> Finite:
        """Law of the winners: independent, K^q outcomes."""
        return winners_law(self.vote, self.counts(dataset))

    def _teacher(self) -> NeighborSum:
        return NeighborSum(self.n_neighbors)


def winners_law(vote: NoisyVote, counts: NDArray[np.int64]) -> Finite:
    """Return the law of the winners of all rows."""
    chances = [vote.chances(row) for row in counts]
    table: dict[Hashable, float] = {}
    for row in itertools.product(range(vote.n_classes), repeat=len(counts)):
        table[row] = float(np.prod([chance[winner] for chance, winner in zip(chances, row, strict=True)]))
    return Finite(table)


def crowds(n_classes: int, teachers: int, queries: int) -> list[tuple[Labeled, Labeled]]:
    """Return flips of the first, a middle and the last label among equal points, where classes alternate."""
    n = max(teachers, queries)
    y = np.arange(n) % n_classes
    return [(Labeled(np.zeros(n), y), _flipped(y, i, n_classes)) for i in (0, n // 2, n - 1)]


def all_counts(n_classes: int, teachers: int, queries: int) -> list[tuple[Labeled, Labeled]]:
    """Return a flip of a middle label for every number of labels of the class that loses one.

    All counts of two classes. It is the only label of its teacher. Labels of the other classes take turns.
    """
    n = max(teachers, queries)
    found = []
    for others in range(n):
        y = np.r_[1 + np.arange(others) % (n_classes - 1), np.zeros(n - 1 - others, dtype=np.int64)]
        y = np.insert(y, n // 2, 0)
        found.append((Labeled(np.zeros(n), y), _flipped(y, n // 2, n_classes)))
    return found


def _flipped(y: NDArray[Any], at: int, n_classes: int) -> Labeled:
    changed = y.copy()
    changed[at] = (y[at] + 1) % n_classes
    return Labeled(np.zeros(len(y)), changed)


CHECKS: list[Any] = [
    PrivacyCheck(
        name=f"labels/PATE, K={K} teachers={teachers} queries={queries} eps={epsilon:g}",
        mechanism=PATERelease(NoisyVote(K, epsilon, delta, queries), teachers),
        claim=PrivacyClaim(epsilon, delta, LabelFlip(), SOURCE),
        pairs=[*crowds(K, teachers, queries), *all_counts(K, teachers, queries)],
        budget=20_000,
    )
    for K, teachers, queries, epsilon, delta in ((2, 5, 6, 1.0, 1e-5), (3, 7, 4, 2.0, 1e-3))
]
