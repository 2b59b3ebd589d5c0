"""diffprivlib, weights of a histogram."""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, entry

CHECKS = [
    entry(
        "histogram weights",
        [([(0.5, 1.0)], [(0.5, 1.0), (0.5, 10.0)])],
        where="histogram",
        says="noise added using GeometricTruncated to satisfy differential privacy ... weights: Each value in a only "
        "contributes its associated weight towards the bin count (instead of 1)",
        relation=ADDED,
        budget=20_000,
    ),
]
