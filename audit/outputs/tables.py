"""Take tables of pandas, Arrow and polars apart: their entries as plain lists and dicts, and all else that they show.

None of these packages is imported here. A type is one of theirs if it is the very class of the loaded package: a name
can be given to any class.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

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
    labels = table.index.tolist()
    is_named = len(labels) <= _MOST_LABELS and all(type(label) is str for label in labels) and table.index.is_unique

    def name_entries(column: Any) -> Any:
        entries = column.tolist()
        return dict(zip(labels, entries, strict=True)) if is_named else entries

    if not hasattr(table, "columns"):
        return name_entries(table)
    columns = [name_entries(table.iloc[:, number]) for number in range(table.shape[1])]
    names = table.columns.tolist()
    return dict(zip(names, columns, strict=True)) if table.columns.is_unique else columns


def read_plain(values: Sequence[Any]) -> Parts | None:
    """Return the entries of tables of pandas that show nothing but numbers, under the same names; None for others.

    Such tables have the same form, so that it is read once. Their rows are counted by a range, or labeled by texts.
    """
    first = values[0]
    classes = _find_classes("pandas", (*_TABLES[:2], "RangeIndex", "Index"))
    if len(classes) < 4 or type(first) not in classes[:2]:
        return None
    frame: Any = classes[0]
    kind: Any = type(first)
    usual, shown = _list_usual(kind), _read_usual_form(first, frame, classes[2:])
    dtypes = [column.dtype for column in _read_series(first, frame)]
    if shown is None or not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes):
        return None
    labels = first.index.tolist()
    is_named = type(first.index) is classes[3] and len(labels) <= _MOST_LABELS
    entries: list[Any] = []
    for table in values:
        if not (type(table) is kind and vars(table).keys() <= usual) or table.attrs:
            return None
        if table is not first and _read_usual_form(table, frame, classes[2:]) != shown:
            return None
        columns = _read_series(table, frame)
        if [column.dtype for column in columns] != dtypes:
            return None
        numbers = [column.tolist() for column in columns]
        if is_named:
            numbers = [dict(zip(labels, column, strict=True)) for column in numbers]
        entries.append(dict(zip(shown[0], numbers, strict=True)) if kind is frame else numbers[0])
    return [("", entries), (".index", [labels] * len(values))]


def _read_series(table: Any, frame: Any) -> list[Any]:
    """Return the columns of a table; the only one as an array, which is faster."""
    if type(table) is not frame:
        return [table]
    return [table.to_numpy()[:, 0]] if table.shape[1] == 1 else [column for _, column in table.items()]


def _read_usual_form(table: Any, frame: Any, indexes: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return what plain tables differ in, beside their types and their entries; None where it is not plain."""
    rows, columns = _read_usual_labels(table.index, indexes), table.columns if type(table) is frame else None
    names = [table.name] if columns is None else list(columns)
    if rows is None or not {*map(type, names)} <= {str, type(None)} or len({*names}) < len(names):
        return None
    kinds = (None, None, None) if columns is None else (type(columns), columns.dtype, columns.name)
    return names, rows, kinds, table.flags.allows_duplicate_labels


def _read_usual_labels(index: Any, indexes: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the ends of a range, or the labels of an index whose labels are different texts; None for others."""
    if index.name is not None or type(index) not in indexes:
        return None
    if type(index) is indexes[0]:
        return index.start, index.stop, index.step
    labels = list(index)
    is_plain = {*map(type, labels)} == {str} and len({*labels}) == len(labels)
    return (index.dtype, labels) if is_plain else None


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
