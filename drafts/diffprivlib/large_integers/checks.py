"""diffprivlib, integers beyond 2^53."""

from __future__ import annotations

from wild.diffprivlib.entry import REPLACED, entry

CHECKS = [
    entry(
        "Geometric on a number", [([2**60 + 128], [2**60 + 129])], where="Geometric", relation=REPLACED, budget=20_000
    ),
]
