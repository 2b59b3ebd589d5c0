"""Algorithm 2 (PCL), private votes of cubes, as an estimator of scikit-learn; Theorem 3.1: it is epsilon-DP.

Bousquet et al. (2022), section 3:

    r = n^(-1 / (2 d)); partition [0, 1]^d into cubes C_1, ..., C_k of side r
    c_j = number of records in C_j, y_j = number of those labeled 1
    for EVERY cube: w_j ~ Lap(1 / epsilon)
    h(x) = 1[y_j + w_j > c_j / 2] for x in C_j

Departures: none in the law. `bounds=None` takes the cubes of the whole space. There, and beyond 2^16 cubes, cubes share
the entries of a table by a public hash (`grids.CubeTable`).

Proof note. Only s_j + w_j > 0 is released, s_j = sum of (label - 1/2) over the cube: l1 sensitivity 1 under
substitution. n is public: it fixes the cubes; under add/remove the classifier as written has no privacy.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from audit import AddRemove, EstimatorCheck, Labeled, Verdict
from audit.laws import Law
from mechanisms.estimators import PrivateClassifier, StatedRelease, noise_source
from mechanisms.papers.bousquet2022.algorithm1 import noise_scale
from mechanisms.papers.bousquet2022.cells import DrawnVotes, draw_votes, vote_law
from mechanisms.papers.bousquet2022.grids import CubeTable
from mechanisms.papers.bousquet2022.tables import Pair, flip_first, promise, records_of, replace_first
from mechanisms.papers.rows import BOUSQUET

WHERE = "Theorem 3.1"


@dataclass(frozen=True, eq=False)
class CubeVotes:
    """The released hypothesis h: a vote for each entry of the table of cubes for n records."""

    dim: int
    n: int
    is_bounded: bool
    votes: np.ndarray

    @property
    def table(self) -> CubeTable:
        """Where the vote of a cube stands."""
        return CubeTable(self.dim, self.n, self.is_bounded, len(self.votes))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the vote of the cube of each row."""
        return self.votes[self.table.entry_of(X)]


@dataclass(eq=False, repr=False)
class CubeVoteClassifier(PrivateClassifier):
    """One noisy majority vote for each cube; (epsilon, 0)-DP under substitution of a record. Two classes.

    Memory follows the records in any dimension. Beyond a few dimensions each record is alone in its cube: project.

    Parameters
    ----------
    epsilon : float >= 2^-52
    bounds : (low, high) or None
        See `PrivateClassifier`; None takes features as they are, anywhere.
    projection, classes
        See `PrivateClassifier`.
    random_state : int, optional
        For tests only: a known seed gives no privacy.

    Attributes
    ----------
    learner_ : CubeVotes

    References
    ----------
    Bousquet et al. 2022, Algorithm 2, Theorems 3.1 and 3.2.
    """

    most_cubes: ClassVar[int] = 2**16

    epsilon: float = 1.0
    bounds: Any = (-3.0, 3.0)
    projection: Any = 2
    classes: Any = None
    random_state: Any = None

    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> CubeVotes:
        noise_scale(self.epsilon)
        votes = draw_votes(self._sums(X, y), self.epsilon, noise_source(self.random_state))
        return CubeVotes(X.shape[1], len(X), self.bounds is not None, votes)

    def _sums(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        table = CubeTable.for_records(X.shape[1], len(X), self.bounds is not None, self.most_cubes)
        return table.sums(X, y)

    def _mapped(self, X: np.ndarray) -> np.ndarray:
        if self.bounds is not None:
            return super()._mapped(X)
        return X if self.projection is None else X @ self._directions(X.shape[1])


class CubeVoteRelease(StatedRelease):
    """One bit for each entry of the table."""

    def reveal(self, fitted: CubeVoteClassifier) -> tuple[Any, Any]:
        """Return the bits."""
        return fitted.learner_.votes, None

    def law(self, dataset: Labeled) -> Law:
        """Return the law of independent bits."""
        mapped = self._mapped(dataset)
        return vote_law(self.estimator.epsilon, self.estimator._sums(mapped.X, mapped.y))

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> CubeVotes:
        return CubeVotes(self._dim, n, fresh.bounds is not None, revealed[0])


def table_of(dataset: Labeled) -> CubeTable:
    """Return the cubes of records in the unit cube."""
    return CubeTable.for_records(int(np.size(dataset.X) / len(dataset)), len(dataset))


def cube_sums(dataset: Labeled) -> np.ndarray:
    """Return the sums of (label - 1/2) over all cubes, for records in the unit cube."""
    return table_of(dataset).sums(np.reshape(dataset.X, (len(dataset), -1)), dataset.y)


def ask_votes(
    dataset: Labeled, size: int, rng: np.random.Generator, queries: Any = (0.2, 0.46, 0.48, 0.8)
) -> np.ndarray:
    """Draw the hypothesis at points of [0, 1], epsilon = 1, so that hypotheses on different cubes can be compared."""
    return DrawnVotes(1.0, cube_sums)(dataset, size, rng)[:, table_of(dataset).entry_of(np.array(queries)[:, None])]


def flip_pair(dim: int = 1) -> Pair:
    """Return two records of label 0 in one of four cubes, fourteen elsewhere; one of the two labels flips (n = 16)."""
    places, marks = np.repeat([0.1, 0.9], [2, 14]), np.tile([0, 0, 1, 1], 4)
    data = records_of(places if dim == 1 else np.repeat(places[:, None], dim, axis=1), marks)
    return data, flip_first(data)


def move_pair(label: int = 1) -> Pair:
    """Return records of which one moves from a cube that its label wins to one that the other label wins."""
    marks = np.r_[label, np.repeat([1 - label, label, 0], [4, 5, 6])]
    data = records_of(np.r_[0.1, np.repeat([0.1, 0.4, 0.9], [4, 5, 6])], marks)
    return data, replace_first(data, 0.4)


class FewCubes(CubeVoteClassifier):
    """The classifier whose cubes share 16 entries where there are more than 16: all of them have a law to check."""

    most_cubes = 16


def as_called(name: str, learner: Any, stated: Any, users: Labeled) -> EstimatorCheck:
    """Check fits without a seed."""
    name, release = f"theorem 3.1 as called, {name}", CubeVoteRelease(stated, users.X.shape[1])
    return BOUSQUET.check_fits(name, WHERE, learner, users, stated.epsilon, release, public=("classes",), budget=1_600)


_EIGHT = records_of(np.random.default_rng(2022).uniform(-3, 3, size=(8, 4)).round(2), [0, 1, 1, 0, 1, 0, 0, 1])
_READ = "theorem 3.1 read under add-remove is false"  # cubes of side 1/2 and of side 1 / sqrt(5)
_FOUR_AND_FIVE = tuple(records_of([0.1, 0.3, 0.7, 0.9, 0.3][:n], [0, 1, 0, 1, 1][:n]) for n in (4, 5))
_LINE = records_of([[-250.0], [-0.1], [0.1], [0.1], [0.3]], [1, 0, 0, 0, 1])
_CORNERS = records_of(np.repeat([[0.1] * 20, [0.99] * 20], [2, 2], axis=0), [1, 0, 1, 1])

CHECKS: list[Any] = [
    *(
        promise("theorem 3.1 votes", DrawnVotes(epsilon, cube_sums), epsilon, [flip_pair(), move_pair(0), move_pair(1)])
        for epsilon in (0.25, 0.5, 1.0, 2.0)
    ),
    promise("theorem 3.1 in the plane", DrawnVotes(1.0, cube_sums), 1.0, [flip_pair(2)]),
    promise(
        "theorem 3.1 one record",
        DrawnVotes(1.0, cube_sums),
        0.8319,
        [(records_of([0.3], [0]), records_of([0.3], [1]))],
        where=f"{WHERE}, constant for n = 1: log(2 e^(1/2) - 1)",
    ),
    promise(_READ, ask_votes, 1.0, [_FOUR_AND_FIVE], relation=AddRemove(), expected=Verdict.FAIL),
    as_called("defaults", CubeVoteClassifier(classes=[0, 1]), CubeVoteClassifier(1.0, (-3.0, 3.0), 2, [0, 1]), _EIGHT),
    *(
        as_called(name, FewCubes(epsilon, bounds, None, [0, 1]), FewCubes(epsilon, bounds, None, [0, 1]), users)
        for name, epsilon, bounds, users in (
            ("on the line", 0.5, None, _LINE),
            ("in 20 dimensions", 2.0, (0.0, 1.0), _CORNERS),
        )
    ),
]
