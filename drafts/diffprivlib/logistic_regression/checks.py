"""diffprivlib, records of norm above 1."""

from __future__ import annotations

from wild.diffprivlib.entry import entry
from wild.diffprivlib.model_checks import labeled

CHECKS = [
    entry(
        "LogisticRegression norm 100",
        [(labeled((0.0, 0), (0.0, 1)), labeled((0.0, 0), (100.0, 1)))],
        where="LogisticRegression",
        says="epsilon-Differential privacy is achieved relative to the maximum norm of the data, as determined by "
        "data_norm",
        budget=10_000,
    ),
]
