"""Read outputs and scores from files: CSV, NPY, JSON lines, and Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audit.api import InvalidArgument, MissingExtra

KINDS = ".csv, .npy, .jsonl or .parquet"


def read_columns(path: Path, names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the columns of a file by name; all of them unless some are asked for. An array without names is one ""."""
    reader = {
        ".csv": _read_csv,
        ".npy": _read_npy,
        ".jsonl": _read_jsonl,
        ".ndjson": _read_jsonl,
        ".parquet": _read_parquet,
    }
    if path.suffix.lower() not in reader:
        raise InvalidArgument(f"{path} must be a file {KINDS}, got {path.suffix or 'no suffix'}")
    try:
        found = reader[path.suffix.lower()](path)
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError) as error:
        raise InvalidArgument(f"{path} cannot be read, or is cut off: {error}") from error
    if missing := [name for name in names if name not in found]:
        raise InvalidArgument(f"{path} has no column {missing[0]!r}: it has {', '.join(map(repr, found)) or 'none'}")
    return {name: found[name] for name in names} if names else found


def read_outputs(path: Path, names: Sequence[str] = ()) -> Any:
    """Return the outputs of a file: one column as it is, several numeric ones as shape (n, d)."""
    columns = read_columns(path, names)
    if len(columns) == 1:
        return next(iter(columns.values()))
    arrays = [np.asarray(column) for column in columns.values()]
    if all(np.issubdtype(array.dtype, np.number) for array in arrays):
        return np.stack([array.astype(float) for array in arrays], axis=1)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _read_npy(path: Path) -> dict[str, Any]:
    return {"": np.load(path, allow_pickle=False)}


def _read_jsonl(path: Path) -> dict[str, Any]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from error
    if rows and all(isinstance(row, dict) for row in rows):
        return _columns_of(list(rows[0]), [list(row.values()) for row in rows])
    return {"": _numbers(rows)}


def _read_csv(path: Path) -> dict[str, Any]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows:
        return {}
    has_names = not all(map(_is_number, rows[0]))
    names = rows[0] if has_names else [str(number) for number in range(1, len(rows[0]) + 1)]
    return _columns_of(names if has_names or len(names) > 1 else [""], rows[1:] if has_names else rows)


def _columns_of(names: list[str], rows: list[list[Any]]) -> dict[str, Any]:
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} entries, expected {len(names)}")
    return {name: _numbers(list(column)) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _read_parquet(path: Path) -> dict[str, Any]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("a Parquet file needs `pyarrow`: type: python -m pip install pyarrow") from error
    return {name: _numbers(column) for name, column in parquet.read_table(path).to_pydict().items()}


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
