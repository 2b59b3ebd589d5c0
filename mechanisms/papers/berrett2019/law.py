"""The law of the statistic that `LocalVoteClassifier` keeps: a mixture over all ways to cut the users into halves.

Given the halves, the cells of T_j = W_j - U_j / 2 are independent: a number that depends on the data, plus the mean of
n_2 Laplace noises less half the mean of n_1 others.

Proof note. A shift moves the density of one Laplace noise, and of a sum in which it occurs, by a factor of at most
e^(rate |shift|): with the halves fixed the loss is at most sum_j |change of the mean of T_j| times the lesser of n_2 /
s and 2 n_1 / s, s the scale on a bit. A mixture loses no more than its worst member. `HalvesLoss` takes the loss of
randomized response for it; nothing is claimed from below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from audit import Labeled
from audit.errors import InvalidArgument
from audit.laws import Direction, Law, PrivacyLoss
from audit.laws.outputs import normal_pvalue, normal_quantiles, serial_pvalues
from mechanisms.estimators import StatedRelease
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.mechanism import noise_scale

FloatArray = NDArray[np.float64]
MOST_HALVES = 20_000
_NODES, _POINTS, _REACH = 4_000, 4_001, 14.0  # of the quadrature, of the table, and its ends in standard deviations


@lru_cache(maxsize=8)
def noise_table(first: int, second: int, scale: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return places, log-densities and probabilities below, of the noise of T_j, by its characteristic function."""
    # phi(t) = (1 + (s t / n_2)^2)^(-n_2) (1 + (s t / 2 n_1)^2)^(-n_1) is integrated by the trapezoid rule, whose error
    # is that of a periodic sum: below 1e-12 here, so that densities below 1e-12 of the largest are cut there.
    deviation = math.sqrt(2 * scale**2 / second + scale**2 / (2 * first))
    places = np.linspace(-_REACH, _REACH, _POINTS) * deviation
    t = (np.arange(_NODES) + 0.5) * math.pi / (2 * _REACH * deviation) / 8
    logs = -second * np.log1p((scale * t / second) ** 2) - first * np.log1p((scale * t / (2 * first)) ** 2)
    decay = np.exp(logs) * (t[1] - t[0])
    density = np.array([np.dot(decay, np.cos(t * x)) for x in places]) / math.pi
    below = 0.5 + np.array([np.dot(decay, np.sin(t * x) / t) for x in places]) / math.pi
    return places, np.log(np.maximum(density, 1e-12 * density.max())), np.clip(below, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class HalvesLaw(Law):
    """The law of T over all cells; outputs have shape (size, cells)."""

    hits: NDArray[np.bool_]  # which cells hold each user, shape (n, cells)
    labels: NDArray[np.int64]  # 0 and 1, shape (n,)
    scale: float  # > 0: of the noise on each bit

    def __post_init__(self) -> None:
        count = math.comb(len(self.hits), len(self.hits) // 2)
        if count > MOST_HALVES:
            raise InvalidArgument.of("hits", f"have at most {MOST_HALVES} halves for the law", count)

    @classmethod
    def of(cls, points: FloatArray, labels: Any, epsilon: float, bandwidth: float) -> HalvesLaw:
        """Return the law of points in the unit cube, shape (n, d)."""
        grid = Grid(points.shape[1], bandwidth)
        return cls(grid.hits(points), np.asarray(labels, dtype=np.int64), noise_scale(grid.dim, epsilon))

    @property
    def sizes(self) -> tuple[int, int]:
        """n_1 and n_2."""
        return len(self.hits) // 2, len(self.hits) - len(self.hits) // 2

    @cached_property
    def means(self) -> FloatArray:
        """T without noise for every half, in the order of `itertools.combinations`, shape (halves, cells)."""
        users, first = len(self.hits), self.sizes[0]
        chosen = np.zeros((math.comb(users, first), users))
        np.put_along_axis(chosen, np.array(list(combinations(range(users), first))), 1.0, axis=1)
        bits = self.hits.astype(float)
        labeled = (1 - chosen) @ (bits * self.labels[:, None])
        return np.asarray(labeled / self.sizes[1] - chosen @ bits / (2 * first))

    @cached_property
    def _distinct(self) -> tuple[FloatArray, FloatArray]:
        """The distinct rows of `means`, and the logarithms of their weights."""
        rows, counts = np.unique(self.means.round(12), axis=0, return_counts=True)
        return rows, np.log(counts / counts.sum())

    def _column(self, outputs: FloatArray, cell: int, what: int) -> FloatArray:
        """Return log-densities (1) or probabilities below (2) of one coordinate, shape (size, distinct)."""
        table = noise_table(*self.sizes, self.scale)
        values, place = np.unique(self._distinct[0][:, cell], return_inverse=True)
        return np.asarray(np.interp(outputs[:, cell, None] - values, table[0], table[what])[:, place])

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        array = np.asarray(outputs, dtype=float)
        if array.shape[1:] != (self.hits.shape[1],):
            raise InvalidArgument(f"`outputs` must have shape (size, {self.hits.shape[1]}), got {array.shape}")
        rows, weights = self._distinct
        logs = sum((self._column(array, cell, 1) for cell in range(rows.shape[1])), np.zeros((len(array), 1)))
        return np.asarray(np.where(np.isfinite(array).all(axis=1), logsumexp(logs + weights, axis=1), -np.inf))

    def normal_scores(self, outputs: np.ndarray, rng: np.random.Generator) -> FloatArray | None:
        """Return normal quantiles of each coordinate given those before it (Rosenblatt 1952)."""
        array = np.asarray(outputs)
        if array.shape[1:] != (self.hits.shape[1],) or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            return None
        logs = np.broadcast_to(self._distinct[1], (len(array), len(self._distinct[1])))
        columns = []
        for cell in range(array.shape[1]):
            weights = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
            columns.append(normal_quantiles((weights * self._column(array, cell, 2)).sum(axis=1)))
            logs = logs + self._column(array, cell, 1)
        return np.stack(columns, axis=1)

    def _fit_pvalues(self, outputs: np.ndarray, scores: FloatArray, rng: np.random.Generator) -> list[float]:
        """Test every coordinate, the sum of all, their sum with random signs, and successive sums."""
        cells = scores.shape[1]
        signs = rng.permutation(np.where(np.arange(cells) % 2 == 0, 1.0, -1.0))
        together, apart = (scores @ weights / math.sqrt(cells) for weights in (np.ones(cells), signs))
        own = [normal_pvalue(scores[:, cell]) for cell in range(cells)]
        return [*own, normal_pvalue(together), normal_pvalue(apart), *serial_pvalues(together)]

    @property
    def fit_tests(self) -> int:
        return self.hits.shape[1] + 4

    def loss_against(self, other: Law) -> PrivacyLoss:
        """Return the upper bound of the module's proof note."""
        if not isinstance(other, HalvesLaw) or (other.hits.shape, other.scale) != (self.hits.shape, self.scale):
            return super().loss_against(other)
        rate = min(self.sizes[1], 2 * self.sizes[0]) / self.scale
        return HalvesLoss(float(np.abs(self.means - other.means).sum(axis=1).max()) * rate)


@dataclass(frozen=True)
class HalvesLoss(PrivacyLoss):
    """A loss of which only the largest value is known: at most that of randomized response, and at least nothing."""

    most: float

    def _tails(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray, FloatArray]:
        below = np.where(np.asarray(thresholds) < self.most, 0.5, 0.0)
        return below, below, below

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        t = np.asarray(thresholds)
        upper = np.maximum(np.exp(self.most) - np.exp(t), 0.0) / (1 + np.exp(self.most))
        return np.maximum(1 - np.exp(t), 0.0), np.maximum(upper, 1 - np.exp(t))

    def max_loss(self, direction: Direction) -> float:
        """Return the largest value."""
        return self.most

    def mass_at_infinity(self, direction: Direction) -> float:
        """Return 0."""
        return 0.0

    def _attained_loss(self, direction: Direction) -> float:
        return 0.0


@dataclass(frozen=True, eq=False)
class CellStatistic:
    """T_n at every grid point, shape (cells,): all that the server keeps of its users."""

    grid: Grid
    values: NDArray[np.floating[Any]]

    def at(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Return T_n of queries in the window."""
        return np.asarray(self.values[self.grid.nearest(X)])

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return C_n of queries in the window."""
        return (self.at(X) >= 0).astype(np.int64)


class LocalVoteRelease(StatedRelease):
    """The release of `LocalVoteClassifier`, the statistic of each cell, for at most 16 users."""

    def reveal(self, fitted: Any) -> tuple[Any, Any]:
        """Return the statistic."""
        return fitted.learner_.values, None

    def law(self, dataset: Labeled) -> Law:
        """Return the mixture over the halves."""
        mapped = self._mapped(dataset)
        bandwidth = self.estimator._grid(len(mapped.X), self._dim).bandwidth
        return HalvesLaw.of(mapped.X, mapped.y, self.estimator.epsilon, bandwidth)

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> Any:
        return CellStatistic(fresh._grid(n, self._dim), revealed[0])
