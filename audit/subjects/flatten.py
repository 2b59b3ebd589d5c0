"""Flatten outputs of any structure to named columns: numbers, and texts for everything else.

All rows of a batch are read at once, level by level: a batch of `{"n": x}` costs little more than one of `x`. Rows of
different types share the columns that have the same name; a column of texts says which type each row has.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from audit.subjects.columns import (
    Leaves,
    Texts,
    columns_of_array,
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
)
from audit.subjects.identity import (
    Raised,
    cell_contents,
    content_of,
    dtype_text,
    fields_of,
    identify,
    is_opaque,
    is_table,
    shortened,
    type_name,
)

_MOST_FIELDS = 64  # of one dict, sequence of several types, or object; more are one text
_DEEPEST = 12  # levels of columns; what is deeper is one text


def flatten(values: Sequence[Any], place: str = "") -> Leaves:
    """Return the columns of the values, one row each.

    Raises
    ------
    CannotKeep
        For values with content that cannot be read.
    """
    if place.count("[") + place.count(".") > _DEEPEST:
        return _ragged(values, place, None)
    kinds = list(map(type, values))
    distinct = dict.fromkeys(kinds)
    if len(distinct) == 1:
        return _of_one_type(kinds[0], values, place)
    groups = [np.array([kind is wanted for kind in kinds]) for wanted in distinct]
    parts = []
    for rows in groups:
        chosen = [values[row] for row in np.flatnonzero(rows).tolist()]
        parts.append(_of_one_type(type(chosen[0]), chosen, place))
    found = _spread(len(values), groups, parts)
    if place:
        found.partial.update(name for part in parts for name in found.numbers.keys() - part.numbers.keys())
    return found


def _spread(size: int, groups: Sequence[np.ndarray], parts: Sequence[Leaves]) -> Leaves:
    """Put the columns of groups of rows together."""
    found = Leaves(size, mixed=any(part.mixed for part in parts), partial=set().union(*(p.partial for p in parts)))
    for name in dict.fromkeys(name for part in parts for name in part.numbers):
        widths = {part.numbers[name].shape[1:] for part in parts if name in part.numbers}
        found.mixed |= len(widths) > 1
        column = np.zeros((size, *max(widths)))
        for rows, part in zip(groups, parts, strict=True):
            if (own := part.numbers.get(name)) is None:
                continue
            if own.ndim < column.ndim:
                own = own[:, None]
            column[(rows, slice(own.shape[1])) if own.ndim > 1 else rows] = own
        found.numbers[name] = column
    for name in dict.fromkeys(name for part in parts for name in part.texts):
        having = [(rows, part.texts[name]) for rows, part in zip(groups, parts, strict=True) if name in part.texts]
        joined = Texts.joined([texts for _, texts in having])
        codes = np.full(size, -1)
        codes[np.concatenate([np.flatnonzero(rows) for rows, _ in having])] = joined.codes
        found.texts[name] = Texts(joined.table, codes)
    return found


def _of_one_type(kind: type, values: Sequence[Any], place: str) -> Leaves:
    found = (_READERS.get(kind) or _reader_of(kind))(values, place)
    found.texts.setdefault(_type_of(place), Texts.same(type_name(values[0]), len(values)))
    return found


def _reader_of(kind: type) -> Reader:
    """Return the reader for a type that is not in the table: a subclass, a type of pandas or Arrow, any object."""
    for base, reader in _FAMILIES:
        if issubclass(kind, base):
            return reader
    if is_table(kind):
        return _frames
    if kind.__module__.split(".")[0] == "pyarrow":
        return _arrow
    return _sequences if issubclass(kind, tuple) and hasattr(kind, "_fields") else _objects


def _type_of(place: str) -> str:
    return f"type(output{place})"


def _arrays(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of arrays of one shape and type of number as one block of columns."""
    shapes = {(value.dtype, value.shape) for value in values}
    dtype, shape = next(iter(shapes))
    if len(shapes) > 1 or dtype.kind not in "biufcmM" or dtype == np.longdouble or dtype == np.clongdouble:
        return _ragged(values, place, [value.size for value in values], len(shapes) > 1)
    found = columns_of_array(np.stack(values), place)
    found.texts[_type_of(place)] = Texts.same(f"numpy.ndarray of {dtype.str}, shape {shape}", len(values))
    return found


def _numpy_scalars(values: Sequence[Any], place: str) -> Leaves:
    dtypes = {value.dtype for value in values}  # of times: by their units
    if len(dtypes) > 1 or values[0].dtype.kind not in "biufcmM":
        return _ragged(values, place, None, len(dtypes) > 1)
    return columns_of_array(np.array(values), place)


def _sequences(values: Sequence[Any], place: str) -> Leaves:
    lengths = set(map(len, values))
    if len(lengths) > 1:
        return _ragged(values, place, list(map(len, values)), True)
    width = lengths.pop()
    kinds = {type(entry) for row in values for entry in row}
    if len(kinds) == 1 and kinds <= {float, bool} | ({int} if width > _MOST_FIELDS else set()):
        kind = kinds.pop()
        try:
            found = columns_of_array(np.array(values, dtype=kind), place)
        except OverflowError:
            return _ragged(values, place, None, True)
        found.texts[_type_of(place)] = Texts.same(f"{type_name(values[0])} of {width} {kind.__name__}", len(values))
        return found
    is_mixed = len(kinds) > 1 and len({tuple(map(type, row)) for row in values}) > 1
    if width > _MOST_FIELDS:
        return _ragged(values, place, None, is_mixed)
    found = Leaves(len(values), mixed=is_mixed)
    names = getattr(type(values[0]), "_fields", ())  # of a named tuple
    for index in range(width):
        part = f"{place}.{names[index]}" if len(names) == width else f"{place}[{index}]"
        found.update(flatten([row[index] for row in values], part))
    found.texts[_type_of(place)] = Texts.same(f"{type_name(values[0])} of {width}", len(values))
    return found


def _mappings(values: Sequence[Any], place: str) -> Leaves:
    """Return a column for each key, and the keys in their order."""
    orders = list(map(tuple, values))
    distinct = dict.fromkeys(orders)
    keys = list(dict.fromkeys(key for order in distinct for key in order))
    if len(keys) > _MOST_FIELDS or not all(type(key) in (str, int, bool, tuple, float) for key in keys):
        return _ragged(values, place, list(map(len, values)), len(distinct) > 1)
    found = Leaves(len(values))
    found.texts[f"keys(output{place})"] = _orders(orders)
    for key in keys:
        _add_column(found, [row.get(key, _ABSENT) for row in values], f"{place}[{_shown_key(key)}]")
    return found


def _shown_key(key: Any) -> str:
    return '"' + shortened(key).replace('"', r"\"") + '"' if isinstance(key, str) else shortened(repr(key))


_ABSENT = object()


def _add_column(found: Leaves, values: list[Any], place: str) -> None:
    """Add the columns of an entry that some rows may not have."""
    having = np.array([value is not _ABSENT for value in values])
    if having.all():
        found.update(flatten(values, place))
    else:
        part = flatten([value for value in values if value is not _ABSENT], place)
        found.update(_spread(len(values), [having], [part]))
        found.partial |= part.numbers.keys()


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
        found.texts[f"keys(output{place})"] = _orders(orders)
    for name in names:
        _add_column(found, [each.get(name, _ABSENT) for each in fields], f"{place}.{name}")
    return found


def _orders(orders: Sequence[tuple[Any, ...]]) -> Texts:
    """Return the keys of each row as a text; keys that are equal, as 1, True and 1.0 are, have texts of their own."""
    known: dict[Any, str] = {}
    alike = [order if set(map(type, order)) <= {str} else (None, repr(order)) for order in orders]
    for one, order in zip(alike, orders, strict=True):
        if one not in known:
            known[one] = shortened(repr(order))
    return Texts.same(known[alike[0]], len(alike)) if len(known) == 1 else Texts.of(map(known.__getitem__, alike))


def _ragged(values: Sequence[Any], place: str, lengths: list[int] | None, is_mixed: bool = False) -> Leaves:
    """Return values of varying structure as texts, and their lengths; mixed if some may have columns when alone."""
    texts = {f"output{place}": Texts.of(shortened(identify(value)) for value in values)}
    found = Leaves(len(values), texts=texts, mixed=is_mixed)
    if lengths is not None:
        found.numbers[f"len(output{place})"] = np.array(lengths, dtype=float)
    return found


def _frames(values: Sequence[Any], place: str) -> Leaves:
    """Return the columns of tables of pandas, their index, and their names and types."""
    if not all(hasattr(value, "index") for value in values) or len({value.shape for value in values}) > 1:
        return _ragged(values, place, [len(value) for value in values], len({value.shape for value in values}) > 1)
    forms = Texts.of(shortened(_form_of_frame(value)) for value in values)
    found = Leaves(len(values), texts={f"form(output{place})": forms}, mixed=len(forms.table) > 1)
    cells = [value.to_numpy() for value in values]
    if values[0].ndim == 1:
        found.update(_sequences([column.tolist() for column in cells], place))
    else:
        for number, key in enumerate(values[0].columns):
            found.update(_sequences([table[:, number].tolist() for table in cells], f"{place}[{_shown_key(key)}]"))
    found.update(_sequences([value.index.tolist() for value in values], f"{place}.index"))
    return found


def _form_of_frame(value: Any) -> str:
    """Return all of a table but its entries."""
    is_frame = hasattr(value, "columns")
    names = zip(value.columns, value.dtypes, strict=True) if is_frame else [(value.name, value.dtype)]
    columns = [(identify(name), dtype_text(dtype)) for name, dtype in names]
    index = value.index
    labels = type_name(index), str(index.dtype), identify(index.name)
    return f"{columns}, index {labels}, {identify(value.attrs)}"


def _timestamps(values: Sequence[Any], place: str) -> Leaves:
    """Return the time stamps of pandas, which count nanoseconds; those of other subclasses as a text."""
    if not all(isinstance(getattr(value, "value", None), int) for value in values):
        return _ragged(values, place, None, len(values) > 1)
    found = read_integers([value.value for value in values], place)
    found.texts[f"zone(output{place})"] = Texts.of(
        f"{value.tzinfo!r}, {getattr(value, 'unit', '')}" for value in values
    )
    return found


def _arrow(values: Sequence[Any], place: str) -> Leaves:
    """Return the entries of tables, arrays and scalars of Arrow, and their types and metadata."""
    read = next((name for name in ("to_pydict", "to_pylist", "as_py") if hasattr(values[0], name)), None)
    if read is None:
        return _ragged(values, place, None)
    found = flatten([getattr(value, read)() for value in values], place)
    forms = [getattr(value, "schema", getattr(value, "type", None)) for value in values]
    texts = (f"{form!s}, metadata {getattr(form, 'metadata', None)}" for form in forms)
    found.texts[f"form(output{place})"] = Texts.of(map(shortened, texts))
    found.texts[_type_of(place)] = Texts.same(type_name(values[0]), len(values))
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
    code = (shortened(identify((value.__code__, value.__module__, value.__qualname__))) for value in values)
    found.texts[f"code(output{place})"] = Texts.of(code)
    return found


def _default_mappings(values: Sequence[Any], place: str) -> Leaves:
    found = _mappings(values, place)
    found.texts[f"default(output{place})"] = Texts.of(shortened(identify(value.default_factory)) for value in values)
    return found


def _whole(values: Sequence[Any], place: str) -> Leaves:
    return _ragged(values, place, None)


def structure_of(value: Any, depth: int = 0) -> Any:
    """Return what decides on the columns of a value that is read alone: types, lengths and keys, at every level."""
    kind = type(value)
    if depth > _DEEPEST:
        return kind
    if kind is int:
        return kind, -(2**63) <= value < 2**63
    if kind in _SCALARS or isinstance(value, (type, types.ModuleType, enum.Enum)):
        return kind
    if kind in (list, tuple):
        kinds = set(map(type, value))
        if kinds == {int} and min(value) >= -(2**63) and max(value) < 2**63:  # as entry by entry, and fast
            return kind, *[(int, True)] * len(value)
        if kinds.issubset(_OF_ONE_STRUCTURE):
            return kind, *map(type, value)
        return kind, *(structure_of(entry, depth + 1) for entry in value)
    if isinstance(value, dict):
        return kind, repr(list(value)), *(structure_of(entry, depth + 1) for entry in value.values())
    if isinstance(value, (np.ndarray, np.generic)):
        return kind, value.dtype, value.shape
    if is_table(kind) or kind.__module__.split(".")[0] == "pyarrow":
        return kind, *(repr(getattr(value, name, None)) for name in ("dtype", "shape", "columns", "schema"))
    held = dict(fields_of(value))
    with suppress(LookupError):
        held[""] = content_of(value)
    return kind, tuple(held), *(structure_of(entry, depth + 1) for entry in held.values())


_SCALARS = (float, bool, str, bytes, complex, type(None), set, frozenset, bytearray, Raised)
_OF_ONE_STRUCTURE = frozenset((*_SCALARS, np.float64, np.float32, np.int64, np.int32, np.bool_))
Reader = Callable[[Sequence[Any], str], Leaves]
_READERS: dict[type, Reader] = {
    float: read_floats,
    int: read_integers,
    bool: read_integers,
    complex: read_complex,
    str: read_texts,
    bytes: read_texts,
    list: _sequences,
    tuple: _sequences,
    dict: _mappings,
    collections.OrderedDict: _mappings,
    collections.defaultdict: _default_mappings,
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
