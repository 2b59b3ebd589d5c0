"""Register mechanisms that leak, with the two datasets that they tell apart and the claim that they break."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    certain: bool = True  # so large that the defaults must convict it; else it must only not pass
    floats: str = "real"  # "audit" for what only an audit of floating point looks for


LEAKS: list[Leak] = []


def leak(group: str, certain: bool = True, calls: bool = True, floats: str = "real") -> Callable[..., Any]:
    """Register a function of (dataset, rng) that returns one output, or of (dataset, size, rng) if not `calls`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        mechanism = audit.per_call(function) if calls else function
        LEAKS.append(Leak(function.__name__, mechanism, group, certain, floats))
        return function

    return register


def add_leaks(group: str, functions: Mapping[str, Callable[..., Any]], **options: Any) -> None:
    """Register functions under their names, as `leak` does."""
    for name, function in functions.items():
        function.__name__ = name
        leak(group, **options)(function)


def secret(data: np.ndarray) -> bool:
    return bool(data[0] > 0.5)


def noise(rng: np.random.Generator) -> float:
    return float(rng.laplace(scale=4.0))


def private(data: np.ndarray, rng: np.random.Generator) -> float:
    """Return an answer that keeps epsilon = 1 with room to spare."""
    return float(data[0] + rng.laplace(scale=4.0))
