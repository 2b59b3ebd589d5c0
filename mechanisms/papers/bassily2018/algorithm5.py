"""Algorithm 5, knowledge transfer: a student trained on labels that the teachers released answers at no cost.

Section 4.2 of Bassily, Thakurta & Thakkar (2018), Claim 4.5 and Theorems 4.6 and 4.7:

    label m public points in one run of Algorithm 4; a fair coin stands for BOTTOM and for no answer
    train any learner on the labeled points, release its result

Everything after the run is post-processing, so that the student is as private as the labels. Without public points the
data are split in two halves by position, and the second half gives its features only: then labels alone are private.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument
from mechanisms.estimators import Classifier, noise_source
from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate
from mechanisms.papers.bassily2018.teachers import require_learner, taught
from mechanisms.parts.records import as_records


@dataclass(eq=False, repr=False)
class KnowledgeTransferLearner(Classifier):
    """A private classifier that answers any number of queries."""

    service: SubsampleAggregate  # a new one with these parameters is fitted, for one run, and dropped; two labels
    student: Any  # estimator with fit and predict, or callable (X, y) -> callable
    public: Any = None  # unlabeled points, nobody's secret; None: the second half of the data, labels alone are private
    random_state: Any = None  # seeds the coins; the service has its own

    def __post_init__(self) -> None:
        if not isinstance(self.service, SubsampleAggregate) or self.service.labels != 2:
            raise InvalidArgument.of("service", "be a SubsampleAggregate with two labels", self.service)
        require_learner(self.student, "student")

    def fit(self, X: Any, y: Any) -> Self:
        """Train the teachers on (X, y), or on its first half, release labels, and train the student.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
        y : array of 0 and 1, shape (n,)
        """
        X, y = as_records(X), as_records(y, "y")
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
