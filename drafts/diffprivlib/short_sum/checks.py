"""diffprivlib, a sum in 32 bits."""

from __future__ import annotations

from wild.diffprivlib.entry import entry

CHECKS = [
    entry(
        "sum of 32 bits",
        [([2**27] * 16, [2**27] * 15 + [0])],
        where="sum",
        says="dtype: The type of the returned array and of the accumulator in which the elements are summed",
        budget=20_000,
    ),
]
