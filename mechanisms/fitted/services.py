"""The services of Bassily, Thakurta & Thakkar (2018), by all answers of one run, and the fitted student."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution
from audit.adapters import Documented, Predictions, Released
from audit.laws import Finite
from mechanisms.fitted.orders import Pair, exact
from mechanisms.stability.aggregate import Constant, SubsampleAggregate
from mechanisms.stability.calibration import least, printed_soft
from mechanisms.stability.online import Transcripts
from mechanisms.stability.soft_labels import SoftLabelService, SoftTranscripts
from mechanisms.stability.transfer import KnowledgeTransferLearner
from mechanisms.stability.votes import count_votes, safe_distance, winner


def majority(X: np.ndarray, y: np.ndarray) -> Callable[[Any], np.ndarray]:
    """Return a teacher that gives the majority label everywhere."""
    return Constant(int(2 * np.sum(y) > len(y)))


def answer_with(score: float, points: Any) -> np.ndarray:
    """Return the same score for each point."""
    return np.full(len(points), score)


class Scores:
    """The learner of `SoftLabelService` here: the mean label of a chunk."""

    def __call__(self, X: np.ndarray, y: np.ndarray) -> Callable[[Any], np.ndarray]:
        return partial(answer_with, float(np.mean(y)) if len(y) else 0.5)


def partitions(size: int) -> Iterator[list[list[int]]]:
    """Yield all partitions of 0, ..., size - 1."""
    if size == 0:
        yield []
        return
    for smaller in partitions(size - 1):
        yield [*smaller, [size - 1]]
        for i in range(len(smaller)):
            yield [*smaller[:i], [*smaller[i], size - 1], *smaller[i + 1 :]]


def over_assignments(marks: tuple[int, ...], chunks: int) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Yield the probability of each partition into chunks, and the mean labels of its chunks; each draws its own."""
    for blocks in partitions(len(marks)):
        chance = math.perm(chunks, len(blocks)) / chunks ** len(marks)
        yield chance, tuple(sum(marks[i] for i in block) / len(block) for block in blocks)


TEACHERS, QUERIES = 7, np.zeros((2, 1))
SERVICE = partial(SubsampleAggregate, majority, TEACHERS, 4.0, 0.1, max_queries=2, calibrated=True)


@lru_cache(maxsize=256)
def answers_to(ones: int) -> dict[Hashable, float]:
    """Return the law of the two answers where `ones` teachers vote 1."""
    counts = count_votes(np.repeat([[1], [0]], [ones, TEACHERS - ones], axis=0), 2)
    table = np.repeat(winner(counts), 2), np.repeat(safe_distance(counts), 2)
    return dict(Transcripts(lambda _: table, least(4.0, 0.1, 1)).law(None).pmf)


def service_law(dataset: Labeled) -> Finite:
    """Law of the answers of a service whose records draw their chunks."""
    mixed: dict[Hashable, float] = {}
    for chance, means in over_assignments(tuple(np.asarray(dataset.y).tolist()), TEACHERS):
        for answers, weight in answers_to(sum(mean > 0.5 for mean in means)).items():
            mixed[answers] = mixed.get(answers, 0.0) + chance * weight
    return Finite(mixed)


SOFT_TEACHERS, BINS = 101, 4
SOFT = partial(SoftLabelService, Scores(), SOFT_TEACHERS, 2.3, 0.1, bins=BINS, max_queries=2)


@lru_cache(maxsize=256)
def soft_answers_to(means: tuple[float, ...]) -> dict[Hashable, float]:
    """Return the law of two answers, in halves of a bin, -1 for none."""
    column = np.r_[means, np.full(SOFT_TEACHERS - len(means), 0.5)]
    law = SoftTranscripts(BINS, printed_soft(2.3, 0.1, 1, 2)).law(np.stack([column, column], axis=1))
    found: dict[Hashable, float] = {}
    for codes, chance in law.pmf.items():
        key = tuple(max(-1, code) for code in codes)  # type: ignore[attr-defined]
        found[key] = found.get(key, 0.0) + chance
    return found


def soft_law(dataset: Labeled) -> Finite:
    """Law of the answers of a soft-label service whose records draw their chunks."""
    mixed: dict[Hashable, float] = {}
    for chance, means in over_assignments(tuple(np.asarray(dataset.y).tolist()), SOFT_TEACHERS):
        for answers, weight in soft_answers_to(tuple(sorted(means))).items():
            mixed[answers] = mixed.get(answers, 0.0) + chance * weight
    return Finite(mixed)


@dataclass(frozen=True, eq=False)
class SoftAnswers(Predictions):
    """The answers of a soft-label service in halves of a bin, -1 for none."""

    def _released(self, learner: SoftLabelService) -> np.ndarray:
        scores = learner.predict(self.queries)
        return np.where(np.isnan(scores), -1, np.round(2 * BINS * np.nan_to_num(scores))).astype(np.int64)


class Memory:
    """The student here: it answers at the public points what it was trained on."""

    def fit(self, X: Any, y: Any) -> Memory:
        """Keep the examples."""
        self.known = dict(zip(np.ravel(X).tolist(), np.asarray(y).tolist(), strict=True))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each point, 0 for others."""
        return np.array([self.known.get(x, 0) for x in np.ravel(X).tolist()])


PUBLIC = np.array([0.0, 1.0])


def transfer(random_state: int) -> KnowledgeTransferLearner:
    """Build knowledge transfer whose service and student draw from one seed."""
    seeds = np.random.default_rng(random_state).integers(2**62, size=2).tolist()
    service = SERVICE(random_state=seeds[0])
    return KnowledgeTransferLearner(service, Memory(), PUBLIC[:, None], seeds[1])


def seedless(learner: KnowledgeTransferLearner) -> KnowledgeTransferLearner:
    """Reset the seed of the service, which is the audit's too."""
    learner.service.random_state = None
    return learner


def labels_and_student(learner: KnowledgeTransferLearner) -> np.ndarray:
    """Return the released labels, and the student's at the public points."""
    seedless(learner)
    return np.r_[learner.labels_, learner.predict(PUBLIC[:, None])]


def with_student(learner: KnowledgeTransferLearner, shown: np.ndarray, size: int) -> KnowledgeTransferLearner:
    """Set the student that follows from its labels at the public points."""
    seedless(learner).labels_ = shown[:2].astype(np.int64)
    taught = shown[2:].astype(np.int64)
    alike = bool(taught[0] == taught[1])
    learner.student_ = Constant(int(taught[0])) if alike else Memory().fit(PUBLIC, taught).predict
    return learner


def student_law(dataset: Labeled) -> Finite:
    """Law of the released labels and of the labels after fair coins for silence."""
    mixed: dict[Hashable, float] = {}
    for answers, chance in service_law(dataset).pmf.items():
        options = [(0, 1) if label < 0 else (label,) for label in answers]  # type: ignore[attr-defined]
        filled = list(itertools.product(*options))
        for completed in filled:
            mixed[(*answers, *completed)] = chance / len(filled)  # type: ignore[misc]
    return Finite(mixed)


def votes_that_flip(ones: int, zeros: int) -> list[Pair]:
    """Return flips of the first, the last and an inner label, sorted by class and alternating."""
    sorted_marks = np.repeat([1, 0], [ones, zeros])
    mixed = np.random.default_rng(0).permutation(sorted_marks)
    X = np.arange(len(mixed), dtype=float)[:, None]
    found = []
    for marks, i in ((sorted_marks, 0), (sorted_marks, len(mixed) - 1), (mixed, 2)):
        changed = marks.copy()
        changed[i] = 1 - marks[i]
        found.append((Labeled(X, marks), Labeled(X, changed)))
    return found


def _claim(epsilon: float, source: str) -> PrivacyClaim:
    return PrivacyClaim(epsilon, 0.1, Substitution(), f"Bassily, Thakurta & Thakkar 2018, {source}")


CHECKS: list[PrivacyCheck] = [
    exact(
        "stability/SubsampleAggregate",
        Documented(Predictions(SERVICE, QUERIES), service_law),
        _claim(4.0, "Corollary 3.10"),
        votes_that_flip(4, 2),
    ),
    exact(
        "stability/SoftLabelService",
        Documented(SoftAnswers(SOFT, QUERIES), soft_law),
        _claim(2.3, "Theorem 5.4"),
        votes_that_flip(2, 2),
    ),
    exact(
        "stability/KnowledgeTransferLearner",
        Documented(Released(transfer, labels_and_student, with_student), student_law),
        _claim(4.0, "Algorithm 5"),
        votes_that_flip(4, 2),
    ),
]
