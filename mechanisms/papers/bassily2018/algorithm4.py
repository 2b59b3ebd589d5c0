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
from typing import Any, Self

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import integer, nonnegative, open_probability, positive
from mechanisms.estimator import Classifier
from mechanisms.papers.bassily2018.algorithm3 import CalibratedRelease, OnlineQueryRelease, released
from mechanisms.papers.bassily2018.teachers import Constant, Service, hard_answers, taught
from mechanisms.parts import vote
from mechanisms.parts.vote import VoteTable, distance_rule


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
        The least threshold that the proof allows (`noise.least`), in place of the reconstructed constants.
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
        super().__init__(learner, n_teachers, epsilon, delta, cutoff, max_queries, assignment, random_state)
        self.labels = integer(labels, "labels", at_least=2)
        distance_rule(distance)
        self.distance, self.calibrated = distance, calibrated

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
        if not np.isin(y, np.arange(self.labels)).all():  # y is private: the error does not show it
            raise InvalidArgument(f"`y` must hold labels 0 to {self.labels - 1}")
        return self._begin(X, y, self.release.noise, taught, Constant(0))

    def predict(self, X: Any) -> np.ndarray:
        """Release a label for each row of X, -1 where the teachers are not sure (BOTTOM), -2 when the run has ended."""
        runs, points = self._fitted("runs_"), np.asarray(X)
        self._count(len(points))
        votes = hard_answers(self.teachers_, points, self.labels)
        return released(runs, *VoteTable(self.labels, self.distance)(votes))[0]


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


CHECKS = vote.CHECKS  # the rules for a distance; the service as it is called is in `as_called`
