"""Functions, library objects and private learners as mechanisms, with or without a stated law.

A learner has the scikit-learn protocol; a fresh one is fitted for every output: its predictions at fixed queries, or
fitted attributes such as coefficients. The dataset is `Labeled`, or an array for a learner without labels. Predictions
are computed from the fitted learner and inherit its privacy; auditing the attributes examines more. Relation and claim
are those of the learner's own documentation.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from audit.claims import Labeled
from audit.errors import InvalidArgument
from audit.laws import Law
from audit.mechanism.per_call import PerCall

_SEEDS = 2**31  # scikit-learn's random states are 32-bit


def identity(dataset: Any) -> Any:
    """Return the dataset itself: the query of a mechanism that takes records."""
    return dataset


def require_callable(**functions: object) -> None:
    """Raise `InvalidArgument` that names the first argument that is not callable."""
    for name, function in functions.items():
        if not callable(function):
            raise InvalidArgument.of(name, "be callable", function)


@dataclass(frozen=True)
class Built(ABC):
    """The base of the adapters of libraries: a query, and a library's object that releases its answer.

    Every process builds its own, once: such objects cannot be sent. An exception is an output.
    """

    build: Callable[[], Any]
    query: Callable[[Any], Any] = identity  # computed once for all outputs of a call

    own_randomness: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_callable(build=self.build, query=self.query)

    @property
    def __name__(self) -> str:
        inner = getattr(self.build, "func", self.build)
        return str(getattr(inner, "__name__", type(self).__name__))

    @property
    def built(self) -> Any:
        """The library's object in this process."""
        return _once(self.build)

    def _answer(self, dataset: Any) -> Any:
        """Return the query's answer as a Python number or list: the types that libraries accept."""
        answer = self.query(dataset)
        return answer.tolist() if isinstance(answer, (np.ndarray, np.generic)) else answer

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """Release the answer `size` times; the generator is not used."""
        return PerCall(self._release(), False)(self._answer(dataset), size, rng)

    @abstractmethod
    def _release(self) -> Callable[[Any], Any]:
        """Return the library's function from an answer to an output."""


@lru_cache(maxsize=64)
def _once(build: Callable[[], Any]) -> Any:
    return build()


def entrywise(release: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that releases a number or category, and a vector entry by entry."""
    return lambda answer: [release(entry) for entry in answer] if isinstance(answer, list) else release(answer)


@dataclass(frozen=True)
class Elementwise:
    """A mechanism made of a function that releases every entry of an array independently.

    Much numerical code releases an array at a time: `values + rng.laplace(size=values.shape)`. The answer of the query
    is repeated `size` times and released in one call. The output is the noisy answer.

    Parameters
    ----------
    release : callable
        `release(answers)` or `release(answers, rng)`: array -> array of the same shape. Without a parameter `rng` it is
        taken to draw its own randomness. It must not share noise between entries; the audit's probe and
        `RandomnessCheck` look for such noise.
    query : callable, default the identity
        dataset -> number, or vector of shape (d,); deterministic.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.adapters import Elementwise
    >>> noisy = Elementwise(lambda answers, rng: answers + rng.laplace(size=answers.shape), np.sum)
    >>> noisy(np.ones(5), 3, np.random.default_rng(0)).shape
    (3,)
    """

    release: Callable[..., Any]
    query: Callable[[Any], Any] = identity

    def __post_init__(self) -> None:
        require_callable(release=self.release, query=self.query)

    @property
    def __name__(self) -> str:
        return str(getattr(self.release, "__name__", "elementwise"))

    @property
    def own_randomness(self) -> bool:
        """True if the function is not given the generator."""
        try:
            return "rng" not in inspect.signature(self.release).parameters
        except (TypeError, ValueError):  # compiled callables without a signature
            return True

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        """Release `size` copies of the answer; shape (size,) or (size, d)."""
        answer = np.asarray(self.query(dataset))
        if answer.ndim > 1 or answer.dtype.kind not in "biuf":
            raise InvalidArgument.of("query", "answer with a number or a vector of them", answer)
        copies = np.repeat(answer[None], size, axis=0)
        released = np.asarray(self.release(copies) if self.own_randomness else self.release(copies, rng))
        if released.shape != copies.shape:
            raise InvalidArgument.of("release", f"keep the shape {copies.shape}", released.shape)
        return released


@dataclass(frozen=True)
class Described:
    """A mechanism with a description of its outputs beside it; subclasses state the description."""

    mechanism: Callable[..., Any]

    @property
    def own_randomness(self) -> bool:
        """True if the mechanism draws its own randomness."""
        return bool(getattr(self.mechanism, "own_randomness", False))

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """Call the mechanism."""
        return self.mechanism(dataset, size, rng)


@dataclass(frozen=True)
class Documented(Described):
    """A mechanism with the output law that its documentation states: the audit judges that law exactly too.

    A PASS rests on the documented law and on outputs that agree with it. Noise that a library rounds to a fine
    grid is stated as what it rounds: the law is exact up to that grid.

    Parameters
    ----------
    mechanism : callable
        (dataset, size, rng) -> outputs.
    law_of : callable
        dataset -> `audit.laws` law of one output.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.adapters import Documented
    >>> from audit.laws import Laplace
    >>> def noisy_sum(data, size, rng):
    ...     return np.sum(data) + rng.laplace(size=size)
    >>> Documented(noisy_sum, lambda data: Laplace(float(np.sum(data)), 1.0)).law([1.0, 2.0])
    Laplace(loc=3.0, scale=1.0)
    """

    law_of: Callable[[Any], Law]

    def law(self, dataset: Any) -> Law:
        """Return the documented law of one output."""
        return self.law_of(dataset)


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

    def _one(self, dataset: Any, rng: np.random.Generator) -> Any:
        return self._released(self._fit(dataset, rng))

    def _fit(self, dataset: Any, rng: np.random.Generator) -> Any:
        learner = self.build() if self.own_randomness else self.build(random_state=int(rng.integers(_SEEDS)))
        learner.fit(*((dataset.X, dataset.y) if isinstance(dataset, Labeled) else (dataset,)))
        return learner

    @abstractmethod
    def _released(self, learner: Any) -> Any:
        """Return what is published of a fitted learner."""


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
