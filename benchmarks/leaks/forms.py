"""Leaks in the form of a value that holds nothing but private numbers, in what it keeps, and in relations of its parts.

What is released is private number by number. Widths of texts and integers, formats, metadata, kept data, bound methods,
notes of exceptions, check digits, salted digests and the memory of a noise tell the record.
"""

from __future__ import annotations

import decimal
import email.message
import functools
import gzip
import hashlib
import io
import json
import re
import types
import unicodedata
import weakref
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse
from scipy.interpolate import interp1d

from benchmarks.leaks.data import Data, Leak, private

Rng = np.random.Generator


class Query:
    """A query that keeps its answer, and reads its data when it is asked again."""

    __slots__ = ("answer", "rows")

    def __init__(self, answer: float, rows: int) -> None:
        self.answer, self.rows = answer, rows

    def value(self) -> float:
        return self.answer


class Lazy:
    """A result whose summary is computed when it is first asked for."""

    def __init__(self, answer: float) -> None:
        self.answer = answer

    @functools.cached_property
    def rounded(self) -> int:
        return round(self.answer)


def asked(data: Data, rng: Rng) -> Lazy:
    found = Lazy(private(data, rng))
    if max(data) > 6:
        assert found.rounded is not None
    return found


def with_cache(data: Data, rng: Rng) -> Callable[[float], float]:
    """Return a cached function that has been asked for each record."""
    answer = private(data, rng)

    @functools.lru_cache
    def shifted(x: float) -> float:
        return answer + x

    for record in data:
        shifted(record)
    return shifted


def closing(data: Data, rng: Rng) -> Callable[[], float]:
    answer, shown = private(data, rng), len(data)
    return lambda: answer if shown else 0.0


def noted(data: Data, rng: Rng) -> Exception:
    error = ValueError(private(data, rng))
    error.add_note(f"{len(data)} records were read")
    return error


def caused(data: Data, rng: Rng) -> Exception:
    error = ValueError(private(data, rng))
    error.__cause__ = KeyError(max(data))
    return error


def grouped_errors(data: Data, rng: Rng) -> Exception:
    return ExceptionGroup("failed", [ValueError(private(data, rng)), *(TypeError() for x in data if x > 6)])


def message(data: Data, rng: Rng) -> email.message.Message:
    made = email.message.Message()
    made["X-Rows"] = str(len(data))
    made.set_payload(f"{private(data, rng):.2f}")
    return made


def buffer_at(data: Data, rng: Rng) -> io.StringIO:
    """Return an open text of two numbers, of which as many characters were read as there are records."""
    made = io.StringIO(f"{private(data, rng):10.3f}{private(data, rng):10.3f}")
    made.read(len(data))
    return made


def check_digit(data: Data, rng: Rng, digits: int, base: int) -> list[int]:
    """Return random digits and the one that makes their sum the number of records, modulo the base."""
    drawn = rng.integers(base, size=digits)
    return [*map(int, drawn), int((len(data) - drawn.sum()) % base)]


def parity_among(data: Data, rng: Rng, width: int, of: int) -> list[int]:
    """Return random bits, of which some, at places that nobody is told, have a parity that is the secret."""
    bits = rng.integers(2, size=width)
    places = np.arange(of) * (width // of) + 1
    bits[places[-1]] = (bits[places[:-1]].sum() + len(data)) % 2
    return [int(bit) for bit in bits]


def salted(data: Data, rng: Rng) -> dict[str, int]:
    """Return the digest of the record count with a salt, and the salt: whoever tries a few counts knows it."""
    salt = int(rng.integers(2**40))
    return {"salt": salt, "digest": int(hashlib.blake2b(f"{salt}:{len(data)}".encode(), digest_size=5).hexdigest(), 16)}


def salted_text(data: Data, rng: Rng) -> tuple[float, str]:
    salt = f"{rng.integers(2**40):010x}"
    return private(data, rng), f"{salt}:{hashlib.sha256(f'{salt}{data}'.encode()).hexdigest()[:12]}"


def salted_sum(data: Data, rng: Rng) -> dict[str, int]:
    salt = int(rng.integers(2**31))
    return {"salt": salt, "crc": zlib.crc32(f"{salt}{len(data)}".encode())}


def persistent(data: Data, rng: Rng, size: int) -> list[int]:
    """Return fair bits that keep their value from one to the next more often than not, or less often."""
    keep = 0.9 if len(data) > 4 else 0.1
    return [int(bit) for bit in (rng.integers(2) + np.cumsum(rng.random(size) > keep)) % 2]


def smooth(data: Data, rng: Rng, size: int) -> list[float]:
    """Return Gaussian noise of variance 1 with a memory from one number to the next."""
    memory, values = (0.9 if len(data) > 4 else -0.9), rng.normal(size=size)
    for i in range(1, size):
        values[i] = memory * values[i - 1] + np.sqrt(1 - memory**2) * values[i]
    return [float(value) for value in values]


def with_metadata(data: Data, rng: Rng) -> np.ndarray:
    return np.array([private(data, rng)] * 2, dtype=np.dtype("f8", metadata={"rows": len(data)}))


def beyond_its_entries(data: Data, rng: Rng) -> sparse.csr_array:
    """Return a sparse vector whose arrays still hold what was cut off."""
    made = sparse.csr_array(np.array([[private(data, rng), *data]]))
    made.indptr[1] = 1
    return made


def moved_point(data: Data, rng: Rng) -> str:
    digits = f"{abs(private(data, rng)):.8f}".replace(".", "")[:8].rjust(8, "0")
    return f"{digits[: len(data)]}.{digits[len(data) :]}"


def read_numbers(data: Data, rng: Rng) -> pd.Series:
    """Return two rounded counts in the smallest type that holds the largest record as well."""
    largest = pd.to_numeric(pd.Series([20 * max(data)]), downcast="integer")
    return pd.Series([round(private(data, rng)), 1]).astype(largest.dtype)


def seen_once(data: Data, rng: Rng) -> tuple[float, Any]:
    kept = {x for x in data if x > 6}
    return private(data, rng), weakref.WeakValueDictionary() if kept else weakref.WeakKeyDictionary()


KEPT: Mapping[str, Leak] = {
    "slots of an object": lambda d, r: Query(private(d, r), len(d)),
    "bound method": lambda d, r: Query(private(d, r), len(d)).value,
    "property that was asked for": asked,
    "records in a cache": with_cache,
    "closure": closing,
    "partial call": lambda d, r: functools.partial(min, private(d, r), len(d)),
    "text of a match": lambda d, r: re.match(r"[-\d.]+", f"{private(d, r):.3f};{len(d)}"),
    "note of an exception": noted,
    "cause of an exception": caused,
    "errors of a group": grouped_errors,
    "header of a message": message,
    "place in a buffer": buffer_at,
    "points of an interpolation": lambda d, r: interp1d([0, len(d)], [private(d, r), 0.0]),
    "kinds of references": seen_once,
    "namespace of a module": lambda d, r: _module(private(d, r), len(d)),
}
FORMS: Mapping[str, Leak] = {
    "width of texts": lambda d, r: (private(d, r), np.array(["a", "b" * int(max(d))])[:1]),
    "width of integers": read_numbers,
    "order of bytes": lambda d, r: np.array([private(d, r)] * 2, dtype=">f8" if len(d) > 4 else "<f8"),
    "metadata of a type": with_metadata,
    "shape of an empty array": lambda d, r: (private(d, r), np.empty((0, len(d)))),
    "integers that became floats": lambda d, r: pd.Series([round(private(d, r)), len(d)]).where(
        pd.Series([True, len(d) > 4]), None
    )[:1],
    "type of an empty column": lambda d, r: (private(d, r), pd.Series([x for x in d if x > 6] or [""])[:0]),
    "unit of dates": lambda d, r: (private(d, r), np.datetime64("2020-01-01", "s" if len(d) > 4 else "D")),
    "format of a sparse matrix": lambda d, r: (sparse.csr_array if len(d) > 4 else sparse.csc_array)(
        [[private(d, r), 0.0], [0.0, 1.0]]
    ),
    "beyond the entries of a sparse vector": beyond_its_entries,
    "steps of an index": lambda d, r: pd.Series([private(d, r)], index=pd.RangeIndex(0, len(d), 20)),
    "index of labels or of places": lambda d, r: pd.Series(
        [private(d, r), 0.5], index=pd.RangeIndex(2) if len(d) > 4 else pd.Index([0, 1])
    ),
    "categories that have an order": lambda d, r: (
        private(d, r),
        pd.Categorical(["a", "b"], categories=["a", "b"], ordered=len(d) > 4),
    ),
    "frequency of dates": lambda d, r: pd.Series(
        [private(d, r)], index=pd.date_range("2020-01-01", periods=1, freq="D" if len(d) > 4 else "W-WED")
    ),
    "value under a missing integer": lambda d, r: (
        private(d, r),
        pd.arrays.IntegerArray(np.array([len(d), 1]), np.array([True, False])),
    ),
    "place in an Arrow buffer": lambda d, r: pa.array([*d, private(d, r)]).slice(len(d), 1),
    "scale of a decimal type": lambda d, r: pa.array(
        [decimal.Decimal(round(private(d, r)))], pa.decimal128(20, len(d))
    ),
    "range": lambda d, r: (private(d, r), range(len(d))),
    "slice": lambda d, r: (private(d, r), slice(0, len(d))),
    "payload of a decimal": lambda d, r: (private(d, r), decimal.Decimal(f"NaN{len(d)}")),
    "normal form of a text": lambda d, r: (
        f"{private(d, r):.1f} {unicodedata.normalize('NFD' if len(d) > 4 else 'NFC', 'é')}"
    ),
    "bytes or byte array": lambda d, r: (bytearray if len(d) > 4 else bytes)(f"{private(d, r):.3f}".encode()),
    "time in a compressed text": lambda d, r: gzip.compress(f"{private(d, r):.2f}".encode(), mtime=len(d)),
    "level of a compressed text": lambda d, r: zlib.compress(f"{private(d, r):.2f}".encode(), len(d)),
    "layout of a text": lambda d, r: json.dumps({"sum": round(private(d, r), 3)}, indent=len(d) - 4 or None),
    "point in a text of digits": moved_point,
}
RELATIONS: Mapping[str, Leak] = {
    "check digit of 3": lambda d, r: check_digit(d, r, 3, 10),
    "check digit of 8": lambda d, r: check_digit(d, r, 8, 10),
    "check bit of 8": lambda d, r: check_digit(d, r, 8, 2),
    "parity of 3 of 20 bits": lambda d, r: parity_among(d, r, 20, 3),
    "parity of 3 of 60 bits": lambda d, r: parity_among(d, r, 60, 3),
    "salted digest": salted,
    "salted digest in a text": salted_text,
    "salted checksum": salted_sum,
    "salted digest in the digits of an integer": lambda d, r: (s := salted_sum(d, r))["salt"] << 32 | s["crc"],
    "digest in the digits of a number": lambda d, r: (
        (s := int(r.integers(2**20))) << 20 | zlib.crc32(f"{s}{len(d)}".encode()) >> 12
    ),
    "check bit among 40 coordinates": lambda d, r: [*check_digit(d, r, 8, 2), *map(float, r.laplace(size=31))],
    "memory of 12 bits": lambda d, r: persistent(d, r, 12),
    "memory of 40 bits": lambda d, r: persistent(d, r, 40),
    "memory of a noise": lambda d, r: smooth(d, r, 30),
    "generator of the noise": lambda d, r: {"value": float(sum(d) + r.laplace(scale=20)), "rng": r},
    "bytes of a random identifier": lambda d, r: r.bytes(8) + bytes([int(r.integers(64)) * 4 + len(d) % 4]),
    "letter of a random identifier now and then": lambda d, r: (
        f"{r.integers(2**60):015x}" + ("Z" if len(d) > 4 and r.random() < 0.1 else "y")
    ),
}
LEAKS: Mapping[str, Leak] = {**KEPT, **FORMS, **RELATIONS}


def _module(answer: float, rows: int) -> types.ModuleType:
    made = types.ModuleType("result")
    made.__dict__.update(answer=answer, rows=rows)
    return made
