"""Take tables of pandas, Arrow and polars apart: their entries as plain lists and dicts, and all else that they show.

None of these packages is imported here. A type is one of theirs if it is the very class of the loaded package: a name
can be given to any class.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

_TABLES = ("DataFrame", "Series", "Index")
_CACHES = frozenset(("_cache", "_cacher", "_item_cache", "_engine", "_is_copy"))
_MOST_LABELS = 64  # of a table whose entries are named by them

Parts = list[tuple[str, list[Any]]]  # place in the table, and its content in each table


def is_table(kind: type) -> bool:
    """Test whether a type is a DataFrame, a Series or an Index of pandas, or derived from one."""
    return any(base in kind.__mro__ for base in _find_classes("pandas", _TABLES))


def is_foreign(kind: type) -> bool:
    """Test whether a type is a table of pandas or of polars, or one of Arrow's own."""
    return is_table(kind) or _is_polars(kind) or _is_arrow(kind)


def _is_arrow(kind: type) -> bool:
    library = sys.modules.get("pyarrow.lib")  # which has names of other modules, too
    own = (base for base in kind.__mro__ if str(base.__module__).startswith("pyarrow"))
    return any(getattr(library, base.__name__, None) is base for base in own)


def _is_polars(kind: type) -> bool:
    return any(base in kind.__mro__ for base in _find_classes("polars", _TABLES[:2]))


def _find_classes(package: str, names: Sequence[str]) -> list[type]:
    module = sys.modules.get(package)
    return [kind for name in names if isinstance(kind := getattr(module, name, None), type)]


def read_form(value: Any) -> list[Any]:
    """Return all of a table but its entries, as plain data: types, names, categories, metadata, attributes."""
    kind = type(value)
    if is_table(kind):
        return _read_pandas_form(value)
    if _is_polars(kind):
        columns = value.get_columns() if hasattr(value, "get_columns") else [value]
        shown = ((each.name, repr(each.dtype), _read_categories(each), sorted(each.flags.items())) for each in columns)
        return list(map(list, shown))
    schema = getattr(value, "schema", None)
    metadata = getattr(schema, "metadata", None), getattr(value, "metadata", None)
    columns = value.columns if hasattr(value, "columns") else [value]
    return [
        str(schema),
        str(getattr(value, "type", "")),
        list(metadata),
        [_read_arrow_form(column) for column in columns],
    ]


def _read_arrow_form(column: Any) -> list[Any]:
    """Return dictionaries and the lengths of chunks: they show values that no entry has."""
    chunks = getattr(column, "chunks", None)
    parts = [column] if chunks is None else chunks
    dictionaries = [part.dictionary.to_pylist() for part in parts if hasattr(part, "dictionary")]
    return [dictionaries, None if chunks is None else list(map(len, chunks))]


def _read_categories(column: Any) -> list[Any]:
    with suppress(Exception):  # of a column that has none
        return list(column.cat.get_categories().to_list())
    return []


def _read_pandas_form(value: Any) -> list[Any]:
    form: list[Any] = [dict(_read_attributes(value))]
    if hasattr(value, "columns"):
        forms = [  # columns of NumPy hold nothing but their entries
            str(column.dtype) if type(column.dtype).__module__.startswith("numpy") else _read_array_form(column)
            for _, column in value.items()
        ]
        form += [_read_index_form(value.columns, with_labels=True), forms]
    elif hasattr(value, "index"):
        form += [value.name, _read_array_form(value)]
    else:
        return [*form, _read_index_form(value)]
    return [*form, _read_index_form(value.index), dict(value.attrs), value.flags.allows_duplicate_labels]


def _read_array_form(column: Any) -> list[Any]:
    """Return the type of a column, with its categories, and the values under its mask."""
    array = column.array
    hidden = []
    with suppress(AttributeError, TypeError, IndexError):
        hidden = array._data[array._mask].tolist()
    return [*_read_dtype_form(column.dtype), hidden]


def _read_dtype_form(dtype: Any) -> list[Any]:
    categories = getattr(dtype, "categories", None)
    said = [
        str(dtype),
        *(repr(getattr(dtype, name, None)) for name in ("storage", "na_value", "ordered", "tz", "closed")),
    ]
    return [*said, None if categories is None else [str(categories.dtype), list(categories)]]


def _read_index_form(index: Any, with_labels: bool = False) -> list[Any]:
    levels = [[str(level.dtype), list(level)] for level in getattr(index, "levels", ())]
    said = [type(index).__name__, list(index.names), repr(getattr(index, "freq", None)), levels]
    ends = [getattr(index, name, None) for name in ("start", "stop", "step")]  # of a range, beyond its entries too
    said += [] if ends in ([0, len(index), 1], [None] * 3) else [ends]
    return [*said, *_read_dtype_form(index.dtype), list(index) if with_labels else None]


def _read_attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that a table has beside those of any table."""
    base = next(base for base in _find_classes("pandas", _TABLES) if base in type(value).__mro__)
    own = {*vars(value), *getattr(type(value), "_metadata", ())} - _list_usual(base)
    yield from ((name, getattr(value, name, None)) for name in sorted(own) if name != "_name")


@lru_cache(maxsize=8)
def _list_usual(base: type) -> frozenset[str]:
    """Return the attributes of any table of a class."""
    return frozenset((*vars(base([])), *_CACHES))


def read_entries(values: Sequence[Any]) -> Parts | None:
    """Return the entries of tables, as lists, or as dicts where each entry has a name; None if they cannot be read.

    Names are those of columns, and the labels of an index of texts: a group that one table lacks is a missing key.
    """
    first = values[0]
    if not is_table(type(first)):
        read = next((name for name in ("to_pydict", "to_pylist", "as_py", "to_list") if hasattr(first, name)), None)
        if read is None:
            return [("", [table.to_dict(as_series=False) for table in values])] if hasattr(first, "to_dict") else None
        return [("", [getattr(table, read)() for table in values])]
    if not hasattr(first, "index"):
        return [("", [index.tolist() for index in values])]
    return [("", list(map(_read_table_entries, values))), (".index", [table.index.tolist() for table in values])]


def _read_table_entries(table: Any) -> Any:
    columns = [table] if not hasattr(table, "columns") else [table.iloc[:, place] for place in range(table.shape[1])]
    return _make_namer(table)([column.tolist() for column in columns])


def _make_namer(table: Any) -> Callable[[list[list[Any]]], Any]:
    """Return a function that names the entries of the columns of tables like this one."""
    labels, names = table.index.tolist(), table.columns.tolist() if hasattr(table, "columns") else None
    is_named = len(labels) <= _MOST_LABELS and all(type(label) is str for label in labels) and table.index.is_unique
    is_unique = names is not None and table.columns.is_unique

    def name_entries(columns: list[list[Any]]) -> Any:
        entries: list[Any] = [dict(zip(labels, column, strict=True)) for column in columns] if is_named else columns
        if names is None:
            return entries[0]
        return dict(zip(names, entries, strict=True)) if is_unique else entries

    return name_entries


class PlainTable(NamedTuple):
    """A table of pandas that shows nothing but numbers, without what it has in common with the first of its batch."""

    first: Any
    columns: list[list[Any]]


def make_keeper(first: Any) -> Callable[[Any], Any]:
    """Return a function that keeps tables as plain where they differ from the first in numbers alone.

    A batch is held until it is read, and a table takes far more memory than its numbers.
    """
    kind: Any = type(first)
    if not _is_plain(first):
        return lambda value: value
    usual, shown = _list_usual(kind), _read_shown(first, _read_series(first))

    def keep(table: Any) -> Any:
        if type(table) is not kind or not vars(table).keys() <= usual:
            return table
        columns = _read_series(table)
        if _read_shown(table, columns) != shown:
            return table
        return PlainTable(first, [column.tolist() for column in columns])

    return keep


def restore(value: Any) -> Any:
    """Return the table that a plain table stands for; any other value as it is."""
    if type(value) is not PlainTable:
        return value
    table = value.first.copy()
    for place, column in enumerate(value.columns):
        table.iloc[(slice(None), place)[: table.ndim]] = column
    return table


def read_plain(tables: Sequence[PlainTable]) -> Parts:
    """Return the entries of plain tables, as `read_entries` does."""
    first = tables[0].first
    name_entries, labels = _make_namer(first), first.index.tolist()
    return [("", [name_entries(table.columns) for table in tables]), (".index", [labels] * len(tables))]


def _is_plain(table: Any) -> bool:
    """Test whether a table shows nothing but numbers, in rows counted by a range or labeled by texts."""
    classes: list[Any] = _find_classes("pandas", (*_TABLES[:2], "RangeIndex", "Index"))
    if len(classes) < 4 or type(table) not in classes[:2] or table.attrs:
        return False
    index, columns = table.index, getattr(table, "columns", None)
    names = [table.name] if columns is None else list(columns)
    is_labeled = type(index) is classes[3] and index.is_unique and {type(label) for label in index} == {str}
    return (
        (is_labeled or type(index) is classes[2])
        and index.name is None
        and len(set(names)) == len(names)
        and {type(name) for name in names} <= {str, type(None)}
        and all(isinstance(each.dtype, np.dtype) and each.dtype.kind in "biuf" for each in _read_series(table))
    )


def _read_series(table: Any) -> list[Any]:
    """Return the columns of a table; the only one as an array, which is faster."""
    if table.ndim == 1:
        return [table]
    return [table.to_numpy()[:, 0]] if table.shape[1] == 1 else [column for _, column in table.items()]


def _read_shown(table: Any, columns: Sequence[Any]) -> tuple[Any, ...]:
    """Return everything that plain tables of one type show beside their numbers."""
    name = table.name if table.ndim == 1 else _read_labels(table.columns)
    is_usual = not table.attrs, table.flags.allows_duplicate_labels
    return is_usual, [column.dtype for column in columns], _read_labels(table.index), name


def _read_labels(index: Any) -> tuple[Any, ...]:
    """Return all that an index shows; one of Arrow compares its labels much faster than it lists them."""
    if hasattr(index, "start"):
        return type(index), index.name, index.start, index.stop, index.step
    if hasattr(index, "levels"):
        return (type(index),)  # which no plain table has
    array = index.array
    labels = array.__arrow_array__() if hasattr(array, "__arrow_array__") else [(type(each), each) for each in index]
    return type(index), index.name, index.dtype, labels


def read_columns(table: Any) -> dict[str, Any] | None:
    """Return the columns of a table of pandas by their places, if their names differ; None for other tables."""
    if not (is_table(type(table)) and hasattr(table, "columns") and table.columns.is_unique):
        return None
    columns = ((name, column.to_numpy()) for name, column in table.items())
    return {f'["{name}"]' if isinstance(name, str) else f"[{name!r}]": values for name, values in columns}


def read_rows(table: Any, columns: dict[str, Any] | None) -> np.ndarray:
    """Return the entries as an array; those of a plain table of several types from its columns, which is faster."""
    kinds = "".join(column.dtype.kind for column in (columns or {}).values())
    if "O" not in kinds or set(kinds) - set("biufO") or type(table) not in _find_classes("pandas", _TABLES):
        return np.asarray(table.to_numpy())
    rows = np.empty((len(table), len(kinds)), dtype=object)
    for number, column in enumerate((columns or {}).values()):
        rows[:, number] = column
    return rows


def describe_layout(table: Any) -> tuple[Any, ...]:
    """Return the key of the columns of a table that is read alone."""
    seen = tuple(repr(getattr(table, name, None)) for name in ("dtype", "shape", "columns", "schema"))
    index = getattr(table, "index", None) if is_table(type(table)) else None
    labels = index.tolist() if index is not None and len(index) <= _MOST_LABELS else []
    return (type(table), *seen, tuple(labels) if all(type(label) is str for label in labels) else ())
