"""Private learners as mechanisms: a fresh learner of the scikit-learn protocol is fitted for every output.

`Predictions` releases a learner's predictions at public points. A check of these alone misses the contents of a pickle
of the fitted object: the order of a dict, keys that exist only where there were records, rows of the data, a seed that
repeats the noise. `FittedObject` releases the object itself. `Released` releases the numbers that a learner is meant to
release, and proves for each fit that the object holds nothing else, so that the audit can compare these numbers with an
exact law. The dataset is `Labeled`, or an array for a learner without labels.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Labeled
from audit.api import InvalidArgument, PerCall
from audit.extensions.estimators.fits import has_plain_pickle_of, same, show

_SEEDS = 2**31  # scikit-learn's random states are 32-bit


def _require_callable(**functions: object) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise InvalidArgument.of(name, "be callable", function)


@dataclass(frozen=True)
class FittedLearner(ABC):
    """The base: fits a fresh learner for every output. An exception is an output."""

    build: Callable[..., Any]

    def __post_init__(self) -> None:
        _require_callable(build=self.build)

    @property
    def own_randomness(self) -> bool:
        """True if the learner is not given a random state."""
        return "random_state" not in inspect.signature(self.build).parameters

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Fit `size` learners and return the output of each."""
        return PerCall(self._one, True)(dataset, size, rng)

    def _one(self, dataset: Any, rng: np.random.Generator) -> Any:
        return self._read_release(self._fit(dataset, rng))

    def _fit(self, dataset: Any, rng: np.random.Generator) -> Any:
        learner = self.build() if self.own_randomness else self.build(random_state=int(rng.integers(_SEEDS)))
        learner.fit(*((dataset.X, dataset.y) if isinstance(dataset, Labeled) else (dataset,)))
        return learner

    @abstractmethod
    def _read_release(self, learner: Any) -> Any:
        """Return the published part of a fitted learner."""


@dataclass(frozen=True, eq=False)
class Predictions(FittedLearner):
    """A mechanism that releases the predictions of a learner at public points.

    Parameters
    ----------
    build : callable
        () -> unfitted learner, or (random_state) -> one whose noise is determined by that integer. A learner that draws
        its own randomness is the one that users run; one with a random state makes the audit repeatable.
    queries : array, first axis over the queries
        Public points, in the form that the learner takes.

    Raises
    ------
    InvalidArgument
        If `build` is not callable.

    References
    ----------
    Bousquet, Kaplan, Kontorovich, Mansour, Moran, Sadigurschi and Stemmer (2022), section 2: a learner's output is its
    whole hypothesis.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled, Predictions
    >>> from sklearn.dummy import DummyClassifier
    >>> vote = Predictions(DummyClassifier, [[0.0]])
    >>> vote(Labeled([[0.0], [1.0], [2.0]], [0, 1, 1]), 2, np.random.default_rng(0))
    [array([1]), array([1])]
    """

    queries: Any

    def _read_release(self, learner: Any) -> np.ndarray:
        return np.asarray(learner.predict(self.queries))


@dataclass(frozen=True, eq=False)
class FittedObject(FittedLearner):
    """A mechanism that releases the whole fitted learner.

    An output is a dict: the learner with all attributes that it holds at any depth, the order of its sets, its pickle,
    and the results of its methods at the queries. A random generator in the learner makes the check INCONCLUSIVE and is
    named with its place. The parameter `random_state` is reset to None before the learner is read, since the seed comes
    from the audit.

    Parameters
    ----------
    build : callable
        As for `Predictions`.
    queries : array, first axis over the queries, optional
        Public points. Predictions, probabilities, decision values and densities are computed on a copy.

    Raises
    ------
    InvalidArgument
        If `build` is not callable.

    References
    ----------
    Bousquet, Kaplan, Kontorovich, Mansour, Moran, Sadigurschi and Stemmer (2022), section 2: a learner's output is its
    whole hypothesis.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import FittedObject, Labeled
    >>> from sklearn.dummy import DummyClassifier
    >>> whole = FittedObject(DummyClassifier, [[0.0]])
    >>> output = whole(Labeled([[0.0], [1.0], [2.0]], [0, 1, 1]), 1, np.random.default_rng(0))[0]
    >>> output["predict"], output["learner"].class_prior_.round(2)
    (array([1]), array([0.33, 0.67]))
    """

    queries: Any | None = None

    def _read_release(self, learner: Any) -> Any:
        return show(reset_seed(learner, self.own_randomness), self.queries)


@dataclass(frozen=True, eq=False)
class Released(FittedLearner):
    """A mechanism that releases the intended output of a learner, if the learner carries nothing else.

    The learner is rebuilt from the released numbers and compared with the fitted one, attribute by attribute and with
    the order of dicts and sets. Where they differ, the whole fitted learner is the output, as in `FittedObject`: no law
    of the released numbers allows for it. State the law with `Documented`.

    Parameters
    ----------
    build : callable
        As for `Predictions`.
    reveal : callable
        Fitted learner -> all that it releases.
    rebuild : callable
        (unfitted learner, revealed part, number of records) -> learner with the fitted attributes that follow.
    shown : callable, optional
        Revealed part -> the output, such as the part whose law is known; all of it unless given.

    Raises
    ------
    InvalidArgument
        If `build`, `reveal`, `rebuild` or `shown` is not callable.

    References
    ----------
    Bousquet, Kaplan, Kontorovich, Mansour, Moran, Sadigurschi and Stemmer (2022), section 2: a learner's output is its
    whole hypothesis.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import Labeled, Released
    >>> class NoisyMean:
    ...     def fit(self, X):
    ...         self.mean_, self.first_ = float(np.mean(X)), float(X[0])
    ...         return self
    >>> def mean(learner):
    ...     return learner.mean_
    >>> def rebuilt(learner, value, size):
    ...     learner.mean_ = value
    ...     return learner
    >>> leaky = Released(NoisyMean, mean, rebuilt)
    >>> sorted(leaky([1.0, 2.0], 1, np.random.default_rng(0))[0]["learner"].__dict__)
    ['first_', 'mean_']
    """

    reveal: Callable[[Any], Any]
    rebuild: Callable[[Any, Any, int], Any]
    shown: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        shown = {} if self.shown is None else {"shown": self.shown}
        _require_callable(reveal=self.reveal, rebuild=self.rebuild, **shown)

    def _one(self, dataset: Any, rng: np.random.Generator) -> Any:
        learner = reset_seed(self._fit(dataset, rng), self.own_randomness)
        revealed = self.reveal(learner)
        size = len(dataset.X if isinstance(dataset, Labeled) else dataset)
        fresh = reset_seed(self.build() if self.own_randomness else self.build(random_state=0), self.own_randomness)
        rebuilt = self.rebuild(fresh, revealed, size)
        if not (has_plain_pickle_of(learner, rebuilt) or same(learner, rebuilt)):
            return self._read_release(learner)
        return revealed if self.shown is None else self.shown(revealed)

    def _read_release(self, learner: Any) -> dict[str, Any]:
        return show(learner, None)


def reset_seed(learner: Any, own_randomness: bool) -> Any:
    """Reset the seed that the audit passed: users of the learner do not see one."""
    if not own_randomness and getattr(learner, "random_state", None) is not None:
        learner.random_state = None
    return learner
