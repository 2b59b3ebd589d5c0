"""Single runs of a mechanism, on a copy of the data: genuine, or with the noise of a supplier."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.api import fork
from audit.extensions.following.outputs import Raised
from audit.extensions.following.record import NotFollowed
from audit.extensions.following.sources import supply
from audit.extensions.following.suppliers import Supplier, Tracer
from audit.extensions.following.traced import Traced, observe

Mechanism = Callable[[Any, int, np.random.Generator], Any]
_DEEPEST = 40


def call(mechanism: Mechanism, dataset: Any, seed: int, supplier: Supplier | None = None, size: int = 1) -> Any:
    """Return the outputs of one call; without a supplier, of the unmodified code with genuine generators."""
    dataset = copy.deepcopy(dataset)
    module = sys.modules.get(str(getattr(getattr(mechanism, "function", mechanism), "__module__", None)))
    with supply(seed, supplier, module) as rng:
        try:
            output = mechanism(dataset, size, rng)
            if isinstance(supplier, Tracer):
                supplier.is_settling = True
                output = _settle(output)
        except Exception as error:
            output = Raised(type(error).__qualname__, str(error))
    if supplier is not None and supplier.failure:
        raise NotFollowed(supplier.failure)
    if isinstance(output, Raised):
        return output
    try:
        count = len(output)
    except TypeError:  # no sequence of outputs
        count = -1
    if count != size:
        raise NotFollowed(f"{size:,} outputs were asked for, {type(output).__name__} came")
    return output


def _settle(output: Any, depth: int = 0) -> Any:
    """Return an output with numbers in place of traced ones, inside objects as well."""
    if isinstance(output, Traced):
        return observe(output)
    if depth >= _DEEPEST:
        return output
    if type(output) in (list, tuple, set):
        return type(output)(_settle(part, depth + 1) for part in output)
    if isinstance(output, dict):
        items = {_settle(key, depth + 1): _settle(part, depth + 1) for key, part in output.items()}
        return items if type(output) is dict else type(output)(items)
    if isinstance(output, np.ndarray) and output.dtype == object and output.ndim == 1:
        plain = np.empty(output.shape, object)
        plain[...] = [_settle(part, depth + 1) for part in output.tolist()]
        return plain
    if hasattr(output, "infer_objects"):
        return _settle_table(output, depth)
    state = getattr(output, "__dict__", None)
    if state and not callable(output) and any(isinstance(part, Traced) for part in state.values()):
        output = copy.copy(output)
        vars(output).update({name: _settle(part, depth + 1) for name, part in state.items()})
    return output


def _settle_table(table: Any, depth: int) -> Any:
    """Return a Series or a frame of pandas with numbers in place of traced ones, which it holds as objects."""
    if table.ndim == 1:
        is_traced = any(isinstance(cell, Traced) for cell in table)
        return table.map(lambda cell: _settle(cell, depth + 1)).infer_objects() if is_traced else table
    table = table.copy()
    for place in range(table.shape[1]):
        table.isetitem(place, _settle_table(table.iloc[:, place], depth))
    return table


def call_in_fresh_process(work: Callable[[], Any], seconds: float) -> Any:
    """Return the result of `work` in a copy of this process; None where that cannot be done."""
    if not hasattr(os, "fork"):
        return None
    child = fork(lambda line: line.send(pickle.dumps(work())))
    try:
        return pickle.loads(child.line.receive(seconds))
    except (EOFError, TimeoutError):
        return None
    finally:
        child.kill()
