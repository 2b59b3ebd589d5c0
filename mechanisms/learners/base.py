"""Share among the estimators: labels, bounds, a public projection, and the metadata of the budget."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class PrivacySpent(NamedTuple):
    """State a budget: (epsilon, delta)-DP under a relation."""

    epsilon: float
    delta: float
    relation: str


@dataclass(frozen=True)
class Release:
    """Hold what leaves a fit: the learner of the paper, and the budget of all fits of the object so far."""

    learner: Any
    spent: PrivacySpent


class PrivateEstimator(BaseEstimator):
    """Share the public map of features and the budget of one fit.

    Notes
    -----
    The parameters that all estimators share. `bounds` : (low, high), numbers or arrays of one entry per feature,
    public; features are clipped to them. `projection` : None, a number of random directions, or a public matrix of
    shape (features, k).
    """

    relation: ClassVar[str] = "substitution"

    epsilon: float
    bounds: Any
    projection: Any
    random_state: Any
    release_: Release

    @property
    def learner_(self) -> Any:
        """Return the fitted learner of the paper."""
        return self._release().learner

    @property
    def privacy_spent_(self) -> PrivacySpent:
        """Return the budget that the fits of this object have spent together, by basic composition."""
        return self._release().spent

    def _release(self) -> Release:
        if "release_" not in vars(self):
            raise AttributeError(f"`fit` must be called before `{type(self).__name__}` has a release")
        return self.release_

    def _keep(self, learner: Any) -> None:
        """Hold the release of a fit; what it spent stays what it was, whatever becomes of the parameters."""
        if getattr(learner, "random_state", None) is not None:
            learner.random_state = None  # a fitted object holds no seed but its own parameter
        earlier = self.release_.spent if hasattr(self, "release_") else PrivacySpent(0.0, 0.0, self.relation)
        epsilon, delta = float(self.epsilon), float(getattr(self, "delta", 0.0))
        spent = PrivacySpent(earlier.epsilon + epsilon, earlier.delta + delta, self.relation)
        self.release_ = Release(learner, spent)

    def _mapped(self, X: np.ndarray) -> np.ndarray:
        """Return features in the unit cube, each record by itself."""
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), X.shape[1]) for end in self.bounds)
        if not np.all(low < high):
            raise ValueError(f"`bounds` must be (low, high) with low < high, got {self.bounds!r}")
        unit = (np.clip(X, low, high) - low) / (high - low)
        if self.projection is None:
            return unit
        directions = self._directions(X.shape[1])
        reach = np.abs(directions).sum(axis=0)  # the largest value of a projected feature of [-1, 1]^d
        return np.clip(((2 * unit - 1) @ directions / reach * np.sqrt(X.shape[1]) / 2 + 1) / 2, 0.0, 1.0)

    def _directions(self, features: int) -> np.ndarray:
        """Return the public matrix: given, or random directions that are the same for every dataset."""
        if isinstance(self.projection, (int, np.integer)):
            return np.random.default_rng(0).standard_normal((features, min(int(self.projection), features)))
        return np.asarray(self.projection, dtype=float).reshape(features, -1)


class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """Base of the estimators.

    Attributes
    ----------
    classes_ : array
        The labels.
    learner_ : estimator
        The fitted learner of the paper, on labels 0, 1, ... and mapped features.
    privacy_spent_ : PrivacySpent
        Of all calls of `fit` together. `predict` costs nothing more; `score` on private data is released without noise.

    Notes
    -----
    Parameters that all classifiers share, beside those of `PrivateEstimator`. `classes` : all labels that may occur;
    those in `y` unless given, which then count as public.
    """

    multiclass: ClassVar[bool] = False

    classes: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Spend the privacy budget once, and keep the release.

        Parameters
        ----------
        X : array, shape (n, d)
        y : array, shape (n,)

        Raises
        ------
        ValueError
            For features that are not finite, labels outside `classes`, fewer than two classes, or too many.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = np.unique(y if self.classes is None else self.classes)
        if len(self.classes_) < 2:
            raise ValueError(f"`y` must have two classes at least, got 1 class: {self.classes_[0]!r}")
        if len(self.classes_) > 2 and not self.multiclass:
            raise ValueError(f"Only binary classification is supported. The labels are {self.classes_!r}")
        if not np.isin(y, self.classes_).all():
            raise ValueError("`y` must hold labels of `classes` only")
        self._keep(self._fitted_learner(self._mapped(X), np.searchsorted(self.classes_, y)))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return a label for each row of X."""
        check_is_fitted(self, "learner_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.classes_[self._predicted(self._mapped(X))])

    @abstractmethod
    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> Any:
        """Return the learner of the paper, fitted on features in the unit cube and labels 0, 1, ..."""

    def _predicted(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.learner_.predict(X), dtype=np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.multiclass
        tags.classifier_tags.poor_score = True  # a budget of 1 on a hundred records
        return tags
