"""Algorithm 3, online query release: sparse vector over distances to instability, one question at a time.

Section 3.2 of Bassily, Thakurta & Thakkar (2018), Theorem 3.6:

    c = 0, lam = sqrt(32 T log(2 / delta)) / epsilon, w = 2 lam log(2 m / delta), noisy threshold w + Lap(lam)
    for each question (f, dist_f), at most m of them, while c <= T:
        run Algorithm 2 with the noisy threshold for its own, and noise of scale 2 lam
        if it answers BOTTOM: draw a new noisy threshold, c = c + 1

`Session` plays with any analyst; `Transcripts` fixes the questions, draws many sessions at once by the same `Runs`, and
states their law. Codes are the values (>= 0), BOTTOM and NO_ANSWER, which differ here; the comparison is strict.
`is_calibrated` is ours: the same proof, spent to the end (`noise.least`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

from audit import InequalityCheck, PrivacyCheck
from audit.errors import InvalidArgument
from audit.laws import Finite
from mechanisms.papers.bassily2018.algorithm1 import LEVELS, RUN, pair_check, prefix_levels
from mechanisms.papers.bassily2018.algorithm2 import BOTTOM, Majority, Question, answer
from mechanisms.papers.bassily2018.noise import least, optimal, printed, pure
from mechanisms.papers.rows import BASSILY, Cases
from mechanisms.parts.sparse_vector import TOP, Noise, Runs, Transcript, transcript_law
from mechanisms.parts.vote import Pair, VoteTable, attack_pair, unstable_pair
from mechanisms.queries import ask

NO_ANSWER = -2


def released(runs: Runs, values: Any, distances: Any) -> np.ndarray:
    """Ask questions in turn: the value where its distance passes, else BOTTOM or NO_ANSWER; shape (runs, m)."""
    codes = runs.ask(distances)
    return np.where(codes == TOP, values, codes + BOTTOM)


class Session:
    """One run: asks the data, releases values or BOTTOM, and stops. Questions are asked of `dataset`."""

    def __init__(self, noise: Noise, dataset: Any, rng: np.random.Generator) -> None:
        self.runs, self._dataset = Runs(noise, 1, rng), dataset

    def ask(self, question: Question) -> int:
        """Release the value of a question, BOTTOM, or NO_ANSWER."""
        value, distance = answer(question, self._dataset)
        code = self.runs.ask_one(distance)
        return value if code == TOP else code + BOTTOM


@dataclass(frozen=True)
class OnlineQueryRelease:
    """Answers any stream of at most `max_queries` questions; (epsilon, delta)-DP in all (Theorem 3.6)."""

    epsilon: float  # > 0
    delta: float  # in (0, 1)
    cutoff: int  # T >= 1; up to T + 1 BOTTOMs are released
    max_queries: int  # m >= 1; the threshold grows with its logarithm
    is_calibrated: bool = False  # the least noise that the proof needs, whatever m: a failed unstable one ends an epoch
    noise: Noise = field(init=False, repr=False)

    def __post_init__(self) -> None:
        noise = printed(self.epsilon, self.delta, self.cutoff, self.max_queries, quiet=self.is_calibrated)
        if self.is_calibrated:
            noise = least(self.epsilon, self.delta, self.cutoff)
        object.__setattr__(self, "noise", noise)

    def open(self, dataset: Any, rng: np.random.Generator) -> Session:
        """Begin a run on a dataset."""
        return Session(self.noise, dataset, rng)


@dataclass(frozen=True)
class Transcripts:
    """Whole transcripts of questions that are fixed beforehand; outputs have shape (size, m)."""

    questions: Callable[[Any], tuple[Any, Any]]  # dataset -> values >= 0 and distances >= 0 or inf, shape (m,) each
    noise: Noise

    def answers(self, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return values and distances, shape (m,) each."""
        values, distances = (np.asarray(part) for part in ask(self.questions, dataset))
        if values.dtype.kind not in "biu" or values.ndim != 1 or values.shape != distances.shape or np.any(values < 0):
            raise InvalidArgument("`questions` must answer with m integers >= 0 and m distances")
        if np.any(np.isnan(distances)) or np.any(distances < 0):
            raise InvalidArgument("`questions` must answer with distances >= 0")
        return values.astype(np.int64), distances

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return released(Runs(self.noise, size, rng), *self.answers(dataset))

    def law(self, dataset: Any) -> Finite:
        """Law of one transcript."""
        values, distances = self.answers(dataset)
        return transcript_law(self.noise, distances, lambda j: (int(values[j]), BOTTOM, NO_ANSWER))


# Lemma 3.7: algorithm 3 in two phases. The first tells which queries get their value, by sparse vector; the second
# gives the values. "Assume that for any dataset D' s.t. |D - D'| = 1, we have f(D) = f(D'). Then, for any output s, we
# have the following": the formula is lost, and read as equality: given the first phase the values have one law.

Labels = tuple[int, ...]
_PHASES, _RECORDS = OnlineQueryRelease(0.6, 0.5, 1, 2), 6


def majorities(marks: Labels) -> tuple[np.ndarray, np.ndarray]:
    """Return the majority of all labels and of the first four, with their distances to instability."""
    values, distances = zip(*(Majority()(np.array(part)) for part in (marks, marks[:4])), strict=True)
    return np.array(values), np.array(distances)


def flips(marks: Labels) -> list[Labels]:
    """Return the lists with one other label."""
    return [(*marks[:i], 1 - marks[i], *marks[i + 1 :]) for i in range(len(marks))]


def is_stable(marks: Labels) -> bool:
    """Return whether no neighbor changes a value of `majorities`: the assumption of the lemma."""
    own = majorities(marks)[0]
    return all(np.array_equal(majorities(other)[0], own) for other in flips(marks))


@lru_cache(maxsize=256)
def second_phase(questions: Any, marks: Labels) -> dict[tuple[tuple[bool, ...], Transcript], float]:
    """Return P(transcript | which queries have a value)."""
    law: dict[Any, float] = dict(Transcripts(questions, _PHASES.noise).law(marks).pmf)
    patterns = {each: tuple(value >= 0 for value in each) for each in law}
    sums: defaultdict[tuple[bool, ...], float] = defaultdict(float)
    for each, chance in law.items():
        sums[patterns[each]] += chance
    return {(patterns[each], each): chance / sums[patterns[each]] for each, chance in law.items()}


def phase_cases(questions: Any = majorities, assumed: bool = True) -> Cases:
    """Compare the difference of the second phases with 0, on datasets that meet the assumption, or on all others."""
    for left in product((0, 1), repeat=_RECORDS):
        for right in flips(left) if is_stable(left) == assumed else ():
            first, second = second_phase(questions, left), second_phase(questions, right)
            common = {pattern for pattern, _ in first} & {pattern for pattern, _ in second}
            keys = [key for key in first.keys() | second.keys() if key[0] in common]
            yield f"{left} {right}", max(abs(first.get(k, 0.0) - second.get(k, 0.0)) for k in keys), 0.0


def vote_pairs(noise: Noise) -> list[Pair]:
    """Return the pairs on which a release of votes is audited: near the threshold, and unstable."""
    levels, moves = (np.tile(part, 2) for part in prefix_levels(5))
    return [
        attack_pair(noise.threshold + noise.lam * levels, moves > 0),
        attack_pair(noise.threshold + noise.lam * LEVELS[:12], np.tile([True, False], 6)),
        unstable_pair(12),
    ]


def _votes(name: str, noise: Noise, distance: str = "safe", epsilon: float = 1.0, delta: float = 1e-6) -> PrivacyCheck:
    mechanism = Transcripts(VoteTable(distance=distance), noise)
    return pair_check(f"votes {name}", mechanism, (epsilon, delta), RUN, pairs=vote_pairs(noise))


CHECKS: list[PrivacyCheck | InequalityCheck] = [
    *(_votes(f"printed noise T={cutoff}", printed(1.0, 1e-6, cutoff, 1000)) for cutoff in (1, 2)),
    _votes("printed noise eps=4 delta=0.01", printed(4.0, 1e-2, 1, 12), epsilon=4.0, delta=1e-2),
    _votes("printed noise, exact distance", printed(1.0, 1e-6, 1, 1000), "exact"),
    *(_votes(f"calibrated, optimal T={cutoff}", optimal(1.0, 1e-6, cutoff)) for cutoff in (1, 2)),
    _votes("calibrated, pure T=1", pure(1.0, 1e-6, 1)),
    BASSILY.quote("Lemma 3.7, second phase", partial(phase_cases, majorities)),
]
