"""Objects of libraries as mechanisms, and mechanisms with the law that their documentation states."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from audit.errors import InvalidArgument
from audit.laws import Law
from audit.mechanism.call import PerCall


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
