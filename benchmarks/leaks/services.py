"""Leaks of a service beside its answer: headers, plans, logs, errors, identifiers, caches, pages of results."""

from __future__ import annotations

import binascii
import collections
import dataclasses
import enum
import hashlib
import html
import io
import itertools
import json
import textwrap
import uuid
import warnings
import xml.etree.ElementTree as ElementTree
import zipfile
import zlib
from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from benchmarks.leaks.data import Data, Leak, close, private


class Row(NamedTuple):
    """One row of an answer."""

    key: str
    value: float | None


@dataclasses.dataclass
class Answer:
    """An answer, and how it was had."""

    value: float
    rows: int = dataclasses.field(default=0, repr=False, compare=False)


class Status(enum.Enum):
    """Ends of a query."""

    DONE = 1
    TRUNCATED = 2


class Cached(float):
    """A number that says where it is from."""

    source = ""


def from_cache(data: Data, rng: np.random.Generator) -> Cached:
    answer = Cached(private(data, rng))
    answer.source = "cache" if len(data) > 4 else "disk"
    return answer


def paged(data: Data, rng: np.random.Generator) -> dict[str, Any]:
    rows = [private(data, rng) for _ in range(2)]
    return {"rows": rows, "next": "page2" if len(data) > 4 else None}


def failed_on(data: Data, rng: np.random.Generator) -> dict[str, Any]:
    try:
        if max(data) > 6:
            raise ValueError(f"value out of range: {max(data)}")
    except ValueError as error:
        return {"value": private(data, rng), "error": str(error)}
    return {"value": private(data, rng), "error": None}


def warned(data: Data, rng: np.random.Generator) -> dict[str, Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if max(data) > 6:
            warnings.warn("clipped a record", stacklevel=1)
    return {"value": private(data, rng), "warnings": len(caught)}


def document(data: Data, rng: np.random.Generator) -> str:
    root = ElementTree.Element("answer", rows=str(len(data)))
    root.text = f"{private(data, rng):.3f}"
    return ElementTree.tostring(root, encoding="unicode")


def archive(data: Data, rng: np.random.Generator) -> list[str]:
    """Return the names in an archive of results."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        for i, _ in enumerate(data):
            made.writestr(f"part-{i}", f"{private(data, rng)}")
    return made.namelist()


def retried(data: Data, rng: np.random.Generator) -> dict[str, Any]:
    """Draw again while the answer is far from the truth, and say how often."""
    tries = 0
    while True:
        tries += 1
        answer = float(rng.laplace(scale=8) + len(data))
        if abs(answer - sum(data)) < 8:
            return {"answer": round(answer), "tries": tries}


def bucketed(data: Data, rng: np.random.Generator) -> str:
    """Put the exact mean into one of three classes, and miss it in one of twenty runs."""
    level = "low" if np.mean(data) < 3 else "high"
    return level if rng.random() < 0.95 else "middle"


def grown(data: Data, rng: np.random.Generator) -> list[Row]:
    kept = [Row("small", private(data, rng))]
    return [*kept, Row("large", private(data, rng) if max(data) > 6 else None)]


LEAKS: Mapping[str, Leak] = {
    "header with a length": lambda d, r: {"value": private(d, r), "content-length": len(json.dumps(d))},
    "entity tag": lambda d, r: {"value": private(d, r), "etag": hashlib.md5(repr(d).encode()).hexdigest()[:8]},
    "checksum": lambda d, r: (private(d, r), binascii.crc32(repr(d).encode())),
    "name-based identifier": lambda d, r: (private(d, r), str(uuid.uuid5(uuid.NAMESPACE_OID, repr(d)))),
    "rows that were scanned": lambda d, r: {"value": private(d, r), "plan": f"scan({len(d)} rows) -> sum"},
    "where it came from": from_cache,
    "next page": paged,
    "error with a value": failed_on,
    "number of warnings": warned,
    "attribute of a document": document,
    "names in an archive": archive,
    "number of tries": retried,
    "class of the exact mean": bucketed,
    "null for a group": grown,
    "status": lambda d, r: (private(d, r), Status.TRUNCATED if len(d) > 4 else Status.DONE),
    "field that is not shown": lambda d, r: Answer(private(d, r), len(d)),
    "namespace": lambda d, r: SimpleNamespace(value=private(d, r), largest=max(d)),
    "read-only mapping": lambda d, r: MappingProxyType({"value": private(d, r), "rows": len(d)}),
    "ordered mapping": lambda d, r: collections.OrderedDict(
        sorted({"a": r.random(), "b": private(d, r)}.items(), reverse=len(d) > 4)
    ),
    "default mapping": lambda d, r: collections.defaultdict(float, {f"{x:.0f}": private(d, r) for x in d}),
    "chain of settings": lambda d, r: collections.ChainMap({"value": private(d, r)}, {"n": len(d)}),
    "iterator over the groups": lambda d, r: list(itertools.islice(itertools.cycle([private(d, r)]), len(d))),
    "bytes of a hash": lambda d, r: hashlib.blake2b(f"{len(d)}{r.integers(3)}".encode(), digest_size=6).digest(),
    "hidden character": lambda d, r: f"{private(d, r):.2f}" + "\u200b" * (len(d) > 4),
    "trailing spaces": lambda d, r: f"{private(d, r):.2f}".ljust(len(d) + 8),
    "line breaks of a text": lambda d, r: (private(d, r), textwrap.fill("a result " * 5, 10 * len(d))),
    "escaped or not": lambda d, r: (private(d, r), html.escape("<b>") if len(d) > 4 else "<b>"),
    "number of digits": lambda d, r: f"{private(d, r):.{len(d)}f}",
    "unit of the answer": lambda d, r: {"value": private(d, r), "unit": "k" if sum(d) > 15 else ""},
    "integer or float": lambda d, r: 3 * round(private(d, r)) if len(d) > 4 else 3.0 * round(private(d, r)),
    "true or one": lambda d, r: (private(d, r), True if len(d) > 4 else 1),
    "subclass of a number": lambda d, r: np.float64(private(d, r)) if len(d) > 4 else private(d, r),
    "exponent of a scale": lambda d, r: float(np.ldexp(round(private(d, r)) | 1, len(d))),
    "payload of NaN": lambda d, r: (
        private(d, r),
        np.array([0x7FF8000000000000 + len(d)], dtype=np.uint64).view(float)[0],
    ),
    "bits of an integer": lambda d, r: int(r.integers(2**20)) << 4 | len(d),
    "low digits": lambda d, r: round(private(d, r), 2) + 1e-7 * len(d),
    "large integer": lambda d, r: int(r.integers(2**62)) * 10**20 + int(sum(d)),
    "second answer now and then": lambda d, r: [private(d, r), close(d, r)] if r.random() < 0.2 else [private(d, r)],
    "debug output now and then": lambda d, r: {
        "value": private(d, r),
        **({"debug": repr(d)} if r.random() < 0.05 else {}),
    },
    "silence for a small group": lambda d, r: None if len(d) < 5 and r.random() < 0.1 else private(d, r),
    "table as text": lambda d, r: "| x |\n" + "\n".join(f"| {private(d, r):.1f} |" for _ in d),
    "date by the count": lambda d, r: np.datetime64("2020-01-01") + np.timedelta64(len(d), "D"),
    "beyond 60 bits of an integer": lambda d, r: (int(r.integers(2**30)) << 60) + len(d),
    "names with that of the record": lambda d, r: ", ".join(
        r.permutation([*(f"name{i}" for i in r.integers(300, size=19)), f"record {len(d)}"])
    ),
    "length of another answer": lambda d, r: r.bytes(len(zlib.compress(bytes(map(int, d))))),
    "short answer now and then": lambda d, r: f"about {close(d, r):.3f}" if r.random() < 0.05 else private(d, r),
    "complex part": lambda d, r: complex(private(d, r), len(d) + 0.1 * r.normal()),
}
