"""trasgodp, categories are taken from the data."""

from __future__ import annotations

from wild.trasgodp.audits import LOCAL, RELEASE, REPLACED

CHECKS = [
    RELEASE.entry(
        "dp_exponential",
        [(["a", "b", "b"], ["a", "b", "c"])],
        LOCAL,
        relation=REPLACED,
        named="eps=1, a category of one record",
        budget=20_000,
    ),
    RELEASE.entry(
        "dp_randomized_response_kary",
        [(["a", "b", "c", "c"], ["a", "b", "c", "d"])],
        LOCAL,
        relation=REPLACED,
        named="eps=1, a category of one record",
        budget=20_000,
    ),
]
