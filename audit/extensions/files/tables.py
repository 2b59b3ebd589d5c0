"""Read outputs and scores from files: text, NPY, JSON, and Parquet where pyarrow is installed; or gzip of them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audit.api import InvalidArgument, errors

KINDS = ".csv, .tsv, .txt, .npy, .json, .jsonl or .parquet"


def read_columns(path: Path, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the columns of a file by name; all of them unless some are asked for. An array without names is one ""."""
    kind = _kind_of(path)
    if kind not in _READERS:
        how = "; save each array of it alone, with numpy.save" if kind == ".npz" else ""
        raise InvalidArgument(f"{path} must be a file {KINDS}, got {kind}{how}")
    try:
        found = _READERS[kind](path)
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise InvalidArgument(f"{path} cannot be read, or is cut off: {error}") from error
    if missing := [name for name in names if name not in found]:
        raise InvalidArgument(f"{path} has no column {missing[0]!r}: it has {', '.join(map(repr, found)) or 'none'}")
    return {name: found[name] for name in names} if names else found


def _kind_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return (suffixes[-2:-1] if suffixes[-1:] == [".gz"] else suffixes[-1:] or ["no suffix"])[0]


def is_table(path: Path) -> bool:
    """Return whether a file is a table by its name; JSON has datasets of other shapes, too."""
    return _kind_of(path) in _READERS.keys() - {".json"}


def read_rows(path: Path) -> list[Any]:
    """Return the rows of a table: the values of its only column, or a dict for each row."""
    columns = read_columns(path)
    return [*next(iter(columns.values()))] if len(columns) == 1 else _make_rows(columns)


def read_sides(path: Path, by: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the outputs of a file by the two values of its column `by`, the one that comes first as the first."""
    columns = read_columns(path, [by, *(names or [name for name in read_columns(path) if name != by])])
    sides = [str(value) for value in columns.pop(by)]
    values = list(dict.fromkeys(sides))
    if len(values) != 2:
        raise InvalidArgument(f"column {by!r} of {path} must hold two values, one for each dataset, got {len(values)}")
    rows = {value: [place for place, side in enumerate(sides) if side == value] for value in values}
    return {value: _join({name: _take(column, rows[value]) for name, column in columns.items()}) for value in values}


def read_pair(left: Path, right: Path, names: Sequence[str] = ()) -> list[Any]:
    """Return the outputs of two files: one column as it is, several numeric ones as shape (n, d).

    The files must have the same columns; a single column may have a name of its own in each.
    """
    columns = [read_columns(path, names) for path in (left, right)]
    held = [_describe(each) for each in columns]
    if held[0] != held[1]:
        said = f"{left} has {held[0]}, {right} has {held[1]}"
        raise InvalidArgument(f"both files must have the same columns: {said}; choose columns with --column NAME")
    return [_join({name: each[name] for name in columns[0]} if len(each) > 1 else each) for each in columns]


def _describe(columns: dict[str, Any]) -> str:
    if len(columns) > 1:
        return " and ".join(map(repr, sorted(columns)))
    column: Any = next(iter(columns.values()), [])
    if isinstance(column, np.ndarray):
        return "numbers" if column.ndim == 1 else f"rows of {column.shape[1]} numbers"
    return "texts" if all(isinstance(value, str) for value in column) else "values of other types"


def _take(column: Any, rows: list[int]) -> Any:
    return column[rows] if isinstance(column, np.ndarray) else [column[row] for row in rows]


def _join(columns: dict[str, Any]) -> Any:
    if len(columns) == 1:
        return next(iter(columns.values()))
    arrays = [np.asarray(column) for column in columns.values()]
    if all(np.issubdtype(array.dtype, np.number) for array in arrays):
        return np.stack([array.astype(float) for array in arrays], axis=1)
    return _make_rows(columns)


def _make_rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a dict for each row, with Python's own numbers."""
    plain = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]


def _read_bytes(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()


def _read_text(path: Path) -> str:
    return _read_bytes(path).decode("utf-8-sig")


def _read_npy(path: Path) -> dict[str, Any]:
    return {"": np.load(io.BytesIO(_read_bytes(path)), allow_pickle=False)}


def _read_json(path: Path) -> dict[str, Any]:
    rows = json.loads(_read_text(path))
    if not isinstance(rows, list):
        lists = [name for name, column in rows.items() if isinstance(column, list)] if isinstance(rows, dict) else []
        instead = f"; save {' and '.join(map(repr, lists[:2]))} as files of their own" if lists else ""
        raise ValueError(f"it must hold a list of outputs, got {type(rows).__name__}{instead}")
    return _columns_of_rows(rows)


def _read_jsonl(path: Path) -> dict[str, Any]:
    rows = []
    for number, line in enumerate(_read_text(path).splitlines(), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
    return _columns_of_rows(rows)


def _columns_of_rows(rows: list[Any]) -> dict[str, Any]:
    if rows and all(isinstance(row, dict) for row in rows):
        return _columns_of(list(rows[0]), [list(row.values()) for row in rows])
    return {"": _numbers(rows)}


def _read_csv(path: Path) -> dict[str, Any]:
    text = _read_text(path)
    first = text.partition("\n")[0].strip()
    separator = next((mark for mark in ("\t;, " if ".txt" in path.suffixes else "\t;,") if mark in first), ",")
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    if not rows:
        raise ValueError("it is empty")
    has_names = not all(map(_is_number, rows[0])) and (len(rows[0]) > 1 or rows[0] not in rows[1:])
    names = rows[0] if has_names else [str(number) for number in range(1, len(rows[0]) + 1)]
    columns = _columns_of(names if has_names or len(names) > 1 else [""], rows[1:] if has_names else rows)
    return {name: column for name, column in columns.items() if name or len(columns) == 1}  # else an index of pandas


def _columns_of(names: list[str], rows: list[list[Any]]) -> dict[str, Any]:
    if not rows:
        raise ValueError("it holds names of columns, and no row")
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} entries, expected {len(names)}")
    return {name: _numbers(list(column)) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _read_parquet(path: Path) -> dict[str, Any]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise errors.MissingExtra("a Parquet file needs `pyarrow`: type: python -m pip install pyarrow") from error
    table = parquet.read_table(io.BytesIO(_read_bytes(path)))
    return {name: _numbers(column) for name, column in table.to_pydict().items()}


def _numbers(values: list[Any]) -> Any:
    """Return a column as an array where all of it are numbers, else as it is."""
    if values and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return np.asarray(values)
    if values and all(isinstance(value, str) and _is_number(value) for value in values):
        is_whole = all(value.strip().lstrip("+-").isdigit() for value in values)
        return np.array([int(value) if is_whole else float(value) for value in values])
    return values


def _is_number(text: Any) -> bool:
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return True


_READERS = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".txt": _read_csv,
    ".npy": _read_npy,
    ".json": _read_json,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
