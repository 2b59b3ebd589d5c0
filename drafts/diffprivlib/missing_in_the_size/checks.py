"""diffprivlib, missing values count in the size."""

from __future__ import annotations

from wild.diffprivlib.entry import entry

CHECKS = [
    entry(
        "nanmean",
        [([0.0, *[None] * 9], [1.0, *[None] * 9])],
        says="Compute the differentially private arithmetic mean along the specified axis, ignoring NaNs",
        budget=20_000,
    ),
    entry(
        "nanvar",
        [([0.0, 0.0, *[None] * 18], [0.0, 1.0, *[None] * 18])],
        says="Compute the differentially private variance along the specified axis, ignoring NaNs",
        budget=10_000,
    ),
    entry(
        "nanstd",
        [([0.0, 0.0, *[None] * 18], [0.0, 1.0, *[None] * 18])],
        says="Compute the standard deviation along the specified axis, ignoring NaNs, ... with differential privacy",
        budget=10_000,
    ),
]
