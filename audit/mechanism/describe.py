"""Name a mechanism, and show a dataset as code or in one line."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.claims import Labeled

_SHORT = 200  # characters of a dataset in a list of pairs


def name_callable(mechanism: Any) -> str:
    """Return a short name for any callable."""
    inner = getattr(mechanism, "function", mechanism)
    return str(getattr(inner, "__name__", type(inner).__name__))


def describe_mechanism(mechanism: Any) -> str:
    """Return module and name of a callable: the same in every process, without memory addresses."""
    inner = getattr(mechanism, "function", mechanism)
    kind = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{kind.__module__}.{kind.__qualname__}" if hasattr(kind, "__module__") else name_callable(mechanism)


@dataclass(frozen=True, repr=False)
class Shown:
    """A dataset that another process has found: its texts, in one line, in a witness, and whole."""

    short: str
    long: str
    code: str

    def __repr__(self) -> str:
        return self.code


def show(dataset: Any, limit: int = _SHORT) -> str:
    """Return a dataset in one line: as code that can be pasted where that is short enough, else shortened."""
    code = write_code(dataset)
    if len(code) <= limit:
        return code
    if isinstance(dataset, Shown):
        return dataset.short if limit <= _SHORT else dataset.long
    if isinstance(dataset, np.ndarray):
        body = np.array2string(dataset, threshold=12, edgeitems=3, separator=", ").replace("\n", "")
        return f"array of shape {dataset.shape}: {body}"[:limit]
    return _join_lines(reprlib.repr(dataset))[:limit]


def write_code(dataset: Any) -> str:
    """Return Python that makes the dataset, given `numpy as np`, `pandas as pd`, `polars as pl`, `inf`, `nan`, `audit`.

    A dataset of a type that has no such text is described on one line.
    """
    if isinstance(dataset, np.ndarray):
        kind = f", dtype={str(dataset.dtype)!r}" if dataset.dtype.kind != "f" or not dataset.size else ""
        return f"np.array({dataset.tolist()!r}{kind})"
    if isinstance(dataset, Labeled):
        return f"audit.Labeled({write_code(dataset.X)}, {write_code(dataset.y)})"
    library, name = type(dataset).__module__.partition(".")[0], type(dataset).__name__
    if (library, name) == ("pandas", "DataFrame"):
        index = "" if type(dataset.index).__name__ == "RangeIndex" else f", index={dataset.index.tolist()!r}"
        return f"pd.DataFrame({dataset.to_dict('list')!r}{index})"
    if (library, name) == ("polars", "DataFrame"):
        return f"pl.DataFrame({dataset.to_dict(as_series=False)!r})"
    return _join_lines(repr(dataset))


def _join_lines(text: str) -> str:
    return "; ".join(line.strip() for line in text.splitlines())


def states_a_law(mechanism: Any) -> bool:
    """Return whether a mechanism states its law or its privacy loss, so that an exact audit of it is possible."""
    return any(callable(getattr(mechanism, name, None)) for name in ("privacy_loss", "law"))
