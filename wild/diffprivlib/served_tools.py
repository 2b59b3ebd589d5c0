"""Releases of diffprivlib.tools about a list of numbers; None stands for NaN."""

import numpy as np
from diffprivlib import BudgetAccountant, tools

_UNIT = {"epsilon": 1.0, "bounds": (0, 1)}


def on_numbers(tool, *args, kind=float, **settings):
    """A tool on the dataset as an array, of floats unless another kind of numbers is named."""
    return lambda dataset, state: float(tool(np.array(dataset, dtype=kind), *args, random_state=state, **settings))


def column_means(dataset, state):
    """Means of both columns at one epsilon."""
    return np.asarray(tools.mean(np.array(dataset), axis=0, random_state=state, **_UNIT))


def counts(dataset, state):
    """Two bins."""
    return tools.histogram(dataset, epsilon=1.0, bins=2, range=(0, 1), random_state=state)[0].astype(float)


def counts_on_a_grid(dataset, state):
    """Two bins by two."""
    x, y = np.array(dataset, dtype=float).reshape(-1, 2).T
    found = tools.histogram2d(x, y, epsilon=1.0, bins=2, range=[(0, 1), (0, 1)], random_state=state)[0]
    return found.ravel()


def weighted_count(dataset, state):
    """One bin; a record is (value, weight)."""
    values, weights = zip(*dataset, strict=True)
    return float(tools.histogram(values, weights=weights, epsilon=1.0, bins=1, range=(0, 1), random_state=state)[0][0])


def number_of_bins(dataset, state):
    """Return the number of edges when the rule for the bins is named by text."""
    return float(len(tools.histogram(dataset, epsilon=1.0, bins="auto", range=(0, 1), random_state=state)[1]))


def mean_and_histogram(dataset, state):
    """Two releases that one accountant counts as epsilon = 1 together."""
    accountant = BudgetAccountant(epsilon=1.0, delta=0.0)
    shared = {"epsilon": 0.5, "accountant": accountant, "random_state": state}
    mean = tools.mean(np.array(dataset), bounds=(0, 1), **shared)
    histogram = tools.histogram(dataset, bins=2, range=(0, 1), **shared)[0]
    return np.array([mean, *histogram], dtype=float)


def quartiles(dataset, state):
    """Two quantiles at one epsilon."""
    return np.asarray(tools.quantile(np.array(dataset), [0.25, 0.75], random_state=state, **_UNIT))


RELEASES = {
    "count_nonzero": on_numbers(tools.count_nonzero, epsilon=1.0),
    "mean": on_numbers(tools.mean, **_UNIT),
    "mean of columns": column_means,
    "var": on_numbers(tools.var, **_UNIT),
    "std": on_numbers(tools.std, **_UNIT),
    "sum": on_numbers(tools.sum, **_UNIT),
    "quantile": on_numbers(tools.quantile, 0.5, **_UNIT),
    "quantiles": quartiles,
    "percentile": on_numbers(tools.percentile, 90, **_UNIT),
    "median": on_numbers(tools.median, **_UNIT),
    "histogram": counts,
    "histogram2d": counts_on_a_grid,
    "histogram weights": weighted_count,
    "histogram auto": number_of_bins,
    "nanmean": on_numbers(tools.nanmean, **_UNIT),
    "nanvar": on_numbers(tools.nanvar, **_UNIT),
    "nanstd": on_numbers(tools.nanstd, **_UNIT),
    "nansum": on_numbers(tools.nansum, epsilon=1.0, bounds=(5, 6)),
    "mean of integers": on_numbers(tools.mean, kind=int, dtype=int, **_UNIT),
    "sum of 32 bits": on_numbers(tools.sum, kind=int, dtype=np.int32, epsilon=1.0, bounds=(0, 2**27)),
    "mean and histogram": mean_and_histogram,
}
