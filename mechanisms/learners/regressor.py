"""A private regressor, from a density of features and targets."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from mechanisms.consistency.cube_regressor import CubeRegressor
from mechanisms.parts.private_estimator import PrivateEstimator

WIDE = (-3.0, 3.0)


class CubeMeanRegressor(RegressorMixin, PrivateEstimator):
    """Mean target of each cube of a private density; (epsilon, delta)-DP under substitution of a record.

    Cubes with few records are not released. Where that is all of them, `fit` warns, and each prediction is the middle
    of `target_bounds`.

    Parameters
    ----------
    epsilon : float > 0
    delta : float in (0, 1)
    bounds, projection
        See `PrivateEstimator`.
    target_bounds : (float, float)
        Public; targets are clipped to them.
    random_state : int, optional
        For tests only: a known seed gives no privacy.

    Attributes
    ----------
    learner_ : CubeRegressor
        The release, on features and targets in the unit interval.
    privacy_spent_ : PrivacySpent

    References
    ----------
    Bousquet et al. 2022, Applications of our techniques; Algorithm 3, Theorem 4.2.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-4,
        bounds: Any = WIDE,
        projection: Any = 1,
        target_bounds: Any = WIDE,
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.projection = epsilon, delta, bounds, projection
        self.target_bounds, self.random_state = target_bounds, random_state

    def fit(self, X: Any, y: Any, **unused: Any) -> Self:
        """Spend the privacy budget once, and keep the release.

        Parameters
        ----------
        X : array, shape (n, d)
        y : array, shape (n,)

        Raises
        ------
        ValueError
            For features or targets that are not finite, and bounds that are not in order.
        """
        self._refuse(unused)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._warn_of_leaks(len(X))
        low, high = self.target_bounds
        if not low < high:
            raise ValueError(f"`target_bounds` must be (low, high) with low < high, got {self.target_bounds!r}")
        features = self._mapped(X)
        learner = CubeRegressor(features.shape[1], self.epsilon, self.delta, self.random_state)
        self._keep(learner.fit(features, (np.clip(y, low, high) - low) / (high - low)))
        return self

    def _keep(self, learner: CubeRegressor) -> None:
        if not learner.density_.counts_:
            warnings.warn("no cube holds enough records: all predictions are the same", UserWarning, stacklevel=3)
        super()._keep(learner)

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean target of the cube of each row of X."""
        rows = self._checked(X)
        low, high = self.target_bounds
        return np.asarray(low + (high - low) * self.learner_.predict(rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a budget of 1 on a hundred records
        return tags
