"""PyDP, the Python binding of Google's C++ library: its noise, and its algorithms on records.

The numerical mechanisms (`add_noise`) release the answer of a query; the caller states the relation that belongs to
the sensitivity. The algorithms (Count, BoundedSum, BoundedMean ...) take records and claim (epsilon, delta) under
add/remove, if a person contributes one record. The library draws from the operating system's randomness.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audit.adapters.functions import Built, entrywise
from audit.errors import InvalidArgument, MissingExtra

try:
    from pydp.algorithms.numerical_mechanisms import NumericalMechanism
except ImportError:
    raise MissingExtra.of("python-dp") from None


@dataclass(frozen=True)
class PyDPNoise(Built):
    """`add_noise` of a numerical mechanism, on the answer of a query.

    An integer answer is released as an integer, a float as a multiple of the library's granularity.

    Parameters
    ----------
    build : callable
        () -> LaplaceMechanism or GaussianMechanism of pydp.algorithms.numerical_mechanisms; called once in every
        process. A function of your own: the binding's classes cannot be sent to a worker, not even within a partial.
    query : callable, default the identity
        dataset -> number, or vector, deterministic; noise is added to each entry by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.adapters.pydp import PyDPNoise
    >>> from pydp.algorithms.numerical_mechanisms import LaplaceMechanism
    >>> count = PyDPNoise(lambda: LaplaceMechanism(1.0, 1.0), len)
    >>> len(count([1, 0, 1], 5, np.random.default_rng(0)))
    5
    """

    def _release(self) -> Callable[[Any], Any]:
        if not isinstance(self.built, NumericalMechanism):
            raise InvalidArgument.of("build", "build a numerical mechanism of PyDP", self.built)
        return entrywise(self.built.add_noise)


@dataclass(frozen=True)
class PyDPAlgorithm(Built):
    """`quick_result` of an algorithm on the records; the algorithm does not keep them.

    Parameters
    ----------
    build : callable
        () -> algorithm of pydp.algorithms.laplacian; called once in every process.
    query : callable, default the identity
        dataset -> sequence of records.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.adapters.pydp import PyDPAlgorithm
    >>> from pydp.algorithms.laplacian import Count
    >>> count = PyDPAlgorithm(lambda: Count(epsilon=1.0, dtype="int"))
    >>> len(count([1, 0, 1], 5, np.random.default_rng(0)))
    5
    """

    def _release(self) -> Callable[[Any], Any]:
        return lambda records: self.built.quick_result(list(records))
