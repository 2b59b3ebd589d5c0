"""Releases of diffprivlib.tools about a list of numbers."""

import numpy as np
from diffprivlib import tools

_UNIT = {"epsilon": 1.0, "bounds": (0, 1)}


def on_numbers(tool, *args, read=float, **settings):
    """A tool on the dataset as an array of floats."""
    return lambda dataset, state: read(tool(np.array(dataset, dtype=float), *args, random_state=state, **settings))


def counts_on_a_grid(dataset, state):
    """Two bins by two."""
    x, y = np.array(dataset, dtype=float).reshape(-1, 2).T
    found = tools.histogram2d(x, y, epsilon=1.0, bins=2, range=[(0, 1), (0, 1)], random_state=state)[0]
    return found.ravel()


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
}
