"""The published classifier of two users: every query's vote, as a release of its own.

Votes are post-processing of the two arrays, so that each user keeps epsilon (Berrett & Butucea 2019, Theorem 2.1); what
is left of it in the votes is less, and exact: the votes of different cells are independent bits.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import positive
from mechanisms.local.binary_array import SOURCE, noise_scale, require_labels
from mechanisms.local.grid import Grid


@dataclass(frozen=True)
class VotesOfTwoUsers:
    """Votes 1{T_j >= 0} of all cells, from one user in half 1 and one in half 2; at most (epsilon, 0)-DP.

    Parameters
    ----------
    epsilon : float > 0
    bandwidth : float > 0
        At most 8 cells fit in the window, so that the law stays small.

    Notes
    -----
    A dataset is `Labeled` with two records; the output has shape (size, cells), entries 0 and 1.
    """

    epsilon: float
    bandwidth: float
    grid: Grid = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "grid", Grid(1, self.bandwidth))
        if self.grid.cells > 8:
            raise InvalidArgument.of("bandwidth", "leave at most 8 cells", self.bandwidth)

    def __call__(self, users: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.laplace(scale=noise_scale(1, self.epsilon), size=(2, size, self.grid.cells))
        return (self._signal(users) + noise[1] - noise[0] / 2 >= 0).astype(np.int8)

    def law(self, users: Labeled) -> Finite:
        """Law of the votes: independent bits."""
        one = self.vote_for_one(self._signal(users))
        table: dict[Hashable, float] = {}
        for index in np.ndindex(*([2] * one.size)):
            table[tuple(map(int, index))] = float(np.prod(np.where(np.array(index) == 1, one, 1 - one)))
        return Finite(table)

    def vote_for_one(self, signal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(signal + V - V' / 2 >= 0), V and V' Laplace: the tail of two scales, b and b / 2.

        P(V - V'/2 > t) = (a^2 e^(-t/a) - c^2 e^(-t/c)) / (2 (a^2 - c^2)) for t >= 0, a = b and c = b / 2.
        """
        ratio = np.abs(signal) / noise_scale(1, self.epsilon)
        tail = (np.exp(-ratio) - np.exp(-2 * ratio) / 4) / 1.5
        return np.asarray(np.where(signal >= 0, 1 - tail, tail))

    def _signal(self, users: Labeled) -> NDArray[np.float64]:
        if len(users) != 2:
            raise InvalidArgument.of("users", "be two records", len(users))
        held, labels = self.grid.hits(users.X).astype(float), require_labels(users.y)
        return np.asarray(held[1] * labels[1] - held[0] / 2)


def _users(first: float, second: float, labels: tuple[int, int]) -> Labeled:
    return Labeled(np.array([first, second]), np.array(labels))


CHECKS: list[PrivacyCheck] = [
    PrivacyCheck(
        name=f"local/votes of two users eps={epsilon:g}",
        mechanism=VotesOfTwoUsers(epsilon, 0.4),
        claim=PrivacyClaim(epsilon, 0.0, Substitution(), SOURCE + ", post-processing"),
        pairs=[
            (_users(0.2, 0.2, (1, 1)), _users(0.2, 0.9, (1, 1))),
            (_users(0.2, 0.2, (1, 1)), _users(0.9, 0.2, (1, 1))),
        ],
        budget=20_000,
    )
    for epsilon in (0.5, 1.0, 4.0)
]
CHECKS.append(
    PrivacyCheck(
        name="local/votes of two users, flip",
        mechanism=VotesOfTwoUsers(1.0, 0.4),
        claim=PrivacyClaim(0.5, 0.0, LabelFlip(), SOURCE + ", post-processing"),
        pairs=[(_users(0.2, 0.2, (1, 1)), _users(0.2, 0.2, (1, 0)))],
        budget=20_000,
    )
)
