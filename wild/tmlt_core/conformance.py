"""Tumult Core's answers to the queries that every library is asked, by measurements that need no Spark."""

import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms as noise
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import PureDP
from tmlt.core.utils.exact_number import ExactNumber

from audit.extensions.conformance import Library
from audit.laws import Gaussian

library = Library("tmlt_core", relation="add/remove", distribution="tmlt.core",
                  quote='SymmetricDifference: "treats each collection as a multiset of items"')  # fmt: skip
NAN = 'docstring of AddLaplaceNoise: "Must be a float domain without infs or nans"'
library.exclude_types('docstring of NoisyQuantile: "Must be PandasSeriesDomain"')
library.outside(lambda query, p, data: NAN if isinstance(data, list) and any(x - x != 0 for x in data) else None)
FLOATS = NumpyFloatDomain()


def exact(value):
    return ExactNumber.from_float(float(value), round_up=True)


def scale(p, power=1):
    return exact(p.noise) ** power


def quantile(share=None):
    def build(p):
        q = p.quantile if share is None else share
        found = NoisyQuantile(PandasSeriesDomain(FLOATS), PureDP(), q, p.lower, p.upper, exact(p.epsilon))
        return lambda data: found(pd.Series(data, dtype=float))

    return build


library.answer({"quantile": quantile(), "median": quantile(), "minimum": quantile(0.0), "maximum": quantile(1.0)},
              quote='NoisyQuantile: "The pure-dp privacy parameter to use to produce the quantile."')  # fmt: skip
MAP = 'docstring of privacy_function: "Returns the smallest d_out satisfied by the measurement"'
SAID = {"native": "usual", "claim": "usual", "quote": MAP}
library.answer({
    "laplace noise": lambda p: noise.AddLaplaceNoise(FLOATS, scale(p)),
    "geometric noise": lambda p: noise.AddGeometricNoise(scale(p)),
}, law="usual", **SAID)  # fmt: skip
library.answer({"gaussian noise": lambda p: noise.AddGaussianNoise(FLOATS, scale(p, 2))},
               law=lambda p, value: Gaussian(value, p.noise), **SAID)  # fmt: skip
library.answer({"discrete gaussian noise": lambda p: noise.AddDiscreteGaussianNoise(scale(p, 2))}, **SAID)
