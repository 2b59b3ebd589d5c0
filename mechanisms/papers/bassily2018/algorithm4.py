"""Algorithm 4, sub-sample and aggregate: k teachers on disjoint chunks vote, and stable winners are released.

Section 3.3 of Bassily, Thakurta & Thakkar (2018), Corollaries 3.10 and 4.1, Theorem 3.11:

    split D into k chunks, train a teacher on each
    for each query x: c_j = number of teachers that answer j
        f = the j with the largest c_j, dist_f = from "the difference between the largest and the second largest"
        run Algorithm 3 with f and dist_f

A fitted service is not a release: it holds the teachers and the spent budget, and refuses to be copied or pickled.
Departures: the distance is `safe`, not the literal gap (`mechanisms.parts.vote`), and records draw their chunks, not by
position (`teachers`). An empty chunk votes 0, a chunk with one label votes for it, a teacher that fails votes 0.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit.errors import InvalidArgument
from audit.validate import open_probability, positive
from mechanisms.estimators import Classifier
from mechanisms.papers.bassily2018.algorithm3 import OnlineQueryRelease, released
from mechanisms.papers.bassily2018.teachers import Constant, Service, hard_answers, taught
from mechanisms.parts import vote
from mechanisms.parts.records import as_records
from mechanisms.parts.vote import VoteTable
from mechanisms.queries import count, held


@dataclass(eq=False, repr=False)
class SubsampleAggregate(Service, Classifier):
    """Answers classification queries with the votes of teachers; all answers together (epsilon, delta)-DP."""

    labels: int = 2  # >= 2; labels are 0 to labels - 1
    calibrated: bool = False  # the least threshold that the proof allows, not the reconstructed constants

    def __post_init__(self) -> None:
        super().__post_init__()
        held(self.labels, "labels", at_least=2)

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
        if not np.isin(as_records(y, "y"), np.arange(self.labels)).all():  # y is private: the error does not show it
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
    root = math.sqrt(count(cutoff, "cutoff") * math.log(2 / delta)) / positive(epsilon, "epsilon")
    teachers = math.ceil(136 * math.log(4 * count(max_queries, "max_queries") * cutoff / least) * root)
    return teachers + (labels == 2 and teachers % 2 == 0)


CHECKS = vote.CHECKS  # the rules for a distance; the service as it is called is in `as_called`
