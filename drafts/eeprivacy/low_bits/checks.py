"""eeprivacy, low-order bits of Laplace noise."""

from __future__ import annotations

from wild.eeprivacy.audits import ADDED, LAPLACE, RELEASE

CHECKS = [
    RELEASE.entry("LaplaceMechanism", ADDED, LAPLACE, bits=True, query=sum, budget=20_000, tolerance=2.0),
]
