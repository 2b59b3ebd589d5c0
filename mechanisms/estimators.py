"""The learners of all papers as estimators of scikit-learn: labels, bounds, a public projection, budget, release."""

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from audit import Labeled
from audit.errors import InvalidArgument
from audit.laws import Law
from audit.validate import open_probability, positive


def noise_source(random_state: Any) -> np.random.Generator:
    """Return a generator for the noise of one fit; nothing of it is kept.

    Raises
    ------
    InvalidArgument
        For a negative integer, and for a generator: an object that holds it shows its noise to whoever gets the object.
    """
    if random_state is not None and not (isinstance(random_state, (int, np.integer)) and random_state >= 0):
        rule = "be None or an integer >= 0, not a generator: the fitted object would hold it, and it repeats the noise"
        raise InvalidArgument.of("random_state", rule, random_state)
    return np.random.default_rng(random_state)


class Estimator(BaseEstimator):
    """Base of the learners: parameters are the arguments of the constructor, fitted attributes end in `_`.

    `random_state` seeds the private noise: None draws fresh entropy, an integer repeats a fit exactly (for tests
    only: a known seed gives no privacy). A fitted object is a release: it holds the released values, and no record, no
    generator, and no order of the records.
    """

    def set_params(self, **params: Any) -> Self:
        """Set constructor arguments by name, or raise as the constructor does."""
        super().set_params(**params)
        self.unfitted()
        return self

    def unfitted(self) -> Self:
        """Return a new learner with the same parameters."""
        return type(self)(**self.get_params(deep=False))

    def _fitted(self, name: str) -> Any:
        if not hasattr(self, name):
            raise InvalidArgument(f"`fit` must be called before `{type(self).__name__}` can be used")
        return getattr(self, name)


class Classifier(ClassifierMixin, Estimator):
    """A learner that predicts labels."""


class PrivacySpent(NamedTuple):
    """State a budget: (epsilon, delta)-DP under a relation."""

    epsilon: float
    delta: float
    relation: str


class PrivacyLedger:
    """Add up the budget that the estimators of this package spend in a `with` block, copies included.

    By basic composition, as if all fits saw the same records: folds overlap, and each is read as the whole. Fits in
    other processes (`n_jobs`) are not seen. The choice of a grid, and each score, is an exact statistic of the data
    unless `scoring` is a noisy score.

    Attributes
    ----------
    releases : list of PrivacySpent
        One for each fit and each noisy score, in their order.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mechanisms.learners import CubeVoteClassifier, PrivacyLedger
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> with PrivacyLedger() as ledger:
    ...     grid = GridSearchCV(CubeVoteClassifier(classes=[0, 1]), {"projection": [1, None]}, cv=2).fit(X, y)
    >>> ledger.spent  # two folds for each of two settings, and the fit of the best one
    (PrivacySpent(epsilon=5.0, delta=0.0, relation='substitution'),)
    """

    def __init__(self) -> None:
        self.releases: list[PrivacySpent] = []

    def __enter__(self) -> Self:
        _OPEN.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _OPEN.remove(self)

    @property
    def spent(self) -> tuple[PrivacySpent, ...]:
        """The sum for each relation."""
        relations = dict.fromkeys(each.relation for each in self.releases)
        groups = [[each for each in self.releases if each.relation == name] for name in relations]
        return tuple(
            PrivacySpent(math.fsum(e.epsilon for e in group), math.fsum(e.delta for e in group), group[0].relation)
            for group in groups
        )


_OPEN: list[PrivacyLedger] = []


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
        for name in unused:
            why = "a record of weight w would move the release w times as far as the claim says"
            raise TypeError(f"`{name}` is not supported by `fit`: {why if name == 'sample_weight' else 'leave it out'}")
        require_epsilon(self.epsilon)
        open_probability(getattr(self, "delta", 0.5), "delta")
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
        for ledger in _OPEN:
            ledger.releases.append(PrivacySpent(epsilon, delta, self.relation))
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

    def _mapped(self, X: np.ndarray) -> np.ndarray:
        """Return features in the unit cube, each record by itself."""
        rule = "`bounds` must be public finite numbers or arrays (low, high) with low < high, such as (0.0, 1.0)"
        try:
            ends: Any = None if isinstance(self.bounds, (set, frozenset)) else self.bounds
            low, high = (np.broadcast_to(np.asarray(end, dtype=float), X.shape[1]) for end in ends)
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
        try:
            self.classes_ = np.unique(y if self.classes is None else self.classes)
        except TypeError:
            self.classes_ = np.empty(0)
        if isinstance(self.classes, (set, frozenset)) or not len(self.classes_):
            raise ValueError(f"`classes` must be a list of labels of one type, got {self.classes!r}")
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

    @available_if(lambda estimator: not estimator.multiclass)  # type: ignore[untyped-decorator]
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
        epsilon : float >= 2^-52
            Below, the noise is beyond what an integer of 64 bits holds.
        random_state : int, optional
            For tests only: a known seed gives no privacy.

        References
        ----------
        Ghosh, Roughgarden and Sundararajan (2009), the geometric mechanism; Warner (1965), randomized response.
        """
        epsilon, rng = require_epsilon(epsilon), noise_source(random_state)
        if epsilon < 2.0**-52:
            raise InvalidArgument.of("epsilon", "be at least 2^-52", epsilon)
        right = self.predict(X) == column_or_1d(y)
        if self.relation == "local":
            lie = expit(-epsilon)
            share = (np.mean(right ^ (rng.random(len(right)) < lie)) - lie) / math.tanh(epsilon / 2)
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


@dataclass(frozen=True)
class StatedRelease(ABC):
    """The release of an estimator with given parameters, `classes` among them, on some number of features."""

    estimator: Any
    features: int

    @abstractmethod
    def reveal(self, fitted: Any) -> tuple[Any, Any]:
        """Return the part with the law, and the noise of no data, or None."""

    @abstractmethod
    def law(self, dataset: Labeled) -> Law:
        """Return the law of the first part."""

    def rebuild(self, fresh: Any, revealed: tuple[Any, Any], public: Any) -> Any:
        """Return the fitted object; `public` is the number of records, or the features where they are public."""
        rows = None if isinstance(public, int) else fresh._mapped(public)
        n = public if rows is None else len(rows)
        fresh.n_features_in_ = self.features
        fresh._warn_of_leaks(n)
        if hasattr(fresh, "classes"):
            fresh.classes_ = np.unique(fresh.classes)
        fresh._keep(self._learner(fresh, revealed, n, rows))
        return fresh

    @abstractmethod
    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> Any:
        """Return the fitted learner of the paper."""

    def _mapped(self, dataset: Labeled) -> Labeled:
        marks = np.searchsorted(np.unique(self.estimator.classes), dataset.y)
        return Labeled(self.estimator._mapped(np.asarray(dataset.X, dtype=float)), marks)

    @property
    def _dim(self) -> int:
        return int(self.estimator._mapped(np.zeros((1, self.features))).shape[1])
