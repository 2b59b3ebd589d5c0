"""OpenDP's measurements as mechanisms, and their privacy maps as claims.

The output is what the measurement returns for the answer of a query, or for the dataset if the measurement starts from
records. The argument of a privacy map is the input distance. Between datasets it fixes the relation (change-one and
Hamming distance: substitution; symmetric and insert-delete distance: add/remove; discrete distance: local). Between
answers it is the sensitivity, and the caller states the relation. OpenDP draws from the operating system's randomness.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.adapters.functions import Built
from audit.claims import AddRemove, Claim, Group, Local, PrivacyClaim, Substitution, ZeroConcentratedClaim
from audit.errors import InvalidArgument, MissingExtra

try:
    import opendp.prelude as dp
except ImportError:
    raise MissingExtra.of("opendp") from None

__all__ = ["OpenDP", "dp", "opendp_claim"]

_RELATIONS: dict[str, Callable[[], Any]] = {
    "ChangeOneDistance": Substitution,
    "HammingDistance": Substitution,
    "SymmetricDistance": AddRemove,
    "InsertDeleteDistance": AddRemove,
    "DiscreteDistance": Local,
}


@dataclass(frozen=True)
class OpenDP(Built):
    """A measurement on the answer of a query.

    Parameters
    ----------
    build : callable
        () -> opendp Measurement; called once in every process. A function, or a `functools.partial` of one: these can
        be sent to a worker.
    query : callable, default the identity
        dataset -> the measurement's argument; deterministic.
    vectorized : bool, default False
        Set it for a measurement that takes vectors and adds independent noise of one law to every entry (make_laplace,
        make_geometric, make_gaussian on a vector domain): all outputs of a call are then released at once, as copies of
        the answer side by side. Otherwise the library is called once per output, some 200 microseconds.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.adapters.opendp import OpenDP, dp
    >>> dp.enable_features("contrib")
    >>> count = OpenDP(lambda: dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=1.0), len)
    >>> len(count([1, 0, 1], 5, np.random.default_rng(0)))
    5
    """

    vectorized: bool = False

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        if not self.vectorized:
            return super().__call__(dataset, size, rng)
        answer = self._answer(dataset)
        if not str(self.built.input_domain).startswith("VectorDomain"):
            domain = str(self.built.input_domain)
            raise InvalidArgument(f"vectorized=True needs a domain of vectors, got {domain}: leave `vectorized` out")
        is_vector = isinstance(answer, list)
        released = np.array(self.built((answer if is_vector else [answer]) * size))
        return released.reshape(size, -1) if is_vector else released

    def _release(self) -> Any:
        return self.built


def opendp_claim(measurement: Any, d_in: Any, relation: Any = None, delta: float | None = None) -> Claim:
    """Return the claim that a measurement's own privacy map makes.

    Parameters
    ----------
    measurement : opendp Measurement
        Its output measure says which kind of claim: pure or approximate differential privacy, or zero-concentrated.
    d_in : number
        Input distance: the number of records that differ, or the sensitivity of the query.
    relation : relation, optional
        Required if the input distance is one between answers.
    delta : float in (0, 1), optional
        Turns a zero-concentrated or smoothed guarantee into (epsilon, delta), by the library's own conversion.

    Examples
    --------
    >>> from audit.adapters.opendp import dp, opendp_claim
    >>> dp.enable_features("contrib")
    >>> print(opendp_claim(dp.m.make_randomized_response_bool(prob=0.75), d_in=1))
    (1.09861, 0)-DP under local
    """
    neighbors = relation
    if neighbors is None:
        metric = str(measurement.input_metric).removesuffix("()")
        if metric not in _RELATIONS:
            raise InvalidArgument(
                f"the input metric {metric} is between answers, not datasets: give `relation`, such as Substitution()"
            )
        base = _RELATIONS[metric]()
        neighbors = base if d_in == 1 else Group(d_in, base)
    source = "privacy map of the OpenDP measurement"
    measure = str(measurement.output_measure)
    if measure == "MaxDivergence":
        return PrivacyClaim(float(measurement.map(d_in)), 0.0, neighbors, source)
    if measure == "Approximate(MaxDivergence)":
        epsilon, slack = measurement.map(d_in)
        return PrivacyClaim(float(epsilon), float(slack), neighbors, source)
    if measure == "ZeroConcentratedDivergence":
        if delta is None:
            return ZeroConcentratedClaim(rho=float(measurement.map(d_in)), relation=neighbors, source=source)
        measurement, measure = dp.c.make_zCDP_to_approxDP(measurement), "SmoothedMaxDivergence"
    if measure == "SmoothedMaxDivergence" and delta is not None:
        return PrivacyClaim(float(measurement.map(d_in).epsilon(delta)), delta, neighbors, source)
    if measure == "SmoothedMaxDivergence":
        raise InvalidArgument("the guarantee is a curve of (epsilon, delta): give `delta`, such as delta=1e-6")
    raise InvalidArgument.of("measurement", "have an output measure that a claim expresses", measure)
