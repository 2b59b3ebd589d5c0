"""diffprivlib, automatic bins of a histogram."""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, entry

CHECKS = [
    entry(
        "histogram auto",
        [([0.0], [0.0, 0.25])],
        where="histogram",
        says="noise added using GeometricTruncated to satisfy differential privacy ... If the range parameter is not "
        "specified correctly, a PrivacyLeakWarning is thrown ... If bins is a string, it defines the method used to "
        "calculate the optimal bin width",
        relation=ADDED,
        budget=20_000,
    ),
]
