"""Private learners with the scikit-learn protocol: a fresh learner is fitted for every output.

The output is the predictions at fixed queries, or fitted attributes such as coefficients. The dataset is `Labeled`, or
an array for a learner without labels. Predictions are computed from the fitted learner and inherit its privacy;
auditing the attributes examines more. Relation and claim are those of the learner's own documentation.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.adapters.functions import require_callable
from audit.claims import Labeled
from audit.subjects import PerCall

_SEEDS = 2**31  # scikit-learn's random states are 32-bit


@dataclass(frozen=True)
class FittedLearner(ABC):
    """The base: fits a fresh learner for every output. An exception is an output."""

    build: Callable[..., Any]

    def __post_init__(self) -> None:
        require_callable(build=self.build)

    @property
    def own_randomness(self) -> bool:
        """True if the learner is not given a random state."""
        return "random_state" not in inspect.signature(self.build).parameters

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Fit `size` learners and return the output of each."""
        return PerCall(self._one, True)(dataset, size, rng)

    def _one(self, dataset: Any, rng: np.random.Generator) -> np.ndarray:
        learner = self.build() if self.own_randomness else self.build(random_state=int(rng.integers(_SEEDS)))
        learner.fit(*((dataset.X, dataset.y) if isinstance(dataset, Labeled) else (dataset,)))
        return self._released(learner)

    @abstractmethod
    def _released(self, learner: Any) -> np.ndarray:
        """Return what is published of a fitted learner; shape (d,)."""


@dataclass(frozen=True, eq=False)
class Predictions(FittedLearner):
    """A mechanism that releases the predictions of a learner at public points.

    Parameters
    ----------
    build : callable
        () -> unfitted learner, or (random_state) -> one whose noise is determined by that integer. A learner that draws
        its own randomness is what its users run; one with a random state makes the audit repeatable.
    queries : array, first axis over the queries
        Public points, in the form that the learner takes.

    Raises
    ------
    InvalidArgument
        If `build` is not callable.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled
    >>> from audit.adapters import Predictions
    >>> from sklearn.dummy import DummyClassifier
    >>> vote = Predictions(DummyClassifier, [[0.0]])
    >>> vote(Labeled([[0.0], [1.0], [2.0]], [0, 1, 1]), 2, np.random.default_rng(0))
    [array([1]), array([1])]
    """

    queries: Any

    def _released(self, learner: Any) -> np.ndarray:
        return np.asarray(learner.predict(self.queries))


@dataclass(frozen=True)
class Coefficients(FittedLearner):
    """A mechanism that releases fitted attributes of a learner, one after the other.

    Parameters
    ----------
    build : callable
        As for `Predictions`.
    attributes : tuple of str, default `("coef_", "intercept_")`
        Numeric ones.

    Raises
    ------
    InvalidArgument
        If `build` is not callable.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled
    >>> from audit.adapters import Coefficients
    >>> from sklearn.linear_model import LinearRegression
    >>> fit = Coefficients(LinearRegression)
    >>> fit(Labeled([[0.0], [1.0]], [1.0, 3.0]), 1, np.random.default_rng(0))[0].round(6).tolist()
    [2.0, 1.0]
    """

    attributes: tuple[str, ...] = ("coef_", "intercept_")

    def _released(self, learner: Any) -> np.ndarray:
        return np.concatenate([np.ravel(getattr(learner, name)) for name in self.attributes])
