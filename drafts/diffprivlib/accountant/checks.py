"""diffprivlib, one accountant for two relations."""

from __future__ import annotations

from wild.diffprivlib.entry import entry

CHECKS = [
    entry(
        "mean and histogram",
        [([0.0], [1.0])],
        where="BudgetAccountant",
        says="total: Returns the total current privacy spend",
        budget=20_000,
    ),
]
