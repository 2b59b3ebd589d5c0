"""diff-priv-laplace-python 1.0.5 at epsilon 1. A dataset is a list of numbers."""

from __future__ import annotations

import numpy as np
from diffpriv_laplace import DiffPrivLaplaceMechanism
from diffpriv_laplace.laplace_sanitizer import DiffPrivLaplaceSanitizer
from diffpriv_laplace.query.sequential_statistics import DiffPrivSequentialStatisticsQuery
from diffpriv_laplace.statistics import DiffPrivStatisticKind, DiffPrivStatistics

EPSILON = 1.0


def on_array(release):
    """A release of an array of floats, as floats."""
    return lambda dataset: np.array(release(np.array(dataset, dtype=float)), dtype=float)


def statistic(release):
    """A statistic at the epsilon."""
    return on_array(lambda data: release(data, EPSILON))


def sanitized(data):
    """Counts of the values below and from one half."""
    selectors = [lambda values: values < 0.5, lambda values: values >= 0.5]
    return np.ravel(DiffPrivLaplaceSanitizer.count(data, selectors, EPSILON, postprocess=False)[0])


def two_statistics(data):
    """A count and a proportion from one epsilon."""
    kinds = DiffPrivStatisticKind.count | DiffPrivStatisticKind.proportion
    found = DiffPrivSequentialStatisticsQuery.query(data, kinds, EPSILON)[0]
    return [float(np.ravel(value)[0]) for value in found.values()]


def sum_in_bounds(data):
    """A sum of values between 0 and 1, with bounds that are given."""
    return DiffPrivLaplaceMechanism.anonymize_sum_with_budget(data.sum(), 0.0, 1.0, EPSILON)


def mean_in_bounds(data):
    """A mean of values between 0 and 1, with bounds that are given."""
    return DiffPrivLaplaceMechanism.anonymize_mean_with_budget(data.mean(), 0.0, 1.0, data.size, EPSILON)


MECHANISMS = {
    "anonymize_sum": on_array(sum_in_bounds),
    "anonymize_mean": on_array(mean_in_bounds),
    "sanitizer": on_array(sanitized),
    "two statistics": on_array(two_statistics),
    **{
        name: statistic(getattr(DiffPrivStatistics, name))
        for name in ("count", "proportion", "sum", "mean", "variance", "max", "median")
    },
}
