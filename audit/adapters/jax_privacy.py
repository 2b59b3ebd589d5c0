"""jax-privacy's clipped gradients: what each record of a batch contributes, for the recorder of a training run.

The library clips inside of the function that sums, so that a loop never sees the contribution of a record. The same
function is called on each record alone, which its formal guarantee allows: the rows add up to what it gives for the batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from audit.base.errors import InvalidArgument, MissingExtra


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
    >>> from audit.adapters.jax_privacy import contributions
    >>> mean = lambda parameters, x: x.sum(axis=0)  # stands for a clipped gradient
    >>> contributions(mean, None, np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()  # doctest: +SKIP
    [[1.0, 2.0], [3.0, 4.0]]
    """
    try:
        import jax
    except ImportError as error:
        raise MissingExtra.of("jax", "jax") from error
    lengths = {len(part) for part in batch}
    if len(lengths) != 1:
        raise InvalidArgument.of("batch", "be arrays with the same records along their first axes", sorted(lengths))
    alone = jax.vmap(lambda *record: clipped_gradient(parameters, *(part[None] for part in record)))
    rows = [np.asarray(leaf, dtype=float) for leaf in jax.tree.leaves(alone(*batch))]
    return np.concatenate([row.reshape(len(row), -1) for row in rows], axis=1)
