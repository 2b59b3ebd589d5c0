"""The services and the student as their users call them, unseeded: one output is one fit and all answers of its run.

Records draw their chunks, so that the law of a service is a mixture over all partitions of the records. A student is
rebuilt from its labels alone, and one that holds anything else is not an output of its law.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from audit import AddRemove, Labeled, Predictions, PrivacyCheck, Released
from audit.extensions.adapters import Documented
from audit.laws import Finite
from mechanisms.papers.bassily2018.algorithm3 import Transcripts
from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate
from mechanisms.papers.bassily2018.algorithm5 import KnowledgeTransferLearner
from mechanisms.papers.bassily2018.algorithm6 import SoftLabelService, SoftTranscripts
from mechanisms.papers.bassily2018.noise import least, printed, printed_soft
from mechanisms.papers.bassily2018.teachers import Constant
from mechanisms.papers.rows import BASSILY
from mechanisms.parts.sparse_vector import Noise
from mechanisms.parts.vote import VoteTable

Marks = tuple[int, ...]
Mixture = dict[Hashable, float]
Pair = tuple[Labeled, Labeled]
BUDGET = 500


def majority(labels: Marks) -> int:
    """Return the most frequent label, the smallest one on a tie and for no labels."""
    counts = Counter(labels)
    return min(counts, key=lambda label: (-counts[label], label), default=0)


def mean_label(labels: Marks) -> float:
    """Return the mean of the labels, 1/2 for none."""
    return sum(labels) / len(labels) if labels else 0.5


def teach(answer: Callable[[Marks], float], X: Any, y: Any) -> Constant:
    """Return a teacher that gives one answer to its labels everywhere."""
    return Constant(answer(tuple(np.asarray(y).tolist())))


def partitions(size: int) -> Iterator[list[list[int]]]:
    """Yield all partitions of 0, ..., size - 1."""
    if size == 0:
        yield []
        return
    for smaller in partitions(size - 1):
        yield [*smaller, [size - 1]]
        for i in range(len(smaller)):
            yield [*smaller[:i], [*smaller[i], size - 1], *smaller[i + 1 :]]


def over_assignments(marks: Marks, chunks: int) -> Iterator[tuple[float, list[Marks]]]:
    """Yield the probability of each partition of the records into chunks that they draw, and its blocks' labels."""
    for blocks in partitions(len(marks)):
        chance = math.perm(chunks, len(blocks)) / chunks ** len(marks)
        yield chance, [tuple(marks[i] for i in block) for block in blocks]


@lru_cache(maxsize=1024)
def answers_to(votes: Marks, labels: int, noise: Noise, queries: int) -> Mixture:
    """Return the law of the answers where the teachers' votes, the same on every query, are these."""
    table = np.repeat(np.array(votes)[:, None], queries, axis=1)
    return dict(Transcripts(VoteTable(labels), noise).law(table).pmf)


def mix(parts: Iterable[tuple[float, Mapping[Any, float]]]) -> Finite:
    """Return the mixture of laws, each with its weight."""
    mixed = defaultdict[Hashable, float](float)
    for weight, law in parts:
        for outcome, chance in law.items():
            mixed[outcome] += weight * chance
    return Finite(dict(mixed))


def answer_law(
    marks: Marks, teachers: int, labels: int, noise: Noise, queries: int, vote: Callable[[Marks], int] = majority
) -> Finite:
    """Law of the answers of a run whose teachers give `vote` of their labels everywhere."""

    def answer(blocks: list[Marks]) -> Mapping[Any, float]:
        votes = sorted(vote(block) for block in blocks) + [0] * (teachers - len(blocks))
        return answers_to(tuple(votes), labels, noise, queries)

    return mix((chance, answer(blocks)) for chance, blocks in over_assignments(marks, teachers))


def service_law(dataset: Labeled, build: Callable[[], SubsampleAggregate], queries: int) -> Finite:
    """Law of the answers of a service whose teachers give the majority of their labels everywhere."""
    service = build()
    noise = least(service.epsilon, service.delta, service.cutoff)  # by the parameters, whatever the class makes of them
    if not service.calibrated:
        noise = printed(service.epsilon, service.delta, service.cutoff, service.max_queries)
    return answer_law(tuple(np.asarray(dataset.y).tolist()), service.n_teachers, service.labels, noise, queries)


@lru_cache(maxsize=256)
def soft_answers_to(means: tuple[float, ...], bins: int, noise: Noise) -> Mixture:
    """Return the law of two answers in halves of a bin, -1 for none."""
    law: Any = SoftTranscripts(bins, noise).law(np.repeat(np.array(means)[:, None], 2, axis=1))
    return mix((chance, {tuple(max(-1, code) for code in codes): 1.0}) for codes, chance in law.pmf.items()).pmf


def soft_law(dataset: Labeled, build: Callable[[], SoftLabelService]) -> Finite:
    """Law of two answers of a soft-label service whose records draw their chunks."""
    service = build()
    noise = printed_soft(service.epsilon, service.delta, service.cutoff, service.max_queries)

    def answer(blocks: list[Marks]) -> Mixture:
        means = [mean_label(block) for block in blocks] + [0.5] * (service.n_teachers - len(blocks))
        return soft_answers_to(tuple(sorted(means)), service.bins, noise)

    marks = tuple(np.asarray(dataset.y).tolist())
    return mix((chance, answer(blocks)) for chance, blocks in over_assignments(marks, service.n_teachers))


@dataclass(frozen=True, eq=False)
class Answers(Predictions):
    """All answers of a service; scores in halves of a bin, -1 for none."""

    def _read_release(self, learner: Any) -> np.ndarray:
        answers = learner.predict(self.queries)
        if isinstance(learner, SoftLabelService):
            return np.where(np.isnan(answers), -1, np.round(2 * learner.bins * np.nan_to_num(answers))).astype(np.int64)
        return np.asarray(answers)


QUERIES = np.array([[0.0], [1.0]])


def service(**changes: Any) -> SubsampleAggregate:
    """Build the service of the checks, which draws its own randomness."""
    settings = {"n_teachers": 7, "epsilon": 4.0, "delta": 0.1, "max_queries": 2, "calibrated": True}
    return SubsampleAggregate(**{"learner": partial(teach, majority), **settings, **changes})


def soft_service() -> SoftLabelService:
    """Build the soft-label service of the checks, which draws its own randomness."""
    return SoftLabelService(partial(teach, mean_label), 101, 2.3, 0.1, bins=4, max_queries=2)


def student() -> KnowledgeTransferLearner:
    """Build knowledge transfer, which draws its own randomness."""
    return KnowledgeTransferLearner(service(), partial(teach, majority), QUERIES)


def labels_and_student(learner: KnowledgeTransferLearner) -> np.ndarray:
    """Return the released labels, and the student's, which is one everywhere."""
    return np.r_[learner.labels_, learner.predict(QUERIES[:1])]


def with_student(learner: KnowledgeTransferLearner, shown: np.ndarray, size: int) -> KnowledgeTransferLearner:
    """Set the labels, and the student that gives one label."""
    learner.labels_, learner.student_ = shown[:2].astype(np.int64), Constant(int(shown[2]))
    return learner


def student_law(dataset: Labeled) -> Finite:
    """Law of the released labels and of the majority of the labels after fair coins for silence."""

    def completed(answers: Marks) -> Iterator[Marks]:
        return itertools.product(*((0, 1) if label < 0 else (label,) for label in answers))

    law: Any = service_law(dataset, service, 2)
    return mix(
        (chance / 2 ** sum(label < 0 for label in answers), {(*answers, majority(whole)): 1.0})
        for answers, chance in law.pmf.items()
        for whole in completed(answers)
    )


def _labeled(marks: np.ndarray) -> Labeled:
    return Labeled(np.arange(len(marks), dtype=float)[:, None], marks)


def changed_at(counts: tuple[int, ...], change: Callable[[np.ndarray, int], Labeled]) -> list[Pair]:
    """Return changes of the first, the last and an inner record, of that many labels 1, 0, 2, sorted and mixed."""
    ordered = np.repeat([1, 0, 2][: len(counts)], counts)
    mixed = np.random.default_rng(0).permutation(ordered)
    places = ((ordered, 0), (ordered, len(mixed) - 1), (mixed, 2))
    return [(_labeled(marks), change(marks, at)) for marks, at in places]


def flipped_labels(*counts: int) -> list[Pair]:
    """Return changes of one label."""

    def flip(marks: np.ndarray, at: int) -> Labeled:
        return _labeled(np.where(np.arange(len(marks)) == at, 1 - np.minimum(marks, 1), marks))

    return changed_at(counts, flip)


def removed_records(*counts: int) -> list[Pair]:
    """Return removals of one record."""

    def remove(marks: np.ndarray, at: int) -> Labeled:
        whole = _labeled(marks)
        return Labeled(np.delete(whole.X, at, axis=0), np.delete(marks, at))

    return changed_at(counts, remove)


def promise_calls(
    name: str, mechanism: Any, epsilon: float, theorem: str, pairs: list[Pair], relation: Any = None
) -> PrivacyCheck:
    """Return a check of a class by its stated law, which its fits must follow."""
    settings = {"budget": BUDGET, "method": "exact"}
    return BASSILY.promise(f"as called, {name}", theorem, mechanism, (epsilon, 0.1), pairs, relation, **settings)


def _service(name: str, pairs: list[Pair], relation: Any = None, **changes: Any) -> PrivacyCheck:
    build = partial(service, **changes)
    answers = Documented(Answers(build, QUERIES), partial(service_law, build=build, queries=2))
    return promise_calls(f"SubsampleAggregate{name}", answers, build().epsilon, "Corollary 3.10", pairs, relation)


_PRINTED: dict[str, Any] = {"labels": 3, "n_teachers": 9, "epsilon": 2.0, "calibrated": False}

_SOFT = Documented(Answers(soft_service, QUERIES), partial(soft_law, build=soft_service))
_STUDENT = Documented(Released(student, labels_and_student, with_student), student_law)

CHECKS: list[PrivacyCheck] = [
    _service(", substitution", flipped_labels(4, 2)),
    _service(", add/remove", removed_records(4, 2), AddRemove()),
    _service(" three labels, as printed", flipped_labels(3, 1, 1), **_PRINTED),
    promise_calls("SoftLabelService", _SOFT, 2.3, "Theorem 5.4", flipped_labels(2, 2)),
    promise_calls("KnowledgeTransferLearner", _STUDENT, 4.0, "Algorithm 5", flipped_labels(4, 2)),
]
