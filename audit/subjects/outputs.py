"""Encode outputs: whatever a mechanism returned becomes numbers and symbols that every scorer can read.

A batch holds one row per output. Real numbers are in `numbers`, shape (size,) for scalars and (size, d) for
vectors; everything else (text, None, NaN, ragged lists, raised exceptions) becomes a symbol "kind: detail",
and its numbers are NaN. A symbol is an output like any other: it can leak.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_EXACT_INTEGERS = 2**53  # beyond this a float64 no longer tells two integers apart
_SYMBOL_LENGTH = 200
_NAMED_COORDINATES = 20  # of a vector with NaN
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_KINDS = {"str_": "str", "ndarray": "list", "tuple": "list"}  # kinds that are read alike


class BadBatch(Exception):
    """A mechanism returned something that is not a batch of outputs; the text says what it was."""


class BadLength(BadBatch):
    """A mechanism returned a batch whose first axis is not the size that was asked for."""


@dataclass(frozen=True)
class Raised:
    """Stands in a batch for an output that was never returned because the call raised."""

    error: BaseException

    def __str__(self) -> str:
        return f"raised {type(self.error).__name__}: {_shortened(str(self.error))}"


@dataclass(frozen=True)
class Symbols:
    """The rows of a batch that are not numbers."""

    table: tuple[str, ...]  # distinct symbols, "kind: detail" or "kind"
    codes: np.ndarray  # int, shape (size,): index into the table; -1 for the rows that are numbers

    def at(self, row: int) -> str | None:
        """Return the symbol of a row, or None."""
        return self.table[self.codes[row]] if self.codes[row] >= 0 else None

    def __getitem__(self, rows: Any) -> Symbols:
        return Symbols(self.table, self.codes[rows])

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> Symbols:
        known: dict[str, int] = {}
        codes = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
        return cls(tuple(known), np.array(codes, dtype=np.int64))


@dataclass(frozen=True)
class Outputs:
    raw: Any  # array or list as returned, first axis (size,); what `log_likelihood` gets to see
    numbers: np.ndarray  # float, shape (size,) or (size, d); NaN where there is a symbol
    symbols: Symbols | None = None  # the rows that are not numbers; None when all are

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def is_scalar(self) -> bool:
        """True when the numeric rows are single numbers."""
        return self.numbers.ndim == 1

    @property
    def symbolic(self) -> np.ndarray:
        """Boolean mask of the rows that are symbols."""
        return np.zeros(len(self), dtype=bool) if self.symbols is None else self.symbols.codes >= 0

    def __getitem__(self, rows: slice) -> Outputs:
        raw = self.raw[rows]
        numbers = raw if self.numbers is self.raw else self.numbers[rows]
        return Outputs(raw, numbers, None if self.symbols is None else self.symbols[rows])


def encode(raw: Any, size: int) -> Outputs:
    """Turn what a mechanism returned for `size` outputs into `Outputs`; raise `BadBatch` if it has no first axis."""
    rows = raw.to_numpy() if hasattr(raw, "to_numpy") else raw
    if not (isinstance(rows, (list, tuple)) or (isinstance(rows, np.ndarray) and rows.ndim)):
        raise BadBatch(f"returned {type(rows).__name__} where an array with one row per output was due")
    if len(rows) != size:
        raise BadLength(f"returned {len(rows)} outputs where {size} were asked for")
    array = _numeric_array(rows)
    return _encode_rows(rows) if array is None else _encode_numbers(rows, array)


def concatenate(batches: Sequence[Outputs]) -> Outputs:
    """Join batches; when they disagree in shape, every row becomes a symbol."""
    if len(batches) == 1:
        return batches[0]
    parts = [batch.raw for batch in batches]
    if all(isinstance(part, np.ndarray) for part in parts) and len({part.shape[1:] for part in parts}) == 1:
        raw: Any = np.concatenate(parts)
    else:
        raw = [row for part in parts for row in part]
    if isinstance(raw, np.ndarray) and all(batch.numbers is batch.raw and batch.symbols is None for batch in batches):
        return Outputs(raw, raw)  # float64 without NaN, kept once
    if len({batch.numbers.shape[1:] for batch in batches}) > 1:
        return Outputs(raw, np.full(len(raw), np.nan), Symbols.of(map(_symbol, raw)))
    numbers = np.concatenate([batch.numbers for batch in batches])
    if all(batch.symbols is None for batch in batches):
        return Outputs(raw, numbers)
    known: dict[str, int] = {}
    codes = []
    for batch in batches:
        table, coded = (batch.symbols.table, batch.symbols.codes) if batch.symbols else ((), np.full(len(batch), -1))
        codes.append(np.array([*(known.setdefault(text, len(known)) for text in table), -1])[coded])
    return Outputs(raw, numbers, Symbols(tuple(known), np.concatenate(codes)))


def _numeric_array(rows: Any) -> np.ndarray | None:
    if isinstance(rows, np.ndarray):
        return rows if rows.dtype.kind in "biufc" else None
    if not all(_is_number(entry) for row in rows for entry in (row if isinstance(row, (list, tuple)) else (row,))):
        return None
    try:
        array = np.asarray(rows)
    except (ValueError, OverflowError):  # ragged
        return None
    return array if array.dtype.kind in "biufc" and array.ndim <= 2 else None


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, (int, float, np.number, np.bool_))


def _encode_numbers(raw: Any, array: np.ndarray) -> Outputs:
    if array.dtype.kind == "c":
        flat = array.reshape(len(array), -1)
        array = np.concatenate([flat.real, flat.imag], axis=1)
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.min())), abs(int(array.max()))) > _EXACT_INTEGERS:
        return _encode_rows(array.reshape(len(array), -1).tolist())
    numbers = array.astype(np.float64, copy=False)
    if numbers.ndim > 2:
        numbers = numbers.reshape(len(numbers), -1)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    missing = np.isnan(numbers)
    if not missing.any():
        return Outputs(raw, numbers)
    if missing.ndim == 1:
        return Outputs(raw, numbers, Symbols(("nan",), np.where(missing, 0, -1)))
    texts: list[str | None] = [None] * len(missing)
    for row in np.flatnonzero(missing.any(axis=1)):
        where = np.flatnonzero(missing[row])[:_NAMED_COORDINATES]
        texts[row] = "nan: in coordinates " + ", ".join(map(str, where))
    return Outputs(raw, numbers, Symbols.of(texts))


def _encode_rows(rows: Any) -> Outputs:
    """Encode row by row: scalars that are numbers stay numbers, all others become symbols."""
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "SU" and rows.ndim == 1:
        table, codes = np.unique(rows, return_inverse=True)
        return Outputs(rows, np.full(len(rows), np.nan), Symbols(tuple(map(_symbol, table)), codes))
    numbers = np.full(len(rows), np.nan)
    texts: list[str | None] = [None] * len(rows)
    known: dict[str, str] = {}  # text is rendered once for each distinct string
    for index, row in enumerate(rows):
        if _is_plain_number(row):
            numbers[index] = row
        elif type(row) is str:
            texts[index] = known.get(row) or known.setdefault(row, _symbol(row))
        else:
            texts[index] = _symbol(row)
    return Outputs(rows, numbers, Symbols.of(texts))


def _is_plain_number(value: Any) -> bool:
    if isinstance(value, (int, np.integer)):
        return abs(int(value)) <= _EXACT_INTEGERS
    return isinstance(value, (np.bool_, float, np.floating)) and value == value


def _symbol(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (float, np.floating)) and value != value:
        return "nan"
    if isinstance(value, Raised):
        return str(value)
    kind = type(value).__name__
    return f"{_KINDS.get(kind, kind)}: {_shortened(_canonical(value))}"


def _shortened(text: str) -> str:
    """Return a short text; a digest tells long ones apart that differ only behind the cut."""
    if len(text) <= _SYMBOL_LENGTH:
        return text
    return f"{text[:_SYMBOL_LENGTH]}... sha256 {hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _canonical(value: Any) -> str:
    """Return a text that is equal for equal outputs: sorted where order means nothing, without memory addresses."""
    if isinstance(value, (np.generic, np.ndarray)) and not isinstance(value, (np.longdouble, np.clongdouble)):
        return _canonical(value.tolist())
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{_canonical(k)}: {_canonical(v)}" for k, v in value.items())) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(_canonical, value))) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_canonical, value)) + "]"
    try:
        return _ADDRESS.sub("", repr(value))
    except Exception as error:  # an output whose repr fails is still an output
        return f"repr raised {type(error).__name__}"
