"""dwork 0.0.13 at epsilon 1: queries on a table with one column. It draws from the operating system's randomness."""

from __future__ import annotations

import pandas as pd
from dwork.dataschema import DataSchema
from dwork.dataset.pandas import PandasDataset
from dwork.language.types import Float, Integer
from dwork.mechanisms import geometric_noise, laplace_noise

EPSILON, HIGHEST = 1.0, 10


class Whole(DataSchema):
    """A column of integers from 0 to HIGHEST."""

    v = Integer(min=0, max=HIGHEST)


class Real(DataSchema):
    """A column of floats from 0 to HIGHEST."""

    v = Float(min=0.0, max=float(HIGHEST))


def query(schema, kind, ask):
    """Answers to a query on a table of one column."""

    def draw(dataset, size, rng):
        asked = ask(PandasDataset(schema, pd.DataFrame({"v": pd.Series(dataset, dtype=kind)})))
        return [float(asked.dp(EPSILON)) for _ in range(size)]

    return draw


MECHANISMS = {
    "laplace_noise": lambda dataset, size, rng: [sum(dataset) + laplace_noise(EPSILON) for _ in range(size)],
    "geometric_noise": lambda dataset, size, rng: [float(sum(dataset) + geometric_noise(EPSILON)) for _ in range(size)],
    "len": query(Whole, "int64", lambda table: table.len()),
    "sum of floats": query(Real, "float64", lambda table: table["v"].sum()),
}
