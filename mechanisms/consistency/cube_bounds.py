"""The terms of the consistency proof of the cube classifier, each computed exactly for a given distribution and n.

The private regression estimate of a cell is (Y + W) / N, W ~ Laplace(1 / epsilon), 0 where N = 0. With Theorem 2.7
(excess <= 2 E|eta - estimate|), equation (1) for the noise, equation (15) for the sampling and the approximation of eta
by its cell means, the excess risk is at most, for epsilon <= 1 and EVERY n,

    2 [ min_M (P(N < M) + 1/M) / epsilon + min_k (P(N <= k) / 2 + 1 / (2 sqrt k) + P(N = 0)) + E|eta - mean| ],

N = N(X) the number of records in the cell of a fresh point.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from scipy import special

from audit.validate import integer
from mechanisms.consistency.binomials import by_distinct, mean_inverse_visits, visits_at_most
from mechanisms.consistency.grids import UnitGrid, side_for
from mechanisms.consistency.votes import Cells, mean_excess
from mechanisms.distributions import ZOO, Distribution

FloatArray = np.ndarray
_LEVELS = np.unique(np.round(np.geomspace(1, 1e6, 30)).astype(int))


@lru_cache(maxsize=32)
def named(name: str) -> Distribution:
    """Return a distribution of the zoo, built once."""
    return ZOO[name]()


@dataclass(frozen=True)
class CubeProblem:
    """A distribution of the zoo cut into the cubes of Algorithm 2.

    Parameters
    ----------
    name : str
        Key of `ZOO`.
    n : int >= 1
        Public number of records.
    side : float, optional
        In place of n^(-1 / (2 dim)).
    """

    name: str
    n: int
    side: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", integer(self.n, "n", at_least=1))

    @property
    def distribution(self) -> Distribution:
        """The distribution."""
        return named(self.name)

    @property
    def grid(self) -> UnitGrid:
        """The cubes."""
        dim = self.distribution.dim
        return UnitGrid(dim, self.side or side_for(self.n, dim))

    @cached_property
    def cells(self) -> Cells:
        """Masses and costs of the cubes."""
        return Cells.of(self.distribution, *self.grid.boxes())

    def excess(self, epsilon: float) -> float:
        """Return the exact mean excess risk of the private classifier."""
        return mean_excess(self.cells, self.n, epsilon)

    def visits_at_most(self, k: int) -> float:
        """Return P(N(X) <= k)."""
        return visits_at_most(k, self.n, self.cells.mass)

    def noise_error(self, epsilon: float) -> float:
        """Return E|private estimate - estimate| = E[1 / (epsilon N); N > 0]."""
        return mean_inverse_visits(self.n, self.cells.mass) / epsilon

    def noise_bound(self, epsilon: float) -> float:
        """Return the right side of equation (1), the best of 30 values of M."""
        return min(few + 1 / level for level, few in self._visits) / epsilon

    @cached_property
    def _visits(self) -> list[tuple[int, float]]:
        """Some levels M with P(N < M), up to where the expected number of records lies."""
        levels = _LEVELS[self.n * float(self.cells.mass.max()) * 2 + 2 >= _LEVELS]
        return [(level, self.visits_at_most(level - 1)) for level in levels.tolist()]

    def sampling_bound(self) -> float:
        """Return the right side of equation (15), the best of 30 values of k."""
        empty = self._visits[0][1]
        return empty + min(few / 2 + 0.5 / math.sqrt(level - 1) for level, few in self._visits if level > 1)

    def approximation(self, parts: int = 32) -> float:
        """Return E|eta - mean of eta on the cell| on sub-cubes: from below, converging with their number."""
        margins, masses = self._sub_margins(parts)
        return float(np.sum(masses * np.abs(margins - self.cells.share)))

    def sub_cells(self, parts: int) -> list[Cells]:
        """Cut every cube into sub-cubes; one entry for each place inside a cube."""
        low, high = self.grid.boxes()
        dim, side = self.distribution.dim, self.grid.side
        cuts = max(2, round(parts ** (1 / dim)))
        found = []
        for place in itertools.product(range(cuts), repeat=dim):
            offset = np.array(place) * (side / cuts)
            start = low + (offset[0] if dim == 1 else offset)
            end = np.minimum(start + side / cuts, high)
            found.append(Cells.of(self.distribution, np.minimum(start, end), end))
        return found

    def _sub_margins(self, parts: int) -> tuple[FloatArray, FloatArray]:
        """Mean of eta, and mass, of every sub-cube, shape (places, cubes)."""
        pieces = self.sub_cells(parts)
        return np.stack([piece.share for piece in pieces]), np.stack([piece.mass for piece in pieces])

    def certified_excess(self, epsilon: float) -> float:
        """Return the bound on the excess risk that holds at every n, for epsilon <= 1."""
        return 2 * (self.noise_bound(epsilon) + self.sampling_bound() + self.approximation())

    def regression_errors(self, replicates: int, rng: np.random.Generator, parts: int = 32) -> FloatArray:
        """Draw E|estimate - eta| of the non-private regression estimate Y / N, given the records."""
        means, masses = self._sub_margins(parts)
        losses = np.empty(replicates)
        for index in range(replicates):
            total, ones = self.cells.counts(self.n, 1, rng)
            estimate = np.divide(ones[0], total[0], out=np.zeros(len(self.cells)), where=total[0] > 0)
            losses[index] = np.sum(masses * np.abs(means - estimate))
        return np.clip(losses, 0.0, 1.0)

    def sampling_error(self) -> float:
        """Return E|mean of eta - estimate|, exactly: a binomial mean absolute deviation, averaged over N."""
        deviation = by_distinct(partial(_mean_deviation, self.n), self.cells.mass, self.cells.share)
        return float(np.sum(self.cells.mass * deviation))


def _mean_deviation(n: int, p: FloatArray, m: FloatArray) -> FloatArray:
    """Return E|Bin(N, m) / N - m| for N ~ Bin(n, p); m where N = 0. De Moivre's formula, summed over N within 12 sd."""
    values = np.empty(p.shape)
    for index, (mass, share) in enumerate(zip(p.tolist(), m.tolist(), strict=True)):
        center, spread = n * mass, 12 * math.sqrt(n * mass * (1 - mass)) + 12
        counts = np.arange(max(1, math.floor(center - spread)), min(n, math.ceil(center + spread)) + 1)
        weights = np.exp(_log_binomial(n, counts, mass))
        values[index] = np.sum(weights * _de_moivre(counts, share)) + share * (1 - mass) ** n
    return values


def _de_moivre(counts: FloatArray, m: float) -> FloatArray:
    """Return E|Bin(N, m) - N m| / N = 2 v C(N, v) m^v (1 - m)^(N - v + 1) / N, v = floor(N m) + 1."""
    if m in (0.0, 1.0):
        return np.zeros(counts.shape)
    v = np.floor(counts * m) + 1
    return np.asarray(2 * v / counts * np.exp(_log_binomial(counts, v, m)) * (1 - m))


def _log_binomial(n: FloatArray | int, k: FloatArray, p: float) -> FloatArray:
    """Return the logarithm of the binomial probability of k among n."""
    choose = special.gammaln(np.asarray(n) + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    tail = special.xlog1py(n - k, -p)
    return np.asarray(choose + special.xlogy(k, p) + tail)
