"""privjail, low-order bits of Laplace noise."""

from __future__ import annotations

from wild.privjail.audits import FIRST, RELEASE, SAYS

CHECKS = [
    RELEASE.entry(
        "sum",
        [FIRST],
        SAYS,
        bits=True,
        query=lambda records: sum(value for value, _ in records),
        budget=20_000,
        tolerance=2.0,
    ),
]
