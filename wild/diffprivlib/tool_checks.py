"""diffprivlib.tools: statistics of a list of numbers.

The documentation names no neighboring relation. What depends on the number of records (mean, var, sum, quantile) is
audited with one record replaced, as its sensitivity was computed; a histogram with one record added, since a replaced
one changes two bins.
"""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, entry

EPSILON = "Privacy parameter epsilon"
_ENDS = [([0.0, 0.0], [0.0, 1.0]), ([1.0], [0.0])]
_MIDDLE = [([0.5, 0.5], [0.0, 0.5]), ([0.9, 0.9], [0.0, 0.9])]

ENTRIES = [
    entry("count_nonzero", [([0.0], [1.0]), ([1.0, 1.0], [1.0, 0.0])], says=EPSILON, budget=40_000, tolerance=0.6),
    entry("mean", _ENDS, says=EPSILON, budget=40_000, tolerance=0.6),
    entry("mean of columns", [([[0.0, 0.0]], [[1.0, 1.0]])], where="mean", says=EPSILON, budget=20_000, tolerance=1.5),
    entry("var", [([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])], says=EPSILON, budget=20_000, tolerance=1.0),
    entry("std", [([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])], says=EPSILON, budget=20_000, tolerance=1.0),
    entry("sum", _ENDS, says=EPSILON, budget=40_000, tolerance=0.6),
    entry("quantile", _MIDDLE, says=EPSILON, budget=40_000, tolerance=0.6),
    entry(
        "quantiles",
        _MIDDLE[1:],
        where="quantile",
        says="Differential privacy is achieved over the entire output, with epsilon split evenly between each output "
        "value",
        budget=20_000,
        tolerance=1.5,
    ),
    entry("percentile", _MIDDLE, says=EPSILON, budget=40_000, tolerance=0.6),
    entry("median", _MIDDLE, says=EPSILON, budget=40_000, tolerance=0.6),
    entry(
        "histogram",
        [([0.25], [0.25, 0.75]), ([], [0.25])],
        says="noise added using GeometricTruncated to satisfy differential privacy",
        relation=ADDED,
        budget=150_000,
        tolerance=0.6,
    ),
    entry(
        "histogram2d",
        [([], [[0.25, 0.75]])],
        says="Compute the differentially private bi-dimensional histogram of two data samples",
        relation=ADDED,
        budget=20_000,
        tolerance=1.5,
    ),
]
