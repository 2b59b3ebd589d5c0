"""Short texts for callables and datasets: the same in every process, free of memory addresses."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from audit.claims import Labeled


def name_of(mechanism: Any) -> str:
    """A short name for any callable."""
    inner = getattr(mechanism, "function", mechanism)
    return str(getattr(inner, "__name__", type(inner).__name__))


def describe_mechanism(mechanism: Any) -> str:
    """Module and name of a callable."""
    inner = getattr(mechanism, "function", mechanism)
    kind = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{kind.__module__}.{kind.__qualname__}" if hasattr(kind, "__module__") else name_of(mechanism)


def show(dataset: Any, limit: int = 200) -> str:
    """A dataset in a line: as code that can be pasted where that is short enough, else shortened."""
    code = code_of(dataset)
    if len(code) <= limit:
        return code
    if isinstance(dataset, np.ndarray):
        body = np.array2string(dataset, threshold=12, edgeitems=3, separator=", ").replace("\n", "")
        return f"array of shape {dataset.shape}: {body}"[:limit]
    return reprlib.repr(dataset)[:limit]


def code_of(dataset: Any) -> str:
    """Python that makes the dataset, given `numpy as np`, `inf`, `nan` and `audit`."""
    if isinstance(dataset, np.ndarray):
        kind = f", dtype={str(dataset.dtype)!r}" if dataset.dtype.kind != "f" or not dataset.size else ""
        return f"np.array({dataset.tolist()!r}{kind})"
    if isinstance(dataset, Labeled):
        return f"audit.Labeled({code_of(dataset.X)}, {code_of(dataset.y)})"
    return repr(dataset)
