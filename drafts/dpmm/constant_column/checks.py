"""dpmm, a column with one value."""

from __future__ import annotations

from wild.dpmm.audits import DELTA, RELEASE, SAYS

_SURE = {"delta": DELTA, "tolerance": 2.0, "budget": 1_000}

CHECKS = [
    RELEASE.entry(
        "AIM, a constant column", [([[0, 0, 0], [0, 1, 1]], [[0, 0, 0], [0, 1, 1], [1, 0, 0]])], SAYS, **_SURE
    ),
]
