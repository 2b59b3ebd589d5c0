"""Randomized response on one bit: the truth with probability e / (1 + e), 1-DP for any two records.

Implements Warner (1965), as each library has it. PyDP has no randomized response.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Comparison, Implementation, Local, PrivacyClaim
from audit.errors import MissingExtra
from audit.extensions.adapters import Documented, LibraryObject
from audit.extensions.adapters.opendp import OpenDP, dp
from mechanisms.comparisons.programs import randomized_response
from mechanisms.randomized_response import KeepOrResample, RandomizedResponse

try:
    from diffprivlib.mechanisms import Binary
except ImportError:
    raise MissingExtra.of("diffprivlib") from None

EPSILON = 1.0
WARNER = RandomizedResponse((0, 1), EPSILON)


@dataclass(frozen=True)
class AsBits:
    """A mechanism whose outputs are brought into the form 0 or 1."""

    mechanism: Callable[..., Any]
    own_randomness: bool = True

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.array(self.mechanism(dataset, size, rng), dtype=int)


def opendp_response() -> Any:
    """make_randomized_response_bool."""
    return dp.m.make_randomized_response_bool(prob=math.exp(EPSILON) / (1 + math.exp(EPSILON)))


def diffprivlib_response() -> Any:
    """Binary, whose two values are texts."""
    return Binary(epsilon=EPSILON, value0="0", value1="1")


def _documented(mechanism: Callable[..., Any]) -> Documented:
    return Documented(AsBits(mechanism), WARNER.law)


COMPARISON = Comparison(
    name="randomized response",
    claim=PrivacyClaim(EPSILON, 0.0, Local(), "Kairouz, Bonawitz & Ramage 2016"),
    pairs=[(1, 0)],
    truth=int,
    implementations=[
        Implementation(name="dp-audit response", mechanism=WARNER),
        Implementation(name="dp-audit keep or resample", mechanism=KeepOrResample((0, 1), EPSILON)),
        Implementation(
            name="OpenDP response, bool",
            mechanism=_documented(OpenDP(opendp_response, bool)),
            budget=40_000,
        ),
        Implementation(
            name="diffprivlib Binary",
            mechanism=_documented(LibraryObject(diffprivlib_response, str, method="randomise")),
        ),
        *randomized_response(WARNER.law),
    ],
    largest_error=1.0,
)
