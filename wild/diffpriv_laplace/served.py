"""diff-priv-laplace-python 1.0.5 at epsilon 1. A dataset is a list of numbers; numpy's global generator is seeded."""

from __future__ import annotations

import numpy as np
from diffpriv_laplace import DiffPrivLaplaceMechanism
from diffpriv_laplace.laplace_sanitizer import DiffPrivLaplaceSanitizer
from diffpriv_laplace.query.sequential_statistics import DiffPrivSequentialStatisticsQuery
from diffpriv_laplace.statistics import DiffPrivStatisticKind, DiffPrivStatistics

EPSILON = 1.0


def seeded(release):
    """A release, size times, after seeding the generator that the library draws from."""

    def draw(dataset, size, rng):
        np.random.seed(rng.integers(2**32))
        return np.array([release(np.array(dataset, dtype=float)) for _ in range(size)], dtype=float)

    return draw


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
    name: seeded(release)
    for name, release in {
        "anonymize_sum": sum_in_bounds,
        "anonymize_mean": mean_in_bounds,
        "count": lambda data: DiffPrivStatistics.count(data, EPSILON),
        "proportion": lambda data: DiffPrivStatistics.proportion(data, EPSILON),
        "sum": lambda data: DiffPrivStatistics.sum(data, EPSILON),
        "mean": lambda data: DiffPrivStatistics.mean(data, EPSILON),
        "variance": lambda data: DiffPrivStatistics.variance(data, EPSILON),
        "max": lambda data: DiffPrivStatistics.max(data, EPSILON),
        "median": lambda data: DiffPrivStatistics.median(data, EPSILON),
        "sanitizer": sanitized,
        "two statistics": two_statistics,
    }.items()
}
