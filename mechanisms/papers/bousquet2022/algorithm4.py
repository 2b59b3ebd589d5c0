"""Algorithm 4 (PCL2), private votes of Voronoi cells of a bounded metric space; Theorem A.12: it is epsilon-DP.

Bousquet et al. (2022), appendix A.1:

    r = n^(-1 / (4 d)), d the doubling dimension
    N = a maximal r-packing of the space; V_1, V_2, ... its Voronoi cells
    h(x) = 1[sum of the labels in V(x) + Lap(1 / epsilon) > |V(x)| / 2]

Readings: the packing is chosen without the data, ties go to a fixed side, each cell has one noise, and any number above
the doubling dimension may take its place.
"""

from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Self

import numpy as np

from audit import Labeled, PrivacyCheck, Released
from audit.errors import InvalidArgument
from mechanisms.estimators import Classifier, noise_source
from mechanisms.papers.bousquet2022 import spaces
from mechanisms.papers.bousquet2022.algorithm2 import flip_pair, move_pair
from mechanisms.papers.bousquet2022.algorithm3 import require_budget
from mechanisms.papers.bousquet2022.cells import DrawnVotes, draw_votes
from mechanisms.papers.bousquet2022.tables import Pair, in_orders, promise, promise_fits
from mechanisms.parts.records import as_records, require_labels

UNIT_LINE = spaces.Cube(1)


@dataclass(eq=False, repr=False)
class VoronoiClassifier(Classifier):
    """Private classifier that is constant on Voronoi cells; (epsilon, 0)-DP under substitution.

    Attributes
    ----------
    n_ : int
        Number of records, public: it fixes the cells.
    votes_ : array, shape (cells,)
        The released hypothesis.
    """

    space: spaces.BoundedSpace = UNIT_LINE  # points, their distances, and how to pack them
    epsilon: float = 1.0  # >= 2^-52
    random_state: int | None = None  # repeats the noise exactly; for tests only

    def __post_init__(self) -> None:
        if not isinstance(self.space, spaces.BoundedSpace):
            raise InvalidArgument.of("space", "be a BoundedSpace such as Circle()", self.space)
        require_budget(self)

    def fit(self, X: Any, y: Any) -> Self:
        """Release the votes for points X with labels y in {0, 1}, shape (n,)."""
        votes = draw_votes(
            self.sums(Labeled(as_records(X), as_records(y, "y"))), self.epsilon, noise_source(self.random_state)
        )
        return self.set_release(votes, len(X))

    def set_release(self, votes: np.ndarray, n: int) -> Self:
        """Become the classifier that follows from the votes of the cells for n records."""
        self.n_, self.votes_ = n, votes
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the vote of each point's cell."""
        return self._fitted("votes_")[self.space.cell_of(self.space.points(X), self._packing(self.n_))]

    def sums(self, dataset: Labeled) -> np.ndarray:
        """Return the sum of (label - 1/2) over each cell."""
        points = self.space.points(dataset.X)
        packing = self._packing(len(points))
        margins = require_labels(dataset.y, len(points)) - 0.5
        return np.bincount(self.space.cell_of(points, packing), weights=margins, minlength=len(packing))

    def _packing(self, n: int) -> spaces.Packing:
        return spaces.certified_packing(self.space, spaces.radius_for(n, self.space.dim))


def make_votes(space: spaces.BoundedSpace, epsilon: float) -> DrawnVotes:
    """Return the release of Algorithm 4 as a mechanism."""
    return DrawnVotes(epsilon, VoronoiClassifier(space, epsilon).sums)


def _called(name: str, *more: Pair) -> PrivacyCheck:
    space, pairs = SPACES[name]
    fits = Released(partial(VoronoiClassifier, space, 0.5), attrgetter("votes_"), VoronoiClassifier.set_release)
    name = f"theorem A.12 as called, VoronoiClassifier on {name}"
    return promise_fits(name, fits, make_votes(space, 0.5).law, 0.5, in_orders(*pairs, *more), 0.0)


SPACES: dict[str, tuple[spaces.BoundedSpace, list[Pair]]] = {
    "the circle": (spaces.Circle(), [flip_pair(), move_pair(0)]),
    "the line": (UNIT_LINE, [flip_pair(), move_pair(1)]),
    "the square": (spaces.SQUARE, [flip_pair(2)]),
}

CHECKS: list[PrivacyCheck] = [
    *(
        promise(f"theorem A.12 {name}", make_votes(space, epsilon), epsilon, pairs)
        for epsilon in (0.5, 2.0)
        for name, (space, pairs) in SPACES.items()
    ),
    *(_called(name, move_pair(1)) for name in ("the circle", "the line")),
    _called("the square"),
]
