"""diffprivlib, a mean of integers."""

from __future__ import annotations

from wild.diffprivlib.entry import entry

CHECKS = [
    entry(
        "mean of integers",
        [([1] * 10, [1] * 9 + [0])],
        where="mean",
        says="dtype: Type to use in computing the mean",
        budget=20_000,
    ),
]
