"""Served mechanisms whose parameters are searched with an exact law: Gaussian noise whose deviation is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit.laws import Gaussian
from wild.mechanism import Served

EVERY_SETTING: dict[str, Any] = {
    "named": "any epsilon and delta",
    "method": "auto",
    "parameters": {"epsilon": st.floats(0.1, 20.0), "delta": st.sampled_from([1e-6, 1e-5, 1e-3])},
}
"""Of an entry whose epsilon and delta are searched."""


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
