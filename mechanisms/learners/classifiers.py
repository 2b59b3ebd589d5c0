"""Classifiers of two of the five papers; those of the others are in `mechanisms.papers`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from mechanisms.consistency.cube_classifier import CubeClassifier
from mechanisms.cover.learners import ReferenceCoverLearner
from mechanisms.cover.sample_sizes import agnostic_parts
from mechanisms.cover.separators import LinearSeparatorClass
from mechanisms.cover.stumps import StumpClass
from mechanisms.estimators.base import PrivateClassifier

WIDE = (-3.0, 3.0)
FAILURE = 0.1  # the probability that rules of parameters allow for
_ACCURACIES = (0.1, 0.2)  # of covers: 2,474 half-planes of two features, in two seconds, and 575


def cover_accuracy(n: int, epsilon: float, hypotheses: LinearSeparatorClass | StumpClass) -> float:
    """Return the least accuracy in [0.1, 0.2] for which Theorem 8's privacy part asks for at most n examples, or 0.2.

    (8 / (epsilon a)) (d ln(16 / a) + ln(2 / 0.1)) <= n, d the doubling dimension. Covers that are coarser miss good
    half-planes where the data are more concentrated than the uniform distribution, which no public number tells.
    """
    finest, coarsest = _ACCURACIES

    def missing(accuracy: float) -> float:
        return agnostic_parts(epsilon, accuracy, FAILURE, 0.0, hypotheses.doubling_dim)[1] - n

    if missing(finest) <= 0:
        return finest
    return coarsest if missing(coarsest) >= 0 else float(brentq(missing, finest, coarsest))


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


class CoverClassifier(PrivateClassifier):
    """A half-plane or a stump, chosen by the exponential mechanism; (epsilon, 0)-DP under substitution.

    Parameters
    ----------
    epsilon : float > 0
    accuracy : float in (0, 1), optional
        Scale of the cover: larger is coarser. `cover_accuracy` unless given, from the number of records.
    bounds, projection, classes, random_state
        As for `CubeVoteClassifier`; at most two projected features for half-planes.
    hypotheses : {"half-planes", "stumps"}
        Half-planes of two features, or one threshold on one feature of many: then pass `projection=None`.

    References
    ----------
    Chaudhuri & Hsu 2011, algorithm A1, Theorem 7.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        accuracy: float | None = None,
        bounds: Any = WIDE,
        projection: Any = 2,
        classes: Any = None,
        random_state: Any = None,
        hypotheses: str = "half-planes",
    ) -> None:
        self.epsilon, self.accuracy, self.hypotheses = epsilon, accuracy, hypotheses
        self.bounds, self.projection, self.classes, self.random_state = bounds, projection, classes, random_state

    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> ReferenceCoverLearner:
        rows = self._rows(X)
        return self._learner(len(X), rows.shape[1]).fit(rows, 2 * y - 1)

    def _learner(self, n: int, dim: int) -> ReferenceCoverLearner:
        hypotheses = StumpClass(dim) if self._has_stumps else LinearSeparatorClass(dim)
        rule = cover_accuracy(n, self.epsilon, hypotheses)
        return ReferenceCoverLearner(
            self.epsilon,
            rule if self.accuracy is None else self.accuracy,
            hypotheses=hypotheses,
            smoothness_cap=1.0,
            random_state=self.random_state,
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """Return on which side of the boundary each row of X lies, and how far; at least 0 is the second class."""
        rows, chosen = self._rows(self._checked(X)), self.learner_.hypothesis_
        return np.asarray(StumpClass(rows.shape[1]).margin(chosen, rows)[0] if self._has_stumps else rows @ chosen)

    def _predicted(self, X: np.ndarray) -> np.ndarray:
        return np.asarray((self.learner_.predict(self._rows(X)) + 1) // 2)

    @property
    def _has_stumps(self) -> bool:
        if self.hypotheses not in ("half-planes", "stumps"):
            raise ValueError(f"`hypotheses` must be 'half-planes' or 'stumps', got {self.hypotheses!r}")
        return self.hypotheses == "stumps"

    def _rows(self, X: np.ndarray) -> np.ndarray:
        """Return the features that the learner takes: of half-planes, from -1 to 1 and with a constant."""
        if self._has_stumps:
            return X
        if X.shape[1] > 2:
            raise ValueError(f"`projection` must leave at most 2 features, got {X.shape[1]}")
        return np.column_stack([2 * X - 1, np.full(len(X), 0.5)])
