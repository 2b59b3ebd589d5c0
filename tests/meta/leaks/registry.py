"""Register mechanisms that leak, with the two datasets that they tell apart and the claim that they break."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import audit
from audit import PrivacyClaim

CLAIM = PrivacyClaim(epsilon=1.0)
LEFT, RIGHT = np.array([0.1234567]), np.array([0.7654321])


@dataclass(frozen=True)
class Leak:
    name: str
    mechanism: Callable[..., Any]
    group: str
    natural: bool = False  # a bug that occurs without malice
    certain: bool = True  # so large that the defaults must convict it; else it must only not pass
    floats: str = "real"  # "audit" for what only an audit of floating point looks for


LEAKS: list[Leak] = []


def leak(
    group: str, natural: bool = False, certain: bool = True, calls: bool = True, floats: str = "real"
) -> Callable[..., Any]:
    """Register a function of (dataset, rng) that returns one output, or of (dataset, size, rng) if not `calls`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        mechanism = audit.per_call(function) if calls else function
        LEAKS.append(Leak(function.__name__, mechanism, group, natural, certain, floats))
        return function

    return register


def secret(data: np.ndarray) -> bool:
    return bool(data[0] > 0.5)


def noise(rng: np.random.Generator) -> float:
    return float(rng.laplace(scale=4.0))


def private(data: np.ndarray, rng: np.random.Generator) -> float:
    """Return an answer that keeps epsilon = 1 with room to spare."""
    return float(data[0] + rng.laplace(scale=4.0))
