"""The choice of the exponential mechanism: probabilities that fall with the errors of the candidates."""

import sys
from typing import Any

import numpy as np
from scipy.special import softmax


def choice_probabilities(errors: Any, rate: float) -> np.ndarray:
    """Return probabilities proportional to exp(-rate * error) along the last axis.

    (epsilon, 0)-DP at rate epsilon / (2 s) when one record moves each error by at most s.
    """
    found, finite = np.asarray(errors, dtype=float), min(rate, sys.float_info.max)
    with np.errstate(over="ignore"):  # a huge rate leaves the candidates with the fewest errors
        return np.asarray(softmax(-finite * (found - found.min(axis=-1, keepdims=True)), axis=-1))


def choose(errors: Any, rate: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw indices of candidates, shape (size,), from errors of shape (candidates,)."""
    probabilities = choice_probabilities(errors, rate)
    return rng.choice(probabilities.size, size=size, p=probabilities)
