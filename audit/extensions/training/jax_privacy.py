"""jax-privacy's clipped gradients: what each record of a batch contributes, for the recorder of a training run.

The library clips inside of the function that sums, so that a loop never sees the contribution of a record. The same
function is called on each record alone; the rows add up to what it gives for the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from audit.api import InvalidArgument, MissingExtra

_BLOCK = 64  # records: a batch is filled up to a multiple of it


def contributions(clipped_gradient: Callable[..., Any], parameters: Any, *batch: Any) -> np.ndarray:
    """Return what each record of a batch contributes to the sum of clipped gradients, one row per record.

    Parameters
    ----------
    clipped_gradient : callable
        What `jax_privacy.clipped_grad` returned, without auxiliary outputs: `(parameters, *batch) -> sum`.
    parameters : tree of arrays
        At which the gradients are taken.
    *batch : array-like
        Its arguments with the records along the first axis, such as `X, y`.

    Returns
    -------
    numpy.ndarray, shape (records, parameters)
        The leaves of the tree in the order of `jax.tree.leaves`, each record's in one row.

    Raises
    ------
    MissingExtra
        Without jax.
    InvalidArgument
        For no batch, or arrays of different lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from audit.extensions.training.jax_privacy import contributions
    >>> rows = contributions(clipped_gradient, parameters, X, y)  # doctest: +SKIP
    >>> recorder.step(batch, clipped=rows, noisy_sum=noisy, released=released)  # doctest: +SKIP
    """
    try:
        import jax
    except ImportError as error:
        raise MissingExtra.of("jax", "jax") from error
    lengths = {len(part) for part in batch}
    if len(lengths) != 1:
        raise InvalidArgument.of("batch", "be arrays with the same records along their first axes", sorted(lengths))
    (count,) = lengths
    places = np.resize(np.arange(count), -(-count // _BLOCK) * _BLOCK)  # few lengths, so that little is compiled
    tree = _row_by_row(clipped_gradient, len(batch))(parameters, *(np.asarray(part)[places] for part in batch))
    rows = [np.asarray(leaf, dtype=float)[:count] for leaf in jax.tree.leaves(tree)]
    return np.concatenate([row.reshape(count, -1) for row in rows], axis=1)


@lru_cache(maxsize=64)
def _row_by_row(clipped_gradient: Callable[..., Any], arguments: int) -> Any:
    """Return the compiled function that gives the clipped gradient of each record alone, along the first axis."""
    import jax

    def alone(parameters: Any, *record: Any) -> Any:
        return clipped_gradient(parameters, *(part[None] for part in record))

    return jax.jit(jax.vmap(alone, in_axes=(None, *[0] * arguments)))
