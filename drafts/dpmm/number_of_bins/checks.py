"""dpmm, automatic number of bins."""

from __future__ import annotations

from wild.dpmm.audits import BINS, RELEASE

CHECKS = [
    RELEASE.entry(
        "PrivTree, automatic number of bins", [([3.0] * 2_559, [3.0] * 2_560)], BINS, tolerance=2.0, budget=2_000
    ),
]
