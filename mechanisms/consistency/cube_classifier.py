"""The private cube classifier: one noisy majority vote per cube of side n^(-1 / (2 dim)).

Implements Bousquet et al. (2022), Algorithm 2 and Theorem 3.1: h = 1[Y_j + W_j > N_j / 2] on cube j, with N_j records,
Y_j of them labeled 1, and W_j ~ Laplace(1 / epsilon) for EVERY cube, empty ones included.

Proof note. Only s_j + W_j > 0 is released, s_j = sum of (label - 1/2) over cube j. Substituting a record changes one
s_j by at most 1, or two of them by 1/2 each: the vector s has l1 sensitivity 1 although the counts N have 2. The caller
promises that n is public: it fixes the cubes. Under add/remove two datasets have different cubes, and the places where
h jumps reveal n: the classifier as written has no privacy there. With the cubes frozen it is epsilon / 2.

Departures from the text: none in the law. `bounded=False` uses cubes of the whole space. There, and where the unit cube
has more than `MOST_CUBES` cubes, the votes of all cubes are kept as one polynomial (`hidden_votes`): its size is the
number of records, it does not tell which cubes had records, and any n votes have the law of the text.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit import AddRemove, Labeled, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from audit.laws import Finite, Laplace, Law, Product
from audit.validate import integer, positive
from mechanisms.consistency.grids import SpaceGrid, UnitGrid, side_for
from mechanisms.consistency.hidden_votes import draw_votes
from mechanisms.consistency.records import features, labels
from mechanisms.consistency.votes import vote_law, vote_probability
from mechanisms.estimator import Classifier, noise_source

SOURCE = "Bousquet et al. 2022, Theorem 3.1"
EPSILONS = (0.25, 0.5, 1.0, 2.0)
MOST_CUBES = 2**16  # of which an array of votes is kept


class CubeClassifier(Classifier):
    """Private classifier that is constant on cubes; (epsilon, 0)-DP under substitution.

    Parameters
    ----------
    dim : int >= 1
        Number of features.
    epsilon : float > 0
        Privacy parameter, spent once by each call of `fit`.
    bounded : bool
        True: features lie in [0, 1]^dim, anything else is refused. False: any finite features.
    random_state : int, optional
        Repeats the noise exactly; for tests only.

    Attributes
    ----------
    side_ : float
        Side of the cubes, n^(-1 / (2 dim)).
    votes_ : array, shape (cubes,), or HiddenVotes
        The released hypothesis.

    References
    ----------
    Bousquet et al. 2022, Algorithm 2; Theorem 3.1 (privacy), Theorem 3.2 (universal consistency).
    """

    def __init__(
        self, dim: int = 1, epsilon: float = 1.0, bounded: bool = True, random_state: int | None = None
    ) -> None:
        self.dim = integer(dim, "dim", at_least=1)
        self.epsilon = positive(epsilon, "epsilon")
        self.bounded = bool(bounded)
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Release the votes for records X, shape (n, dim), with labels y in {0, 1}, shape (n,).

        Raises
        ------
        InvalidArgument
            For features outside the domain or labels other than 0 and 1; nothing is clipped.
        """
        rows = features(X, self.dim, unit_cube=self.bounded)
        margins = labels(y, len(rows)) - 0.5
        rng = noise_source(self.random_state)
        self.side_ = side_for(len(rows), self.dim)
        grid = self._grid()
        if isinstance(grid, SpaceGrid):
            self.votes_: Any = draw_votes(self._keys(grid, rows), margins, self.epsilon, rng)
        else:
            sums = np.bincount(grid.cell_of(rows), weights=margins, minlength=grid.size)
            self.votes_ = (sums + rng.laplace(scale=1 / self.epsilon, size=grid.size) > 0).astype(np.int8)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the vote of each row's cube."""
        votes = self._fitted("votes_")
        rows = features(X, self.dim, unit_cube=self.bounded)
        grid = self._grid()
        return np.asarray(votes[self._keys(grid, rows) if isinstance(grid, SpaceGrid) else grid.cell_of(rows)])

    def _grid(self) -> UnitGrid | SpaceGrid:
        """Return the cubes: those of the unit cube if there are few, else those of the space."""
        unit = UnitGrid(self.dim, self.side_)
        return unit if self.bounded and unit.size <= MOST_CUBES else SpaceGrid(self.dim, self.side_)

    def _keys(self, grid: SpaceGrid, rows: np.ndarray) -> list[tuple[int, ...]]:
        """Return the cube of each row; in the unit cube the last one of each axis holds 1."""
        keys = grid.keys_of(rows)
        last = UnitGrid(self.dim, self.side_).cuts - 1
        return [tuple(min(j, last) for j in key) for key in keys] if self.bounded else keys


@dataclass(frozen=True)
class CubeVotes:
    """The released hypothesis as a mechanism: the bits of all cubes, or the labels of given points.

    Parameters
    ----------
    dim : int >= 1
    epsilon : float > 0
    records : int, optional
        Freezes the cubes to those for this number of records, whatever the dataset has.
    queries : tuple of float, optional
        Points of [0, 1] at which the hypothesis is shown (dim = 1), so that hypotheses on different cubes can be
        compared; None shows the bit of every cube.
    """

    dim: int = 1
    epsilon: float = 1.0
    records: int | None = None
    queries: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", integer(self.dim, "dim", at_least=1))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    def grid(self, dataset: Labeled) -> UnitGrid:
        """Return the cubes, which depend on the number of records only."""
        return UnitGrid(self.dim, side_for(self.records or len(dataset), self.dim))

    def sums(self, dataset: Labeled) -> np.ndarray:
        """Return the sum of (label - 1/2) over each cube."""
        grid = self.grid(dataset)
        rows = features(dataset.X, self.dim, unit_cube=True)
        weights = labels(dataset.y, len(rows)) - 0.5
        return np.bincount(grid.cell_of(rows), weights=weights, minlength=grid.size)

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self.sums(dataset)
        bits = (sums + rng.laplace(scale=1 / self.epsilon, size=(size, sums.size)) > 0).astype(np.int8)
        return bits if self.queries is None else bits[:, self._asked(dataset)]

    def law(self, dataset: Labeled) -> Law:
        """Law of one output: independent bits, one a cube."""
        if self.queries is None:
            return vote_law(self.epsilon, self.sums(dataset))
        ones = vote_probability(self.epsilon, self.sums(dataset))
        asked = self._asked(dataset)
        cubes, position = np.unique(asked, return_inverse=True)
        table: dict[Hashable, float] = {}
        for bits in np.ndindex(*([2] * cubes.size)):
            chosen = np.where(np.array(bits) == 1, ones[cubes], 1 - ones[cubes])
            table[tuple(np.array(bits)[position].tolist())] = float(np.prod(chosen))
        return Finite(table)

    def _asked(self, dataset: Labeled) -> np.ndarray:
        return self.grid(dataset).cell_of(np.asarray(self.queries, dtype=float)[:, None])


@dataclass(frozen=True)
class CubeSums(CubeVotes):
    """The noisy sums s_j + W_j themselves: the votes are their signs, so that the votes are no less private."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self.sums(dataset)
        return sums + rng.laplace(scale=1 / self.epsilon, size=(size, sums.size))

    def law(self, dataset: Labeled) -> Law:
        """Law of one output."""
        return Product(tuple(Laplace(float(s), 1 / self.epsilon) for s in self.sums(dataset)))


@dataclass(frozen=True)
class SpaceVotes(CubeVotes):
    """Votes on cubes of the whole line, shown on a few: pure differential privacy on an unbounded domain.

    Parameters
    ----------
    cubes : tuple of int
        Cubes shown; records elsewhere are votes elsewhere.
    """

    cubes: tuple[int, ...] = (-1000, -1, 0, 1, 1000)

    def sums(self, dataset: Labeled) -> np.ndarray:
        """Return the sum of (label - 1/2) over each cube shown."""
        rows = features(dataset.X, 1)
        weights = labels(dataset.y, len(rows)) - 0.5
        keys = SpaceGrid(1, side_for(len(rows), 1)).keys_of(rows)
        found = np.array([key[0] for key in keys])
        return np.array([weights[found == cube].sum() for cube in self.cubes])


@dataclass(frozen=True)
class VotesAtLeast(CubeVotes):
    """Decoy: "at least half" in place of "more than half"; a tie with continuous noise has probability 0."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self.sums(dataset)
        return (sums + rng.laplace(scale=1 / self.epsilon, size=(size, sums.size)) >= 0).astype(np.int8)


@dataclass(frozen=True)
class VotesOnDemand(CubeVotes):
    """Decoy: empty cubes toss a fair coin instead of drawing noise, as if at their first query. The law is the same."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self.sums(dataset)
        bits = rng.integers(2, size=(size, sums.size), dtype=np.int8)
        known = np.flatnonzero(sums)
        noise = rng.laplace(scale=1 / self.epsilon, size=(size, known.size))
        bits[:, known] = sums[known] + noise > 0
        return bits


@dataclass(frozen=True)
class NoisyCountToo(CubeVotes):
    """Decoy: the count gets its own independent noise V as well: s - V/2 + W > 0 is a post-processing of s + W."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self.sums(dataset)
        noise = rng.laplace(scale=1 / self.epsilon, size=(2, size, sums.size))
        return (sums + noise[0] - noise[1] / 2 > 0).astype(np.int8)

    def law(self, dataset: Labeled) -> Law:
        """Law of one output: P(W - V/2 > t) = (4 e^(-epsilon t) - e^(-2 epsilon t)) / 6 for t >= 0."""
        sums = self.sums(dataset)
        decay = np.exp(-self.epsilon * np.abs(sums))
        tail = (4 * decay - decay**2) / 6
        ones = np.where(sums > 0, 1 - tail, tail)
        return Product(tuple(Finite({1: one, 0: 1 - one}) for one in ones.tolist()))


def labeled(points: Any, marks: Any) -> Labeled:
    """Shorthand for a labeled dataset of floats."""
    return Labeled(np.array(points, dtype=float), np.array(marks))


def flip_pair(dim: int = 1) -> tuple[Labeled, Labeled]:
    """Two records of label 0 in one of four cubes, fourteen elsewhere; one of the two labels flips (n = 16)."""
    places = np.repeat([0.1, 0.9], [2, 14])
    points = places if dim == 1 else np.repeat(places[:, None], dim, axis=1)
    marks = np.tile([0, 0, 1, 1], 4)
    return Labeled(points, marks), Labeled(points, np.r_[1, marks[1:]])


def move_pair(label: int = 1) -> tuple[Labeled, Labeled]:
    """One record moves from a cube that its label wins to one that the other label wins: both sums fall, or rise."""
    points = np.r_[0.1, np.repeat([0.1, 0.4, 0.9], [4, 5, 6])]
    marks = np.r_[label, np.repeat([1 - label, label, 0], [4, 5, 6])]
    return labeled(points, marks), labeled(np.r_[0.4, points[1:]], marks)


def add_remove_pair() -> tuple[Labeled, Labeled]:
    """Four records and five: cubes of side 1/2 and of side 1/sqrt(5)."""
    points, marks = np.array([0.1, 0.3, 0.7, 0.9]), np.array([0, 1, 0, 1])
    return labeled(points, marks), labeled(np.r_[points, 0.3], np.r_[marks, 1])


def _claim(epsilon: float, relation: Any = None, source: str = SOURCE) -> PrivacyClaim:
    return PrivacyClaim(epsilon, 0.0, relation or Substitution(), source)


def _checks(epsilon: float) -> list[PrivacyCheck]:
    pairs = [flip_pair(), move_pair(0), move_pair(1)]
    tag = f"eps={epsilon:g}"
    return [
        PrivacyCheck(
            name=f"consistency/cube classifier/theorem 3.1 votes {tag}",
            mechanism=CubeVotes(1, epsilon),
            claim=_claim(epsilon),
            pairs=pairs,
        ),
        PrivacyCheck(
            name=f"consistency/cube classifier/theorem 3.1 noisy sums {tag}",
            mechanism=CubeSums(1, epsilon),
            claim=_claim(epsilon),
            pairs=pairs[:2],
        ),
    ]


def _relation_checks() -> list[PrivacyCheck]:
    left, right = add_remove_pair()
    queries = (0.2, 0.46, 0.48, 0.8)
    sixteen = flip_pair()[0]
    fewer = Labeled(sixteen.X[1:], sixteen.y[1:])
    frozen = f"{SOURCE}, constant computed exactly for frozen cubes"
    return [
        PrivacyCheck(
            name="consistency/cube classifier/theorem 3.1 in the plane eps=1",
            mechanism=CubeVotes(2, 1.0),
            claim=_claim(1.0),
            pairs=[flip_pair(2)],
        ),
        PrivacyCheck(
            name="consistency/cube classifier/theorem 3.1 one record eps=1",
            mechanism=CubeVotes(1, 1.0),
            claim=_claim(0.8319, source=f"{SOURCE}, constant for n = 1: log(2 e^(1/2) - 1)"),
            pairs=[(labeled([0.3], [0]), labeled([0.3], [1]))],
        ),
        PrivacyCheck(
            name="consistency/cube classifier/theorem 3.1 frozen cubes add-remove eps=1",
            mechanism=CubeVotes(1, 1.0, records=16),
            claim=_claim(0.5, AddRemove(), frozen),
            pairs=[(sixteen, fewer)],
        ),
        PrivacyCheck(
            name="consistency/cube classifier/theorem 3.1 read under add-remove is false eps=1",
            mechanism=CubeVotes(1, 1.0, queries=queries),
            claim=_claim(1.0, AddRemove()),
            pairs=[(left, right)],
            expected=Verdict.FAIL,
        ),
    ]


def _space_check() -> PrivacyCheck:
    left = labeled([-250.0, -0.1, 0.1, 0.1] + [0.3] * 12, [1, 0, 0, 0] + [1, 0] * 6)
    right = [Labeled(np.r_[0.3, left.X[1:]], left.y), Labeled(left.X, np.r_[1, 1, left.y[2:]])]
    flipped = Labeled(left.X, np.r_[left.y[:2], 1, left.y[3:]])
    return PrivacyCheck(
        name="consistency/cube classifier/open question 3 votes on the line eps=1",
        mechanism=SpaceVotes(1, 1.0),
        claim=_claim(1.0, source="Bousquet et al. 2022, open question (3); the proof of Theorem 3.1"),
        pairs=[(left, right[0]), (left, right[1]), (left, flipped)],
    )


def _decoy_checks() -> list[PrivacyCheck]:
    decoys: dict[str, Any] = {
        "at least half": VotesAtLeast(1, 0.5),
        "noise on demand": VotesOnDemand(1, 0.5),
        "noisy count too": NoisyCountToo(1, 0.5),
    }
    return [
        PrivacyCheck(
            name=f"decoy/consistency/cube classifier {name} eps=0.5",
            mechanism=mechanism,
            claim=_claim(0.5),
            pairs=[flip_pair()],
        )
        for name, mechanism in decoys.items()
    ]


CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _checks(epsilon)),
    *_relation_checks(),
    _space_check(),
    *_decoy_checks(),
]
