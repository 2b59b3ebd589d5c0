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
from audit.claims import PrivacyClaim
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
        return entrywise(_require_known(self.built).randomise)


def diffprivlib_claim(mechanism: Any, relation: Any) -> PrivacyClaim:
    """Return the claim that a mechanism's own parameters make, for one released answer.

    Parameters
    ----------
    mechanism : diffprivlib.mechanisms.DPMechanism
        Its sensitivity must be that of the query under `relation`: for a vector in l1, on a mechanism with delta = 0.
    relation : relation
        The library does not name one.

    Examples
    --------
    >>> from audit import AddRemove
    >>> from audit.adapters.diffprivlib import diffprivlib_claim
    >>> from diffprivlib.mechanisms import Laplace
    >>> print(diffprivlib_claim(Laplace(epsilon=0.5, sensitivity=1.0), AddRemove()))
    (0.5, 0)-DP under add/remove
    """
    known = _require_known(mechanism)
    source = f"diffprivlib.mechanisms.{type(known).__name__}"
    return PrivacyClaim(float(known.epsilon), float(known.delta), relation, source)


def _require_known(mechanism: Any) -> Any:
    if not isinstance(mechanism, DPMechanism):
        raise InvalidArgument.of("mechanism", "be a mechanism of diffprivlib", mechanism)
    return mechanism
