"""Tumult Core 0.20.0: measurements that need no Spark session. A dataset is a list of records."""

from __future__ import annotations

import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasDataFrameDomain, PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms as noise
from tmlt.core.measurements.composition import Composition
from tmlt.core.measurements.pandas_measurements.dataframe import AggregateByColumn
from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries, NoisyQuantile
from tmlt.core.measures import PureDP

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
}

if __name__ == "__main__":
    for each in (LAPLACE, GEOMETRIC, DISCRETE, GAUSSIAN, NOISY, BOTH, MEDIAN, LARGEST, COLUMNS):
        print(type(each).__name__, each.output_measure, each.privacy_function(1))
