"""diffpriv_laplace, bounds are taken from the data."""

from __future__ import annotations

from wild.diffpriv_laplace.audits import RELEASE, REPLACED, SAYS, SPREAD

CHECKS = [
    RELEASE.entry("sum", SPREAD, SAYS.format("sum"), relation=REPLACED, budget=20_000),
    RELEASE.entry("mean", SPREAD, SAYS.format("mean"), relation=REPLACED, budget=20_000),
    RELEASE.entry("variance", SPREAD, SAYS.format("variance"), relation=REPLACED, budget=20_000),
]
