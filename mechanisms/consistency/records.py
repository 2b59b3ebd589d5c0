"""Validate records: finite features of one dimension and labels in {0, 1}; anything else raises."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.errors import InvalidArgument

FloatArray = np.ndarray


def features(X: Any, dim: int, unit_cube: bool = False) -> FloatArray:
    """Return features as an array of shape (n, dim).

    Parameters
    ----------
    X : array-like, shape (n, dim), or (n,) for dim = 1
    dim : int
    unit_cube : bool
        Refuse features outside [0, 1]^dim.

    Raises
    ------
    InvalidArgument
        For a wrong shape, entries that are not finite real numbers, or features outside the cube.
    """
    try:
        array = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of("X", "hold real numbers", X) from None
    if array.ndim == 1 and dim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != dim:
        raise InvalidArgument.of("X", f"have shape (n, {dim})", array.shape)
    if not np.all(np.isfinite(array)):
        raise InvalidArgument.of("X", "be finite", array[~np.isfinite(array)][0].item())
    if unit_cube and array.size and not (array.min() >= 0 and array.max() <= 1):
        outside = array[(array < 0) | (array > 1)][0].item()
        raise InvalidArgument.of("X", f"lie in the cube [0, 1]^{dim}; scale it by public bounds", outside)
    return array


def labels(y: Any, n: int) -> FloatArray:
    """Return labels as an integer array of shape (n,); only 0 and 1 are labels.

    Raises
    ------
    InvalidArgument
        For a wrong shape or any other value: clipping silently would hide a broken sensitivity.
    """
    array = np.asarray(y)
    if array.shape != (n,):
        raise InvalidArgument.of("y", f"have shape ({n},)", array.shape)
    wrong = ~((array == 0) | (array == 1))
    if np.any(wrong):
        raise InvalidArgument.of("y", "hold labels 0 and 1 only", array[wrong][0].item())
    return array.astype(np.int64)
