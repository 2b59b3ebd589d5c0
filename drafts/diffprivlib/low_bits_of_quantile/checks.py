"""diffprivlib, low-order bits of a quantile."""

from __future__ import annotations

from wild.diffprivlib.entry import entry
from wild.diffprivlib.tool_checks import EPSILON

CHECKS = [
    entry("quantile", [([0.3], [1.0])], says=EPSILON, budget=10_000, bits=True),
]
