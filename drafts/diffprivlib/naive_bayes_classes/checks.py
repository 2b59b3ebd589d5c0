"""diffprivlib, classes of naive Bayes."""

from __future__ import annotations

from wild.diffprivlib.entry import entry
from wild.diffprivlib.model_checks import labeled

CHECKS = [
    entry(
        "GaussianNB classes",
        [(labeled((0.0, 0), (0.0, 0)), labeled((0.0, 0), (0.0, 1)))],
        where="GaussianNB",
        says="Privacy parameter epsilon for the model",
        budget=2_000,
    ),
]
