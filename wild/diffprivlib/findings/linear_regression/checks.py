"""diffprivlib, sensitivity of the second moment."""

from __future__ import annotations

from wild.diffprivlib.entry import entry
from wild.diffprivlib.model_checks import TRAINING, labeled

CHECKS = [
    entry(
        "LinearRegression 0..1",
        [(labeled((0.1, 0.0)), labeled((1.0, 0.0)))],
        where="LinearRegression",
        says=TRAINING,
        budget=8_000,
    ),
]
