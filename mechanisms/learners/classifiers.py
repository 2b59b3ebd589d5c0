"""The classifier of one paper; those of the others are in `mechanisms.papers`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanisms.consistency.cube_classifier import CubeClassifier
from mechanisms.estimators.base import PrivateClassifier

WIDE = (-3.0, 3.0)


class CubeVoteClassifier(PrivateClassifier):
    """One noisy majority vote for each cube; (epsilon, 0)-DP under substitution of a record. Two classes.

    Memory follows the records in any dimension. Beyond a few dimensions each record is alone in its cube: project.

    Parameters
    ----------
    epsilon : float > 0
    bounds, projection, classes
        See `PrivateClassifier`.
    random_state : int, optional
        For tests only: a known seed gives no privacy.

    References
    ----------
    Bousquet et al. 2022, Algorithm 2, Theorem 3.1.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        bounds: Any = WIDE,
        projection: Any = 2,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.bounds, self.projection, self.classes = epsilon, bounds, projection, classes
        self.random_state = random_state

    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> CubeClassifier:
        return CubeClassifier(X.shape[1], self.epsilon, random_state=self.random_state).fit(X, y)
