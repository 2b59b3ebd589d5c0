"""The learner interface that data scientists know: parameters at construction, `fit`, `predict`, `score`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from audit.errors import InvalidArgument


def noise_source(random_state: Any) -> np.random.Generator:
    """Return a generator for the noise of one fit; nothing of it is kept.

    Raises
    ------
    InvalidArgument
        For a generator: an object that holds it shows its noise to whoever gets the object.
    """
    if random_state is not None and not isinstance(random_state, (int, np.integer)):
        rule = "be None or an integer, not a generator: the fitted object would hold it, and it repeats the noise"
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


class Classifier(ClassifierMixin, Estimator, ABC):
    """A learner that predicts labels."""

    @abstractmethod
    def predict(self, X: Any) -> np.ndarray:
        """Return a label for each row of X."""
