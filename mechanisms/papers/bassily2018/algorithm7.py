"""Algorithm 7, the private learner: soft-label teachers on disjoint chunks, behind a private classifier.

Section 5 of Bassily, Thakurta & Thakkar (2018):

    split D into k chunks, train a soft classifier h_j on each
    output the private classifier (Algorithm 8) over h_1, ..., h_k

Its answers are the release: the fitted object holds private data (`teachers.Service`). Departures as for `algorithm4`;
a teacher that fails gives 1/2 everywhere.
"""

from dataclasses import dataclass
from typing import Any, Self

from mechanisms.papers.bassily2018.noise import printed_soft
from mechanisms.papers.bassily2018.teachers import Constant, Service, trained
from mechanisms.queries import held


@dataclass(eq=False, repr=False)
class PrivateLearner(Service):
    """Trains soft-label teachers, and begins a run of queries."""

    bins: int = 10  # 1 / tau >= 1

    def __post_init__(self) -> None:
        super().__post_init__()
        held(self.bins, "bins")

    def fit(self, X: Any, y: Any) -> Self:
        """Assign the records to chunks, train the teachers, and begin a run."""
        noise = printed_soft(self.epsilon, self.delta, self.cutoff, self.max_queries)
        return self._begin(X, y, noise, trained, Constant(0.5))
