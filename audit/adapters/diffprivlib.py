"""diffprivlib's mechanisms: objects with a method `randomise`, called once for every released number.

The output is the answer of a query with noise on every entry. The library works with sensitivities and leaves the
relation to the caller, who states it for the query. It draws from the operating system's randomness unless it is built
with a random state, which would replace the generator that its users run. For its learners see
`audit.Predictions`; for `diffprivlib.tools`, functions of the data, use `audit.per_call`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from audit.adapters.functions import Built, entrywise
from audit.errors import InvalidArgument, MissingExtra

try:
    from diffprivlib.mechanisms import DPMechanism
except ImportError:
    raise MissingExtra.of("diffprivlib") from None


@dataclass(frozen=True)
class Diffprivlib(Built):
    """`randomise` of a mechanism of diffprivlib, on the answer of a query.

    Parameters
    ----------
    build : callable
        () -> diffprivlib.mechanisms.DPMechanism; called once in every process. A function, or a `functools.partial` of
        one: these can be sent to a worker.
    query : callable, default the identity
        dataset -> number, category, or vector, deterministic; each entry is randomized by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.adapters.diffprivlib import Diffprivlib
    >>> from diffprivlib.mechanisms import Geometric
    >>> count = Diffprivlib(lambda: Geometric(epsilon=1.0), len)
    >>> len(count([1, 0, 1], 5, np.random.default_rng(0)))
    5
    """

    def _release(self) -> Callable[[Any], Any]:
        if not isinstance(self.built, DPMechanism):
            raise InvalidArgument.of("build", "build a mechanism of diffprivlib", self.built)
        return entrywise(self.built.randomise)
