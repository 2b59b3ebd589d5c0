"""diffprivlib.tools: statistics of a list of numbers.

The documentation names no neighboring relation. What depends on the number of records (mean, var, sum, quantile) is
audited with one record replaced, as its sensitivity was computed; a histogram with one record added, since a replaced
one changes two bins. No relation makes both hold, which is a finding of its own.
"""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, entry

_EPSILON = "Privacy parameter epsilon"
_ENDS = [([0.0, 0.0], [0.0, 1.0]), ([1.0], [0.0])]
_MIDDLE = [([0.5, 0.5], [0.0, 0.5]), ([0.9, 0.9], [0.0, 0.9])]
_DENOMINATOR = (
    "`tools/utils.py: {where}` takes the sensitivity from `array.size`, the number of all entries, NaN among them; the "
    "statistic is taken over the others only, and changes by as much as they are fewer. With k numbers among n entries "
    "the mean has n / k times the claimed epsilon."
)

_KEPT = [
    entry("count_nonzero", [([0.0], [1.0]), ([1.0, 1.0], [1.0, 0.0])], says=_EPSILON, budget=40_000, tolerance=0.6),
    entry("mean", _ENDS, says=_EPSILON, budget=40_000, tolerance=0.6),
    entry("mean of columns", [([[0.0, 0.0]], [[1.0, 1.0]])], where="mean", says=_EPSILON, budget=20_000, tolerance=1.5),
    entry("var", [([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])], says=_EPSILON, budget=20_000, tolerance=1.0),
    entry("std", [([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])], says=_EPSILON, budget=20_000, tolerance=1.0),
    entry("sum", _ENDS, says=_EPSILON, budget=40_000, tolerance=0.6),
    entry("quantile", _MIDDLE, says=_EPSILON, budget=40_000, tolerance=0.6),
    entry(
        "quantiles",
        _MIDDLE[1:],
        where="quantile",
        says="Differential privacy is achieved over the entire output, with epsilon split evenly between each output "
        "value",
        budget=20_000,
        tolerance=1.5,
    ),
    entry("percentile", _MIDDLE, says=_EPSILON, budget=40_000, tolerance=0.6),
    entry("median", _MIDDLE, says=_EPSILON, budget=40_000, tolerance=0.6),
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

_MISSING = [
    entry(
        "nanmean",
        [([0.0, *[None] * 9], [1.0, *[None] * 9])],
        says="Compute the differentially private arithmetic mean along the specified axis, ignoring NaNs",
        budget=20_000,
        refuted=_DENOMINATOR.format(where="_mean"),
    ),
    entry(
        "nanvar",
        [([0.0, 0.0, *[None] * 18], [0.0, 1.0, *[None] * 18])],
        says="Compute the differentially private variance along the specified axis, ignoring NaNs",
        budget=10_000,
        refuted=_DENOMINATOR.format(where="_var"),
    ),
    entry(
        "nanstd",
        [([0.0, 0.0, *[None] * 18], [0.0, 1.0, *[None] * 18])],
        says="Compute the standard deviation along the specified axis, ignoring NaNs, ... with differential privacy",
        budget=10_000,
        refuted=_DENOMINATOR.format(where="_var"),
    ),
    entry(
        "nansum",
        [([5.0, None], [5.0, 6.0])],
        says="Sum of array elements over a given axis with differential privacy, ignoring NaNs",
        budget=20_000,
        refuted="`tools/utils.py: _sum` takes upper - lower as the sensitivity. A NaN counts as 0, so that a number in "
        "its place changes the sum by up to max(|lower|, |upper|): here 6, where the bounds (5, 6) are 1 apart.",
    ),
]

_TYPES = [
    entry(
        "quantile",
        [([0.3], [1.0])],
        says=_EPSILON,
        budget=10_000,
        bits=True,
        refuted="`tools/quantiles.py: quantile` returns `random() * (b - a) + a` between two neighboring values a < "
        "b of the data: a multiple of 2^-53 (b - a), so that the low bits of an output near a tell b.",
    ),
    entry(
        "mean of integers",
        [([1] * 10, [1] * 9 + [0])],
        where="mean",
        says="dtype: Type to use in computing the mean",
        budget=20_000,
        refuted="`tools/utils.py: _mean` passes `dtype=int` on to numpy, which cuts the mean off to an integer: it "
        "jumps from 0 to 1 by one record, where the noise is for a change of (upper - lower) / size.",
    ),
    entry(
        "sum of 32 bits",
        [([2**27] * 16, [2**27] * 15 + [0])],
        where="sum",
        says="dtype: The type of the returned array and of the accumulator in which the elements are summed",
        budget=20_000,
        refuted="`tools/utils.py: _sum` adds in the requested type, which wraps around: 16 times 2^27 is -2^31 in 32 "
        "bits, cut off to 0, while the sum without one record is 15/16 of 2^31. The noise is for a change of 2^27.",
    ),
]

_HISTOGRAMS = [
    entry(
        "histogram weights",
        [([(0.5, 1.0)], [(0.5, 1.0), (0.5, 10.0)])],
        where="histogram",
        says="noise added using GeometricTruncated to satisfy differential privacy ... weights: Each value in a only "
        "contributes its associated weight towards the bin count (instead of 1)",
        relation=ADDED,
        budget=20_000,
        refuted="`tools/histograms.py: histogram` builds the mechanism with `sensitivity=1` whatever the weights: a "
        "record of weight w costs w times the claimed epsilon.",
    ),
    entry(
        "histogram auto",
        [([0.0], [0.0, 0.25])],
        where="histogram",
        says="noise added using GeometricTruncated to satisfy differential privacy ... If the range parameter is not "
        "specified correctly, a PrivacyLeakWarning is thrown ... If bins is a string, it defines the method used to "
        "calculate the optimal bin width",
        relation=ADDED,
        budget=20_000,
        refuted="`tools/histograms.py: histogram` hands `bins='auto'` to `numpy.histogram`, which computes the width "
        "of the bins from the data; the edges are returned without noise, and no warning is given when `range` is. "
        "The number of edges is a function of the data.",
    ),
    entry(
        "mean and histogram",
        [([0.0], [1.0])],
        where="BudgetAccountant",
        says="total: Returns the total current privacy spend",
        budget=20_000,
        refuted="One accountant counts a mean at 0.5 and a histogram at 0.5 as 1.0. A replaced record changes two "
        "bins, each with noise for a change of 1 at 0.5 (`tools/histograms.py: histogram`), and the mean: 1.5 "
        "together. With one record added instead, the histogram costs 0.5, but the noise of `tools/utils.py: _mean` "
        "shrinks with the number of records: no single relation makes the accountant right.",
    ),
]

ENTRIES = [*_KEPT, *_MISSING, *_TYPES, *_HISTOGRAMS]
