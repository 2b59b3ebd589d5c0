"""L1 errors of the cube density estimator by its aggregate sampler: the cost does not grow with n.

The error over a cube is the sum over sub-cubes of |P(sub) - height * volume(sub)|: a lower bound of the integral of
|f - height|, exact where f is constant on sub-cubes, and converging with their number. Cubes that can only be retained
with probability far below delta are left out; the error there is exactly their mass.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from audit.errors import InvalidArgument
from audit.validate import integer, positive
from mechanisms.consistency.grids import SpaceGrid, side_for
from mechanisms.consistency.stable_counts import mean_error, noisy_counts, threshold
from mechanisms.distributions import Marginal

FloatArray = np.ndarray
MOST_CUBES = 8_000_000


@dataclass(frozen=True)
class Independent:
    """A law on R^dim with independent coordinates of one law.

    Parameters
    ----------
    factor : Marginal
    dim : int >= 1
    """

    factor: Marginal
    dim: int = 1

    def mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return P([a, b)); for dim > 1 the last axis of `a` and `b` has length dim."""
        low, high = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        each = self.factor.mass(low, high)
        return each if self.dim == 1 else np.prod(each, axis=-1)


@dataclass(frozen=True)
class DensityErrors:
    """Mean and sampled L1 errors of the estimator from n records of a law.

    Parameters
    ----------
    law : Independent
    n : int >= 1
        Public number of records.
    epsilon : float > 0
    log_delta : float < 0
        Natural logarithm of delta.
    width : float > 0, optional
        Side of the cubes; that of Algorithm 3 unless given.
    """

    law: Independent
    n: int
    epsilon: float
    log_delta: float
    width: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", integer(self.n, "n", at_least=1))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))

    @property
    def side(self) -> float:
        """Side of the cubes."""
        return side_for(self.n, self.law.dim) if self.width is None else self.width

    @property
    def volume(self) -> float:
        """Volume of a cube."""
        return float(self.side**self.law.dim)

    @cached_property
    def least_mass(self) -> float:
        """Mass from which a cube is kept in the window: a quarter of the threshold is expected in it."""
        return threshold(self.epsilon, self.log_delta) / 4 / self.n

    @cached_property
    def window(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Lower corners, upper corners and masses of the cubes kept."""
        reach = self._reach()
        cubes = (2 * reach / self.side + 2) ** self.law.dim
        if cubes > MOST_CUBES:
            raise InvalidArgument.of("n", f"need at most {MOST_CUBES} cubes for this law", self.n)
        low, high = SpaceGrid(self.law.dim, self.side).window(reach)
        mass = self.law.mass(low, high)
        kept = mass >= self.least_mass
        return low[kept], high[kept], mass[kept]

    @cached_property
    def outside(self) -> float:
        """Mass of the cubes left out."""
        return max(0.0, 1 - math.fsum(self.window[2]))

    def sample(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw L1 errors, shape (replicates, 3): raw, normalized, and of raw against normalized."""
        return np.array([self._once(rng) for _ in range(replicates)]).reshape(replicates, 3)

    def histogram_errors(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw L1 errors of the histogram without privacy, shape (replicates,)."""
        drawn = [self._l1(self._counts(rng) / (self.n * self.volume)) for _ in range(replicates)]
        return np.array(drawn) + self.outside

    def privacy_cost(self, reach: float, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw the integral of |f_S - f_hat| over the cubes that meet [-reach, reach]^dim, noise averaged exactly."""
        low, high, mass = self.window
        inside = (low < reach) & (high > -reach)
        near = inside if self.law.dim == 1 else np.all(inside, axis=1)
        rest = np.append(mass[near], max(0.0, 1 - math.fsum(mass[near])))
        counts = rng.multinomial(self.n, rest / rest.sum(), size=replicates)[:, :-1]
        return mean_error(counts, self.epsilon, self.log_delta).sum(axis=1) / self.n

    def _once(self, rng: np.random.Generator) -> tuple[float, float, float]:
        released = noisy_counts(self._counts(rng), self.epsilon, self.log_delta, rng)
        total = float(released.sum() / self.n)
        heights = released / (self.n * self.volume)
        raw = self._l1(heights) + self.outside
        if total == 0:
            fallback = self._from_uniform()
            return raw, fallback, fallback
        normalized = self._l1(heights / total) + self.outside
        return raw, normalized, abs(1 - total)

    def _counts(self, rng: np.random.Generator) -> np.ndarray:
        mass = np.append(self.window[2], self.outside)
        return rng.multinomial(self.n, mass / mass.sum())[:-1]

    @cached_property
    def _parts(self) -> list[FloatArray]:
        """Masses of the sub-cubes, one array of shape (cubes,) for each place inside a cube."""
        low, high, mass = self.window
        cuts = self._cuts(mass.size)
        steps = [(low + (high - low) * k / cuts, low + (high - low) * (k + 1) / cuts) for k in range(cuts)]
        if self.law.dim == 1:
            return [self.law.mass(*step) for step in steps]
        choices = itertools.product(range(cuts), repeat=self.law.dim)
        return [self._part(steps, choice) for choice in choices]

    def _part(self, steps: list[tuple[FloatArray, FloatArray]], choice: tuple[int, ...]) -> FloatArray:
        columns = [[steps[k][end][:, axis] for axis, k in enumerate(choice)] for end in (0, 1)]
        return self.law.mass(*(np.stack(column, axis=1) for column in columns))

    def _cuts(self, cubes: int) -> int:
        wanted = 16 if cubes < 100_000 else 4
        return max(2, round(wanted ** (1 / self.law.dim)))

    def _l1(self, heights: FloatArray) -> float:
        share = heights * self.volume / len(self._parts)
        return float(sum(np.abs(part - share).sum() for part in self._parts))

    def _from_uniform(self) -> float:
        """Return the distance of the law from the fallback, uniform on [0, 1]^dim, on a grid of 2^12 cells or so."""
        cuts = round(4096 ** (1 / self.law.dim))
        edges = np.arange(cuts + 1) / cuts
        low, high = edges[:-1], edges[1:]
        if self.law.dim > 1:
            low, high = (np.stack(np.meshgrid(*[v] * self.law.dim, indexing="ij"), -1) for v in (low, high))
        mass = self.law.mass(low, high)
        return float(np.abs(mass - 1 / mass.size).sum() + 1 - mass.sum())

    def _reach(self) -> float:
        """Return a radius beyond which no cube has the least mass, by search from far out; tails fall."""
        reach = 2.0**40
        while reach > self.side and self._largest_at(reach) < self.least_mass:
            reach /= 2
        low, high = reach, 2 * reach
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (middle, high) if self._largest_at(middle) >= self.least_mass else (low, middle)
        return max(high + self.side, 1.0)

    def _largest_at(self, reach: float) -> float:
        """Return the largest mass of a cube whose first coordinate is +-reach or up to twice that, others central."""
        far = np.geomspace(reach, 2 * reach, 65)
        edges = np.concatenate([far, -far - self.side])
        return float(np.max(self.law.factor.mass(edges, edges + self.side))) * self._central

    @cached_property
    def _central(self) -> float:
        """Largest mass of a cube's sides along the other coordinates, in the middle of the law."""
        if self.law.dim == 1:
            return 1.0
        starts = np.arange(-5, 5, self.side)
        return float(np.max(self.law.factor.mass(starts, starts + self.side))) ** (self.law.dim - 1)
