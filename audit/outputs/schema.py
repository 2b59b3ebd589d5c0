"""Say what decides on the columns of an output that is read alone, and walk through all that an object holds."""

from __future__ import annotations

import array
import collections
import enum
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from audit.outputs.fingerprint import Raised, cell_contents, content_of, fields_of
from audit.outputs.tables import is_arrow, is_polars, is_table, structure_of_table

DEEPEST = 12  # levels of columns; what is deeper is one text
_SCALARS = (float, bool, str, complex, type(None), set, frozenset, bytearray, Raised)
_OF_ONE_STRUCTURE = frozenset((*_SCALARS, np.float64, np.float32, np.int64, np.int32, np.bool_))


def structure_of(value: Any, depth: int = 0) -> Any:
    """Return what decides on the columns of a value that is read alone."""
    kind = type(value)
    if depth > DEEPEST:
        return kind
    if kind is int:
        return kind, -(2**63) <= value < 2**63
    if kind in _SCALARS or isinstance(value, (type, types.ModuleType, enum.Enum)):
        return kind
    if kind is bytes:
        return kind, len(value)
    if kind is array.array:
        return kind, value.typecode, len(value)
    if kind in (list, tuple, collections.deque):
        kinds = tuple(map(type, value))
        return kind, *(kinds if _OF_ONE_STRUCTURE.issuperset(kinds) else _structures_of(list(value), depth))
    if isinstance(value, dict):
        return kind, repr(list(value)), *(structure_of(entry, depth + 1) for entry in value.values())
    if isinstance(value, (np.ndarray, np.generic)):
        return kind, value.dtype, value.shape
    if is_table(kind) or is_arrow(kind) or is_polars(kind):
        return structure_of_table(value)
    held = dict(fields_of(value))
    with suppress(LookupError):
        held[""] = content_of(value)
    return kind, tuple(held), *(structure_of(entry, depth + 1) for entry in held.values())


def _structures_of(entries: list[Any], depth: int) -> list[Any]:
    is_of_integers = set(map(type, entries)) == {int}
    if is_of_integers and min(entries) >= -(2**63) and max(entries) < 2**63:  # as entry by entry, and fast
        return [(int, True)] * len(entries)
    return [structure_of(entry, depth + 1) for entry in entries]


def orders(learner: Any) -> list[list[Any]]:
    """Return the elements of each set in the learner in the order in which it yields them."""
    return [list(part) for part in parts_of(learner) if isinstance(part, (set, frozenset))]


def parts_of(value: Any) -> Iterator[Any]:
    """Yield a value and all that it holds: entries, attributes and variables of closures, each once."""
    left, known = [value], {}
    while left:
        part = left.pop()
        if id(part) in known or isinstance(part, (str, bytes, int, float, complex, type, type(None))):
            continue
        known[id(part)] = part
        yield part
        if isinstance(part, dict):
            left += [*part.values(), *part]
        elif isinstance(part, (list, tuple, set, frozenset)):
            left += part
        elif isinstance(part, np.ndarray):
            left += part.ravel().tolist() if part.dtype.hasobject else []
        else:
            left += fields_of(part).values()
            left += cell_contents(part) if isinstance(part, types.FunctionType) else []
            left += [part.__self__, part.__func__] if isinstance(part, types.MethodType) else []
