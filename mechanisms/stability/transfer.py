"""Knowledge transfer: a student trained on labels that the teachers released, whose answers cost nothing more.

Implements Algorithm 5 of Bassily, Thakurta & Thakkar (2018), Claim 4.5 and Theorems 4.6 and 4.7. Public points are
labeled in one run of sub-sample and aggregate; a fair coin stands in for BOTTOM and for no answer; any learner is
trained on that. Everything after the release is post-processing, so that the student is as private as the labels.
Without public points the data are split in two halves by position, and the second half gives its features only: then
labels alone are private.

Readings: the number of public points is `sizes.student_size`; its constant is missing in the text at hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from audit import GuaranteeCheck
from audit.errors import InvalidArgument
from mechanisms.estimator import Classifier, noise_source
from mechanisms.stability.aggregate import SubsampleAggregate, taught
from mechanisms.stability.bounds import release_probability
from mechanisms.stability.calibration import Calibration, optimal
from mechanisms.stability.instability import BOTTOM
from mechanisms.stability.long_runs import ThresholdService, released_queries
from mechanisms.stability.privacy_theorems import PAPER
from mechanisms.stability.sizes import student_size
from mechanisms.stability.thresholds import ThresholdTask, best_thresholds

BETA = 0.05


class KnowledgeTransferLearner(Classifier):
    """A private classifier that answers any number of queries.

    Parameters
    ----------
    service : SubsampleAggregate
        Labels the public points; a new one with these parameters is fitted here, for one run, and dropped. Two labels.
    student : estimator with fit(X, y) and predict(X), or callable (X, y) -> callable
    public : array, shape (m,) or (m, d), optional
        Unlabeled points that are nobody's secret. None: the second half of the data, without labels; features are
        then not private, and the relation is the change of one label.
    random_state : None, int or Generator
        Seeds the coins; the service has its own.
    """

    def __init__(self, service: SubsampleAggregate, student: Any, public: Any = None, random_state: Any = None) -> None:
        if not isinstance(service, SubsampleAggregate) or service.labels != 2:
            raise InvalidArgument.of("service", "be a SubsampleAggregate with two labels", service)
        if not (callable(student) or hasattr(student, "fit")):
            raise InvalidArgument.of("student", "have fit(X, y), or be callable as (X, y)", student)
        self.service, self.student, self.public, self.random_state = service, student, public, random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train the teachers on (X, y), or on its first half, release labels, and train the student.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
        y : array of 0 and 1, shape (n,)
        """
        X, y = np.asarray(X), np.asarray(y)
        half = len(X) if self.public is not None else len(X) // 2
        points = X[half:] if self.public is None else np.asarray(self.public)
        self.labels_ = self.service.unfitted().fit(X[:half], y[:half]).predict(points)
        self.student_ = taught(self.student, points, coins_for_silence(self.labels_, noise_source(self.random_state)))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the student's label for each row of X."""
        student = self._fitted("student_")
        return np.asarray(student(np.asarray(X)), dtype=np.int64)


def coins_for_silence(labels: Any, random_state: Any) -> NDArray[np.int64]:
    """Replace BOTTOM and no answer, which are negative, by fair coins."""
    labels = np.asarray(labels, dtype=np.int64)
    return np.where(labels < 0, np.random.default_rng(random_state).integers(2, size=labels.shape), labels)


@dataclass(frozen=True)
class ThresholdStudent:
    """Runs of Algorithm 5 on thresholds, teachers and student of least empirical error.

    Parameters
    ----------
    service : ThresholdService
        Its queries are the public points.
    """

    service: ThresholdService

    def released(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw public points and their labels, negative where there is none; shape (m,) each."""
        features, winners, distances = self.service.poll(rng)
        shown, _ = released_queries(distances, self.service.calibration, rng)
        return features, np.where(shown, winners, BOTTOM)

    def error(self, rng: np.random.Generator) -> float:
        """Draw a student; its true error."""
        features, labels = self.released(rng)
        threshold = best_thresholds(features[None], self.completed(labels, rng)[None])
        return float(self.service.task.error(threshold)[0])

    def completed(self, labels: np.ndarray, rng: np.random.Generator) -> NDArray[np.int64]:
        """Fill in what was not released."""
        return coins_for_silence(labels, rng)

    def silent(self, rng: np.random.Generator) -> float:
        """Return the share of labels that are coins."""
        return float(np.mean(self.released(rng)[1] < 0))


@dataclass(frozen=True)
class StudentErrs:
    """Trials: the error of the student is at most `most`."""

    run: ThresholdStudent
    most: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([self.run.error(rng) for _ in range(replicates)]) <= self.most


def doubtful_mass(service: ThresholdService, rng: np.random.Generator) -> float:
    """Draw teachers; give the mass of points on which over a third of them differ from the best threshold.

    These lie between theta and the quantiles 1/3 and 2/3 of the thresholds.
    """
    ordered, third, theta = np.sort(service.thresholds(rng)), service.n_teachers // 3, service.task.theta
    return float(max(0.0, theta - ordered[third]) + max(0.0, ordered[-third - 1] - theta))


@dataclass(frozen=True)
class SingleQueryErrs:
    """Trials of Claim 4.5: the map from one query to its released label, a coin for silence, errs on at most `most`.

    Where two thirds agree the label is that of the best threshold; elsewhere all is counted as an error, and so is
    noise that silences a stable query.
    """

    service: ThresholdService
    most: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        flip = self.service.task.flip
        masses = np.array([doubtful_mass(self.service, rng) for _ in range(replicates)])
        return flip + (1 - 2 * flip) * masses + self.noise_error() <= self.most

    def noise_error(self) -> float:
        """Return an upper bound of the probability that noise alone silences a query with two thirds of the votes."""
        k, noise = self.service.n_teachers, self.service.calibration
        return 1 - release_probability(noise.threshold - (k / 6 - 1), noise.lam)


def student_run(alpha: float, flip: float, teachers: int, examples: int, noise: Calibration) -> ThresholdStudent:
    """Return runs with as many public points as the student needs for alpha."""
    points = math.ceil(student_size(alpha, 1.0, BETA))
    return ThresholdStudent(ThresholdService(ThresholdTask(0.5, flip), teachers * examples, teachers, noise, points))


def _guarantee(name: str, theorem: str, statement: str, trials: Any, beta: float) -> GuaranteeCheck:
    return GuaranteeCheck(
        name=f"stability/{name}",
        source=f"{PAPER}, {theorem}",
        statement=statement,
        trials=trials,
        beta=beta,
        slack=0.05,
        budget=128,
    )


REALIZABLE = {
    alpha: student_run(alpha, 0.0, 4001, round(12.5 / alpha), optimal(1.0, 1e-6, 5)) for alpha in (0.05, 0.02)
}
AGNOSTIC = student_run(0.02, 0.05, 2001, 250, optimal(4.0, 1e-6, 40))
FEWER = student_run(0.02, 0.1, 1001, 500, optimal(4.0, 1e-6, 5))

CHECKS: list[GuaranteeCheck] = [
    *(
        _guarantee(
            f"single queries, alpha={alpha:g}",
            "Claim 4.5",
            "A released label, a coin for silence, errs with probability 3 gamma + 7 alpha at most.",
            SingleQueryErrs(run.service, 7 * alpha),
            2 * BETA,
        )
        for alpha, run in REALIZABLE.items()
    ),
    _guarantee(
        "single queries, gamma=0.1",
        "Claim 4.5",
        "A released label, a coin for silence, errs with probability 3 gamma + 7 alpha at most.",
        SingleQueryErrs(FEWER.service, 0.3 + 7 * 0.02),
        2 * BETA,
    ),
    *(
        _guarantee(
            f"student, alpha={alpha:g}",
            "Theorem 4.6",
            "The student errs with probability 15 alpha at most, though a third of its labels or more are coins.",
            StudentErrs(run, 15 * alpha),
            3 * BETA,
        )
        for alpha, run in REALIZABLE.items()
    ),
    _guarantee(
        "student, gamma=0.05",
        "Theorem 4.7",
        "The student errs with probability 7 gamma + 15 alpha at most, alpha = 0.02.",
        StudentErrs(AGNOSTIC, 7 * 0.05 + 15 * 0.02),
        3 * BETA,
    ),
    _guarantee(
        "student, alpha=0.02, without the factor",
        "Theorem 4.6, sharper than stated",
        "The student errs with probability alpha at most.",
        StudentErrs(REALIZABLE[0.02], 0.02),
        3 * BETA,
    ),
]
