"""diffprivlib, inertia of k-means."""

from __future__ import annotations

from wild.diffprivlib.entry import entry
from wild.diffprivlib.model_checks import MODEL

CHECKS = [
    entry(
        "KMeans inertia",
        [([[0.0], [0.0]], [[0.0], [1.0]])],
        where="KMeans",
        says=f"{MODEL} ... inertia_: Sum of squared distances of samples to their closest cluster center",
        budget=3_000,
    ),
]
