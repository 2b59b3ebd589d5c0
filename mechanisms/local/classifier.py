"""The private histogram classifier, literally: every user releases one noisy array, the server compares two means.

Implements the classifier C_n of section 2 of Berrett & Butucea (2019). With W_j the mean of the arrays of half 2 at
grid point j and U_j that of half 1, the label of a query is 1 when T_j = W_j - U_j / 2 >= 0 at the grid point nearest
to it. E T_j is the integral of eta - 1/2 over the cell; the noise in T_j has variance 10 * 4^d / (n epsilon^2) with n
users in each half.

Departures: the two halves are drawn at random, independently of the data, so that the order of the records does not
matter; with an odd number of users, half 1 has one fewer and each mean is over its own half.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.errors import InvalidArgument
from audit.validate import positive
from mechanisms.estimator import Classifier, noise_source
from mechanisms.local.binary_array import noise_scale, require_labels
from mechanisms.local.grid import Grid

_BLOCK = 2_000_000  # array entries drawn at a time


@dataclass
class LocalHistogramClassifier(Classifier):
    """Classifier from locally private binary arrays; epsilon-private for every user, non-interactive.

    Parameters
    ----------
    epsilon : float > 0
        Local privacy parameter of each user.
    bandwidth : float > 0
        Grid spacing h; must not depend on the data. `rate_bandwidth` and `consistent_bandwidth` give the paper's.
    low, high : float
        Features lie in [low, high]^d; bounds that must not depend on the data either.
    random_state : int, optional
        Source of the noise and of the split into halves.

    Attributes
    ----------
    grid_ : Grid
    statistic_ : array, shape (cells,)
        T_j at every grid point; all that is kept of the data.

    Notes
    -----
    Follows the scikit-learn protocol (`fit`, `predict`, `score`, `get_params`, `set_params`) without needing it.
    """

    epsilon: float
    bandwidth: float
    low: float = 0.0
    high: float = 1.0
    random_state: Any = None
    grid_: Grid = field(init=False, repr=False)
    statistic_: NDArray[np.float64] = field(init=False, repr=False)

    def fit(self, X: ArrayLike, y: ArrayLike) -> LocalHistogramClassifier:
        """Let every user release an array, and keep the statistic.

        Parameters
        ----------
        X : array, shape (n, d) or (n,)
            Features in [low, high]^d.
        y : array, shape (n,)
            Labels in {0, 1}.

        Raises
        ------
        InvalidArgument
            For features outside the window or not finite, labels other than 0 and 1, lengths that differ, or fewer
            than two users.
        """
        epsilon, labels = positive(self.epsilon, "epsilon"), require_labels(y)
        features = np.asarray(X, dtype=float)
        grid = Grid(1 if features.ndim < 2 else features.shape[1], self.bandwidth, self.low, self.high)
        points = grid.require_inside(features, "X")
        if len(points) != len(labels):
            raise InvalidArgument.of("y", f"have shape ({len(points)},), one label for each row of X", labels.shape)
        if len(points) < 2:
            raise InvalidArgument.of("X", "hold at least two users, one for each half", len(points))
        rng = noise_source(self.random_state)
        order = rng.permutation(len(points))
        first, second = order[: len(order) // 2], order[len(order) // 2 :]
        scale = noise_scale(grid.dim, epsilon)
        bits = _mean_release(grid, points[first], np.ones(len(first)), scale, rng)
        labeled = _mean_release(grid, points[second], labels[second].astype(float), scale, rng)
        self.grid_, self.statistic_ = grid, labeled - bits / 2
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict labels, shape (n,), of queries in the window."""
        return (self._fitted("statistic_")[self.grid_.nearest(X)] >= 0).astype(np.int64)

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The labels."""
        return np.array([0, 1])


def consistent_bandwidth(n: float, epsilon: float, dim: int) -> float:
    """Return h = (n epsilon^2)^(-1/(4d)): h -> 0 and n epsilon^2 h^(2d) -> inf, as Theorem 2.2 asks.

    `n` is the number of users in each half.
    """
    return float((n * epsilon**2) ** (-1 / (4 * dim)))


def rate_bandwidth(
    n: float, epsilon: float, dim: int, smoothness: float, lipschitz: float, density: float = 1.0
) -> float:
    """Return h = (n epsilon^2 L^2 mu^2)^(-1/(2d + 2 beta)), the bandwidth of Theorem 2.4; `n` users in each half."""
    return float((n * (epsilon * lipschitz * density) ** 2) ** (-1 / (2 * dim + 2 * smoothness)))


def _mean_release(
    grid: Grid, points: np.ndarray, factors: np.ndarray, scale: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean over users of factor * bits + Laplace noise on every cell, a block of users at a time."""
    block = max(1, _BLOCK // grid.cells)
    total = np.zeros(grid.cells)
    for start in range(0, len(points), block):
        chosen = slice(start, start + block)
        bits = grid.hits(points[chosen]) * factors[chosen, None]
        total += (bits + rng.laplace(scale=scale, size=bits.shape)).sum(axis=0)
    return total / len(points)
