"""Releases of diffprivlib.tools about a list of numbers; None stands for NaN."""

import numpy as np
from diffprivlib import BudgetAccountant, tools

_UNIT = {"epsilon": 1.0, "bounds": (0, 1)}


def on_numbers(tool, *args, kind=float, read=float, **settings):
    """A tool on the dataset as an array, of floats unless another kind of numbers is named."""
    return lambda dataset, state: read(tool(np.array(dataset, dtype=kind), *args, random_state=state, **settings))


def counts_on_a_grid(dataset, state):
    """Two bins by two."""
    x, y = np.array(dataset, dtype=float).reshape(-1, 2).T
    found = tools.histogram2d(x, y, epsilon=1.0, bins=2, range=[(0, 1), (0, 1)], random_state=state)[0]
    return found.ravel()


def weighted_count(dataset, state):
    """One bin; a record is (value, weight)."""
    values, weights = zip(*dataset, strict=True)
    return float(tools.histogram(values, weights=weights, epsilon=1.0, bins=1, range=(0, 1), random_state=state)[0][0])


def mean_and_histogram(dataset, state):
    """Two releases that one accountant counts as epsilon = 1 together."""
    accountant = BudgetAccountant(epsilon=1.0, delta=0.0)
    shared = {"epsilon": 0.5, "accountant": accountant, "random_state": state}
    mean = tools.mean(np.array(dataset), bounds=(0, 1), **shared)
    histogram = tools.histogram(dataset, bins=2, range=(0, 1), **shared)[0]
    return np.array([mean, *histogram], dtype=float)


_BINS = {"epsilon": 1.0, "range": (0, 1)}

RELEASES = {
    "count_nonzero": on_numbers(tools.count_nonzero, epsilon=1.0),
    "mean": on_numbers(tools.mean, **_UNIT),
    "mean of columns": on_numbers(tools.mean, read=np.asarray, axis=0, **_UNIT),
    "var": on_numbers(tools.var, **_UNIT),
    "std": on_numbers(tools.std, **_UNIT),
    "sum": on_numbers(tools.sum, **_UNIT),
    "quantile": on_numbers(tools.quantile, 0.5, **_UNIT),
    "quantiles": on_numbers(tools.quantile, [0.25, 0.75], read=np.asarray, **_UNIT),
    "percentile": on_numbers(tools.percentile, 90, **_UNIT),
    "median": on_numbers(tools.median, **_UNIT),
    "histogram": on_numbers(tools.histogram, read=lambda found: found[0].astype(float), bins=2, **_BINS),
    "histogram2d": counts_on_a_grid,
    "histogram weights": weighted_count,
    "histogram auto": on_numbers(tools.histogram, read=lambda found: float(len(found[1])), bins="auto", **_BINS),
    "nanmean": on_numbers(tools.nanmean, **_UNIT),
    "nanvar": on_numbers(tools.nanvar, **_UNIT),
    "nanstd": on_numbers(tools.nanstd, **_UNIT),
    "nansum": on_numbers(tools.nansum, epsilon=1.0, bounds=(5, 6)),
    "mean of integers": on_numbers(tools.mean, kind=int, dtype=int, **_UNIT),
    "sum of 32 bits": on_numbers(tools.sum, kind=int, dtype=np.int32, epsilon=1.0, bounds=(0, 2**27)),
    "mean and histogram": mean_and_histogram,
}
