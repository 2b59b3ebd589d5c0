"""The output codec: whatever a mechanism returned becomes numbers and symbols that every scorer can read.

A batch holds one row an output. Real numbers go to `numbers`, shape (size,) for scalars and (size, d) for
vectors; everything else (text, None, NaN, ragged lists, raised exceptions) becomes a symbol "kind: detail",
and its numbers are NaN. A symbol is an output like any other: it can leak.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_EXACT_INTEGERS = 2**53  # beyond this a float64 no longer tells two integers apart
_SYMBOL_LENGTH = 200
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class BadBatch(Exception):
    """What came back from a mechanism is not a batch of outputs; the text says what it was."""


class BadLength(BadBatch):
    """A batch came back whose first axis is not the size that was asked for."""


@dataclass(frozen=True)
class Raised:
    """Stands in a batch for an output that was never returned because the call raised."""

    error: BaseException

    @property
    def symbol(self) -> str:
        """Type and message of the exception."""
        return f"raised {type(self.error).__name__}: {str(self.error)[:_SYMBOL_LENGTH]}"


@dataclass(frozen=True)
class Symbols:
    """The rows of a batch that are not numbers.

    Parameters
    ----------
    table : tuple of str
        Distinct symbols, "kind: detail" or "kind".
    codes : int array, shape (size,)
        Index into the table; -1 for the rows that are numbers.
    """

    table: tuple[str, ...]
    codes: np.ndarray

    @property
    def mask(self) -> np.ndarray:
        """True for the rows that are symbols; shape (size,)."""
        return self.codes >= 0

    def at(self, row: int) -> str | None:
        """The symbol of a row, or None."""
        return self.table[self.codes[row]] if self.codes[row] >= 0 else None

    def counts(self) -> list[tuple[str, int]]:
        """How often each symbol occurs."""
        found = np.bincount(self.codes[self.mask], minlength=len(self.table))
        return [(symbol, int(count)) for symbol, count in zip(self.table, found, strict=True) if count]

    def __getitem__(self, rows: Any) -> Symbols:
        return Symbols(self.table, self.codes[rows])

    @classmethod
    def of(cls, texts: Sequence[str | None]) -> Symbols:
        """Code a list of texts."""
        known: dict[str, int] = {}
        codes = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
        return cls(tuple(known), np.array(codes, dtype=np.int64))

    @classmethod
    def join(cls, parts: Sequence[Symbols]) -> Symbols:
        """Concatenate, with one table."""
        known: dict[str, int] = {}
        codes = []
        for part in parts:
            renumbered = np.array([known.setdefault(text, len(known)) for text in part.table] + [-1])
            codes.append(renumbered[part.codes])
        return cls(tuple(known), np.concatenate(codes))


@dataclass(frozen=True)
class Outputs:
    """A batch of outputs.

    Parameters
    ----------
    raw : array or list, first axis (size,)
        As returned; what `log_likelihood` gets to see.
    numbers : float array, shape (size,) or (size, d)
        The numeric outputs, NaN where there is a symbol.
    symbols : Symbols or None
        The rows that are not numbers; None when all are.
    """

    raw: Any
    numbers: np.ndarray
    symbols: Symbols | None = None

    @classmethod
    def plain(cls, numbers: np.ndarray) -> Outputs:
        """Outputs that were returned as an array of float64 without NaN; it is kept once."""
        return cls(numbers, numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def is_scalar(self) -> bool:
        """True when the numeric rows are single numbers."""
        return self.numbers.ndim == 1

    @property
    def symbolic(self) -> np.ndarray:
        """Boolean mask of the rows that are symbols."""
        return np.zeros(len(self), dtype=bool) if self.symbols is None else self.symbols.mask

    def __getitem__(self, rows: slice) -> Outputs:
        """A part of the batch."""
        raw = self.raw[rows]
        numbers = raw if self.numbers is self.raw else self.numbers[rows]
        return Outputs(raw, numbers, None if self.symbols is None else self.symbols[rows])


def encode(raw: Any, size: int) -> Outputs:
    """Turn what a mechanism returned for `size` outputs into `Outputs`.

    Raises
    ------
    BadLength
        When the first axis does not have length `size`.
    BadBatch
        When `raw` has no first axis at all (None, a scalar, text, a set).
    """
    rows = _rows(raw)
    if len(rows) != size:
        raise BadLength(f"returned {len(rows)} outputs where {size} were asked for")
    array = _numeric_array(rows)
    if array is None:
        return _encode_rows(rows)
    return _encode_numbers(raw, array)


def concatenate(batches: Sequence[Outputs]) -> Outputs:
    """Join batches; when they disagree in shape, every row becomes a symbol."""
    if len(batches) == 1:
        return batches[0]
    raw = _join_raw([batch.raw for batch in batches])
    if isinstance(raw, np.ndarray) and all(batch.numbers is batch.raw and batch.symbols is None for batch in batches):
        return Outputs.plain(raw)
    if len({batch.numbers.shape[1:] for batch in batches}) > 1:
        return Outputs(raw, np.full(len(raw), np.nan), Symbols.join([_as_symbols(b) for b in batches]))
    numbers = np.concatenate([batch.numbers for batch in batches])
    if all(batch.symbols is None for batch in batches):
        return Outputs(raw, numbers)
    none = [Symbols((), np.full(len(batch), -1)) for batch in batches]
    return Outputs(raw, numbers, Symbols.join([b.symbols or n for b, n in zip(batches, none, strict=True)]))


def _rows(raw: Any) -> Any:
    if hasattr(raw, "to_numpy"):
        raw = raw.to_numpy()
    if isinstance(raw, np.ndarray) and raw.ndim >= 1:
        return raw
    if isinstance(raw, (list, tuple)):
        return raw
    raise BadBatch(f"returned {type(raw).__name__} where an array with one row an output was due")


def _numeric_array(rows: Any) -> np.ndarray | None:
    if isinstance(rows, np.ndarray):
        return rows if rows.dtype.kind in "biufc" else None
    if any(isinstance(row, Raised) for row in rows):
        return None
    if not all(_is_number(entry) for row in rows for entry in _entries(row)):
        return None
    try:
        array = np.asarray(rows)
    except (ValueError, OverflowError):  # ragged
        return None
    return array if array.dtype.kind in "biufc" and array.ndim <= 2 else None


def _entries(row: Any) -> Any:
    if isinstance(row, np.ndarray) and row.dtype.kind in "biufc":
        return ()
    return row if isinstance(row, (list, tuple)) else (row,)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.number, np.bool_)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biufc"
    )


def _encode_numbers(raw: Any, array: np.ndarray) -> Outputs:
    if array.dtype.kind == "c":
        flat = array.reshape(len(array), -1)
        array = np.concatenate([flat.real, flat.imag], axis=1)
    if array.dtype.kind in "iu" and array.size and _magnitude(array) > _EXACT_INTEGERS:
        return _encode_rows(array.reshape(len(array), -1).tolist())
    numbers = array.astype(np.float64, copy=False)
    if numbers.ndim > 2 or (numbers.ndim == 2 and numbers.shape[1] == 1):
        numbers = numbers.reshape(len(numbers), -1)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    missing = np.isnan(numbers)
    if not missing.any():
        return Outputs(raw, numbers)
    return Outputs(raw, numbers, _nan_symbols(missing))


def _magnitude(array: np.ndarray) -> int:
    return max(abs(int(array.min())), abs(int(array.max())))


def _nan_symbols(missing: np.ndarray) -> Symbols:
    if missing.ndim == 1:
        return Symbols(("nan",), np.where(missing, 0, -1))
    texts: list[str | None] = [None] * len(missing)
    for row in np.flatnonzero(missing.any(axis=1)):
        where = np.flatnonzero(missing[row])
        texts[row] = "nan: in coordinates " + ", ".join(map(str, where[:20]))
    return Symbols.of(texts)


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
    if isinstance(value, (bool, np.bool_)):
        return True
    if isinstance(value, (int, np.integer)):
        return abs(int(value)) <= _EXACT_INTEGERS
    return isinstance(value, (float, np.floating)) and value == value


def _as_symbols(batch: Outputs) -> Symbols:
    known = [None if batch.symbols is None else batch.symbols.at(row) for row in range(len(batch))]
    return Symbols.of([text or _symbol(row) for text, row in zip(known, batch.raw, strict=True)])


def _symbol(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, (float, np.floating)) and value != value:
        return "nan"
    if isinstance(value, Raised):
        return value.symbol
    text = _canonical(value)
    kind = {"str_": "str", "ndarray": "list", "tuple": "list"}.get(type(value).__name__, type(value).__name__)
    return f"{kind}: {text[:_SYMBOL_LENGTH]}"


def _canonical(value: Any) -> str:
    """Text that is equal for equal outputs: sorted where order means nothing, free of memory addresses."""
    if isinstance(value, np.generic):
        return _canonical(value.item())
    if isinstance(value, np.ndarray):
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


def _join_raw(parts: list[Any]) -> Any:
    if all(isinstance(part, np.ndarray) for part in parts) and len({p.shape[1:] for p in parts}) == 1:
        return np.concatenate(parts)
    return [row for part in parts for row in part]
