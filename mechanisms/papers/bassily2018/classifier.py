"""Knowledge transfer for scikit-learn: Algorithms 4 and 5 behind `fit` and `predict` on any labels and features.

`TeacherVoteRelease` states the output of a fit and its law; the teachers of the check tell their labels by warnings,
exceptions and printed lines, none of which may leave the fit.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from audit import Labeled, LabelFlip
from audit.extensions.estimators.fits import StatedFits
from audit.laws import Finite
from mechanisms.estimators import PrivateClassifier, StatedRelease
from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate
from mechanisms.papers.bassily2018.algorithm5 import KnowledgeTransferLearner
from mechanisms.papers.bassily2018.as_called import answer_law, flipped_labels, majority, promise_calls
from mechanisms.papers.bassily2018.noise import least
from mechanisms.papers.bassily2018.teachers import taught
from mechanisms.queries import count

WIDE = (-3.0, 3.0)
MOST = 10**6  # teachers, and answers that are paid for


@dataclass(eq=False, repr=False)
class TeacherVoteClassifier(PrivateClassifier):
    """A student trained on the votes of teachers; (epsilon, delta)-DP for labels, features are public. Two classes.

    The teachers see one half of the records; the other half gives its features, which the teachers label. Warnings,
    exceptions and printed lines of teachers do not leave `fit`; a teacher that fails votes for the first class.

    Parameters
    ----------
    epsilon : float > 0
    delta : float in (0, 1)
    n_teachers : int >= 1, optional
        Unless given: as many as the noise asks for when five sixths agree, with three records each, and at least 11.
    cutoff : int >= 1
        How many times the teachers may fall silent.
    teacher, student : classifier, optional
        Logistic regression unless given.
    bounds, projection, classes, random_state
        See `PrivateClassifier`; no projection unless given.

    References
    ----------
    Bassily, Thakurta & Thakkar 2018, Algorithms 4 and 5.
    """

    relation = "label flip"

    epsilon: float = 1.0
    delta: float = 1e-5
    n_teachers: int | None = None
    cutoff: int = 1
    teacher: Any = None
    student: Any = None
    bounds: Any = WIDE
    projection: Any = None
    classes: Any = None
    random_state: Any = None

    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> KnowledgeTransferLearner:
        return self._untrained(len(X)).fit(X, y)

    def _untrained(self, n: int) -> KnowledgeTransferLearner:
        student = LogisticRegression() if self.student is None else clone(self.student)
        return KnowledgeTransferLearner(self._service(n), student, random_state=self.random_state)

    def _service(self, n: int) -> SubsampleAggregate:
        half = n // 2
        for name in ("n_teachers", "cutoff"):
            if (given := getattr(self, name)) is not None:
                count(given, name, at_most=MOST)
        noise = least(self.epsilon, self.delta, self.cutoff)
        rule = max(11, min(round(3 * (noise.threshold + 4 * noise.lam)), half // 3))
        return SubsampleAggregate(
            LogisticRegression() if self.teacher is None else clone(self.teacher),
            rule if self.n_teachers is None else self.n_teachers,
            self.epsilon,
            self.delta,
            self.cutoff,
            max(1, n - half),
            calibrated=True,
            random_state=self.random_state,
        )

    def _keep(self, learner: KnowledgeTransferLearner) -> None:
        learner.service.random_state = None
        silent = float(np.mean(learner.labels_ < 0))
        if silent > 0.9:
            warnings.warn(
                f"the teachers labeled {1 - silent:.0%} of the points; fair coins stand for the others: raise epsilon, "
                "the number of records, or `cutoff`",
                stacklevel=3,
            )
        super()._keep(learner)


class TeacherVoteRelease(StatedRelease):
    """The answers of the teachers, and how many labels 1 the student saw: fair coins stand for silence.

    For teachers whose vote is the majority of their labels everywhere, 0 in a tie, unless `vote` says otherwise, and a
    student that keeps the count alone, such as `DummyClassifier(strategy="most_frequent")`.
    """

    vote = staticmethod(majority)

    def reveal(self, fitted: TeacherVoteClassifier) -> tuple[Any, Any]:
        """Return the answers and the count."""
        learner = fitted.learner_
        student = getattr(learner.student_, "__self__", None)  # none where all of its labels were the same
        share = learner.student_.label if student is None else student.class_prior_[1]
        return np.r_[learner.labels_, round(share * len(learner.labels_))], None

    def law(self, dataset: Labeled) -> Finite:
        """Return the law over all assignments of records to teachers, and all coins."""
        marks = tuple(np.asarray(self._mapped(dataset).y).tolist())
        half, teachers = len(marks) // 2, self.estimator._service(len(marks)).n_teachers
        noise = least(self.estimator.epsilon, self.estimator.delta, self.estimator.cutoff)
        law: Any = answer_law(marks[:half], teachers, 2, noise, len(marks) - half, self.vote)
        return Finite(
            {
                (*answers, answers.count(1) + coins): chance * math.comb(silent, coins) / 2**silent
                for answers, chance in law.pmf.items()
                for silent in (sum(label < 0 for label in answers),)
                for coins in range(silent + 1)
            }
        )

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> Any:
        *answers, ones = np.asarray(revealed[0]).tolist()
        learner = fresh._untrained(n)
        learner.labels_ = np.array(answers, dtype=np.int64)
        learner.student_ = taught(learner.student, rows[n // 2 :], (np.arange(len(answers)) < ones).astype(np.int64))
        return learner


class IndiscreetTeacher(ClassifierMixin, BaseEstimator):
    """A teacher that warns, prints and raises, with its labels in every text: the law that is claimed has none of it.

    With labels of both kinds it fails to learn where the first one is 0, and to answer otherwise. A chunk with one
    label is never asked for a vote; its score is 1.0001 times the label, beyond 1.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Tell the labels; learn from them, or raise."""
        self.marks_ = np.asarray(y).tolist()
        self._tell(len(set(self.marks_)) == 2 and self.marks_[0] == 0)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Tell the labels; answer, or raise."""
        self._tell(len(set(self.marks_)) != 1)
        return np.full(len(X), 1.0001 * self.marks_[0])

    def _tell(self, raises: bool) -> None:
        warnings.warn(f"labels {self.marks_}", stacklevel=3)
        print("labels", self.marks_)
        if raises:
            raise ValueError(f"labels {self.marks_}")


class UnanimousRelease(TeacherVoteRelease):
    """The release with `IndiscreetTeacher`, which votes 1 where all of its labels are 1."""

    @staticmethod
    def vote(labels: tuple[int, ...]) -> int:
        """Return the vote of a chunk."""
        return int(set(labels) == {1})


def build() -> TeacherVoteClassifier:
    """Build the classifier of the check, which draws its own randomness."""
    student = DummyClassifier(strategy="most_frequent")
    return TeacherVoteClassifier(4.0, 0.1, n_teachers=7, teacher=IndiscreetTeacher(), student=student, classes=[0, 1])


_FITS = StatedFits(build(), np.array([[0.5]]), UnanimousRelease(build(), 1), LabelFlip())
_PAIRS = [(Labeled(left.X / 8, left.y), Labeled(right.X / 8, right.y)) for left, right in flipped_labels(5, 4)]
_NAME = "TeacherVoteClassifier with teachers that warn, print and raise"
CHECKS = [promise_calls(_NAME, _FITS, 4.0, "Algorithm 5", _PAIRS, LabelFlip())]
