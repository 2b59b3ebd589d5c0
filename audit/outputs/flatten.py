"""Flatten outputs of any structure to named columns: numbers, and texts for everything else.

All rows of a batch are read at once, level by level: a batch of `{"n": x}` costs little more than one of `x`. Rows of
different types share the columns that have the same name; a column of texts says which type each row has.
"""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from audit.outputs.columns import (
    EXACT_INTEGERS,
    Leaves,
    Texts,
    columns_of_array,
    orders_of,
    read_complex,
    read_dates,
    read_datetimes,
    read_decimals,
    read_durations,
    read_floats,
    read_fractions,
    read_integers,
    read_nothing,
    read_raised,
    read_texts,
    shown_key,
    spread,
)
from audit.outputs.fingerprint import (
    Raised,
    cell_contents,
    class_state,
    content_of,
    fields_of,
    identify,
    is_opaque,
    layout_of,
    shortened,
    text_reader,
    type_name,
)
from audit.outputs.schema import DEEPEST
from audit.outputs.tables import entries_of, form_of, is_arrow, is_polars, is_table

_MOST_FIELDS = 64  # of one dict, sequence of several types, or object; more are one text
_MOST_BYTES = 4096  # read as numbers; longer ones are one text
_IN_A_BLOCK = frozenset((float, bool, np.float64, np.float32, np.int64, np.int32, np.bool_))  # entries of one block


def flatten(values: Sequence[Any], place: str = "") -> Leaves:
    """Return the columns of the values, one row each.

    Raises
    ------
    CannotKeep
        For values with content that cannot be read.
    """
    if place.count("[") + place.count(".") > DEEPEST:
        return _ragged(values, place, None)
    kinds = list(map(type, values))
    distinct = dict.fromkeys(kinds)
    if len(distinct) == 1:
        return _of_one_type(kinds[0], values, place)
    groups = [np.array([kind is wanted for kind in kinds]) for wanted in distinct]
    chosen = [[values[row] for row in np.flatnonzero(rows).tolist()] for rows in groups]
    parts = [_of_one_type(type(part[0]), part, place) for part in chosen]
    return spread(len(values), groups, parts)


def _of_one_type(kind: type, values: Sequence[Any], place: str) -> Leaves:
    found = (_READERS.get(kind) or _reader_of(kind))(values, place)
    found.texts.setdefault(_type_of(place), Texts.same(type_name(values[0]), len(values)))
    return found


def _reader_of(kind: type) -> Reader:
    """Return the reader for a type that is not in the table: a subclass, a type of pandas or Arrow, any object."""
    for base, reader in _FAMILIES:
        if issubclass(kind, base):
            return reader
    if is_table(kind) or is_arrow(kind) or is_polars(kind):
        return _tables
    return _sequences if issubclass(kind, tuple) and hasattr(kind, "_fields") else _objects


def _type_of(place: str) -> str:
    return f"type(output{place})"


def _arrays(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of arrays of one shape and type of number as one block of columns."""
    shapes = {(value.dtype, value.shape) for value in values}
    dtype, shape = next(iter(shapes))
    if len(shapes) == 1 and dtype.names is not None:
        return _records(values, place)
    if len(shapes) > 1 or dtype.kind not in "biufcmM" or dtype == np.longdouble or dtype == np.clongdouble:
        return _ragged(values, place, [value.size for value in values], len(shapes) > 1)
    found = columns_of_array(np.stack(values), place)
    said = f"numpy.ndarray of {dtype.str}, shape {shape}"
    laid_out = Texts.of(said + layout_of(value) for value in values)
    found.texts[_type_of(place)] = laid_out if len(laid_out.table) > 1 else Texts.same(laid_out.table[0], len(values))
    return found


def _records(values: Sequence[Any], place: str) -> Leaves:
    """Return a column for each field of records of one type, in arrays of one shape or alone."""
    dtype = values[0].dtype
    found = Leaves(len(values))
    for name in dtype.names:
        found.update(flatten([value[name] for value in values], f"{place}[{shown_key(name)}]"))
    found.texts[_type_of(place)] = Texts.same(f"{type_name(values[0])} of {shortened(str(dtype))}", len(values))
    return found


def _numpy_scalars(values: Sequence[Any], place: str) -> Leaves:
    dtypes = {value.dtype for value in values}  # of times: by their units
    if len(dtypes) == 1 and values[0].dtype.names is not None:
        return _records(values, place)
    if len(dtypes) > 1 or values[0].dtype.kind not in "biufcmM":
        return _ragged(values, place, None, len(dtypes) > 1)
    return columns_of_array(np.array(values), place)


def _sequences(values: Sequence[Any], place: str) -> Leaves:
    lengths = set(map(len, values))
    if len(lengths) > 1:
        return _ragged(values, place, list(map(len, values)), True)
    width = lengths.pop()
    plain = type(values[0]) in (list, tuple)  # a subclass may say otherwise what its entries are
    columns = list(zip(*values, strict=True)) if plain else [[row[index] for row in values] for index in range(width)]
    kinds_of = [set(map(type, column)) for column in columns]
    kinds = set[type]().union(*kinds_of)
    if len(kinds) == 1 and kinds <= _IN_A_BLOCK | ({int} if width > _MOST_FIELDS else set()):
        kind = kinds.pop()
        try:
            found = columns_of_array(np.array(values, dtype=kind), place)
        except OverflowError:
            return _ragged(values, place, None, True)
        found.texts[_type_of(place)] = Texts.same(f"{type_name(values[0])} of {width} {kind.__name__}", len(values))
        _add_class_state(found, values, place)
        return found
    numeric = kinds - {type(None)}
    if len(numeric) == 1 < len(kinds) and numeric <= _IN_A_BLOCK and (gaps := _with_gaps(values, place)) is not None:
        return gaps
    is_mixed = any(len(each) > 1 for each in kinds_of)
    if width > _MOST_FIELDS:
        if (block := _numbers_of(values, place)) is not None:
            block.texts[_type_of(place)] = Texts.same(f"{type_name(values[0])} of {width}", len(values))
        return block or _ragged(values, place, None, is_mixed)
    alone = (set(map(type, row)) - {type(None)} for row in values)  # a row of one type would be a block
    is_mixed = is_mixed and any(len(own) == 1 and own <= _IN_A_BLOCK for own in alone)
    found = Leaves(len(values), mixed=is_mixed)
    names = getattr(type(values[0]), "_fields", ())  # of a named tuple
    for index, column in enumerate(columns):
        part = f"{place}.{names[index]}" if len(names) == width else f"{place}[{index}]"
        found.update(flatten(column, part))
    found.texts[_type_of(place)] = Texts.same(f"{type_name(values[0])} of {width}", len(values))
    _add_class_state(found, values, place)
    return found


def _with_gaps(values: Sequence[Any], place: str) -> Leaves | None:
    """Return rows of numbers and None as one block with a text for each None; none if rows of None are one text."""
    empty = np.array([all(entry is None for entry in row) for row in values])
    if empty.any() and len(values[0]) > _MOST_FIELDS:
        return None
    if empty.any():
        groups = [~empty, empty]
        chosen = [[values[row] for row in np.flatnonzero(rows).tolist()] for rows in groups]
        return spread(len(values), groups, [_sequences(rows, place) for rows in chosen])
    kind = next(type(entry) for row in values for entry in row if entry is not None)
    found = columns_of_array(np.array([[0 if x is None else x for x in row] for row in values], dtype=kind), place)
    gaps = np.array([[entry is None for entry in row] for row in values])
    for index in np.flatnonzero(gaps.any(axis=0)).tolist():
        found.texts[f"none(output{place}[{index}])"] = Texts(("no number",), np.where(gaps[:, index], 0, -1))
    said = f"{type_name(values[0])} of {len(values[0])} {kind.__name__}"
    found.texts[_type_of(place)] = Texts.same(said, len(values))
    _add_class_state(found, values, place)
    return found


def _mappings(values: Sequence[Any], place: str) -> Leaves:
    """Return a column for each key, and the keys in their order."""
    orders = list(map(tuple, values))
    distinct = dict.fromkeys(orders)
    keys = list(dict.fromkeys(key for order in distinct for key in order))
    if len(distinct) == 1 and len(keys) > _MOST_FIELDS and (block := _block(values, place)) is not None:
        return block
    if len(keys) > _MOST_FIELDS or not all(type(key) in (str, int, bool, tuple, float) for key in keys):
        return _ragged(values, place, list(map(len, values)), len(distinct) > 1)
    found = Leaves(len(values))
    found.texts[f"keys(output{place})"] = orders_of(orders)
    for key in keys:
        _add_column(found, [row.get(key, _ABSENT) for row in values], f"{place}[{shown_key(key)}]")
    return found


def _block(values: Sequence[Any], place: str) -> Leaves | None:
    """Return the entries of dicts with the same many keys as one block of columns; None unless they are numbers."""
    found = _numbers_of([list(row.values()) for row in values], place)
    if found is not None:
        found.texts[_type_of(place)] = Texts.same(f"{type_name(values[0])} of {len(values[0])}", len(values))
        found.texts[f"keys(output{place})"] = Texts.same(shortened(repr(list(values[0]))), len(values))
    return found


def _numbers_of(rows: Sequence[Sequence[Any]], place: str) -> Leaves | None:
    """Return rows of numbers of several types as one block, and the types as a text; None for what has to be a text."""
    types = list(map(tuple, (map(type, row) for row in rows)))
    kinds = set().union(*dict.fromkeys(types))
    if not kinds <= {*_IN_A_BLOCK, int}:
        return None
    try:
        found = columns_of_array(np.array(rows, dtype=np.float64), place)
    except OverflowError:
        return None
    if kinds & {int, np.int64} and np.abs(found.numbers[place]).max() > EXACT_INTEGERS:
        return None
    known = {row: shortened(" ".join(kind.__name__ for kind in row)) for row in dict.fromkeys(types)}
    found.texts[f"types(output{place})"] = Texts.of(map(known.__getitem__, types))
    return found


_ABSENT = object()


def _add_column(found: Leaves, values: list[Any], place: str) -> None:
    """Add the columns of an entry that some rows may not have."""
    having = np.array([value is not _ABSENT for value in values])
    if having.all():
        found.update(flatten(values, place))
    else:
        part = flatten([value for value in values if value is not _ABSENT], place)
        found.update(spread(len(values), [having], [part]))


def _objects(values: Sequence[Any], place: str) -> Leaves:
    """Return a column for each attribute, and the content of subclasses of built-in types."""
    fields = list(map(fields_of, values))
    orders = [tuple(each) for each in fields]
    names = list(dict.fromkeys(name for order in dict.fromkeys(orders) for name in order))
    if is_opaque(values[0]) or len(names) > _MOST_FIELDS or not all(isinstance(name, str) for name in names):
        return _ragged(values, place, None, len(set(orders)) > 1)
    try:
        found = flatten(list(map(content_of, values)), place)
    except LookupError:
        found = Leaves(len(values))
        if not names:
            return _ragged(values, place, None)
    found.texts[_type_of(place)] = Texts.same(type_name(values[0]), len(values))
    if names:
        found.texts[f"keys(output{place})"] = orders_of(orders)
    for name in names:
        _add_column(found, [each.get(name, _ABSENT) for each in fields], f"{place}.{name}")
    _add_class_state(found, values, place)
    return found


def _add_class_state(found: Leaves, values: Sequence[Any], place: str) -> None:
    """Add the attributes of the one class of all values as a text, where it is the mechanism's own and has some."""
    if state := class_state(type(values[0])):
        found.texts[f"class(output{place})"] = Texts.same(shortened(identify(state)), len(values))


def _ragged(values: Sequence[Any], place: str, lengths: list[int] | None, is_mixed: bool = False) -> Leaves:
    """Return values of varying structure as texts, and their lengths; mixed if some may have columns when alone."""
    found = Leaves(len(values), {}, {f"output{place}": Texts.of(map(text_reader(place), values))}, is_mixed)
    if lengths is not None:
        found.numbers[f"len(output{place})"] = np.array(lengths, dtype=float)
    return found


def _tables(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of tables of pandas, Arrow and polars, and as a text what else they show."""
    parts = entries_of(values)
    if parts is None:
        return _ragged(values, place, None)
    forms = Texts.of(shortened(identify(form_of(value))) for value in values)
    found = Leaves(len(values), texts={f"form(output{place})": forms}, mixed=len(forms.table) > 1)
    for where, entries in parts:
        found.update(flatten(entries, f"{place}{where}"))
    found.texts[_type_of(place)] = Texts.same(type_name(values[0]), len(values))
    return found


def _timestamps(values: Sequence[Any], place: str) -> Leaves:
    """Return the time stamps of pandas, which count nanoseconds; those of other subclasses as a text."""
    if not all(isinstance(getattr(value, "value", None), int) for value in values):
        return _ragged(values, place, None, len(values) > 1)
    found = read_integers([value.value for value in values], place)
    zones = (f"{value.tzinfo!r}, {getattr(value, 'unit', '')}" for value in values)
    found.texts[f"zone(output{place})"] = Texts.of(zones)
    return found


def _masked(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of masked arrays, those under the mask included, the mask, and the fill values."""
    found = _arrays([value.data for value in values], f"{place}.data")
    found.update(_arrays([np.ma.getmaskarray(value) for value in values], f"{place}.mask"))
    found.texts[f"fill(output{place})"] = Texts.of(identify(value.fill_value) for value in values)
    return found


def _functions(values: Sequence[Any], place: str) -> Leaves:
    """Return what functions hold: the values that they close over, and their defaults; and their code as a text."""
    held = [(list(cell_contents(value)), value.__defaults__, value.__kwdefaults__) for value in values]
    found = flatten(held, f"{place}.held")
    shown = ("__code__", "__module__", "__qualname__", "__doc__")
    code = ([getattr(value, name) for name in shown] for value in values)
    found.texts[f"code(output{place})"] = Texts.of(map(shortened, map(identify, code)))
    return found


def _default_mappings(values: Sequence[Any], place: str) -> Leaves:
    found = _mappings(values, place)
    found.texts[f"default(output{place})"] = Texts.of(shortened(identify(value.default_factory)) for value in values)
    return found


def _deques(values: Sequence[Any], place: str) -> Leaves:
    found = _sequences(list(map(list, values)), place)
    found.texts[_type_of(place)] = Texts.of(f"{type_name(value)} of at most {value.maxlen}" for value in values)
    return found


def _typed_arrays(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of arrays of the module `array`."""
    codes = {value.typecode for value in values}
    if len(codes) > 1 or values[0].typecode in "uw":
        return _ragged(values, place, list(map(len, values)), len(codes) > 1)
    found = _sequences(list(map(list, values)), place)
    said = f"{type_name(values[0])} of {values[0].typecode}, length {len(values[0])}"
    found.texts[_type_of(place)] = Texts.same(said, len(values))
    return found


def _bytes(values: Sequence[Any], place: str) -> Leaves:
    """Return bytes of one length as numbers; others as they are, with their lengths."""
    lengths = set(map(len, values))
    if len(lengths) > 1 or not 0 < min(lengths) <= _MOST_BYTES:
        found = read_texts(values, place)
        found.mixed = len(lengths) > 1
        return found
    numbers = np.frombuffer(b"".join(values), dtype=np.uint8).reshape(len(values), -1)
    found = columns_of_array(numbers, place)
    found.texts[_type_of(place)] = Texts.same(f"bytes of {lengths.pop()}", len(values))
    return found


def _whole(values: Sequence[Any], place: str) -> Leaves:
    return _ragged(values, place, None)


Reader = Callable[[Sequence[Any], str], Leaves]
_READERS: dict[type, Reader] = {
    float: read_floats,
    int: read_integers,
    bool: read_integers,
    complex: read_complex,
    str: read_texts,
    bytes: _bytes,
    list: _sequences,
    tuple: _sequences,
    dict: _mappings,
    collections.OrderedDict: _mappings,
    collections.defaultdict: _default_mappings,
    collections.deque: _deques,
    array.array: _typed_arrays,
    type(None): read_nothing,
    np.ndarray: _arrays,
    np.ma.MaskedArray: _masked,
    decimal.Decimal: read_decimals,
    fractions.Fraction: read_fractions,
    datetime.datetime: read_datetimes,
    datetime.date: read_dates,
    datetime.timedelta: read_durations,
    Raised: read_raised,
    **dict.fromkeys((set, frozenset, bytearray), _whole),
}
_FAMILIES: tuple[tuple[type | tuple[type, ...], Reader], ...] = (  # of subclasses; the first that fits
    ((np.str_, np.bytes_), read_texts),
    (np.generic, _numpy_scalars),
    (types.FunctionType, _functions),
    ((type, types.ModuleType, enum.Enum, BaseException, np.ndarray), _whole),
    (datetime.datetime, _timestamps),
)
