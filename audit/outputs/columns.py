"""Turn values of one type into named columns: numbers as float64, and texts for what a number does not show.

Nothing is rounded away in silence: what a float64 cannot hold of a value is a column or a text of its own.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.outputs.fingerprint import shortened

EXACT_INTEGERS = 2**53  # beyond this a float64 no longer tells two integers apart
_FIRST = bytes(8)  # the code of the first text of a table


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
    def joined(cls, parts: Sequence[Texts]) -> Texts:
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
    found = Leaves(size, mixed=any(part.mixed for part in parts))
    for name in dict.fromkeys(name for part in parts for name in part.numbers):
        widths = {part.numbers[name].shape[1:] for part in parts if name in part.numbers}
        found.mixed |= len(widths) > 1
        column, having = np.zeros((size, *max(widths))), np.zeros(size, dtype=bool)
        for rows, part in zip(groups, parts, strict=True):
            if (own := part.numbers.get(name)) is None:
                continue
            having[rows] = part.partial.get(name, True)
            if own.ndim < column.ndim:
                own = own[:, None]
            column[(rows, slice(own.shape[1])) if own.ndim > 1 else rows] = own
        found.numbers[name] = column
        if not having.all():
            found.partial[name] = having
    for name in dict.fromkeys(name for part in parts for name in part.texts):
        said = [(rows, part.texts[name]) for rows, part in zip(groups, parts, strict=True) if name in part.texts]
        joined = Texts.joined([texts for _, texts in said])
        codes = np.full(size, -1)
        codes[np.concatenate([np.flatnonzero(rows) for rows, _ in said])] = joined.codes
        found.texts[name] = Texts(joined.table, codes)
    return found


def read_floats(values: Sequence[Any], place: str) -> Leaves:
    return _number_column(np.array(values, dtype=np.float64), place)


def _number_column(numbers: np.ndarray, place: str) -> Leaves:
    """Return a column of numbers without NaN, and a text for each NaN, in one row or in a row of several numbers."""
    missing = np.isnan(numbers)
    if not missing.any():
        return Leaves(len(numbers), {place: numbers}, _minus_zeros(numbers, place))
    rows = np.flatnonzero(missing if numbers.ndim == 1 else missing.any(axis=1))
    texts: list[str | None] = [None] * len(numbers)
    for row in rows:
        bits = np.atleast_1d(numbers[row])[np.atleast_1d(missing[row])].view(np.uint64)
        where = "" if numbers.ndim == 1 else " in " + ", ".join(map(str, np.flatnonzero(missing[row])))
        unusual = (
            "" if np.all(bits == 0x7FF8000000000000) else f" with bits {', '.join(f'0x{x:x}' for x in bits.tolist())}"
        )
        texts[row] = shortened(f"nan{where}{unusual}")
    return Leaves(len(numbers), {place: np.where(missing, 0.0, numbers)}, {f"nan(output{place})": Texts.of(texts)})


def _minus_zeros(numbers: np.ndarray, place: str) -> dict[str, Texts]:
    """Return a text for the rows with -0.0, which is equal to 0.0; nothing where there is none."""
    minus = (numbers == 0) & np.signbit(numbers)
    if not minus.any():
        return {}
    rows = minus if numbers.ndim == 1 else minus.any(axis=1)
    return {f"minus zero(output{place})": Texts(("-0.0",), np.where(rows, 0, -1))}


def read_integers(values: Sequence[Any], place: str) -> Leaves:
    try:
        return whole_numbers(np.array(values, dtype=np.int64), place)
    except OverflowError:
        numbers = np.array([_rounded(value) for value in values])
    rests = [int(value) - int(x) if math.isfinite(x) else 0 for value, x in zip(values, numbers, strict=True)]
    low = np.array(list(map(_rounded, rests)))
    exact = [math.isfinite(x) and int(y) == rest for x, y, rest in zip(numbers, low, rests, strict=True)]
    found = Leaves(len(values), {place: numbers, f"{place} last digits": low})
    if not all(exact):
        digits = (None if kept else shortened(repr(int(value))) for kept, value in zip(exact, values, strict=True))
        found.texts[f"digits(output{place})"] = Texts.of(digits)
    return found


def _rounded(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def whole_numbers(whole: np.ndarray, place: str) -> Leaves:
    """Return integers as float64; what this rounds away, if anything, is a column of its own."""
    numbers = whole.astype(np.float64)
    found = Leaves(len(numbers), {place: numbers})
    if whole.size and max(abs(int(whole.min())), abs(int(whole.max()))) > EXACT_INTEGERS:
        low = np.array([int(x) - int(y) for x, y in zip(whole.ravel(), numbers.ravel(), strict=True)], dtype=float)
        found.numbers[f"{place} last digits"] = low.reshape(numbers.shape)
    return found


def read_complex(values: Sequence[Any], place: str) -> Leaves:
    numbers = np.array(values, dtype=np.complex128)
    found = _number_column(np.ascontiguousarray(numbers.real), f"{place}.real")
    found.update(_number_column(np.ascontiguousarray(numbers.imag), f"{place}.imag"))
    return found


def read_texts(values: Sequence[Any], place: str) -> Leaves:
    """Return texts (or bytes) as they are, and their lengths."""
    places = {value: number for number, value in enumerate(dict.fromkeys(values))}  # each is looked at once
    said = Texts.of(shortened(repr(value)) for value in places)
    lengths = np.array([len(value) for value in places], dtype=float)
    rows = np.fromiter(map(places.__getitem__, values), np.int64, len(values))
    texts = Texts.same(said.table[0], len(values)) if len(places) == 1 else said[rows]
    return Leaves(len(values), {f"len(output{place})": lengths[rows]}, {f"output{place}": texts})


def columns_of_array(array: np.ndarray, place: str = "") -> Leaves:
    """Return the columns of an array with one output in each row."""
    flat = array if array.ndim <= 2 else array.reshape(len(array), -1)
    if flat.ndim == 2 and flat.shape[1] == 1:
        flat = flat[:, 0]
    if flat.dtype.kind in "mM":
        return whole_numbers(flat.view(np.int64), place)
    if flat.dtype.kind in "iu":
        return whole_numbers(flat, place)
    if flat.dtype.kind == "c":
        numbers = flat.astype(np.complex128)
        found = _number_column(np.ascontiguousarray(numbers.real), f"{place}.real")
        found.update(_number_column(np.ascontiguousarray(numbers.imag), f"{place}.imag"))
        return found
    found = _number_column(flat.astype(np.float64, copy=False), place)
    if flat.dtype == np.longdouble and flat.dtype.itemsize > 8:
        found.numbers[f"{place} last digits"] = (flat - flat.astype(np.float64)).astype(np.float64)
    return found


def read_decimals(values: Sequence[Any], place: str) -> Leaves:
    """Return the nearest float64, the number of digits after the point, and what neither shows."""
    texts = list(map(str, values))
    numbers = np.array([float(value) for value in values])
    found = _number_column(numbers, place)
    exponents = [value.as_tuple().exponent for value in values]
    found.texts[f"exponent(output{place})"] = Texts.of(map(str, exponents))
    rest = [
        None if decimal.Decimal(repr(x)) == value else text
        for x, value, text in zip(numbers.tolist(), values, texts, strict=True)
    ]
    if any(text is not None for text in rest):
        found.texts[f"digits(output{place})"] = Texts.of(rest)
    return found


def read_fractions(values: Sequence[Any], place: str) -> Leaves:
    found = Leaves(len(values), {place: np.array([float(value) for value in values])})
    found.update(read_integers([value.numerator for value in values], f"{place}.numerator"))
    found.update(read_integers([value.denominator for value in values], f"{place}.denominator"))
    return found


def read_datetimes(values: Sequence[Any], place: str) -> Leaves:
    """Return microseconds since the year 2000 by the clock on the wall, and the time zone."""
    start = datetime.datetime(2000, 1, 1)
    steps = [(value.replace(tzinfo=None, fold=0) - start) // datetime.timedelta(microseconds=1) for value in values]
    found = read_integers(steps, place)
    found.texts[f"zone(output{place})"] = Texts.of(f"{value.tzinfo!r}, fold {value.fold}" for value in values)
    return found


def read_dates(values: Sequence[Any], place: str) -> Leaves:
    return read_integers([value.toordinal() for value in values], place)


def read_durations(values: Sequence[Any], place: str) -> Leaves:
    return read_integers([value // datetime.timedelta(microseconds=1) for value in values], place)


def read_raised(values: Sequence[Any], place: str) -> Leaves:
    return Leaves(len(values), texts={f"output{place}": Texts.of(map(str, values))})


def read_nothing(values: Sequence[Any], place: str) -> Leaves:
    return Leaves(len(values))


def shown_key(key: Any) -> str:
    return '"' + shortened(key).replace('"', r"\"") + '"' if isinstance(key, str) else shortened(repr(key))


def orders_of(orders: Sequence[tuple[Any, ...]]) -> Texts:
    """Return the keys of each row as a text; keys that are equal, as 1, True and 1.0 are, have texts of their own."""
    known: dict[Any, str] = {}
    alike = [order if set(map(type, order)) <= {str} else (None, repr(order)) for order in orders]
    for one, order in zip(alike, orders, strict=True):
        if one not in known:
            known[one] = shortened(repr(order))
    return Texts.same(known[alike[0]], len(alike)) if len(known) == 1 else Texts.of(map(known.__getitem__, alike))
