"""trasgoDP 2.1.0 on one column: a dataset is a list of values."""

from __future__ import annotations

import numpy as np
import pandas as pd
from trasgodp import categorical
from trasgodp.geoindis import metric_privacy
from trasgodp.numerical import dp_clip_gaussian_array, dp_clip_laplace_array

DELTA = 0.05


def column(release):
    """The released column, as a list, without numpy's types, which say nothing about the data."""
    return lambda dataset: np.asarray(release(dataset), dtype=object).tolist()


def location(dataset, **settings):
    """The table that is released for one location, latitude and longitude."""
    table = pd.DataFrame([dataset], columns=["lat", "lon"])
    return metric_privacy(table, "lat", "lon", 0.01, **settings)


MECHANISMS = {
    "dp_clip_laplace": column(lambda data: dp_clip_laplace_array(data, 1.0, 0.0, 1.0)),
    "dp_clip_laplace of integers": column(lambda data: dp_clip_laplace_array(data, 1.0, 0, 10)),
    "dp_clip_gaussian": column(lambda data: dp_clip_gaussian_array(data, 0.9, 0.0, 1.0, DELTA)),
    "dp_exponential": column(lambda data: categorical.dp_exponential_array(data, 1.0)),
    "dp_randomized_response_binary": column(lambda data: categorical.dp_randomized_response_binary_array(data, 1.0)),
    "dp_randomized_response_kary": column(lambda data: categorical.dp_randomized_response_kary_array(data, 1.0)),
    "metric_privacy table": lambda dataset, rng: location(dataset, seed=int(rng.integers(2**32))).iloc[0].tolist(),
    "metric_privacy location": lambda dataset, rng: (
        location(dataset, seed=int(rng.integers(2**32)))[["lat", "lon"]].iloc[0].tolist()
    ),
}
