"""diff-priv-laplace-python's answers to the queries that every library is asked; it takes no bounds."""

import numpy as np
from diffpriv_laplace import DiffPrivStatistics
from diffpriv_laplace.laplace_sanitizer import DiffPrivLaplaceSanitizer

from audit.extensions.conformance import Library
from audit.extensions.conformance.documented_laws import clamped, rounded_laplace

library = Library("diffpriv_laplace", distribution="diff-priv-laplace-python", quote=DiffPrivStatistics.sum)
library.typed('docstring of DiffPrivStatistics.sum: "data : list|ndarray"')


def statistic(name):
    return lambda p: lambda data: getattr(DiffPrivStatistics, name)(data, p.epsilon)


def histogram(p):
    inner = list(p.edges[1:-1])
    bins = [lambda data, i=i: np.searchsorted(inner, data, side="right") == i for i in range(len(inner) + 1)]
    return lambda data: np.ravel(DiffPrivLaplaceSanitizer.count(np.array(data), bins, p.epsilon, postprocess=False)[0])


library.answer({name: statistic(name) for name in ("sum", "mean", "variance", "median")})
library.answer({"count": statistic("count")}, law=lambda p, data: clamped(  # "rounded and within the [0, n] range"
    rounded_laplace(np.count_nonzero(data), 1 / p.epsilon), len(data)
))  # fmt: skip
library.answer({"minimum": statistic("min"), "maximum": statistic("max")})
library.answer({"histogram of numbers": histogram})
