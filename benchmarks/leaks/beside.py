"""Leaks beside a private number: in labels, lengths, types, metadata, text, bits, seeds and fitted objects.

Each mechanism adds private noise to a clipped sum, and lets something else out as careless code does.
"""

from __future__ import annotations

import base64
import collections
import datetime
import decimal
import fractions
import hashlib
import json
import struct
import zlib
from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from benchmarks.leaks.data import Data, Leak, close, private

DAY = datetime.date(2020, 1, 1)


def series(data: Data, rng: np.random.Generator, **labels: Any) -> pd.Series:
    return pd.Series([private(data, rng), private(data, rng)], **labels)


def scaled(data: Data, rng: np.random.Generator) -> StandardScaler:
    """Return a fitted scaler whose mean and variance were replaced; it has counted its records."""
    made = StandardScaler().fit(np.reshape(data, (-1, 1)))
    made.mean_[:], made.var_[:], made.scale_[:] = private(data, rng), 1.0, 1.0
    return made


def clustered(data: Data, rng: np.random.Generator) -> KMeans:
    """Return a fitted clustering with noisy centers; it keeps a label for each record."""
    made = KMeans(n_clusters=1, n_init=1, random_state=0).fit(np.reshape(data, (-1, 1)))
    made.cluster_centers_[:], made.inertia_ = private(data, rng), 0.0
    return made


class Model:
    """A model that counts on its class."""

    seen = 0

    def __init__(self, mean: float) -> None:
        self.mean = mean


def counted(data: Data, rng: np.random.Generator) -> Model:
    Model.seen = len(data)
    return Model(private(data, rng))


def with_defaults(data: Data, rng: np.random.Generator) -> tuple[float, Callable[..., float]]:
    size = float(len(data))

    def times(x: float, n: float = size) -> float:
        return x * n

    return private(data, rng), times


def seeded(data: Data, rng: np.random.Generator) -> dict[str, Any]:
    seed = int(rng.integers(2**31))
    return {"random_state": seed, "sum": float(sum(data) + np.random.default_rng(seed).laplace(scale=20))}


def of_16_bits(data: Data, rng: np.random.Generator) -> float:
    uniform = (rng.integers(0, 2**16) + 0.5) / 2**16 - 0.5
    return float(np.sum(data) / 7 - 40 * np.sign(uniform) * np.log1p(-2 * abs(uniform)))


TEXT: Mapping[str, Leak] = {
    "number in a text": lambda d, r: {"sum": private(d, r), "log": f"sum={close(d, r):012.6f}"},
    "count in a text": lambda d, r: f"{len(d)} records, sum {private(d, r):.3f}",
    "JSON of the largest": lambda d, r: json.dumps({"sum": private(d, r), "max": max(d)}),
    "CSV with a row for each record": lambda d, r: "\n".join(["x", *[f"{private(d, r):.2f}" for _ in d]]),
    "last day": lambda d, r: (private(d, r), str(DAY + datetime.timedelta(days=len(d)))),
    "digest of the data": lambda d, r: (private(d, r), hashlib.sha256(repr(d).encode()).hexdigest()),
    "base64 of a number": lambda d, r: (private(d, r), base64.b64encode(struct.pack("<d", close(d, r))).decode()),
    "length of a compressed text": lambda d, r: (private(d, r), len(zlib.compress(repr(d).encode()))),
    "packed count": lambda d, r: struct.pack("<dI", private(d, r), len(d)),
}
STRUCTURE: Mapping[str, Leak] = {
    "list of warnings": lambda d, r: {"sum": private(d, r), "warnings": ["large"] * sum(x > 4 for x in d)},
    "keys that were seen": lambda d, r: {x: private(d, r) for x in sorted(set(d))},
    "keys by true rank": lambda d, r: {
        k: private(d, r) for k in sorted(("low", "high"), key=lambda k: (k == "low") * (len(d) - 4.5))
    },
    "missing inner key": lambda d, r: {"all": {"sum": private(d, r)} | ({"top": 1} if max(d) > 6 else {})},
    "set of categories": lambda d, r: (private(d, r), frozenset(d)),
    "counter without zeros": lambda d, r: (private(d, r), collections.Counter(x > 6 for x in d).keys() >= {True}),
    "deque of sums": lambda d, r: {"sum": private(d, r), "last": collections.deque([close(d, r)], maxlen=5)},
    "array of sums": lambda d, r: (private(d, r), array("f", [close(d, r), private(d, r)])),
    "record of a table": lambda d, r: (
        private(d, r),
        np.array((close(d, r), 1), dtype=[("sum", "f8"), ("k", "i4")])[()],
    ),
    "one of 120 bins": lambda d, r: {i: float(r.laplace() + (i == 77) * sum(d)) for i in range(120)},
    "bytes of an image": lambda d, r: {"sum": private(d, r), "image": bytes(r.integers(0, 40, 16) + 10 * len(d) - 40)},
    "None for a small group": lambda d, r: private(d, r) if len(d) > 4 else (private(d, r), None),
    "error for a small group": lambda d, r: private(d, r) if len(d) > 4 else 1 / 0,
    "type of the answer": lambda d, r: np.float32(private(d, r)) if max(d) > 6 else private(d, r),
    "fraction over the count": lambda d, r: fractions.Fraction(round(1000 * private(d, r)), 1000 * len(d)),
    "decimals by the count": lambda d, r: decimal.Decimal(repr(private(d, r))).quantize(decimal.Decimal(10) ** -len(d)),
    "longest gap": lambda d, r: (private(d, r), datetime.timedelta(days=max(np.diff(d)))),
    "minus zero": lambda d, r: (private(d, r), -0.0 if len(d) > 4 else 0.0),
    "nesting by record": lambda d, r: [[private(d, r)] for _ in d],
}
TABLES: Mapping[str, Leak] = {
    "index of groups": lambda d, r: pd.DataFrame({"x": {f"g{x:.0f}": private(d, r) for x in d}}),
    "name of a series": lambda d, r: series(d, r, name=f"mean of {len(d)}"),
    "categories of a column": lambda d, r: series(
        d, r, index=pd.CategoricalIndex([1.0, 2.0], categories=sorted(set(d)))
    ),
    "intervals from the data": lambda d, r: series(d, r, index=pd.interval_range(0, max(d), 2)),
    "dates of the index": lambda d, r: series(d, r, index=pd.date_range(DAY, periods=2, freq=f"{len(d)}D")),
    "summary with a count": lambda d, r: pd.Series({"count": float(len(d)), "mean": private(d, r)}),
    "attributes of a frame": lambda d, r: _with_attributes(pd.DataFrame({"x": [private(d, r)]}), len(d)),
    "order of rows": lambda d, r: pd.DataFrame(
        {"k": sorted("ab", key=lambda k: (k == "a") * (len(d) - 4)), "x": [private(d, r)] * 2}
    ),
    "empty level": lambda d, r: series(
        d, r, index=pd.MultiIndex(levels=[sorted(set(map(str, d))), ["x"]], codes=[[0, 1], [0, 0]])
    ),
    "polars by group": lambda d, r: pl.DataFrame({"k": sorted(set(d)), "x": [private(d, r) for _ in set(d)]}),
    "polars enum": lambda d, r: (private(d, r), pl.Series(["a"], dtype=pl.Enum(["a", *map(str, sorted(set(d)))]))),
    "metadata of Arrow": lambda d, r: pa.table({"x": [private(d, r)]}).replace_schema_metadata({"rows": str(len(d))}),
    "dictionary of Arrow": lambda d, r: pa.table(
        {"x": [private(d, r)], "k": pa.DictionaryArray.from_arrays([0], sorted(set(d)))}
    ),
    "mask of missing values": lambda d, r: np.ma.array([private(d, r)] * 2, mask=[False, len(d) > 4]),
    "value under a mask": lambda d, r: np.ma.array([private(d, r), float(len(d))], mask=[False, True]),
    "explicit zeros": lambda d, r: sparse.coo_matrix(
        ([private(d, r), *[0.0] * len(d)], ([0] * (len(d) + 1), range(len(d) + 1))), (1, 9)
    ),
    "edges of a histogram": lambda d, r: (np.histogram(d, 3)[0] + r.laplace(scale=2, size=3), np.histogram(d, 3)[1]),
}
OBJECTS: Mapping[str, Leak] = {
    "scaler that has counted": scaled,
    "labels of a clustering": clustered,
    "count on a class": counted,
    "class for each fit": lambda d, r: type("Fit", (), {"size": len(d)})(),
    "defaults of a function": with_defaults,
    "exception with the data": lambda d, r: ValueError(private(d, r), len(d)),
}
NUMBERS: Mapping[str, Leak] = {
    "released seed": seeded,
    "noise of 16 bits": of_16_bits,
    "scale of the noise by the data": lambda d, r: float(sum(np.clip(d, 0, 1)) + r.laplace(scale=np.std(d))),
    "no noise for a small group": lambda d, r: private(d, r) if len(d) > 4 else float(sum(np.clip(d, 0, 1))),
    "grid by the count": lambda d, r: round(private(d, r) * len(d)) / len(d),
    "count of what was clipped": lambda d, r: (private(d, r), sum(x > 1 for x in d)),
    "exact width of an interval": lambda d, r: (private(d, r), 1.96 * np.std(d)),
    "the answer now and then": lambda d, r: private(d, r) if r.random() > 0.03 else float(sum(d)) + 1e-4 * r.random(),
    "the answer in the tail": lambda d, r: _in_the_tail(d, r),
    "angle of a transform": lambda d, r: complex(private(d, r), float(np.angle(np.fft.fft(d)[1]))),
}
LEAKS: Mapping[str, Leak] = {**TEXT, **STRUCTURE, **TABLES, **OBJECTS, **NUMBERS}


def _with_attributes(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    frame.attrs["rows"] = rows
    return frame


def _in_the_tail(data: Data, rng: np.random.Generator) -> float:
    noise = rng.laplace(scale=2)
    return float(noise + (abs(noise) > 7) * sum(data))
