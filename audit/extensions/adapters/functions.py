"""Objects of libraries as mechanisms, and mechanisms with the law that their documentation states."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from audit.api import InvalidArgument, PerCall, laws


def identity(dataset: Any) -> Any:
    """Return the dataset itself: the query of a mechanism that takes records."""
    return dataset


@dataclass(frozen=True)
class LibraryObject:
    """A method of a library's object, called once for every output with the answer of a query.

    Every process builds an object of its own, once: such objects cannot be sent. An exception is an output.

    Parameters
    ----------
    build : callable
        () -> object. A function of your own, or a `functools.partial` of one: these can be sent to a worker.
    query : callable, default the identity
        dataset -> the argument of the method, deterministic: a number, a category, or a vector.
    method : str
        Its name, such as "randomise" of a mechanism of diffprivlib, "add_noise" of a numerical mechanism of PyDP, or
        "quick_result" of an algorithm of PyDP; the object itself is called unless given.
    entrywise : bool, default True
        Whether each entry of a vector is released by a call of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.extensions.adapters import LibraryObject
    >>> from diffprivlib.mechanisms import Geometric
    >>> count = LibraryObject(lambda: Geometric(epsilon=1.0), len, method="randomise")
    >>> len(count([1, 0, 1], 5, np.random.default_rng(0)))
    5
    """

    build: Callable[[], Any]
    query: Callable[[Any], Any] = identity  # computed once for all outputs of a call
    method: str = field(default="__call__", kw_only=True)
    entrywise: bool = field(default=True, kw_only=True)

    own_randomness: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("build", "query"):
            if not callable(getattr(self, name)):
                raise InvalidArgument.of(name, "be callable", getattr(self, name))

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
        release, answer = getattr(self.built, self.method), self._answer(dataset)
        if self.entrywise and isinstance(answer, list):
            return PerCall(lambda entries: [release(entry) for entry in entries], False)(answer, size, rng)
        return PerCall(release, False)(answer, size, rng)


@lru_cache(maxsize=64)
def _once(build: Callable[[], Any]) -> Any:
    return build()


@dataclass(frozen=True)
class Documented:
    """A mechanism with the output law that its documentation states: the audit judges that law exactly too.

    A PASS rests on the documented law and on outputs that agree with it. Noise that a library rounds to a fine
    grid is stated before rounding: the law is exact up to that grid.

    Parameters
    ----------
    mechanism : callable
        (dataset, size, rng) -> outputs.
    law_of : callable
        dataset -> `audit.laws` law of one output.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.extensions.adapters import Documented
    >>> from audit.laws import Laplace
    >>> def noisy_sum(data, size, rng):
    ...     return np.sum(data) + rng.laplace(size=size)
    >>> Documented(noisy_sum, lambda data: Laplace(float(np.sum(data)), 1.0)).law([1.0, 2.0])
    Laplace(loc=3.0, scale=1.0)
    """

    mechanism: Callable[..., Any]
    law_of: Callable[[Any], laws.Law]

    @property
    def own_randomness(self) -> bool:
        """True if the mechanism draws its own randomness."""
        return bool(getattr(self.mechanism, "own_randomness", False))

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """Call the mechanism."""
        return self.mechanism(dataset, size, rng)

    def law(self, dataset: Any) -> laws.Law:
        """Return the documented law of one output."""
        return self.law_of(dataset)
