"""Exactly tight mechanisms: the truth is known, so that a bound above it is an error of the auditor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from audit import Local, PrivacyClaim

THETA = math.e / (1 + math.e)


def laplace(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The record plus Laplace(1): exactly epsilon = 1 between the records 0 and 1."""
    return data + rng.laplace(size=size)


def randomized_response(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The bit, kept with probability e / (1 + e): exactly epsilon = 1."""
    return np.where(rng.random(size) < THETA, data, 1 - data)


def geometric(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """The record plus two-sided geometric noise of ratio 1/e: exactly epsilon = 1."""
    p = 1 - math.exp(-1)
    return data + rng.geometric(p, size) - rng.geometric(p, size)


LOCAL = PrivacyClaim(1.0, 0.0, Local(), "by construction")
PAIR = [(0, 1)]


def claim(delta: float = 0.0, epsilon: float = 1.0) -> PrivacyClaim:
    """The claim that a subject of this module keeps exactly."""
    return PrivacyClaim(epsilon, delta, Local(), "by construction")
