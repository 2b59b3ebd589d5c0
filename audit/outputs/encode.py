"""Encode outputs: whatever a mechanism returned becomes columns of numbers and texts that every scorer can read.

A batch holds one row per output. The numbers of an output, however deep in its structure, are in `numbers`, shape
(size,) for one number and (size, d) for several. Texts keep the rest that a caller sees: types, keys, the place of
NaN. An output without numbers (text, None, NaN, a raised exception, lists of varying length) is a symbol
"type: content". A symbol is an output like any other: it can leak. docs/outputs.md defines outputs.
"""

from __future__ import annotations

import enum
import hashlib
import re
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from audit.errors import BadBatch, BadLength, InvalidArgument
from audit.outputs.columns import DEEPEST, EXACT_INTEGERS, Leaves, Texts, flatten, read_array, show_key
from audit.outputs.tables import describe_layout, is_foreign, is_table, read_columns, read_form, read_rows, restore
from audit.outputs.walk import (
    CLASS,
    CODE,
    CannotKeep,
    Raised,
    Visitor,
    find_shape,
    identify,
    make_text_reader,
    name_type,
    read_fields,
    shorten,
    take_apart,
)
from audit.validate import Count, Limits, Nonnegative

COLUMNS_AT_ONCE = 16  # of vectors, which are read together. TIME
_MULTIPLIER, _SHIFT = 0x9E3779B97F4A7C15, 29  # of the hash of a row
_CONTAINERS = (list, tuple, dict, np.ndarray)  # types that have columns where they are of one length
Names = tuple[tuple[str, int], ...]  # place in the output, and how many numbers it holds; 0 for a single number


@dataclass(frozen=True)
class Outputs:
    # array or list as returned, first axis (size,); what `log_likelihood` gets to see. Tables are kept as `PlainTable`
    raw: Any
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

    def list_blocks(self) -> dict[str, np.ndarray]:
        """Return the columns of numbers by name."""
        if self.symbolic.all() and len(self):
            return {}
        blocks, start = {}, 0
        for name, width in list_names(self):
            stop = start + max(1, width)
            whole = self.numbers if len(list_names(self)) == 1 else self.numbers[:, start:stop]
            blocks[name] = whole if width or whole.ndim == 1 else whole[:, 0]
            start = stop
        return blocks

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
            is_same = all(texts.codes.strides == (0,) for texts in self.texts.values())  # in all rows: read it once
            read = {name: texts[: 1 if is_same else None] for name, texts in self.texts.items()}
            words = np.array([hash_texts(texts) ^ hash_text(name) for name, texts in read.items()])
            own = mix_keys([words.ravel()], words.size).reshape(words.shape)
            seen = [texts.codes >= 0 for texts in read.values()]
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
    if raw.size and raw.ndim <= 2 and (raw.dtype == np.float64 or raw.dtype.kind in "iu"):
        numbers = raw.astype(np.float64, copy=False)
        if np.abs(numbers).max() <= (np.inf if numbers is raw else EXACT_INTEGERS - 1):  # not for NaN
            numbers = numbers[:, 0] if raw.ndim == 2 and raw.shape[1] == 1 else numbers
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
    leaves = Leaves(len(outputs), outputs.list_blocks(), dict(outputs.texts), outputs.mixed)
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
        texts[row] = (missing.at(row) if missing is not None else None) or describe_symbol(
            restore(rows[row]), content, text_of
        )
    ragged = own is not None and any(type(rows[row]) in _CONTAINERS for row in np.flatnonzero(own.codes >= 0).tolist())
    return replace(assemble(raw, leaves, Texts.of(texts)), ragged=ragged)


def read_symbols(values: Iterable[Any]) -> Texts:
    """Read values as symbols."""
    text_of = make_text_reader()
    return Texts.of(describe_symbol(restore(value), None, text_of) for value in values)


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


def by_column(outputs: Outputs) -> Outputs:
    """Return vectors of few coordinates with each one together in memory: sums over short rows are slow.

    All scores read them so, when they are fitted and when they certify: sums in another order would be rounded
    otherwise, and scores that lie on a threshold would miss it.
    """
    numbers = outputs.numbers
    if numbers.ndim == 1 or numbers.shape[1] > COLUMNS_AT_ONCE or numbers.strides[0] == numbers.itemsize:
        return outputs
    return replace(outputs, numbers=np.asfortranarray(numbers))


Part = tuple[np.ndarray, Outputs]  # numbers of rows of a batch, and a batch of them alone
_FIXED = frozenset((float, np.float64, np.float32, np.int64, np.int32, np.bool_))  # types with the same columns always
_FIXED |= {bool, str, complex, type(None), set, frozenset, bytearray, Raised}
_PLAIN = (("", 0),)  # names of the columns of single numbers
_MOST_COLUMNS = 256  # of named columns of one number; more are not read
MOST_RARE = 0.005  # share of rare outputs up to which a count sees everything: half of the stated blind spot
_SEEN_ONCE = 0.01  # share of rows with a text of its own, beyond which what the texts say is not read
_ABOUT = re.compile(r"^\w+\((output.*)\)$", re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """The columns in which outputs are read, fixed by some batches of them.

    Names identify columns. A text that varied (a type, a key, the place of NaN) becomes a column of codes. Outputs of a
    new structure become symbols. How an output is read never depends on the rest of its batch: all outputs of a batch
    are on one dataset, and a property of many is not an event of one output.
    """

    names: Names
    coded: tuple[str, ...] = ()
    ragged: bool = False  # whether outputs are read as symbols, since they have no columns in common

    @classmethod
    def of(cls, batches: Sequence[Outputs], codes: bool = True) -> Reading:
        """Return the columns of batches, each split into those of one structure."""
        parts = [part for batch in batches if len(batch) for _, part in _split(batch)]
        widths: dict[str, set[int]] = {}
        for batch in parts:
            if batch.symbols is None or not batch.symbolic.all():
                for name, width in list_names(batch):
                    widths.setdefault(name, set()).add(width)
        clash = len(widths.get("", ())) > 1 or len(widths) > _MOST_COLUMNS
        if clash or any(batch.ragged for batch in parts):
            return cls(_PLAIN, ragged=True)
        names = tuple((name, max(each)) for name, each in widths.items()) or _PLAIN
        if not codes:
            return cls(names)
        return cls(_find_varying(parts, names), tuple(sorted(_find_varying_texts(parts))))

    def read(self, outputs: Outputs, parts: Sequence[Part] | None = None) -> Outputs:
        """Return the outputs in these columns; `parts` are their rows by structure, if these are known."""
        if outputs.mixed:
            return self._join(outputs, parts or _split(outputs))
        if self.ragged and outputs.is_scalar and list_names(outputs) == _PLAIN:  # no row holds several numbers
            return outputs
        if not self.ragged and not self.coded and list_names(outputs) == self.names:
            return outputs
        blocks = outputs.list_blocks()
        most, widths = dict(self.names), dict(list_names(outputs))
        if self.ragged or any(widths[name] > most[name] for name in blocks.keys() & most.keys()):
            if len(apart := _split(outputs, at_once=False)) > 1:
                return self._join(outputs, apart)
            symbols, blocks = read_symbols(outputs.raw), {}
            outputs = Outputs(outputs.raw, np.full(len(outputs), np.nan), symbols, ragged=True)
        if self.ragged:
            return outputs
        columns = {name: _widen(blocks.get(name), width, len(outputs)) for name, width in self.names}
        for name in self.coded:
            texts = outputs.texts.get(name)
            keys = np.zeros(len(outputs), dtype=np.uint64) if texts is None else hash_texts(texts)
            # In [0, 1): the same for the same text, whatever else occurs; 0 for no text
            columns[name] = (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return assemble(outputs.raw, Leaves(len(outputs), columns, dict(outputs.texts)), outputs.symbols)

    def _join(self, outputs: Outputs, parts: Sequence[Part]) -> Outputs:
        """Read parts of the outputs, each by itself, and put the rows in their order again."""
        joined = _concatenate([self.read(part) for _, part in parts], outputs.raw)
        order = np.argsort(np.concatenate([rows for rows, _ in parts]))
        texts = {name: kept[order] for name, kept in joined.texts.items()}
        symbols = None if joined.symbols is None else joined.symbols[order]
        ragged = self.ragged or outputs.ragged
        return replace(joined, numbers=joined.numbers[order], symbols=symbols, texts=texts, ragged=ragged, mixed=False)

    @property
    def is_named(self) -> bool:
        """True unless the columns are just the numbers of vectors, or single numbers."""
        return bool(self.coded) or len(self.names) > 1 or bool(self.names[0][0])

    @property
    def is_single(self) -> bool:
        """True when there is one column."""
        return not self.coded and len(self.names) == 1 and not self.names[0][1]

    def label(self, index: int) -> str:
        """Return the name of a column of `numbers` for readers."""
        for name, width in (*self.names, *((name, 0) for name in self.coded)):
            if index < max(1, width):
                if name.endswith(")") or name.startswith("output"):
                    return name
                return f"output{name}[{index}]" if width else f"output{name}"
            index -= max(1, width)
        return f"column {index}"


def _find_varying(batches: Sequence[Outputs], names: Names) -> Names:
    """Drop named columns that hold one value throughout, unless nothing would be left."""
    if len(names) == 1:
        return names
    seen: dict[str, set[float]] = {name: set() for name, _ in names}
    for batch in batches:
        for name, column in batch.list_blocks().items():
            part = column[~batch.symbolic] if batch.symbols is not None else column
            if part.size:
                seen[name] |= {float(part.min()), float(part.max())}
        for name in seen.keys() - batch.list_blocks().keys():
            if not batch.symbolic.all():
                seen[name].add(0.0)
    return tuple((name, width) for name, width in names if len(seen[name]) > 1) or names[:1]


def _find_varying_texts(batches: Sequence[Outputs]) -> Iterator[str]:
    for name in {name for batch in batches for name in batch.texts}:
        seen: set[str | None] = set()
        for batch in batches:
            rows = ~batch.symbolic
            if not rows.any():
                continue
            kept = batch.texts.get(name)
            codes = {-1} if kept is None else set(np.unique(kept.codes[rows]).tolist())
            seen |= {None if code < 0 or kept is None else kept.table[code] for code in codes}
        if len(seen) > 1:
            yield name


class _Layout(Visitor[Any]):
    deepest = DEEPEST

    def read_scalar(self, value: Any, place: str) -> Any:
        if type(value) is int:
            return int, -(2**63) <= value < 2**63
        return (bytes, len(value)) if type(value) is bytes else type(value)

    def meet_again(self, place: str, first: str) -> Any:
        return first, "again"

    def stop(self, value: Any, place: str) -> Any:
        return type(value)

    def open(self, value: Any, place: str, depth: int) -> Iterator[Any]:
        kind, shape = type(value), find_shape(value)
        if kind in _FIXED or isinstance(value, (type, types.ModuleType, enum.Enum)):
            yield kind
        elif shape == "array":
            yield kind, value.dtype, value.shape
        elif shape == "table":
            yield describe_layout(value)
        elif shape == "sequence":
            yield kind, len(value)
            yield from self._read_entries(value, place, depth)
        elif isinstance(value, dict):
            yield kind, repr(list(value))
            for entry in value.values():
                yield from self.visit(entry, place, depth)
        else:
            parts = [] if shape in ("live", "source") else list(take_apart(value))
            parts = [part for part in parts if part[0] not in (CLASS, CODE)]
            yield kind, tuple(name for _, name, _ in parts)
            yield from self.visit_parts(parts, place, depth)

    def _read_entries(self, entries: list[Any], place: str, depth: int) -> Iterator[Any]:
        kinds = tuple(map(type, entries))
        if _FIXED.issuperset(kinds):
            yield kinds
        elif set(kinds) == {int} and min(entries) >= -(2**63) and max(entries) < 2**63:  # as entry by entry, and fast
            yield int, True, len(entries)
        else:
            for index, entry in enumerate(entries):
                yield from self.visit(entry, f"{place}[{index}]", depth)


def concatenate(batches: Sequence[Outputs]) -> Outputs:
    """Join batches in the columns that they have in common; rows become symbols when the columns clash."""
    if len(batches) == 1:
        return batches[0]
    parts = [batch.raw for batch in batches]
    forms = {(part.shape[1:], part.dtype) if isinstance(part, np.ndarray) else None for part in parts}
    is_array = len(forms) == 1 and None not in forms
    raw: Any = np.concatenate(parts) if is_array else [row for part in parts for row in part]
    if is_array and _are_alike(batches):  # the usual case: nothing has to be taken apart
        texts = {name: Texts.join([batch.texts[name] for batch in batches]) for name in batches[0].texts}
        once = all(batch.numbers is batch.raw for batch in batches)  # float64 without NaN, kept once
        numbers = raw if once else np.concatenate([batch.numbers for batch in batches])
        return Outputs(raw, numbers, names=batches[0].names, texts=texts)
    apart = [_split(batch) for batch in batches]
    reading = Reading.of([part for parts in apart for _, part in parts], codes=False)
    return _concatenate([reading.read(batch, parts) for batch, parts in zip(batches, apart, strict=True)], raw)


def _are_alike(batches: Sequence[Outputs]) -> bool:
    """Test whether batches were read in the same columns, row by row alike, and hold numbers only."""
    forms = [(batch.names, batch.numbers.shape[1:], batch.texts.keys()) for batch in batches]
    mixes = any(batch.symbols is not None or batch.mixed or batch.ragged for batch in batches)
    return not mixes and len(forms[0][0] or ()) <= _MOST_COLUMNS and all(form == forms[0] for form in forms)


def _concatenate(read: Sequence[Outputs], raw: Any) -> Outputs:
    """Join batches that were read in the same columns."""
    shape = max((batch.numbers.shape[1:] for batch in read), default=())
    # A batch may hold nothing but symbols, and then has no columns
    alike = [batch.numbers.shape[1:] == shape for batch in read]
    filled = [b.numbers if fits else np.full((len(b), *shape), np.nan) for b, fits in zip(read, alike, strict=True)]
    numbers = np.concatenate(filled)
    symbols = None
    if any(batch.symbols is not None for batch in read):
        symbols = Texts.join([batch.symbols or _make_no_texts(len(batch)) for batch in read])
    names = dict.fromkeys(name for batch in read for name in batch.texts)
    columns = {name: [batch.texts.get(name) or _make_no_texts(len(batch)) for batch in read] for name in names}
    texts = {name: Texts.join(parts) for name, parts in columns.items()}
    named = next((batch.names for batch in read if batch.names is not None), None)
    return Outputs(raw, numbers, symbols, named, texts, any(batch.ragged for batch in read))


def _split(outputs: Outputs, at_once: bool = True) -> list[Part]:
    """Return the rows of each structure as a batch of their own, with their numbers; `at_once`: only where they mix."""
    is_list = isinstance(outputs.raw, (list, tuple)) or outputs.raw.dtype == object
    if not is_list or (at_once and not outputs.mixed):
        return [(np.arange(len(outputs)), replace(outputs, mixed=False))]
    alike: dict[Any, list[int]] = {}
    rows = list(map(restore, outputs.raw))
    for number, value in enumerate(rows):
        alike.setdefault(tuple(_Layout().visit(value, "")), []).append(number)
    of_batch = {name: kept for name, kept in outputs.texts.items() if name == "type(outputs)"}
    parts = []
    for numbers in alike.values():
        part = encode([rows[number] for number in numbers], len(numbers))
        texts = {**part.texts, **{name: kept[numbers] for name, kept in of_batch.items()}}
        parts.append((np.array(numbers), replace(part, texts=texts, mixed=False)))
    return parts


def _widen(block: np.ndarray | None, width: int, size: int) -> np.ndarray:
    """Return a column of that many numbers in a row; 0 stands for those that the rows do not have."""
    shape = (size, width) if width else (size,)
    if block is None or block.shape == shape:
        return np.broadcast_to(0.0, shape) if block is None else block
    wide = np.zeros(shape)
    wide[:, : block.shape[1] if block.ndim > 1 else 1] = block.reshape(size, -1)
    return wide


def _make_no_texts(size: int) -> Texts:
    return Texts((), np.broadcast_to(np.int64(-1), size))


@dataclass(frozen=True)
class Repeats:
    """Count how values repeat: outputs, different values, and outputs whose value occurs fewer than `least` times."""

    outputs: Count
    different: Count
    rare: Count
    least: Annotated[int, Limits(least=2)]

    def __post_init__(self) -> None:
        most = self.rare + (self.outputs - self.rare) // self.least
        if not (self.rare <= self.outputs and self.different <= most):
            raise InvalidArgument.of("different", f"be at most {most}, as often as the others occur", self.different)

    @property
    def share(self) -> float:
        """The share of outputs whose value is rare."""
        return self.rare / max(1, self.outputs)


@dataclass(frozen=True)
class OutputForm:
    """Describe the parts of the training outputs, from which follows the coverage that a game may claim."""

    columns: Count = 0  # in which they were read, codes of texts among them; 0 where none held a number
    fractional: bool = False  # whether some are floating-point numbers that are not whole
    values: Repeats | None = None  # of whole outputs; None where they hardly repeat
    places: Count = 0  # of texts
    texts: Mapping[str, Repeats] = field(default_factory=dict)  # in each place; those that occur once are rare
    coarse: Mapping[str, Nonnegative] = field(default_factory=dict)  # places of coarse noise, how many values it takes

    def __post_init__(self) -> None:
        if len(self.texts) != self.places:
            raise InvalidArgument.of("texts", f"hold {self.places} places", list(self.texts))

    @property
    def is_counted(self) -> bool:
        """True if some score counts all values, so that no difference escapes it."""
        return self.values is not None and self.values.share <= MOST_RARE

    @property
    def unread(self) -> tuple[str, ...]:
        """The places of the output that no score reads: their texts hardly repeat, or their noise is coarse."""
        said = (f"{place}, which takes about {values:,.2g} values" for place, values in self.coarse.items())
        return (*(place for place, repeats in self.texts.items() if repeats.share > _SEEN_ONCE), *said)


def count_texts(
    sides: Sequence[Outputs], read: Sequence[Outputs], coded: Sequence[str], structured: Sequence[str] = ()
) -> dict[str, Repeats]:
    """Return how texts repeat in each place of the outputs, as `output["name"]`.

    Parameters
    ----------
    sides, read : sequence of Outputs
        On both datasets, as they came, and as they are read.
    coded : sequence of str
        Texts that became columns of codes, since they vary.
    structured : sequence of str
        How symbols begin that are read by their structure.
    """
    size = sum(map(len, sides))
    counted = [
        (_ABOUT.sub(r"\1", name), _count_repeats([side.texts[name] for side in sides if name in side.texts], size))
        for name in coded
    ]
    if symbols := [outputs.symbols for outputs in read if outputs.symbols is not None]:
        counted.append(("output", _count_repeats(symbols, size, structured)))
    return dict(sorted(counted, key=lambda each: each[1].rare))  # of one place, as a text and its type, the rarest


def _count_repeats(parts: Iterable[Texts], size: int, structured: Sequence[str] = ()) -> Repeats:
    seen: Counter[str] = Counter()
    for texts in parts:
        for code, number in Counter(texts.codes.tolist()).items():
            if code >= 0 and not texts.table[code].startswith(tuple(structured)):
                seen[texts.table[code]] += number
    return Repeats(size, len(seen), sum(number == 1 for number in seen.values()), 2)
