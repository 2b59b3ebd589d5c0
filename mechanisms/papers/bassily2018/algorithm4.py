"""Algorithm 4, sub-sample and aggregate: k teachers on disjoint chunks vote, and stable winners are released.

Section 3.3 of Bassily, Thakurta & Thakkar (2018), Corollary 3.10 and Theorem 3.11, and its use for two labels
(section 4.1, Corollary 4.1):

    split D into k chunks, train a teacher on each
    for each query x: c_j = number of teachers that answer j
        f = the j with the largest c_j, dist_f = from "the difference between the largest and the second largest"
        run Algorithm 3 with f and dist_f

Any learner serves: nothing is asked of it for privacy.

A fitted service is not a release. It holds the teachers, which know the records, and its run, which counts the spent
budget. It answers in its own process and refuses to be copied or pickled: a copy could ask again with other noise.
Publish its answers, or a student (`algorithm5`).

Departures: the distance is `safe`, not the literal gap, which moves by 2 (`mechanisms.parts.vote`), and records are
assigned to chunks independently, not by position (`teachers`). An empty chunk votes 0, a chunk with one label votes for
it, and so does a teacher that fails vote 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import integer, open_probability, positive
from mechanisms.estimator import Classifier
from mechanisms.papers.bassily2018.algorithm3 import OnlineQueryRelease, released
from mechanisms.papers.bassily2018.teachers import Constant, Service, hard_answers, taught
from mechanisms.parts import vote
from mechanisms.parts.vote import VoteTable


@dataclass(eq=False, repr=False)
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
    calibrated : bool, optional
        The least threshold that the proof allows (`noise.least`), in place of the reconstructed constants.
    random_state : None, int or Generator
        See `Estimator`.
    """

    labels: int = 2
    calibrated: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        integer(self.labels, "labels", at_least=2)

    @property
    def release(self) -> OnlineQueryRelease:
        """The release that the answers go through."""
        return OnlineQueryRelease(self.epsilon, self.delta, self.cutoff, self.max_queries, self.calibrated)

    def fit(self, X: Any, y: Any) -> Self:
        """Assign the records to chunks, train the teachers, and begin a run.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
        y : array of integers 0 to labels - 1, shape (n,)
        """
        if not np.isin(y, np.arange(self.labels)).all():  # y is private: the error does not show it
            raise InvalidArgument(f"`y` must hold labels 0 to {self.labels - 1}")
        return self._begin(X, y, self.release.noise, taught, Constant(0))

    def predict(self, X: Any) -> np.ndarray:
        """Release a label for each row of X, -1 where the teachers are not sure (BOTTOM), -2 when the run has ended."""
        runs, points = self._fitted("runs_"), np.asarray(X)
        self._count(len(points))
        votes = hard_answers(self.teachers_, points, self.labels)
        return released(runs, *VoteTable(self.labels)(votes))[0]


def printed_teachers(epsilon: float, delta: float, cutoff: int, max_queries: int, beta: float, labels: int = 2) -> int:
    """Return k = 136 log(4 m T / min(delta, beta/2)) sqrt(T log(2/delta)) / epsilon, odd for two labels."""
    least = min(open_probability(delta, "delta"), open_probability(beta, "beta") / 2)
    root = math.sqrt(integer(cutoff, "cutoff", at_least=1) * math.log(2 / delta)) / positive(epsilon, "epsilon")
    teachers = math.ceil(136 * math.log(4 * integer(max_queries, "max_queries", at_least=1) * cutoff / least) * root)
    return teachers + (labels == 2 and teachers % 2 == 0)


CHECKS = vote.CHECKS  # the rules for a distance; the service as it is called is in `as_called`
