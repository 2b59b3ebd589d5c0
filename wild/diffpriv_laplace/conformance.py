"""diff-priv-laplace-python's answers to the queries that every library is asked; bounds are those of the data."""

import numpy as np
from diffpriv_laplace import DiffPrivLaplaceMechanism
from diffpriv_laplace.laplace_sanitizer import DiffPrivLaplaceSanitizer
from diffpriv_laplace.statistics import DiffPrivStatistics

from audit.conformance import Library

library = Library("diffpriv_laplace", distribution="diff-priv-laplace-python", quote=DiffPrivStatistics.sum)
library.typed('docstring of DiffPrivStatistics.sum: "data : list|ndarray"')


def statistic(function):
    return lambda p: lambda data: function(np.array(data, dtype=float), p.epsilon)


def histogram(p):
    inner = list(p.edges[1:-1])
    bins = [lambda data, i=i: np.searchsorted(inner, data, side="right") == i for i in range(len(inner) + 1)]
    return lambda data: np.ravel(DiffPrivLaplaceSanitizer.count(np.array(data), bins, p.epsilon, postprocess=False)[0])


def within_bounds(anonymize, function, *more):
    """Answer by the mechanism, which takes bounds."""
    return lambda p: (
        lambda data: anonymize(
            function(np.clip(data, *p.bounds)), p.lower, p.upper, *(get(p) for get in more), p.epsilon
        )
    )


size = lambda p: p.size  # noqa: E731
library.answer({
    "sum": within_bounds(DiffPrivLaplaceMechanism.anonymize_sum_with_budget, np.sum),
    "mean": within_bounds(DiffPrivLaplaceMechanism.anonymize_mean_with_budget, np.mean, size),
    "variance": within_bounds(DiffPrivLaplaceMechanism.anonymize_variance_with_budget, np.var, size),
    "count": statistic(DiffPrivStatistics.count),
    "minimum": statistic(DiffPrivStatistics.min),
    "maximum": statistic(DiffPrivStatistics.max),
    "median": statistic(DiffPrivStatistics.median),
    "histogram of numbers": histogram,
})  # fmt: skip
