"""Turn outputs of any structure into named columns: numbers as float64, and texts for all that a number does not show.

All rows of a batch are read at once, level by level: a batch of `{"n": x}` costs little more than one of `x`. Rows of
different types share the columns that have the same name; a column of texts says which type each row has. Nothing is
rounded away in silence: the part of a value that no float64 holds is a column or a text of its own.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import math
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.outputs.tables import PlainTable, is_foreign, make_keeper, read_entries, read_form, read_plain
from audit.outputs.walk import (
    CODE,
    CONTENT,
    FIELD,
    Raised,
    describe_memory,
    identify,
    is_opaque,
    make_text_reader,
    name_type,
    read_class,
    shorten,
    take_apart,
)

DEEPEST = 12  # levels of columns; a deeper value is one text
EXACT_INTEGERS = 2**53  # a float64 does not tell it from the next integer
_TICK = datetime.timedelta(microseconds=1)
_FIRST = bytes(8)  # the code of the first text of a table
_MOST_FIELDS = 64  # of one dict, sequence of several types, or object; more are one text
_MOST_BYTES = 4096  # read as numbers; longer ones are one text
_IN_A_BLOCK = frozenset((float, bool, np.float64, np.float32, np.int64, np.int32, np.bool_))  # entries of one block


@dataclass(frozen=True)
class Texts:
    """One text for each row, or none."""

    table: tuple[str, ...]  # distinct texts
    codes: np.ndarray  # int, shape (size,): index into the table; -1 for rows without a text

    def at(self, row: int) -> str | None:
        """Return the text of a row, or None."""
        return self.table[self.codes[row]] if self.codes[row] >= 0 else None

    def __getitem__(self, rows: Any) -> Texts:
        return Texts(self.table, self.codes[rows])

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> Texts:
        known: dict[str, int] = {}
        codes = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
        return cls(tuple(known), np.array(codes, dtype=np.int64))

    @classmethod
    def same(cls, text: str, size: int) -> Texts:
        """Return one text for all rows; the codes take no memory."""
        return cls((text,), np.ndarray(size, np.int64, _FIRST, strides=(0,)))  # faster than `broadcast_to`

    @classmethod
    def join(cls, parts: Sequence[Texts]) -> Texts:
        if len({part.table for part in parts}) == 1 and all(part.codes.strides == (0,) for part in parts):
            return Texts(parts[0].table, np.broadcast_to(np.int64(parts[0].codes[0]), sum(map(len, parts))))
        known: dict[str, int] = {}
        codes = [
            np.array([*(known.setdefault(text, len(known)) for text in part.table), -1])[part.codes] for part in parts
        ]
        return Texts(tuple(known), np.concatenate(codes))


@dataclass
class Leaves:
    """The columns of some rows, by name: the place in the output, such as `["n"]` or `[0].mean`."""

    size: int
    # float64, shape (size,), or (size, k) for k numbers in a row; 0 where a row has no such number
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    texts: dict[str, Texts] = field(default_factory=dict)
    mixed: bool = False  # whether some row has other columns here than it would have alone
    partial: dict[str, np.ndarray] = field(default_factory=dict)  # which rows have a number that others lack

    def update(self, other: Leaves) -> None:
        self.numbers.update(other.numbers)
        self.texts.update(other.texts)
        self.mixed |= other.mixed
        self.partial |= other.partial


def spread(size: int, groups: Sequence[np.ndarray], parts: Sequence[Leaves]) -> Leaves:
    """Put the columns of groups of rows together."""
    leaves = Leaves(size, mixed=any(part.mixed for part in parts))
    for name in dict.fromkeys(name for part in parts for name in part.numbers):
        widths = {part.numbers[name].shape[1:] for part in parts if name in part.numbers}
        leaves.mixed |= len(widths) > 1
        column, having = np.zeros((size, *max(widths))), np.zeros(size, dtype=bool)
        for rows, part in zip(groups, parts, strict=True):
            if (own := part.numbers.get(name)) is None:
                continue
            having[rows] = part.partial.get(name, True)
            if own.ndim < column.ndim:
                own = own[:, None]
            column[(rows, slice(own.shape[1])) if own.ndim > 1 else rows] = own
        leaves.numbers[name] = column
        if not having.all():
            leaves.partial[name] = having
    for name in dict.fromkeys(name for part in parts for name in part.texts):
        said = [(rows, part.texts[name]) for rows, part in zip(groups, parts, strict=True) if name in part.texts]
        joined = Texts.join([texts for _, texts in said])
        codes = np.full(size, -1)
        codes[np.concatenate([np.flatnonzero(rows) for rows, _ in said])] = joined.codes
        leaves.texts[name] = Texts(joined.table, codes)
    return leaves


def flatten(values: Sequence[Any], place: str = "") -> Leaves:
    """Return the columns of the values, one row each.

    Raises
    ------
    CannotKeep
        For values with content that cannot be read.
    """
    if place.count("[") + place.count(".") > DEEPEST:
        return _read_whole(values, place)
    kinds = list(map(type, values))
    distinct = dict.fromkeys(kinds)
    if len(distinct) == 1:
        return _read_one_type(kinds[0], values, place)
    groups = [np.array([kind is wanted for kind in kinds]) for wanted in distinct]
    chosen = [[values[row] for row in np.flatnonzero(rows).tolist()] for rows in groups]
    parts = [_read_one_type(type(part[0]), part, place) for part in chosen]
    return spread(len(values), groups, parts)


def _read_one_type(kind: type, values: Sequence[Any], place: str) -> Leaves:
    leaves = (_READERS.get(kind) or _find_reader(kind))(values, place)
    leaves.texts.setdefault(f"type(output{place})", Texts.same(name_type(values[0]), len(values)))
    return leaves


def _find_reader(kind: type) -> Reader:
    """Return the reader for a type that is not in the table: a subclass, a table, any object."""
    for base, reader in _FAMILIES:
        if issubclass(kind, base):
            return reader
    if is_foreign(kind):
        return _read_tables
    return _read_sequences if issubclass(kind, tuple) and hasattr(kind, "_fields") else _read_objects


def _describe(leaves: Leaves, values: Sequence[Any], place: str, said: str = "") -> Leaves:
    """Add the type of values of one type as a text, and the content of their class, where it is the mechanism's own."""
    leaves.texts[f"type(output{place})"] = Texts.same(name_type(values[0]) + said, leaves.size)
    if state := read_class(type(values[0])):
        leaves.texts[f"class(output{place})"] = Texts.same(shorten(identify(state)), leaves.size)
    return leaves


def _read_whole(values: Sequence[Any], place: str, lengths: list[int] | None = None, is_mixed: bool = False) -> Leaves:
    """Return values of varying structure as texts, and their lengths; mixed if some may have columns when alone."""
    leaves = Leaves(len(values), {}, {f"output{place}": Texts.of(map(make_text_reader(place), values))}, is_mixed)
    if lengths is not None:
        leaves.numbers[f"len(output{place})"] = np.array(lengths, dtype=float)
    return leaves


def _read_arrays(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of arrays of one shape and type of number as one block of columns; of objects, as of lists."""
    shapes = {(value.dtype, value.shape) for value in values}
    dtype, shape = next(iter(shapes))
    if len(shapes) == 1 and dtype.names is not None:
        return _read_records(values, place)
    if len(shapes) > 1 or dtype.kind not in "biufcmMO" or dtype == np.clongdouble:
        return _read_whole(values, place, [value.size for value in values], len(shapes) > 1)
    if dtype.kind == "O":
        leaves = flatten([value.tolist() for value in values], place)
        leaves.texts.setdefault(f"types(output{place})", leaves.texts[f"type(output{place})"])
    else:
        leaves = read_array(np.array(values, dtype=dtype), place)
    said = f"numpy.ndarray of {dtype.str}, shape {shape}"
    laid_out = Texts.of(said + describe_memory(value) for value in values)
    one = Texts.same(laid_out.table[0], len(values))
    leaves.texts[f"type(output{place})"] = laid_out if len(laid_out.table) > 1 else one
    return leaves


def _read_records(values: Sequence[Any], place: str) -> Leaves:
    """Return a column for each field of records of one type, in arrays of one shape or alone."""
    leaves = Leaves(len(values))
    for name in values[0].dtype.names:
        leaves.update(flatten([value[name] for value in values], f"{place}[{show_key(name)}]"))
    return _describe(leaves, values, place, f" of {shorten(str(values[0].dtype))}")


def _read_numpy_scalars(values: Sequence[Any], place: str) -> Leaves:
    dtypes = {value.dtype for value in values}  # of times: by their units
    if len(dtypes) == 1 and values[0].dtype.names is not None:
        return _read_records(values, place)
    if len(dtypes) > 1 or values[0].dtype.kind not in "biufcmM":
        return _read_whole(values, place, None, len(dtypes) > 1)
    leaves = read_array(np.array(values), place)
    if values[0].dtype.kind in "mM":
        leaves.texts[f"unit(output{place})"] = Texts.same(values[0].dtype.str, len(values))
    return leaves


def _read_sequences(values: Sequence[Any], place: str) -> Leaves:
    lengths = set(map(len, values))
    if len(lengths) > 1:
        return _read_whole(values, place, list(map(len, values)), True)
    width = lengths.pop()
    plain = type(values[0]) in (list, tuple)  # a subclass may say otherwise what its entries are
    columns = list(zip(*values, strict=True)) if plain else [[row[index] for row in values] for index in range(width)]
    kinds_of = [set(map(type, column)) for column in columns]
    kinds = set[type]().union(*kinds_of)
    if len(kinds) == 1 and kinds <= _IN_A_BLOCK | ({int} if width > _MOST_FIELDS else set()):
        kind = kinds.pop()
        try:
            leaves = read_array(np.array(values, dtype=kind), place)
        except OverflowError:
            return _read_whole(values, place, None, True)
        return _describe(leaves, values, place, f" of {width} {kind.__name__}")
    numeric = kinds - {type(None)}
    if len(numeric) == 1 < len(kinds) and numeric <= _IN_A_BLOCK and (gaps := _read_gaps(values, place)) is not None:
        return gaps
    is_mixed = any(len(each) > 1 for each in kinds_of)
    if width > _MOST_FIELDS:
        if (block := _read_block(values, place)) is not None:
            return _describe(block, values, place, f" of {width}")
        return _read_whole(values, place, None, is_mixed)
    alone = (set(map(type, row)) - {type(None)} for row in values)  # a row of one type would be a block
    leaves = Leaves(len(values), mixed=is_mixed and any(len(own) == 1 and own <= _IN_A_BLOCK for own in alone))
    names = getattr(type(values[0]), "_fields", ())  # of a named tuple
    for index, column in enumerate(columns):
        leaves.update(flatten(column, f"{place}.{names[index]}" if len(names) == width else f"{place}[{index}]"))
    return _describe(leaves, values, place, f" of {width}")


def _read_gaps(values: Sequence[Any], place: str) -> Leaves | None:
    """Return rows of numbers and None as one block with a text for each None; none if rows of None are one text."""
    empty = np.array([all(entry is None for entry in row) for row in values])
    if empty.any() and len(values[0]) > _MOST_FIELDS:
        return None
    if empty.any():
        groups = [~empty, empty]
        chosen = [[values[row] for row in np.flatnonzero(rows).tolist()] for rows in groups]
        return spread(len(values), groups, [_read_sequences(rows, place) for rows in chosen])
    kind = next(type(entry) for row in values for entry in row if entry is not None)
    leaves = read_array(np.array([[0 if x is None else x for x in row] for row in values], dtype=kind), place)
    gaps = np.array([[entry is None for entry in row] for row in values])
    for index in np.flatnonzero(gaps.any(axis=0)).tolist():
        leaves.texts[f"none(output{place}[{index}])"] = Texts(("no number",), np.where(gaps[:, index], 0, -1))
    return _describe(leaves, values, place, f" of {len(values[0])} {kind.__name__}")


def _read_mappings(values: Sequence[Any], place: str) -> Leaves:
    """Return a column for each key, and the keys in their order; the numbers of many keys as one block of columns."""
    orders = list(map(tuple, values))
    distinct = dict.fromkeys(orders)
    keys = list(dict.fromkeys(key for order in distinct for key in order))
    if len(distinct) == 1 and len(keys) > _MOST_FIELDS:
        block = _read_block([list(row.values()) for row in values], place)
        if block is not None:
            block.texts[f"keys(output{place})"] = Texts.same(shorten(repr(keys)), len(values))
            return _describe(block, values, place, f" of {len(keys)}")
    if len(keys) > _MOST_FIELDS or not {*map(type, keys)} <= _KEYS:
        return _read_whole(values, place, list(map(len, values)), len(distinct) > 1)
    leaves = Leaves(len(values), texts={f"keys(output{place})": read_orders(orders)})
    for key in keys:
        _add_column(leaves, [row.get(key, _ABSENT) for row in values], f"{place}[{show_key(key)}]")
    return leaves


def _read_block(rows: Sequence[Sequence[Any]], place: str) -> Leaves | None:
    """Return rows of numbers of several types as one block, and the types as a text; None where they must be a text."""
    types = list(map(tuple, (map(type, row) for row in rows)))
    kinds = set().union(*dict.fromkeys(types))
    if not kinds <= {*_IN_A_BLOCK, int}:
        return None
    try:
        leaves = read_array(np.array(rows, dtype=np.float64), place)
    except OverflowError:
        return None
    if kinds & {int, np.int64} and np.abs(leaves.numbers[place]).max() >= EXACT_INTEGERS:
        return None
    known = {row: shorten(" ".join(kind.__name__ for kind in row)) for row in dict.fromkeys(types)}
    leaves.texts[f"types(output{place})"] = Texts.of(map(known.__getitem__, types))
    return leaves


_ABSENT = object()
_KEYS = {str, int, bool, tuple, float, bytes, type(None), datetime.date, datetime.datetime, np.str_, np.datetime64}
_KEYS |= {np.int64, np.int32, np.bool_, np.float64, decimal.Decimal, fractions.Fraction}  # `repr` tells these apart


def _add_column(leaves: Leaves, values: list[Any], place: str) -> None:
    """Add the columns of an entry that some rows may not have."""
    having = np.array([value is not _ABSENT for value in values])
    if having.all():
        leaves.update(flatten(values, place))
    else:
        part = flatten([value for value in values if value is not _ABSENT], place)
        leaves.update(spread(len(values), [having], [part]))


def _read_objects(values: Sequence[Any], place: str) -> Leaves:
    """Return a column for each attribute, and the content of subclasses of built-in types."""
    if is_opaque(values[0]):
        return _read_whole(values, place)
    parts = [list(take_apart(value)) for value in values]
    fields = [{name: part for role, name, part in each if role == FIELD} for each in parts]
    content = [part for each in parts for role, _, part in each if role == CONTENT]
    orders = [tuple(each) for each in fields]
    names = list(dict.fromkeys(name for order in dict.fromkeys(orders) for name in order))
    if len(names) > _MOST_FIELDS or not all(isinstance(name, str) for name in names) or not (names or content):
        return _read_whole(values, place, None, len(set(orders)) > 1)
    leaves = flatten(content, place) if content else Leaves(len(values))
    if names:
        leaves.texts[f"keys(output{place})"] = read_orders(orders)
    for name in names:
        _add_column(leaves, [each.get(name, _ABSENT) for each in fields], f"{place}.{name}")
    return _describe(leaves, values, place)


def _read_cells(values: Sequence[Any], place: str) -> Leaves:
    """Return what the cells of closures hold; some may still be empty."""
    held = [next((part for _, _, part in take_apart(cell)), _ABSENT) for cell in values]
    leaves = Leaves(len(values))
    _add_column(leaves, held, place)
    return leaves


def _read_functions(values: Sequence[Any], place: str) -> Leaves:
    """Return what functions hold: the values that they close over, and their defaults; and their code as a text."""
    held = [tuple(part for role, _, part in take_apart(value) if role != CODE) for value in values]
    leaves = flatten(held, f"{place}.held")
    code = ((value.__code__, value.__module__, value.__qualname__, value.__doc__) for value in values)
    leaves.texts[f"code(output{place})"] = Texts.of(map(shorten, map(identify, map(list, code))))
    return leaves


def _read_tables(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of tables of pandas, Arrow and polars, and as a text what else they show."""
    plain = list(map(make_keeper(values[0]), values))
    is_plain = {*map(type, plain)} == {PlainTable}
    if (parts := read_plain(plain) if is_plain else read_entries(values)) is None:
        return _read_whole(values, place)
    values = [plain[0].first] if is_plain else values
    forms = Texts.of(shorten(identify(read_form(value))) for value in values)
    if len(forms.table) == 1:
        forms = Texts.same(forms.table[0], len(plain))
    leaves = Leaves(len(plain), texts={f"form(output{place})": forms}, mixed=len(forms.table) > 1)
    for where, entries in parts:
        leaves.update(flatten(entries, f"{place}{where}"))
    return _describe(leaves, values, place)


def _read_timestamps(values: Sequence[Any], place: str) -> Leaves:
    """Return the time stamps of pandas, which count nanoseconds; those of other subclasses as a text."""
    if not all(isinstance(getattr(value, "value", None), int) for value in values):
        return _read_whole(values, place, None, len(values) > 1)
    leaves = read_integers([value.value for value in values], place)
    zones = (f"{value.tzinfo!r}, {getattr(value, 'unit', '')}" for value in values)
    leaves.texts[f"zone(output{place})"] = Texts.of(zones)
    return leaves


def _read_masked_arrays(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of masked arrays, those under the mask included, the mask, and the fill values."""
    leaves = _read_arrays([value.data for value in values], f"{place}.data")
    leaves.update(_read_arrays([np.ma.getmaskarray(value) for value in values], f"{place}.mask"))
    fills = [None if value._fill_value is None else value._fill_value.tobytes() for value in values]  # None is usual
    kinds = [(fill, value.dtype) for fill, value in zip(fills, values, strict=True)]
    said = {kind: identify(value.fill_value) for kind, value in dict(zip(kinds, values, strict=True)).items()}
    leaves.texts[f"fill(output{place})"] = Texts.of(map(said.__getitem__, kinds))
    return leaves


def _read_default_mappings(values: Sequence[Any], place: str) -> Leaves:
    leaves = _read_mappings(values, place)
    leaves.texts[f"default(output{place})"] = Texts.of(shorten(identify(value.default_factory)) for value in values)
    return leaves


def _read_bytes(values: Sequence[Any], place: str) -> Leaves:
    """Return bytes of one length as numbers; others as they are, with their lengths."""
    lengths = set(map(len, values))
    if len(lengths) > 1 or not 0 < min(lengths) <= _MOST_BYTES:
        leaves = read_texts(values, place)
        leaves.mixed = len(lengths) > 1
        return leaves
    numbers = np.frombuffer(b"".join(values), dtype=np.uint8).reshape(len(values), -1)
    return _describe(read_array(numbers, place), values, place, f" of {lengths.pop()}")


def _read_numbers(numbers: np.ndarray, place: str) -> Leaves:
    """Return a column of numbers without NaN, and a text for each NaN, in one row or in a row of several numbers."""
    missing = np.isnan(numbers)
    if not missing.any():
        return Leaves(len(numbers), {place: numbers}, _mark_minus_zeros(numbers, place))
    rows = np.flatnonzero(missing if numbers.ndim == 1 else missing.any(axis=1))
    texts: list[str | None] = [None] * len(numbers)
    for row in rows:
        bits = np.atleast_1d(numbers[row])[np.atleast_1d(missing[row])].view(np.uint64)
        where = "" if numbers.ndim == 1 else " in " + ", ".join(map(str, np.flatnonzero(missing[row])))
        unusual = (
            "" if np.all(bits == 0x7FF8000000000000) else f" with bits {', '.join(f'0x{x:x}' for x in bits.tolist())}"
        )
        texts[row] = shorten(f"nan{where}{unusual}")
    return Leaves(len(numbers), {place: np.where(missing, 0.0, numbers)}, {f"nan(output{place})": Texts.of(texts)})


def _mark_minus_zeros(numbers: np.ndarray, place: str) -> dict[str, Texts]:
    """Return a text for the rows with -0.0, which is equal to 0.0; nothing where there is none."""
    minus = (numbers == 0) & np.signbit(numbers)
    if not minus.any():
        return {}
    rows = minus if numbers.ndim == 1 else minus.any(axis=1)
    return {f"minus zero(output{place})": Texts(("-0.0",), np.where(rows, 0, -1))}


def read_integers(values: Sequence[Any], place: str) -> Leaves:
    try:
        return _read_integer_array(np.array(values, dtype=np.int64), place)
    except OverflowError:
        numbers = np.array([_round(value) for value in values])
    rests = [int(value) - int(x) if math.isfinite(x) else 0 for value, x in zip(values, numbers, strict=True)]
    low = np.array(list(map(_round, rests)))
    exact = [math.isfinite(x) and int(y) == rest for x, y, rest in zip(numbers, low, rests, strict=True)]
    leaves = Leaves(len(values), {place: numbers, f"{place} last digits": low})
    if not all(exact):
        digits = (None if kept else shorten(repr(int(value))) for kept, value in zip(exact, values, strict=True))
        leaves.texts[f"digits(output{place})"] = Texts.of(digits)
    return leaves


def _round(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _read_integer_array(whole: np.ndarray, place: str) -> Leaves:
    """Return integers as float64; the part that this rounds away, if any, is a column of its own."""
    numbers = whole.astype(np.float64)
    leaves = Leaves(len(numbers), {place: numbers})
    if whole.size and max(abs(int(whole.min())), abs(int(whole.max()))) > EXACT_INTEGERS:
        low = np.array([int(x) - int(y) for x, y in zip(whole.ravel(), numbers.ravel(), strict=True)], dtype=float)
        leaves.numbers[f"{place} last digits"] = low.reshape(numbers.shape)
    return leaves


def read_complex(values: Any, place: str) -> Leaves:
    numbers = np.array(values, dtype=np.complex128)
    leaves = _read_numbers(np.ascontiguousarray(numbers.real), f"{place}.real")
    leaves.update(_read_numbers(np.ascontiguousarray(numbers.imag), f"{place}.imag"))
    return leaves


def read_texts(values: Sequence[Any], place: str) -> Leaves:
    """Return texts (or bytes) as they are, and their lengths."""
    places = {value: number for number, value in enumerate(dict.fromkeys(values))}  # each is looked at once
    said = Texts.of(shorten(repr(value)) for value in places)
    lengths = np.array([len(value) for value in places], dtype=float)
    rows = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
    texts = Texts.same(said.table[0], len(values)) if len(places) == 1 else said[rows]
    return Leaves(len(values), {f"len(output{place})": lengths[rows]}, {f"output{place}": texts})


def read_array(array: np.ndarray, place: str = "") -> Leaves:
    """Return the columns of an array with one output in each row."""
    flat = array if array.ndim <= 2 else array.reshape(len(array), -1)
    if flat.ndim == 2 and flat.shape[1] == 1:
        flat = flat[:, 0]
    if flat.dtype.kind in "mM":
        return _read_integer_array(flat.view(np.int64), place)
    if flat.dtype.kind in "iu":
        return _read_integer_array(flat, place)
    if flat.dtype.kind == "c":
        return read_complex(flat, place)
    leaves = _read_numbers(flat.astype(np.float64, copy=False), place)
    if flat.dtype == np.longdouble and flat.dtype.itemsize > 8:
        leaves.numbers[f"{place} last digits"] = (flat - flat.astype(np.float64)).astype(np.float64)
    return leaves


def read_decimals(values: Sequence[Any], place: str) -> Leaves:
    """Return the nearest float64, the number of digits after the point, and the text of values that are no float64."""
    texts = list(map(str, values))
    numbers = np.array([float(value) for value in values])
    leaves = _read_numbers(numbers, place)
    exponents = [value.as_tuple().exponent for value in values]
    leaves.texts[f"exponent(output{place})"] = Texts.of(map(str, exponents))
    rest = [
        None if decimal.Decimal(repr(x)) == value else text
        for x, value, text in zip(numbers.tolist(), values, texts, strict=True)
    ]
    if any(text is not None for text in rest):
        leaves.texts[f"digits(output{place})"] = Texts.of(rest)
    return leaves


def read_fractions(values: Sequence[Any], place: str) -> Leaves:
    leaves = Leaves(len(values), {place: np.array([float(value) for value in values])})
    leaves.update(read_integers([value.numerator for value in values], f"{place}.numerator"))
    leaves.update(read_integers([value.denominator for value in values], f"{place}.denominator"))
    return leaves


def read_datetimes(values: Sequence[Any], place: str) -> Leaves:
    """Return microseconds since the year 2000 by the clock on the wall, and the time zone."""
    start = datetime.datetime(2000, 1, 1)
    steps = [(value.replace(tzinfo=None, fold=0) - start) // _TICK for value in values]
    leaves = read_integers(steps, place)
    leaves.texts[f"zone(output{place})"] = Texts.of(f"{value.tzinfo!r}, fold {value.fold}" for value in values)
    return leaves


def show_key(key: Any) -> str:
    return '"' + shorten(key).replace('"', r"\"") + '"' if isinstance(key, str) else shorten(repr(key))


def read_orders(orders: Sequence[tuple[Any, ...]]) -> Texts:
    """Return the keys of each row as a text; keys that are equal, as 1, True and 1.0 are, have texts of their own."""
    known: dict[Any, str] = {}
    alike = [order if set(map(type, order)) <= {str} else (None, repr(order)) for order in orders]
    for one, order in zip(alike, orders, strict=True):
        if one not in known:
            known[one] = shorten(repr(order))
    return Texts.same(known[alike[0]], len(alike)) if len(known) == 1 else Texts.of(map(known.__getitem__, alike))


Reader = Callable[[Sequence[Any], str], Leaves]
_READERS: dict[type, Reader] = {
    float: lambda values, place: _read_numbers(np.array(values, dtype=np.float64), place),
    int: read_integers,
    bool: read_integers,
    complex: read_complex,
    str: read_texts,
    bytes: _read_bytes,
    list: _read_sequences,
    tuple: _read_sequences,
    dict: _read_mappings,
    collections.OrderedDict: _read_mappings,
    collections.defaultdict: _read_default_mappings,
    type(None): lambda values, place: Leaves(len(values)),
    np.ndarray: _read_arrays,
    np.ma.MaskedArray: _read_masked_arrays,
    decimal.Decimal: read_decimals,
    fractions.Fraction: read_fractions,
    datetime.datetime: read_datetimes,
    datetime.date: lambda values, place: read_integers([value.toordinal() for value in values], place),
    datetime.timedelta: lambda values, place: read_integers([value // _TICK for value in values], place),
    Raised: lambda values, place: Leaves(len(values), texts={f"output{place}": Texts.of(map(str, values))}),
    types.CellType: _read_cells,
    PlainTable: _read_tables,
    **dict.fromkeys((set, frozenset, bytearray), _read_whole),
}
_FAMILIES: tuple[tuple[type | tuple[type, ...], Reader], ...] = (  # of subclasses; the first that fits
    ((np.str_, np.bytes_), read_texts),
    (np.generic, _read_numpy_scalars),
    (types.FunctionType, _read_functions),
    ((type, types.ModuleType, enum.Enum, BaseException, np.ndarray), _read_whole),
    (datetime.datetime, _read_timestamps),
)
