"""Tumult Core 0.20.0: measurements that need no Spark session. A dataset is a list of records."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasDataFrameDomain, PandasSeriesDomain
from tmlt.core.measurements import interactive_measurements as interactive
from tmlt.core.measurements import noise_mechanisms as noise
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.pandas_measurements.dataframe import AggregateByColumn
from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries, NoisyQuantile
from tmlt.core.measures import PureDP
from tmlt.core.transformations.base import Transformation

FLOATS = NumpyFloatDomain()
SERIES = PandasSeriesDomain(FLOATS)
LAPLACE, GEOMETRIC = noise.AddLaplaceNoise(FLOATS, 1), noise.AddGeometricNoise(1)
DISCRETE, GAUSSIAN = noise.AddDiscreteGaussianNoise(4), noise.AddGaussianNoise(FLOATS, 4)
LOWER, UPPER = 0, 10


def quantile(share, epsilon=1):
    """A quantile of numbers between 0 and 10."""
    return NoisyQuantile(SERIES, PureDP(), share, LOWER, UPPER, epsilon)


MEDIAN, LARGEST = quantile(0.5), quantile(1.0)
FRAME = PandasDataFrameDomain({"a": SERIES, "b": SERIES})
COLUMNS = AggregateByColumn(FRAME, {"a": quantile(0.5, "1/2"), "b": quantile(0.25, "1/2")})
BOTH = Composition([noise.AddLaplaceNoise(FLOATS, 2), noise.AddLaplaceNoise(FLOATS, 2)])
NOISY = AddNoiseToSeries(GEOMETRIC)


def both_quantiles(dataset, rng):
    """A quantile of each of two columns."""
    row = COLUMNS(pd.DataFrame(dataset, columns=["a", "b"], dtype=float)).iloc[0]
    return [float(row["a"]), float(row["b"])]


SPACE = GEOMETRIC.input_domain, GEOMETRIC.input_metric
DOUBLED = type("Doubled", (Transformation,), {
    "stability_function": lambda self, d_in: 2 * d_in, "__call__": lambda self, count: 2 * count,
})(*SPACE, *SPACE)  # fmt: skip


def after_refusals(dataset, rng):
    """A count by a session of epsilon = 1 that has refused to double it four times."""
    session = interactive.create_adaptive_composition(*SPACE, 1, 1, PureDP())(np.int64(sum(dataset)))
    for _ in range(4):
        with suppress(ValueError):
            session(interactive.TransformationQuery(DOUBLED, d_out=1))
    return session(interactive.MeasurementQuery(GEOMETRIC))


MECHANISMS = {
    "AddLaplaceNoise": lambda dataset, rng: LAPLACE(float(sum(dataset))),
    "AddGeometricNoise": lambda dataset, rng: GEOMETRIC(int(sum(dataset))),
    "AddDiscreteGaussianNoise": lambda dataset, rng: DISCRETE(int(sum(dataset))),
    "AddGaussianNoise": lambda dataset, rng: GAUSSIAN(float(sum(dataset))),
    "AddNoiseToSeries": lambda dataset, rng: NOISY(pd.Series([dataset.count(each) for each in range(3)])).tolist(),
    "Composition": lambda dataset, rng: list(BOTH(float(sum(dataset)))),
    "NoisyQuantile, median": lambda dataset, rng: MEDIAN(pd.Series(dataset, dtype=float)),
    "NoisyQuantile, largest": lambda dataset, rng: LARGEST(pd.Series(dataset, dtype=float)),
    "AggregateByColumn": both_quantiles,
    "refused transformations": after_refusals,
}

if __name__ == "__main__":
    for each in (LAPLACE, GEOMETRIC, DISCRETE, GAUSSIAN, NOISY, BOTH, MEDIAN, LARGEST, COLUMNS):
        print(type(each).__name__, each.output_measure, each.privacy_function(1))
