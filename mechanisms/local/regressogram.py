"""The baseline without privacy: majority vote in disjoint cubes (a regressogram plug-in rule).

Its rate under the same smoothness and margin conditions is N^(-beta (1 + gamma) / (2 beta + d)) at
h = N^(-1 / (2 beta + d)) (Audibert & Tsybakov 2007, Theorems 3.2 and 3.5); what local privacy costs is the gap to it.
The vote of a cell is the sign of ones - zeros; ties and empty cells go to 1, as in the private rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from audit.errors import InvalidArgument
from audit.validate import positive
from mechanisms.estimator import Classifier
from mechanisms.local.binary_array import require_labels
from mechanisms.local.cells import BoxIntegrals
from mechanisms.local.settings import Slab

FloatArray = NDArray[np.float64]


@dataclass
class Regressogram(Classifier):
    """Majority vote in the cubes [j h, (j + 1) h); no privacy.

    Parameters
    ----------
    bandwidth : float > 0
        Side h of a cube.

    Attributes
    ----------
    votes_ : dict
        Cell index, a tuple of d integers -> ones minus zeros.
    """

    bandwidth: float
    votes_: dict[tuple[int, ...], int] = field(init=False, repr=False)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Regressogram:
        """Count the votes; X of shape (n, d) or (n,), finite, y of shape (n,) in {0, 1}."""
        keys, labels = self._cells(X), require_labels(y)
        if len(keys) != len(labels):
            raise InvalidArgument.of("y", f"have shape ({len(keys)},), one label for each row of X", labels.shape)
        self.votes_ = {}
        for key, label in zip(keys, labels.tolist(), strict=True):
            self.votes_[key] = self.votes_.get(key, 0) + 2 * label - 1
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict labels, shape (n,)."""
        votes = self._fitted("votes_")
        return np.array([int(votes.get(key, 0) >= 0) for key in self._cells(X)], dtype=np.int64)

    def _cells(self, X: ArrayLike) -> list[tuple[int, ...]]:
        points: Any = np.asarray(X, dtype=float)
        if points.ndim not in (1, 2) or not np.isfinite(points).all():
            raise InvalidArgument.of("X", "be finite, of shape (n, d) or (n,)", points.shape)
        indices = np.floor(points.reshape(len(points), -1) / positive(self.bandwidth, "bandwidth")).astype(np.int64)
        return list(map(tuple, indices.tolist()))


def baseline_bandwidth(users: float, dim: int, smoothness: float) -> float:
    """Return h = N^(-1/(2 beta + d))."""
    return float(users ** (-1 / (2 * smoothness + dim)))


def vote_for_one(mass: FloatArray, signed: FloatArray, users: float) -> FloatArray:
    """Return P(ones - zeros >= 0) in cells of given mass and integral of 2 eta - 1, by the normal law.

    ones - zeros moves in steps of 1, hence the correction by 1/2.
    """
    deviation = np.sqrt(users * np.maximum(mass - signed**2, 1e-300))
    return np.asarray(special.ndtr((users * signed + 0.5) / deviation))


def baseline_excess(setting: Slab, users: float, half_cells: int | None = None) -> float:
    """Return the expected excess of the regressogram with h = 1 / (2 half_cells), nearest to the text's for N users.

    The decision boundary is then a face of the cubes.
    """
    side = baseline_bandwidth(users, setting.dim, setting.smoothness)
    size = max(1, round(0.5 / side)) if half_cells is None else half_cells
    edges = np.linspace(0.0, 0.5, size + 1)
    margin = np.diff(setting.primitive(edges))
    others = (0.5 / size) ** (setting.dim - 1)
    mass, signed = np.full(size, 0.5 / size * others), margin * others
    # by symmetry of the two sides: eta > 1/2 on one, where 0 is wrong, and eta < 1/2 on the other, where 1 is
    wrong = 1 - vote_for_one(mass, signed, users) + vote_for_one(mass, -signed, users)
    return float(math.fsum(margin * wrong))


def draw_baseline_excess(
    distribution: BoxIntegrals, users: int, cells: int, replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the excess of the regressogram on [0, 1] with `cells` cells from counts; cost free of the users."""
    edges = np.linspace(0.0, 1.0, cells + 1)
    low, high = edges[:-1], edges[1:]
    mass, signed = np.asarray(distribution.mass(low, high)), np.asarray(distribution.signed_mass(low, high))
    counts = rng.multinomial(users, mass / mass.sum(), size=replicates)
    eta = np.divide(mass + signed, 2 * mass, out=np.zeros_like(mass), where=mass > 0)
    one = 2 * rng.binomial(counts, np.clip(eta, 0, 1)) >= counts
    return np.where(one, distribution.cost_of_one(low, high), distribution.cost_of_zero(low, high)).sum(axis=1)
