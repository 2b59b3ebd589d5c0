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


def statistic(name):
    """A statistic at the epsilon."""
    return on_array(lambda data: getattr(DiffPrivStatistics, name)(data, EPSILON))


def sanitized(data):
    """Counts of the values below and from one half."""
    selectors = [lambda values: values < 0.5, lambda values: values >= 0.5]
    return np.ravel(DiffPrivLaplaceSanitizer.count(data, selectors, EPSILON, postprocess=False)[0])


def two_statistics(data):
    """A count and a proportion from one epsilon."""
    kinds = DiffPrivStatisticKind.count | DiffPrivStatisticKind.proportion
    found = DiffPrivSequentialStatisticsQuery.query(data, kinds, EPSILON)[0]
    return [float(np.ravel(value)[0]) for value in found.values()]


MECHANISMS = {
    "anonymize_sum": on_array(
        lambda data: DiffPrivLaplaceMechanism.anonymize_sum_with_budget(data.sum(), 0.0, 1.0, EPSILON)
    ),
    "anonymize_mean": on_array(
        lambda data: DiffPrivLaplaceMechanism.anonymize_mean_with_budget(data.mean(), 0.0, 1.0, data.size, EPSILON)
    ),
    "sanitizer": on_array(sanitized),
    "two statistics": on_array(two_statistics),
    **{name: statistic(name) for name in ("count", "proportion", "sum", "mean", "variance", "max", "median")},
}
