"""diffprivlib, a missing value in a sum."""

from __future__ import annotations

from wild.diffprivlib.entry import entry

CHECKS = [
    entry(
        "nansum",
        [([5.0, None], [5.0, 6.0])],
        says="Sum of array elements over a given axis with differential privacy, ignoring NaNs",
        budget=20_000,
    ),
]
