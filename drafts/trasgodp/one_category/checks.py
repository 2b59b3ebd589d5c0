"""trasgodp, a column with one category."""

from __future__ import annotations

from wild.trasgodp.audits import LOCAL, RELEASE, REPLACED

CHECKS = [
    RELEASE.entry(
        "dp_randomized_response_binary",
        [(["a", "a"], ["a", "b"])],
        LOCAL,
        relation=REPLACED,
        named="eps=1, a category of one record",
        budget=20_000,
    ),
]
