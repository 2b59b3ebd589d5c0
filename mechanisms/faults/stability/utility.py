"""Services that keep their privacy and lose what the utility theorems promise, one fault each.

Theorem 3.11, Corollary 4.1, Theorems 4.6 and 5.14 of Bassily, Thakurta & Thakkar (2018). Every class says what it
gives; the run with T = B is `SpreadMistakes` itself, (1, 1e-6)-private as claimed, ended before its queries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import GuaranteeCheck, InequalityCheck, Verdict
from mechanisms.stability.accuracy import printed_k, teacher_failure
from mechanisms.stability.online import draw_transcripts
from mechanisms.stability.privacy_theorems import PAPER, quietly_printed
from mechanisms.stability.service_theorems import SpreadMistakes
from mechanisms.stability.soft_labels import SoftTranscripts, Table
from mechanisms.stability.soft_theorems import ScoresNear, SoftRun, SoftScores, full_run
from mechanisms.stability.transfer import REALIZABLE, StudentErrs, ThresholdStudent

EPSILON, DELTA, QUERIES = 1.0, 1e-2, 100


@dataclass(frozen=True)
class FewTeachers:
    """Trials of Theorem 3.11 with a part of the printed k: all of 99 queries get the right label, one is unstable.

    True privacy: (1, 0.01) as claimed, the noise is unchanged. Broken: with a quarter of k some query is silent in all
    but one of 1e9 runs; at these parameters 0.54 k is needed (at delta = 1e-6 between 0.42 k and 0.45 k).
    """

    part: float

    @property
    def teachers(self) -> int:
        """k, odd."""
        return int(printed_k(EPSILON) * self.part) // 2 * 2 + 1

    def failure(self) -> float:
        """Return the exact failure probability."""
        return teacher_failure(quietly_printed(EPSILON, DELTA, 1, QUERIES), self.teachers, QUERIES - 1)

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        noise = quietly_printed(EPSILON, DELTA, 1, QUERIES)
        right = rng.binomial(self.teachers, 0.75, size=(replicates, QUERIES - 1))
        distances = np.maximum(0, np.ceil(np.abs(2 * right - self.teachers) / 2) - 1)
        values = (2 * right > self.teachers).astype(int)
        released = draw_transcripts(values, (distances - noise.threshold) / noise.lam, noise.epochs, rng)
        return np.asarray(np.all(released == 1, axis=1))


@dataclass(frozen=True)
class OnlyShifted(SoftRun):
    """The second partition alone: scores near 0 and 1 lie in its dropped half bins.

    True privacy: (4, 1e-6) as claimed, the other test tells nothing. Broken: confident scores get BOTTOM.
    """

    def tests(self, dataset: Any) -> tuple[Table, Table]:
        """Let the first test fail always."""
        (codes, distances), shifted = super().tests(dataset)
        return (codes, np.zeros_like(distances)), shifted


@dataclass(frozen=True)
class OnlyShiftedScores(SoftScores):
    """A run with the second partition alone. True privacy: as for `OnlyShifted`."""

    def mechanism(self) -> SoftTranscripts:
        """Return what releases the scores."""
        return OnlyShifted(self.bins, self.calibration)


@dataclass(frozen=True)
class ZeroForSilence(ThresholdStudent):
    """The label 0 stands in for BOTTOM and no answer, where a coin should.

    True privacy: (1, 1e-6) as claimed, it is post-processing. Broken: where most labels are silent the student says 0
    everywhere.
    """

    def completed(self, labels: np.ndarray, rng: np.random.Generator) -> NDArray[np.int64]:
        """Fill in zeros."""
        return np.maximum(labels, 0)


def few_teachers_cases(part: float) -> list[tuple[str, float, float]]:
    """Compare the exact failure probability with beta = 0.05."""
    few = FewTeachers(part)
    return [(f"k={few.teachers}", few.failure(), 0.05)]


def _narrow() -> SoftScores:
    """Bins of width 1/10 with teachers of 100 examples, where 4 t is 0.76.

    True privacy: (4, 1e-6) as claimed, which no choice of bins changes. Broken: scores straddle bins of both
    partitions.
    """
    return replace(full_run(6400, 200, 4, 4.0), size=100)


def _shifted() -> OnlyShiftedScores:
    return OnlyShiftedScores(**vars(full_run(6400, 200, 4, 4.0)))


def _fault(name: str, theorem: str, statement: str, trials: Any, beta: float = 0.05) -> GuaranteeCheck:
    return GuaranteeCheck(
        name=f"fault/stability {name}",
        source=f"{PAPER}, {theorem}",
        statement=f"{statement} This is false.",
        trials=trials,
        beta=beta,
        budget=256,
        expected=Verdict.FAIL,
    )


CHECKS: list[GuaranteeCheck | InequalityCheck] = [
    InequalityCheck(
        name="fault/stability a quarter of the teachers, exactly",
        source=f"{PAPER}, Theorem 3.11",
        statement="A quarter of the printed k answers all queries with probability 0.95. This is false.",
        values=partial(few_teachers_cases, 0.25),
        expected=Verdict.FAIL,
    ),
    _fault("a quarter of the teachers", "Theorem 3.11", "A quarter of k answers all queries.", FewTeachers(0.25)),
    _fault("cutoff B", "Corollary 4.1", "T = B is enough.", SpreadMistakes(10, 10, 2000, 200_001)),
    _fault("shifted bins only", "Theorem 5.14", "The shifted partition is enough.", ScoresNear(_shifted(), 0.075)),
    _fault("bins below 4 t", "Theorem 5.14", "Bins may be narrower than 4 t.", ScoresNear(_narrow(), 0.075)),
    _fault(
        "zero for silence",
        "Theorem 4.6",
        "Zeros serve as well as coins.",
        StudentErrs(ZeroForSilence(REALIZABLE[0.02].service), 0.3),
        0.15,
    ),
]
