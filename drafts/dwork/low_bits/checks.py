"""dwork, low-order bits of Laplace noise."""

from __future__ import annotations

from wild.dwork.audits import RELEASE, SAYS

CHECKS = [
    RELEASE.entry("sum of floats", [([0.0], [0.0, 10.0])], SAYS, bits=True, query=sum, budget=20_000, tolerance=2.0),
]
