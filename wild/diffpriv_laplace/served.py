"""diff-priv-laplace-python 1.0.5 at epsilon 1. A dataset is a list of numbers."""

from __future__ import annotations

import numpy as np
from diffpriv_laplace import DiffPrivLaplaceMechanism
from diffpriv_laplace.statistics import DiffPrivStatistics

EPSILON = 1.0


def on_array(release):
    """A release of an array of floats, as floats."""
    return lambda dataset: np.array(release(np.array(dataset, dtype=float)), dtype=float)


def statistic(name):
    """A statistic at the epsilon."""
    return on_array(lambda data: getattr(DiffPrivStatistics, name)(data, EPSILON))


MECHANISMS = {
    "anonymize_sum": on_array(
        lambda data: DiffPrivLaplaceMechanism.anonymize_sum_with_budget(data.sum(), 0.0, 1.0, EPSILON)
    ),
    "anonymize_mean": on_array(
        lambda data: DiffPrivLaplaceMechanism.anonymize_mean_with_budget(data.mean(), 0.0, 1.0, data.size, EPSILON)
    ),
    **{name: statistic(name) for name in ("count", "proportion")},
}
