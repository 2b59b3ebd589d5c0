"""diff-priv-laplace-python's answers to the queries that every library is asked; it takes no bounds."""

import numpy as np
from diffpriv_laplace import DiffPrivStatistics
from diffpriv_laplace.laplace_sanitizer import DiffPrivLaplaceSanitizer

from audit.conformance import Library

library = Library("diffpriv_laplace", distribution="diff-priv-laplace-python", quote=DiffPrivStatistics.sum)
library.typed('docstring of DiffPrivStatistics.sum: "data : list|ndarray"')


def statistic(name):
    return lambda p: lambda data: getattr(DiffPrivStatistics, name)(data, p.epsilon)


def histogram(p):
    inner = list(p.edges[1:-1])
    bins = [lambda data, i=i: np.searchsorted(inner, data, side="right") == i for i in range(len(inner) + 1)]
    return lambda data: np.ravel(DiffPrivLaplaceSanitizer.count(np.array(data), bins, p.epsilon, postprocess=False)[0])


library.answer({name: statistic(name) for name in ("sum", "mean", "variance", "median")})
library.answer({"count": statistic("count")}, law="usual")
library.answer({"minimum": statistic("min"), "maximum": statistic("max")})
library.answer({"histogram of numbers": histogram})
