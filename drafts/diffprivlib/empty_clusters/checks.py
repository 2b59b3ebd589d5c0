"""diffprivlib, centers of empty clusters."""

from __future__ import annotations

from wild.diffprivlib.entry import entry
from wild.diffprivlib.model_checks import MODEL

CHECKS = [
    entry("KMeans centers", [([[0.0], [0.0]], [[0.0], [1.0]])], where="KMeans", says=MODEL, budget=3_000),
]
