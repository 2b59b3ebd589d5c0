"""diffpriv_laplace, maximum and median have sensitivity 1 whatever the data."""

from __future__ import annotations

from wild.diffpriv_laplace.audits import RELEASE, REPLACED, SAYS

CHECKS = [
    RELEASE.entry("max", [([0.0, 0.0], [0.0, 30.0])], SAYS.format("max"), relation=REPLACED, budget=20_000),
    RELEASE.entry("median", [([0.0], [30.0])], SAYS.format("median"), relation=REPLACED, budget=20_000),
]
