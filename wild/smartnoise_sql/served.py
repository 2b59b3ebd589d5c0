"""smartnoise-sql 1.0.10: its mechanisms, and queries on a table with one row per person, v in [0, 1] and a key k.

A dataset is a list of numbers for the mechanisms, which get the exact sum, and a list of rows (v, k) for queries. Every
query searches its noise scale anew, a function of public parameters only. That is most of its time, so it is kept.
"""

from __future__ import annotations

import pandas as pd
import snsql
from snsql.sql._mechanisms import Gaussian, Laplace

EPSILON, DELTA = 1.0, 0.05
COLUMNS = {"v": {"type": "float", "lower": 0.0, "upper": 1.0}, "k": {"type": "string"}}
LAPLACE = Laplace(EPSILON, lower=0.0, upper=1.0)
GAUSSIAN = Gaussian(EPSILON, delta=DELTA, lower=0.0, upper=1.0)
_scales: dict = {}
_search = Laplace._compute_noise_scale


def _kept_scale(self):
    key = (self.epsilon, self.delta, self.lower, self.upper, self.max_contrib, self.bit_depth)
    if key not in _scales:
        _search(self)
        _scales[key] = self.scale
    self.scale = _scales[key]


Laplace._compute_noise_scale = _kept_scale


def reader(dataset, censored=False):
    """A reader of the rows, with a budget of its own."""
    table = {"row_privacy": True, "rows": 3, **COLUMNS, "censor_dims": censored}
    frame, privacy = pd.DataFrame(dataset, columns=["v", "k"]), snsql.Privacy(epsilon=EPSILON, delta=DELTA)
    return snsql.from_df(frame, privacy=privacy, metadata={"": {"T": {"T": table}}})


def query(text, censored):
    """The rows that a query returns, without the header."""

    def draw(dataset, size, rng):
        asked = reader(dataset, censored=censored)
        return [[list(row) for row in asked.execute(text)[1:]] for _ in range(size)]

    return draw


MECHANISMS = {
    "Laplace": lambda dataset, size, rng: LAPLACE.release([sum(dataset)] * size),
    "Gaussian": lambda dataset, size, rng: GAUSSIAN.release([sum(dataset)] * size),
    "COUNT": query("SELECT COUNT(v) AS n FROM T.T", censored=False),
    "SUM": query("SELECT SUM(v) AS s FROM T.T", censored=False),
    "COUNT by key": query("SELECT k, COUNT(v) AS n FROM T.T GROUP BY k", censored=True),
}
