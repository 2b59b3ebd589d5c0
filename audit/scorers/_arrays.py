"""Sort, merge and thin arrays of numbers."""

from __future__ import annotations

import numpy as np

from audit.outputs.encode import Outputs


def merged(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Merge two sorted arrays."""
    return np.sort(np.concatenate([first, second]), kind="stable")  # fast where the parts are sorted


def distinct(ordered: np.ndarray) -> np.ndarray:
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def sorted_finite(values: np.ndarray) -> np.ndarray:
    """Return the finite numbers in order, which single numbers have already: all others come at the ends."""
    ordered = values if bool(np.all(values[1:] >= values[:-1])) else np.sort(values)
    if np.isfinite(ordered[:1]).all() and np.isfinite(ordered[-1:]).all():
        return ordered
    return ordered[np.searchsorted(ordered, -np.inf, "right") : np.searchsorted(ordered, np.inf)]


def columns(outputs: Outputs) -> np.ndarray:
    """Return the numbers of a batch as shape (size, d)."""
    return outputs.numbers.reshape(len(outputs), -1)
