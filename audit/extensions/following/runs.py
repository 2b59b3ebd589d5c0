"""Single runs of a mechanism, on a copy of the data: genuine, traced, forced, and plain with given noise."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import fork
from audit.extensions.following.outputs import Form, describe
from audit.extensions.following.record import NotFollowed, Record
from audit.extensions.following.sources import supply
from audit.extensions.following.suppliers import PlainSupplier, Supplier, TracedSupplier
from audit.extensions.following.traced import Traced, observe

Mechanism = Callable[[Any, int, np.random.Generator], Any]


@dataclass(frozen=True)
class Raised:
    """An exception, which is an output."""

    kind: str
    text: str


def call(mechanism: Mechanism, dataset: Any, seed: int, supplier: Supplier | None, size: int = 1) -> Any:
    """Return the outputs of one call."""
    dataset = copy.deepcopy(dataset)
    module = sys.modules.get(str(getattr(getattr(mechanism, "function", mechanism), "__module__", None)))
    with supply(seed, supplier, module) as rng:
        try:
            output = mechanism(dataset, size, rng)
            if isinstance(supplier, TracedSupplier):
                supplier.record.is_settling = True
                output = settle(output)
        except Exception as error:
            output = Raised(type(error).__qualname__, str(error))
    failure = getattr(getattr(supplier, "record", supplier), "failure", "")
    if failure:
        raise NotFollowed(failure)
    if not isinstance(output, Raised) and count_outputs(output) != size:
        raise NotFollowed(f"{size:,} outputs were asked for, {type(output).__name__} came")
    return output


def count_outputs(outputs: Any) -> int:
    """Return how many outputs a call gave; -1 for an object that is no sequence of them."""
    try:
        return len(outputs)
    except TypeError:
        return -1


def settle(output: Any, depth: int = 0) -> Any:
    """Return an output with numbers in place of traced ones, inside objects as well."""
    if isinstance(output, Traced):
        return observe(output)
    if type(output) in (list, tuple, set) and depth < 40:
        return type(output)(settle(part, depth + 1) for part in output)
    if isinstance(output, dict) and depth < 40:
        items = {settle(key, depth + 1): settle(part, depth + 1) for key, part in output.items()}
        return items if type(output) is dict else type(output)(items)
    if isinstance(output, np.ndarray) and output.dtype == object:
        plain = np.empty(output.shape, object)
        plain[...] = [settle(part, depth + 1) for part in output.ravel().tolist()] if output.ndim == 1 else output
        return plain
    state = getattr(output, "__dict__", None)
    if state and not callable(output) and any(isinstance(part, Traced) for part in state.values()):
        output = copy.copy(output)
        vars(output).update({name: settle(part, depth + 1) for name, part in state.items()})
    return output


def run_genuine(mechanism: Mechanism, dataset: Any, seed: int) -> Form:
    """Run the unmodified code with genuine generators."""
    return describe(call(mechanism, dataset, seed, None))


def run_traced(
    mechanism: Mechanism, dataset: Any, seed: int, values_only: bool = False, size: int = 1
) -> tuple[Record, Form]:
    """Run with traced noise."""
    record = Record(values_only=values_only)
    return record, describe(call(mechanism, dataset, seed, TracedSupplier(record), size), loose=True)


def run_forced(
    mechanism: Mechanism, dataset: Any, seed: int, like: Record, changes: dict[int, int], size: int = 1
) -> tuple[Record, Form]:
    """Run on the other dataset with the observations of `like` forced, but for changes."""
    record = Record(forced=like.observations, values_only=like.values_only, changes=changes)
    form = describe(call(mechanism, dataset, seed, TracedSupplier(record), size), loose=True)
    if len(record.observations) != len(like.observations):
        raise NotFollowed("the two datasets look at different things")
    return record, form


def run_plain(mechanism: Mechanism, dataset: Any, seed: int, supplier: PlainSupplier, size: int = 1) -> Form:
    """Run the unmodified code with plain noise from `supplier`."""
    return describe(call(mechanism, dataset, seed, supplier, size))


def call_in_fresh_process(work: Callable[[], Any], seconds: float = 20.0) -> Any:
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
