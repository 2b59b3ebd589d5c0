"""Mechanisms whose parameters are searched: Gaussian noise with its exact law, and randomizers of one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit import Local, PrivacyCheck, PrivacyClaim
from audit.laws import Gaussian
from wild.mechanism import Served


@dataclass(frozen=True)
class Release:
    """Makes the searches over parameters of one release of a library.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    prefix : str
        Name of the library in the names of its checks, the same for all releases.
    name : str
        Library and version, as its documentation calls them.
    own_randomness : bool
        Whether the library draws from a generator of its own.
    """

    library: str
    prefix: str
    name: str
    own_randomness: bool = True

    def search(self, served: str, pairs: Any, claim: Any, *, named: str, **settings: Any) -> PrivacyCheck:
        """Return a search over `parameters`, of which the claim is a function, and the pairs may be one.

        `served` is a key of `MECHANISMS`, `named` stands in the name in place of epsilon; the rest is of the check.
        """
        mechanism = Served(self.library, served, own_randomness=self.own_randomness)
        known = {"mechanism": mechanism, "budget": 200_000, "method": "fixed", **settings}
        return PrivacyCheck(name=f"{self.prefix}/{served} {named}", claim=claim, pairs=pairs, **known)


EVERY_SETTING: dict[str, Any] = {
    "named": "any epsilon and delta",
    "method": "auto",
    "parameters": {"epsilon": st.floats(0.1, 20.0), "delta": st.sampled_from([1e-6, 1e-5, 1e-3])},
}
"""Of a search over epsilon and delta."""


def gaussian(library: str, name: str, deviation: str) -> type[Served]:
    """Return a class that takes epsilon and delta: Gaussian noise on the sum of a dataset, with its law.

    The law is the normal law with the deviation that the library computes for epsilon and delta. The audit tests the
    library's sampler against it, so that the law is not taken on trust.

    Parameters
    ----------
    library : str
        A folder of `wild`.
    name, deviation : str
        Keys of `MECHANISMS`: the noisy sum, and the standard deviation of its noise, as functions of epsilon and delta.
    """

    class Searched(Served):
        """The noisy sum at one setting."""

        def __init__(self, epsilon: float, delta: float) -> None:
            super().__init__(library, name)
            setting: Mapping[str, Any] = {"epsilon": epsilon, "delta": delta}
            object.__setattr__(self, "setting", setting)

        @cached_property
        def sigma(self) -> float:
            """The deviation; asked for when it is needed, since the library may not be installed before."""
            return float(Served(library, deviation)([], 1, np.random.default_rng(0), **self.setting)[0])

        def law(self, dataset: Any) -> Gaussian:
            """Return the law of the noisy sum."""
            return Gaussian(float(sum(dataset)), self.sigma)

        def __call__(self, dataset: Any, size: int, rng: np.random.Generator, **setting: Any) -> Any:
            """Ask for `size` outputs at the setting."""
            return super().__call__(dataset, size, rng, **self.setting)

    Searched.library, Searched.name = library, name  # what the catalog reads off a class
    return Searched


EPSILONS = st.floats(0.2, 3.0)
DOMAINS = st.integers(2, 40)
SHORT = st.integers(2, 6)  # of vector reports: on longer ones no score sees every difference
ANY_PARAMETERS: dict[str, Any] = {
    "method": "auto",
    "budget": 230_000,
    "tolerance": 2.5,
    "named": "searched any parameters",
}
"""Of a search: budget and tolerance let epsilon 3 come out."""


def claimed(release: Release, says: str, relation: Any) -> Callable[..., PrivacyClaim]:
    """Return the claim as a function of a setting: epsilon and delta are those of the setting, 0 where it has none."""

    def claim(epsilon: float = 0.0, delta: float = 0.0, **_: Any) -> PrivacyClaim:
        return PrivacyClaim(epsilon, delta, relation, f"{release.name}, {says}")

    return claim


def local(
    release: Release, served: str, says: str, pairs: Any = (), *, first: int = 0, **parameters: Any
) -> PrivacyCheck:
    """Return a search over epsilon, and over the size of the domain unless there are pairs, of a local randomizer.

    Parameters
    ----------
    release : Release
        Of the library.
    served : str
        A key of `MECHANISMS`: a function of `epsilon` and of `values`, if that is searched.
    says : str
        Where the claim stands, and its words.
    pairs : sequence of (left, right)
        Neighboring records where the domain is fixed; else the first value and the last.
    first : int
        The first value.
    **parameters
        Strategies of further parameters.
    """

    def ends(values: int, **_: Any) -> list[tuple[int, int]]:
        return [(first, first + values - 1)]

    domain = {} if pairs else {"values": DOMAINS}
    searched = {"epsilon": EPSILONS, **domain, **parameters}
    claim = claimed(release, says, Local())
    return release.search(served, pairs or ends, claim, parameters=searched, **ANY_PARAMETERS)
