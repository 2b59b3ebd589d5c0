"""dpmm, a value outside the domain."""

from __future__ import annotations

from wild.dpmm.audits import DELTA, RELEASE, SAYS

_SURE = {"delta": DELTA, "tolerance": 2.0, "budget": 1_000}

CHECKS = [
    RELEASE.entry("MST, a value outside the domain", [([[0], [1]], [[0], [1], [2]])], SAYS, **_SURE),
]
