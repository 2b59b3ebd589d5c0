"""The base of the adapters of `opendp`, `diffprivlib` and `pydp`: a query, and an object that releases its answer.

Such objects cannot be sent to another process: every process builds its own, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from audit.base.errors import InvalidArgument
from audit.subjects import PerCall


def identity(dataset: Any) -> Any:
    """Return the dataset itself: the query of a mechanism that takes records."""
    return dataset


@dataclass(frozen=True)
class Built(ABC):
    """A mechanism that hands the answer of a query to an object of a library.

    Parameters
    ----------
    build : callable
        () -> the library's object; called once in every process. A function, or a `functools.partial` of one: these can
        be sent to a worker.
    query : callable, default the identity
        dataset -> what the object releases. Deterministic: it is computed once for all outputs of a call.

    Raises
    ------
    InvalidArgument
        If an argument is not callable.
    """

    build: Callable[[], Any]
    query: Callable[[Any], Any] = identity

    own_randomness: ClassVar[bool] = True  # from the operating system: a seed does not repeat a run

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

    @abstractmethod
    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        """Release the answer `size` times; the generator is not used."""


@dataclass(frozen=True)
class OneByOne(Built):
    """A library that releases one number or category per call; the entries of a vector are released one by one.

    An exception is an output, as for `audit.per_call`.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        answer, release = plain(self.query(dataset)), self._release()
        if isinstance(answer, list):
            return PerCall(lambda _: [release(entry) for entry in answer], False)(dataset, size, rng)
        return PerCall(lambda _: release(answer), False)(dataset, size, rng)

    @abstractmethod
    def _release(self) -> Callable[[Any], Any]:
        """Return the library's function from a true entry to a released one."""


def plain(answer: Any) -> Any:
    """Return an answer as a Python number or list: the types that libraries accept."""
    return answer.tolist() if isinstance(answer, (np.ndarray, np.generic)) else answer


@lru_cache(maxsize=64)
def _once(build: Callable[[], Any]) -> Any:
    return build()
