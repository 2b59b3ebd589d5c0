"""Encode outputs: whatever a mechanism returned becomes columns of numbers and texts that every scorer can read.

A batch holds one row per output. The numbers of an output, however deep in its structure, are in `numbers`, shape
(size,) for one number and (size, d) for several. Texts keep the rest that a caller sees: types, keys, the place of
NaN. An output without numbers (text, None, NaN, a raised exception, lists of varying length) is a symbol
"type: content". A symbol is an output like any other: it can leak. docs/outputs.md defines outputs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from audit.outputs.columns import Leaves, Texts, flatten, read_array, show_key
from audit.outputs.fingerprint import Raised, identify, make_text_reader, shorten
from audit.outputs.tables import is_foreign, is_table, read_columns, read_form, read_rows
from audit.outputs.walk import CannotKeep, name_type, read_fields

COLUMNS_AT_ONCE = 16  # of vectors, which are read together. TIME
_MULTIPLIER, _SHIFT = 0x9E3779B97F4A7C15, 29  # of the hash of a row
_CONTAINERS = (list, tuple, dict, np.ndarray)  # types that have columns where they are of one length
Names = tuple[tuple[str, int], ...]  # place in the output, and how many numbers it holds; 0 for a single number


class BadBatch(Exception):
    """A mechanism returned something that is not a batch of outputs; the text names it."""


class BadLength(BadBatch):
    """A mechanism returned a batch whose first axis is not the size that was asked for."""


@dataclass(frozen=True)
class Outputs:
    raw: Any  # array or list as returned, first axis (size,); what `log_likelihood` gets to see
    numbers: np.ndarray  # float64, shape (size,) or (size, d); NaN where there is a symbol
    symbols: Texts | None = None  # of the rows without numbers; None when there is none
    names: Names | None = None  # of the columns in `numbers`; None for numbers without a name
    texts: Mapping[str, Texts] = field(default_factory=dict)  # the rest that a caller sees of the rows with numbers
    ragged: bool = False  # whether some rows are symbols only because the lengths of lists or the keys of dicts vary
    mixed: bool = False  # whether some row would be read otherwise without the others

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

    @property
    def is_plain(self) -> bool:
        """True when there is nothing to see but numbers."""
        return self.symbols is None and all(len(texts.table) == 1 for texts in self.texts.values())

    def __getitem__(self, rows: slice) -> Outputs:
        raw = self.raw[rows]
        numbers = raw if self.numbers is self.raw else self.numbers[rows]
        texts = {name: texts[rows] for name, texts in self.texts.items()}
        symbols = None if self.symbols is None else self.symbols[rows]
        return Outputs(raw, numbers, symbols, self.names, texts, self.ragged, self.mixed)

    def count(self, prefix: str) -> int:
        """Return in how many rows a symbol, or a text about a number, begins with `prefix`."""
        about = [int(np.sum(texts.codes >= 0)) for name, texts in self.texts.items() if name.startswith(f"{prefix}(")]
        return sum(about) if self.symbols is None else sum(about) + int(self.find_symbols(prefix).sum())

    def find_symbols(self, prefix: str) -> np.ndarray:
        """Boolean mask of the rows whose symbol begins with `prefix`."""
        if self.symbols is None:
            return np.zeros(len(self), dtype=bool)
        return np.isin(self.symbols.codes, [code for code, x in enumerate(self.symbols.table) if x.startswith(prefix)])

    def keys(self) -> np.ndarray:
        """Return one 64-bit key per output: equal outputs have equal keys (others too, with probability 2^-64)."""
        bits = np.ascontiguousarray(self.numbers).view(np.uint64).reshape(len(self), -1)
        keys = mix_keys(bits.T, len(self))
        if self.texts:
            words = np.array([hash_texts(texts) ^ hash_text(name) for name, texts in self.texts.items()])
            own = mix_keys([words.ravel()], words.size).reshape(words.shape)
            seen = [texts.codes >= 0 for texts in self.texts.values()]
            keys = keys ^ np.bitwise_xor.reduce(np.where(seen, own, 0))  # a row without a text is as if none had it
        return keys if self.symbols is None else np.where(self.symbolic, hash_texts(self.symbols), keys)


def mix_keys(parts: Any, size: int) -> np.ndarray:
    """Hash the rows of some columns of 64-bit words; shape (size,)."""
    keys = np.zeros(size, dtype=np.uint64)
    for part in parts:
        keys = (keys ^ part) * np.uint64(_MULTIPLIER)
        keys ^= keys >> np.uint64(_SHIFT)
    return keys


def hash_texts(texts: Texts) -> np.ndarray:
    """Return the key of each row's text, 0 for rows without one; shape (size,)."""
    return np.array([*map(hash_text, texts.table), 0], dtype=np.uint64)[texts.codes]


@lru_cache(maxsize=65536)
def hash_text(text: str) -> np.uint64:
    key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(key, "little"))


def encode(raw: Any, size: int) -> Outputs:
    """Turn the return value for `size` outputs into `Outputs`.

    Raises
    ------
    BadBatch
        If it has no first axis, or holds something that cannot be read; the text names it.
    """
    try:
        known = isinstance(raw, (list, tuple, np.ndarray)) or hasattr(raw, "to_numpy")
        if not known or (isinstance(raw, np.ndarray) and not raw.ndim):
            is_generator = hasattr(raw, "__next__")
            instead = "return list(outputs)" if is_generator else "for one output a call, audit.per_call(function)"
            raise BadBatch(f"must return an array or a list of {size} outputs, got {type(raw).__name__}: {instead}")
        if len(raw) != size:
            raise BadLength(f"returned {len(raw)} outputs, expected {size}")
        return _encode_array(raw) if type(raw) is np.ndarray else _encode_other(raw)
    except CannotKeep as cause:
        raise BadBatch(f"returned something that cannot be examined: {cause}") from None


def _encode_array(raw: np.ndarray) -> Outputs:
    if raw.dtype.kind in "SU" and raw.ndim == 1:
        table, codes = np.unique(raw, return_inverse=True)
        return Outputs(raw, np.full(len(raw), np.nan), Texts(read_symbols(table).table, codes))
    if raw.dtype.names is not None and raw.ndim == 1:
        encoded = _encode_columns(raw, {f"[{show_key(name)}]": raw[name] for name in raw.dtype.names})
        if encoded is not None:
            return replace(encoded, texts={**encoded.texts, **_describe_array(raw)})
    if raw.dtype.kind not in "biufcmM":
        return _encode_rows(raw, list(raw))
    if raw.dtype == np.float64 and raw.ndim <= 2 and not np.isnan(raw).any():
        numbers = raw[:, 0] if raw.ndim == 2 and raw.shape[1] == 1 else raw
        return Outputs(raw, numbers, texts=_describe_array(raw))
    leaves = read_array(raw)
    leaves.texts.update(_describe_array(raw))
    missing = leaves.texts.pop("nan(output)", None) if raw.ndim == 1 else None
    return assemble(raw, leaves, missing)


def _describe_array(raw: np.ndarray) -> dict[str, Texts]:
    kept = raw.dtype.metadata
    if raw.dtype == np.float64 and raw.ndim == 1 and not kept:
        return {}  # the usual output; a text would only cost time
    shape = f", shape {raw.shape[1:]}" if raw.ndim > 1 else ""
    said = raw.dtype.str if raw.dtype.names is None else shorten(str(raw.dtype))
    said += f", metadata {shorten(identify(dict(kept)))}" if kept else ""
    return {"type(output)": Texts.same(f"{said}{shape}", len(raw))}


def _encode_other(raw: Any) -> Outputs:
    """Encode a list, a tuple, an array of a subclass, or a table with one output in each row."""
    if type(raw) is list:
        return _encode_rows(raw, raw)
    if isinstance(raw, (list, tuple)):
        return _add_container(raw, _encode_rows(raw, raw))
    if hasattr(raw, "to_numpy"):
        return _encode_table(raw)
    if isinstance(raw, np.ma.MaskedArray):
        mask = read_array(np.asarray(np.ma.getmaskarray(raw)), ".mask")
        encoded = _add_columns(_encode_array(np.asarray(raw.data)), mask)
        return _add_container(raw, encoded, f", fill value {identify(raw.fill_value)}")
    return _add_container(raw, _encode_array(np.asarray(raw)))


def _encode_table(raw: Any) -> Outputs:
    """Encode a table of pandas, or what can become an array like one, with its labels, names and attributes."""
    columns = read_columns(raw)
    rows = read_rows(raw, columns)
    outputs = None if rows.dtype.kind in "biufcmM" or columns is None else _encode_columns(rows, columns)
    outputs = outputs or (_encode_array(rows) if rows.dtype.kind in "biufcmM" else _encode_rows(raw, list(rows)))
    labels = getattr(raw, "index", None) if is_table(type(raw)) else None
    if labels is not None and not (type(labels).__name__ == "RangeIndex" and list(labels[:1]) == [0][: len(raw)]):
        outputs = _add_columns(outputs, flatten(list(labels), ".index"))
    form = f" {identify(read_form(raw))}" if is_foreign(type(raw)) else ""
    return _add_container(raw, replace(outputs, raw=rows), form)


def _encode_columns(raw: np.ndarray, columns: Mapping[str, Any]) -> Outputs | None:
    """Encode a table by its columns, each with values of one type; None if some row has others than it has alone."""
    leaves = Leaves(len(raw))
    for place, column in columns.items():
        numeric = isinstance(column, np.ndarray) and column.dtype.kind in "biufcmM"
        part = read_array(column, place) if numeric else flatten(list(column), place)
        leaves.update(part)
    if leaves.mixed or not leaves.numbers:
        return None
    leaves.texts["type(output)"] = Texts.same(f"row of {len(columns)} columns", len(raw))
    return assemble(raw, leaves, None)


def _add_container(container: Any, outputs: Outputs, more: str = "") -> Outputs:
    """Say in every row what the outputs came in."""
    held = {} if is_foreign(type(container)) else read_fields(container)
    said = f"{name_type(container)}{more}{identify(held) if held else ''}"
    texts = {**outputs.texts, "type(outputs)": Texts.same(shorten(said), len(outputs))}
    return replace(outputs, texts=texts)


def _add_columns(outputs: Outputs, more: Leaves) -> Outputs:
    """Add columns to outputs, also to those that had none."""
    leaves = Leaves(len(outputs), list_blocks(outputs), dict(outputs.texts), outputs.mixed)
    leaves.update(more)
    return assemble(outputs.raw, leaves, outputs.symbols)


def _encode_rows(raw: Any, rows: Sequence[Any]) -> Outputs:
    """Encode row by row: values with numbers in them become columns, all others become symbols."""
    if not len(rows):
        return Outputs(raw, np.empty(0))
    leaves = flatten(rows)
    own = leaves.texts.pop("output", None)
    leaves.numbers.pop("len(output)", None)
    missing = leaves.texts.pop("nan(output)", None) if leaves.numbers.get("", np.empty(0)).ndim == 1 else None
    without = np.ones(len(rows), dtype=bool)  # rows without numbers
    for name in leaves.numbers:
        without &= ~leaves.partial.get(name, np.True_)
    for kept in (own, missing):
        if kept is not None:
            without |= kept.codes >= 0
    if not without.any():
        return assemble(raw, leaves, None)
    texts: list[str | None] = [None] * len(rows)
    text_of = make_text_reader()
    for row in np.flatnonzero(without).tolist():
        content = None if own is None else own.at(row)
        texts[row] = (missing.at(row) if missing is not None else None) or describe_symbol(rows[row], content, text_of)
    ragged = own is not None and any(type(rows[row]) in _CONTAINERS for row in np.flatnonzero(own.codes >= 0).tolist())
    return replace(assemble(raw, leaves, Texts.of(texts)), ragged=ragged)


def read_symbols(values: Iterable[Any]) -> Texts:
    """Read values as symbols."""
    text_of = make_text_reader()
    return Texts.of(describe_symbol(value, None, text_of) for value in values)


def describe_symbol(value: Any, content: str | None, text_of: Callable[[Any], str]) -> str:
    if value is None:
        return "None"
    if isinstance(value, Raised):
        return str(value)
    return f"{name_type(value)}: {content or text_of(value)}"


def assemble(raw: Any, leaves: Leaves, symbols: Texts | None) -> Outputs:
    """Put the columns side by side; rows that are symbols hold NaN."""
    blocks = {name: column for name, column in leaves.numbers.items() if column.ndim == 1 or column.shape[1]}
    if not blocks:
        numbers: np.ndarray = np.full(leaves.size, np.nan if symbols is not None else 0.0)
        names: Names | None = None
    else:
        columns = list(blocks.values())
        names = tuple((name, column.shape[1] if column.ndim > 1 else 0) for name, column in blocks.items())
        numbers = columns[0] if len(columns) == 1 else np.column_stack(columns)
    rows = None if symbols is None else symbols.codes >= 0
    if rows is not None and rows.any() and blocks:
        numbers = numbers.copy()
        numbers[rows] = np.nan
    texts = leaves.texts
    if rows is not None and rows.any():  # a symbol says everything about its row
        texts = {name: Texts(kept.table, np.where(rows, -1, kept.codes)) for name, kept in texts.items()}
        texts = {name: kept for name, kept in texts.items() if (kept.codes >= 0).any()}
    unnamed = names is not None and len(names) == 1 and not names[0][0]
    kept = symbols if rows is not None and rows.any() else None
    return Outputs(raw, numbers, kept, None if unnamed else names, texts, mixed=leaves.mixed)


def list_names(outputs: Outputs) -> Names:
    return outputs.names or (("", 0 if outputs.is_scalar else outputs.numbers.shape[1]),)


def list_blocks(outputs: Outputs) -> dict[str, np.ndarray]:
    """Return the columns of numbers by name."""
    if outputs.symbolic.all() and len(outputs):
        return {}
    blocks, start = {}, 0
    for name, width in list_names(outputs):
        stop = start + max(1, width)
        whole = outputs.numbers if len(list_names(outputs)) == 1 else outputs.numbers[:, start:stop]
        blocks[name] = whole if width or whole.ndim == 1 else whole[:, 0]
        start = stop
    return blocks


def by_column(outputs: Outputs) -> Outputs:
    """Return vectors of few coordinates with each one together in memory: sums over short rows are slow.

    All scores read them so, when they are fitted and when they certify: sums in another order would be rounded
    otherwise, and scores that lie on a threshold would miss it.
    """
    numbers = outputs.numbers
    if numbers.ndim == 1 or numbers.shape[1] > COLUMNS_AT_ONCE or numbers.strides[0] == numbers.itemsize:
        return outputs
    return replace(outputs, numbers=np.asfortranarray(numbers))
