"""Share among the estimators: labels, bounds, a public projection, and the metadata of the budget."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from audit.errors import InvalidArgument
from audit.validate import positive
from mechanisms.estimator import noise_source
from mechanisms.estimators.ledger import PrivacySpent, record


class PrivacyLeakWarning(UserWarning):
    """Warn of a parameter that is taken from the data, or that undoes the claim; the claim holds if it is public."""


@dataclass(frozen=True)
class Release:
    """The output of a fit: the learner of the paper, and the budget of all fits of the object so far."""

    learner: Any
    spent: PrivacySpent


def require_epsilon(epsilon: Any) -> float:
    """Return a budget as a float, or raise with one text for everything that is none."""
    try:
        return positive(epsilon, "epsilon")
    except InvalidArgument:
        raise InvalidArgument.of("epsilon", "be finite and > 0, such as 1.0", epsilon) from None


class PrivateEstimator(BaseEstimator):
    """Share the public map of features and the budget of one fit.

    Notes
    -----
    The parameters that all estimators share. `bounds` : (low, high), finite numbers or arrays of one entry per feature,
    public; features are clipped to them. `projection` : None, a number of random directions, or a public matrix of
    shape (features, k).
    """

    relation: ClassVar[str] = "substitution"

    epsilon: float
    bounds: Any
    projection: Any
    random_state: Any
    release_: Release

    def fit(self, X: Any, y: Any, **unused: Any) -> Self:
        """Spend the privacy budget once, and keep the release. A fit that raises leaves the earlier one as it was.

        Parameters
        ----------
        X : array, shape (n, d)
        y : array, shape (n,)

        Raises
        ------
        ValueError
            For parameters outside their admissible sets, features that are not finite, labels outside `classes`, fewer
            than two classes, or too many.
        TypeError
            For `sample_weight`, which the claim does not cover.
        """
        self._refuse(unused)
        require_epsilon(self.epsilon)
        before = dict(vars(self))
        try:
            self._fit(X, y)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    @abstractmethod
    def _fit(self, X: Any, y: Any) -> None:
        """Fit, and keep the release."""

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
        """Hold the release of a fit; its cost stays the same, whatever becomes of the parameters."""
        if getattr(learner, "random_state", None) is not None:
            learner.random_state = None  # a fitted object holds no seed but its own parameter
        self._spend(learner, float(self.epsilon), float(getattr(self, "delta", 0.0)))

    def _spend(self, learner: Any, epsilon: float, delta: float = 0.0) -> None:
        earlier = self.release_.spent if hasattr(self, "release_") else PrivacySpent(0.0, 0.0, self.relation)
        record(PrivacySpent(epsilon, delta, self.relation))
        spent = PrivacySpent(earlier.epsilon + epsilon, earlier.delta + delta, self.relation)
        self.release_ = Release(learner, spent)

    def _warn_of_leaks(self, n: int) -> None:
        """Warn of a known seed and of a large delta; n is public."""
        if self.random_state is not None:
            said = "whoever knows `random_state` recomputes the noise; give it in tests only"
            warnings.warn(f"privacy leak: {said}", PrivacyLeakWarning, stacklevel=4)
        if (delta := float(getattr(self, "delta", 0.0))) > 1 / n:
            said = f"delta={delta:g} is above 1/n = {1 / n:.2g}, which allows to publish a record; give less"
            warnings.warn(f"privacy leak: {said}", PrivacyLeakWarning, stacklevel=4)

    def _checked(self, X: Any) -> np.ndarray:
        """Return the features of queries in the unit cube, or raise."""
        check_is_fitted(self, "learner_")
        return self._mapped(validate_data(self, X, dtype=np.float64, reset=False))

    @staticmethod
    def _refuse(unused: dict[str, Any]) -> None:
        if unused:
            name = next(iter(unused))
            why = "a record of weight w would move the release w times as far as the claim says"
            raise TypeError(f"`{name}` is not supported by `fit`: {why if name == 'sample_weight' else 'leave it out'}")

    def _mapped(self, X: np.ndarray) -> np.ndarray:
        """Return features in the unit cube, each record by itself."""
        rule = "`bounds` must be public finite numbers or arrays (low, high) with low < high, such as (0.0, 1.0)"
        try:
            low, high = (np.broadcast_to(np.asarray(end, dtype=float), X.shape[1]) for end in self.bounds)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{rule}, for {X.shape[1]} features, got {self.bounds!r}") from error
        if not (np.all(low < high) and np.isfinite([low, high]).all()):
            raise ValueError(f"{rule}, got {self.bounds!r}")
        unit = (np.clip(X, low, high) - low) / (high - low)
        if self.projection is None:
            return unit
        directions = self._directions(X.shape[1])
        reach = np.abs(directions).sum(axis=0)  # the largest value of a projected feature of [-1, 1]^d
        return np.clip(((2 * unit - 1) @ directions / reach * np.sqrt(X.shape[1]) / 2 + 1) / 2, 0.0, 1.0)

    def _directions(self, features: int) -> np.ndarray:
        """Return the public matrix: given, or random directions that are the same for every dataset."""
        given = self.projection
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given >= 1:
            return np.random.default_rng(0).standard_normal((features, min(int(given), features)))
        try:
            matrix = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            matrix = np.empty(0)
        has_shape = matrix.ndim == 2 and len(matrix) == features and matrix.size > 0
        if has_shape and np.isfinite(matrix).all() and matrix.any(axis=0).all():
            return matrix
        got = f"an array of shape {matrix.shape}" if matrix.size > 1 else f"{given!r} ({type(given).__name__})"
        raise ValueError(
            "`projection` must be None, a number of directions >= 1, or a public matrix of finite numbers of shape "
            f"({features}, k) without a column of zeros, got {got}"
        )


def _is_binary(estimator: Any) -> bool:
    return not estimator.multiclass


class PrivateClassifier(ClassifierMixin, PrivateEstimator):
    """Base of the estimators.

    Attributes
    ----------
    classes_ : array
        The labels.
    learner_ : estimator
        The fitted learner of the paper, on labels 0, 1, ... and mapped features.
    privacy_spent_ : PrivacySpent
        Of all calls of `fit` and `noisy_score` together. `predict` costs nothing more; `score` on private data is an
        exact statistic of it, without privacy: `noisy_score` has noise.

    Notes
    -----
    Parameters that all classifiers share, beside those of `PrivateEstimator`. `classes` : all labels that may occur;
    those in `y` unless given, which then must be public: a `PrivacyLeakWarning` says so.
    """

    multiclass: ClassVar[bool] = False

    classes: Any

    def _fit(self, X: Any, y: Any) -> None:
        X, y = validate_data(self, X, y, dtype=np.float64)
        self._warn_of_leaks(len(X))
        if self.classes is None:
            said = "`classes` are taken from `y` and released; give all labels that may occur, unless they are public"
            warnings.warn(f"privacy leak: {said}", PrivacyLeakWarning, stacklevel=3)
        check_classification_targets(y)
        if isinstance(self.classes, (set, frozenset)):
            raise ValueError(f"`classes` must be a list of labels, got {self.classes!r} (set)")
        self.classes_ = np.unique(y if self.classes is None else self.classes)
        if len(self.classes_) < 2:
            raise ValueError(f"`y` must have two classes at least, got 1 class: {self.classes_[0]!r}")
        if len(self.classes_) > 2 and not self.multiclass:
            raise ValueError(f"Only binary classification is supported. The labels are {self.classes_!r}")
        if not np.isin(y, self.classes_).all():
            raise ValueError("`y` must hold labels of `classes` only")
        self._keep(self._fitted_learner(self._mapped(X), np.searchsorted(self.classes_, y)))

    def predict(self, X: Any) -> np.ndarray:
        """Return a label for each row of X."""
        rows = self._checked(X)
        return np.asarray(self.classes_[self._predicted(rows)])

    @available_if(_is_binary)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> np.ndarray:
        """Return 1 for the second class and -1 for the first, for each row of X: the release has votes alone."""
        return np.where(self._predicted(self._checked(X)) == 1, 1.0, -1.0)

    def noisy_score(self, X: Any, y: Any, epsilon: float, random_state: Any = None) -> float:
        """Return the share of right predictions with noise, in [0, 1], and count its budget in `privacy_spent_`.

        (epsilon, 0)-DP under the relation of the estimator: one record moves the count of right predictions by at most
        1, and the difference of two geometric variables is added to it; n is public. Under the local relation every
        user says whether the prediction is right, by randomized response.

        Parameters
        ----------
        X : array, shape (n, d)
        y : array, shape (n,)
        epsilon : float > 0
        random_state : int, optional
            For tests only: a known seed gives no privacy.

        References
        ----------
        Ghosh, Roughgarden and Sundararajan (2009), the geometric mechanism; Warner (1965), randomized response.
        """
        epsilon, rng = require_epsilon(epsilon), noise_source(random_state)
        right = self.predict(X) == np.asarray(y)
        if self.relation == "local":
            lie = expit(-epsilon)
            share = (np.mean(right ^ (rng.random(len(right)) < lie)) - lie) / (1 - 2 * lie)
        else:
            drawn = rng.geometric(-math.expm1(-epsilon), 2)
            share = (np.sum(right) + drawn[0] - drawn[1]) / len(right)
        self._spend(self.learner_, epsilon)
        return float(np.clip(share, 0.0, 1.0))

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
