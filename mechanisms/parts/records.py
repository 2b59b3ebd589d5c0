"""Records as arrays: features of one shape, finite, and labels 0 and 1; anything else is refused, not clipped.

Records are private: no error shows one.
"""

from typing import Any

import numpy as np

from audit import Labeled
from audit.errors import InvalidArgument


def as_records(X: Any, name: str = "X") -> np.ndarray:
    """Return an array with a record a row, or raise without showing one."""
    try:
        array = np.asarray(X)
    except ValueError:
        array = np.empty(())
    if array.ndim == 0:
        raise InvalidArgument(f"`{name}` must be an array with a row for each record, got {type(X).__name__}")
    return array


def require_labeled(dataset: Any) -> Labeled:
    """Return labeled records, or raise."""
    if not isinstance(dataset, Labeled):
        raise InvalidArgument(f"`dataset` must be labeled records, got {type(dataset).__name__}")
    return dataset


def require_features(X: Any, dim: int, in_unit_cube: bool = False, name: str = "X") -> np.ndarray:
    """Return features as an array of shape (n, dim), or raise; a vector is a column for dim = 1."""
    try:
        array = np.asarray(X, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(f"`{name}` must hold real numbers") from None
    if array.ndim == 1 and dim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != dim:
        raise InvalidArgument.of(name, f"have shape (n, {dim})", array.shape)
    if not np.all(np.isfinite(array)):
        raise InvalidArgument(f"`{name}` must be finite")
    if in_unit_cube and np.any((array < 0) | (array > 1)):
        raise InvalidArgument(f"`{name}` must lie in the cube [0, 1]^{dim}; scale it by public bounds")
    return array


def require_labels(y: Any, n: int) -> np.ndarray:
    """Return labels 0 and 1 as integers of shape (n,), or raise: clipping would hide a broken sensitivity."""
    array = np.asarray(y)
    if array.shape != (n,):
        raise InvalidArgument.of("y", f"have shape ({n},)", array.shape)
    if not all(label in (0, 1) for label in array.tolist()):
        raise InvalidArgument("`y` must hold labels 0 and 1 only")
    return array.astype(np.int64)
