"""Private votes on Voronoi cells of a bounded metric space.

Implements Bousquet et al. (2022), Algorithm 4 and Theorems A.6 and A.12: a maximal r-packing chosen without the data,
r = n^(-1 / (4 d)) with d the doubling dimension or any larger number, its Voronoi cells with ties to a fixed side, and
one vote per cell with Laplace(1 / epsilon) noise, as in the cube classifier. Privacy and law are those of the cube
classifier with cells in the place of cubes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Product
from audit.validate import integer, positive, real
from mechanisms.consistency.cube_classifier import flip_pair, move_pair
from mechanisms.consistency.records import labels
from mechanisms.consistency.spaces import BinarySequences, BoundedSpace, Circle, Cube, EuclideanSquare, certified
from mechanisms.consistency.votes import vote_law
from mechanisms.estimator import Classifier, noise_source

SOURCE = "Bousquet et al. 2022, Theorem A.12"


def radius_for(n: int, dim: float) -> float:
    """Return the packing radius n^(-1 / (4 dim)) of Algorithms 4 and 5."""
    return float(integer(n, "n", at_least=1) ** (-1 / (4 * positive(dim, "dim"))))


class VoronoiClassifier(Classifier):
    """Private classifier that is constant on Voronoi cells; (epsilon, 0)-DP under substitution.

    Parameters
    ----------
    space : BoundedSpace
        Says what points are, how far apart, and how to pack them.
    epsilon : float > 0
    dim : float > 0, optional
        Used in place of the space's doubling dimension; larger is coarser, and consistent too.
    random_state : int, optional
        Repeats the noise exactly; for tests only.

    Attributes
    ----------
    packing_ : Packing
        The centers, with a certificate that they are a maximal packing.
    votes_ : array, shape (cells,)
        The released hypothesis.

    References
    ----------
    Bousquet et al. 2022, Algorithm 4; Theorem A.12 (privacy, universal consistency).
    """

    def __init__(
        self,
        space: BoundedSpace | None = None,
        epsilon: float = 1.0,
        dim: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.space = Cube(1) if space is None else space
        if not isinstance(self.space, BoundedSpace):
            raise InvalidArgument.of("space", "be a BoundedSpace such as Circle()", space)
        self.epsilon = positive(epsilon, "epsilon")
        self.dim = dim if dim is None else real(dim, "dim")
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Release the votes for points X with labels y in {0, 1}, shape (n,)."""
        points = self.space.points(X)
        margins = labels(y, len(points)) - 0.5
        rng = noise_source(self.random_state)
        self.packing_ = certified(self.space, radius_for(len(points), self.dim or self.space.doubling_dim))
        cells = self.space.cell_of(points, self.packing_)
        sums = np.bincount(cells, weights=margins, minlength=len(self.packing_))
        self.votes_ = (sums + rng.laplace(scale=1 / self.epsilon, size=sums.size) > 0).astype(np.int8)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the vote of each point's cell."""
        votes = self._fitted("votes_")
        return votes[self.space.cell_of(self.space.points(X), self.packing_)]


@dataclass(frozen=True)
class VoronoiVotes:
    """The released hypothesis as a mechanism: one bit a cell.

    Parameters
    ----------
    space : BoundedSpace
    epsilon : float > 0
    """

    space: BoundedSpace
    epsilon: float

    def sums(self, dataset: Labeled) -> np.ndarray:
        """Return the sum of (label - 1/2) over each cell."""
        points = self.space.points(dataset.X)
        packing = certified(self.space, radius_for(len(dataset), self.space.doubling_dim))
        cells = self.space.cell_of(points, packing)
        return np.bincount(cells, weights=labels(dataset.y, len(points)) - 0.5, minlength=len(packing))

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self.sums(dataset)
        return (sums + rng.laplace(scale=1 / self.epsilon, size=(size, sums.size)) > 0).astype(np.int8)

    def law(self, dataset: Labeled) -> Product:
        """Law of one output: independent bits, one a cell."""
        return vote_law(self.epsilon, self.sums(dataset))


def _in_bits(pair: tuple[Labeled, Labeled], depth: int) -> tuple[Labeled, Labeled]:
    """The same pair with points of [0, 1) written in binary."""
    powers = 2 ** np.arange(1, depth + 1)
    left, right = (Labeled(np.floor(side.X[:, None] * powers) % 2, side.y) for side in pair)
    return left, right


def _checks(epsilon: float) -> list[PrivacyCheck]:
    spaces: dict[str, tuple[BoundedSpace, list[Any]]] = {
        "circle": (Circle(), [flip_pair(), move_pair(0)]),
        "cube of l-infinity": (Cube(1), [flip_pair(), move_pair(1)]),
        "square of l2": (EuclideanSquare(), [flip_pair(2)]),
        "binary sequences": (BinarySequences(8), [_in_bits(flip_pair(), 8), _in_bits(move_pair(1), 8)]),
    }
    return [
        PrivacyCheck(
            name=f"consistency/voronoi/theorem A.12 {name} eps={epsilon:g}",
            mechanism=VoronoiVotes(space, epsilon),
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE),
            pairs=pairs,
        )
        for name, (space, pairs) in spaces.items()
    ]


CHECKS: list[PrivacyCheck] = [check for epsilon in (0.5, 2.0) for check in _checks(epsilon)]
