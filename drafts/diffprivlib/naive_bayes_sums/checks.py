"""diffprivlib, sums of naive Bayes."""

from __future__ import annotations

from wild.diffprivlib.entry import entry
from wild.diffprivlib.model_checks import labeled

CHECKS = [
    entry(
        "GaussianNB 10..11",
        [
            (
                labeled((10.0, 0), (10.0, 0), (10.0, 1), (10.0, 1)),
                labeled((10.0, 0), (10.0, 1), (10.0, 1), (10.0, 1)),
            )
        ],
        where="GaussianNB",
        says="Privacy parameter epsilon for the model",
        budget=5_000,
    ),
]
