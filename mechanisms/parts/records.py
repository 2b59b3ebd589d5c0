"""Records as arrays: features of one shape, finite, and labels 0 and 1; anything else is refused, not clipped."""

from typing import Any

import numpy as np

from audit.errors import InvalidArgument


def require_features(X: Any, dim: int, in_unit_cube: bool = False, name: str = "X") -> np.ndarray:
    """Return features as an array of shape (n, dim), or raise; a vector is a column for dim = 1."""
    try:
        array = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, "hold real numbers", X) from None
    if array.ndim == 1 and dim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != dim:
        raise InvalidArgument.of(name, f"have shape (n, {dim})", array.shape)
    if not np.all(np.isfinite(array)):
        raise InvalidArgument.of(name, "be finite", array[~np.isfinite(array)][0].item())
    outside = array[(array < 0) | (array > 1)]
    if in_unit_cube and outside.size:
        raise InvalidArgument.of(name, f"lie in the cube [0, 1]^{dim}; scale it by public bounds", outside[0].item())
    return array


def require_labels(y: Any, n: int) -> np.ndarray:
    """Return labels 0 and 1 as integers of shape (n,), or raise: clipping would hide a broken sensitivity."""
    array = np.asarray(y)
    if array.shape != (n,):
        raise InvalidArgument.of("y", f"have shape ({n},)", array.shape)
    wrong = [label for label in array.tolist() if label not in (0, 1)]
    if wrong:
        raise InvalidArgument.of("y", "hold labels 0 and 1 only", wrong[0])
    return array.astype(np.int64)
