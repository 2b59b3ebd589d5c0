"""Make outputs known: numbers in them that were drawn and not asked for are told apart by their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.extensions.enumeration.answers import Answer, Symbol
from audit.extensions.enumeration.deferred import Deferred, force

_DEEPEST = 50


def known_output(value: Any, depth: int = 0) -> Any:
    """Return an output whose numbers are all known; containers of Python and arrays of objects are looked into."""
    if type(value) is Deferred:
        return force(value, "the output")
    if type(value) is Symbol:
        return Answer(force(value.offset, "the output"))
    if depth > _DEEPEST:
        return value
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(known_output(entry, depth + 1) for entry in value)
    if type(value) is dict:
        return {known_output(key, depth + 1): known_output(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, np.ndarray) and value.dtype == object:
        known = [known_output(entry, depth + 1) for entry in value.ravel()]
        return np.array(known).reshape(value.shape)
    return value
