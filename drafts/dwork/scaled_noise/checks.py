"""dwork, noise in multiples of the sensitivity."""

from __future__ import annotations

from wild.dwork.audits import RELEASE, SAYS

CHECKS = [
    RELEASE.entry("sum of integers", [([0, 3], [0, 3, 1])], SAYS),
]
