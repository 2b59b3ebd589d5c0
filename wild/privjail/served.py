"""privjail 0.1.2 at epsilon 1. A dataset is a list of records (v, k): v in [0, 1] and k a category, "a" or "b".

Each request reads a file with a schema, as the library's users do, and asks a query many times.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import privjail as pj

EPSILON, DELTA = 1.0, 0.05
SCHEMA = {"v": {"type": "float64", "range": [0.0, 1.0]}, "k": {"type": "category", "categories": ["a", "b"]}}


def table(dataset, accountant):
    """The records as the library reads them."""
    with tempfile.TemporaryDirectory() as folder:
        data, schema = Path(folder) / "data.csv", Path(folder) / "schema.json"
        pd.DataFrame(dataset, columns=["v", "k"]).to_csv(data, index=False)
        schema.write_text(json.dumps(SCHEMA))
        return pj.pandas.read_csv(str(data), str(schema), accountant=accountant)


def query(release, accountant="pure"):
    """Answers to a query, as arrays of floats."""

    def draw(dataset, size, rng):
        held = table(dataset, accountant)
        return np.array([np.ravel(release(held)) for _ in range(size)], dtype=float).squeeze()

    return draw


def laplace(sensitive):
    """An answer by the Laplace mechanism."""
    return pj.laplace_mechanism(sensitive, eps=EPSILON)


MECHANISMS = {
    "count": query(lambda held: laplace(held.shape[0])),
    "sum": query(lambda held: laplace(held["v"].sum())),
    "mean": query(lambda held: held["v"].mean(eps=EPSILON)),
    "value_counts": query(lambda held: laplace(held["k"].value_counts(sort=False))),
    "filter": query(lambda held: laplace(held[held["v"] > 0.5].shape[0])),
    "head": query(lambda held: laplace(held.head(2)["v"].sum())),
    "sorted head": query(lambda held: laplace(held.sort_values("v").head(1)["v"].sum())),
    "argmax": query(lambda held: pj.argmax([held["v"].sum(), held.shape[0]], eps=EPSILON)),
    "gaussian": query(lambda held: pj.gaussian_mechanism(held["v"].sum(), eps=0.9, delta=DELTA), "approx"),
}
