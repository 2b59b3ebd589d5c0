"""diffprivlib, records of the trees of a forest."""

from __future__ import annotations

from wild.diffprivlib.entry import ADDED, entry
from wild.diffprivlib.model_checks import labeled

CHECKS = [
    entry(
        "RandomForestClassifier",
        [(labeled((0.0, 0), (0.0, 0), (0.0, 1)), labeled((0.0, 0), (0.0, 0), (0.0, 1), (0.0, 0)))],
        says="epsilon-Differential privacy is achieved by constructing decision trees via random splitting criterion",
        relation=ADDED,
        budget=1_200,
    ),
]
