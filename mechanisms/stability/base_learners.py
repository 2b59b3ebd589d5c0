"""Teachers for the voting services: small learners with the scikit-learn protocol, and two for soft labels.

Bassily, Thakurta & Thakkar (2018) take the base learner as given; these are ours. Any scikit-learn estimator serves as
it is; `logistic_regression` makes one without importing scikit-learn before it is needed. Hard learners give labels 0
or 1; soft ones are callables (X, y) -> scores, as `SoftLabelService` wants them. An empty chunk is the services'
business for hard labels (a constant 0), and gives 1/2 here for soft ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument
from audit.validate import integer, positive
from mechanisms.estimator import Classifier

FloatArray = NDArray[np.float64]


class AxisRectangle(Classifier):
    """The least axis-parallel box around the examples labeled 1; VC dimension 2 d, consistent where realizable."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features of shape (n, d) and labels 0 or 1."""
        X, y = labeled(X, y)
        inside = X[y == 1]
        self.low_: FloatArray = inside.min(axis=0, initial=np.inf)
        self.high_: FloatArray = inside.max(axis=0, initial=-np.inf)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return 1 inside the box, its border included."""
        low, X = self._fitted("low_"), np.asarray(X, dtype=float)
        return np.all((low <= X) & (self.high_ >= X), axis=1).astype(np.int64)


class DecisionStump(Classifier):
    """Least empirical error among x -> 1[x_j >= t] and 1[x_j < t]; VC dimension at most 2 + log2 d up to constants."""

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features of shape (n, d) and labels 0 or 1; the first best feature and cut win."""
        X, y = labeled(X, y)
        order = np.argsort(X, axis=0, kind="stable")
        ordered = np.take_along_axis(X, order, axis=0)
        steps = np.vstack([np.zeros(X.shape[1]), np.cumsum(2 * y[order] - 1, axis=0)])  # 1s less 0s below the cut
        above_is_one = steps + np.sum(y == 0)
        errors = np.minimum(above_is_one, len(y) - above_is_one).astype(float)
        errors[1:-1][ordered[1:] == ordered[:-1]] = np.inf
        cut, self.feature_ = (int(i) for i in np.unravel_index(np.argmin(errors), errors.shape))
        self.above_ = int(above_is_one[cut, self.feature_] <= len(y) - above_is_one[cut, self.feature_])
        column = np.r_[-np.inf, ordered[:, self.feature_], np.inf]
        self.threshold_ = float((column[cut] + column[cut + 1]) / 2)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of the side on which a row lies."""
        threshold = self._fitted("threshold_")
        above = np.asarray(X, dtype=float)[:, self.feature_] >= threshold
        return np.where(above, self.above_, 1 - self.above_)


def logistic_regression(strength: float = 1.0, rounds: int = 200) -> Any:
    """Make scikit-learn's logistic regression on features that the caller has scaled without the private data.

    Parameters
    ----------
    strength : float > 0
        C, the inverse of the penalty.
    rounds : int >= 1
        Most iterations.
    """
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=positive(strength, "strength"), max_iter=integer(rounds, "rounds", at_least=1))


def labeled(X: Any, y: Any) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return features of shape (n, d), n >= 1, and labels 0 or 1 of shape (n,); raise otherwise."""
    features, labels = np.asarray(X, dtype=float), np.asarray(y)
    if features.ndim != 2 or labels.shape != (len(features),) or not len(features):
        raise InvalidArgument.of("X", f"have shape ({labels.size}, d) and a row", features.shape)
    if not np.isin(labels, (0, 1)).all():
        raise InvalidArgument.of("y", "hold labels 0 and 1", np.unique(labels))
    return features, labels.astype(np.int64)


@dataclass(frozen=True)
class CellMeanLearner:
    """Soft labels: the mean label of the cell of a feature in [0, 1], 1/2 in a cell without examples.

    Parameters
    ----------
    cells : int >= 1
        Equal intervals.
    """

    cells: int

    def __post_init__(self) -> None:
        integer(self.cells, "cells", at_least=1)

    def __call__(self, X: Any, y: Any) -> Callable[[Any], FloatArray]:
        """Train on features of shape (n,) in [0, 1] and labels 0 or 1; give the map from features to scores."""
        where = self.cell_of(X)
        counts = np.bincount(where, minlength=self.cells)
        ones = np.bincount(where, weights=np.asarray(y, dtype=float), minlength=self.cells)
        scores = cell_means(ones, counts)
        return lambda points: scores[self.cell_of(points)]

    def cell_of(self, X: Any) -> NDArray[np.int64]:
        """Return the cell of each feature."""
        X = np.asarray(X, dtype=float)
        if not (np.all(X >= 0) and np.all(X <= 1)):
            raise InvalidArgument.of("X", "lie in [0, 1]", X)
        return np.minimum((X * self.cells).astype(np.int64), self.cells - 1)


@dataclass(frozen=True)
class CellMeans:
    """Aggregate sampler of `CellMeanLearner` on uniform features: the scores of all cells from counts, in O(cells).

    Parameters
    ----------
    means : tuple of float in [0, 1]
        P(label 1) in each cell.
    size : int >= 0
        Examples of each learner, n'.
    """

    means: tuple[float, ...]
    size: int

    def draw(self, learners: int, rng: np.random.Generator) -> FloatArray:
        """Draw the scores of independent learners, shape (learners, cells)."""
        cells = len(self.means)
        counts = rng.multinomial(self.size, np.full(cells, 1 / cells), size=learners)
        return cell_means(rng.binomial(counts, self.means), counts)


def cell_means(ones: Any, counts: Any) -> FloatArray:
    """Return ones / counts, 1/2 where there are none."""
    return np.where(counts > 0, ones / np.maximum(counts, 1), 0.5)


@dataclass(frozen=True)
class FirstRecordLearner:
    """Soft labels: the label of the first record, everywhere. On average stable in first powers, and pure noise."""

    def __call__(self, X: Any, y: Any) -> Callable[[Any], FloatArray]:
        """Train on anything and labels 0 or 1, at least one."""
        labels = np.asarray(y, dtype=float)
        if not labels.size:
            raise InvalidArgument.of("y", "hold a label", labels)
        return lambda points: np.full(len(points), labels[0])
