"""One pair of neighbors for all leaks: add/remove of one large record, and the private number that most release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Data = list[float]
LEFT: Data = [1.0, 2.0, 2.0, 5.0]
RIGHT: Data = [1.0, 2.0, 2.0, 5.0, 9.0]
Leak = Callable[[Data, np.random.Generator], Any]


def private(data: Data, rng: np.random.Generator) -> float:
    """Return the sum of the records, clipped to [0, 1], with noise for epsilon = 1/2."""
    return float(np.clip(data, 0, 1).sum() + rng.laplace(scale=2))


def close(data: Data, rng: np.random.Generator) -> float:
    """Return the sum with noise that is far too small."""
    return float(sum(data) + rng.laplace(scale=1))
