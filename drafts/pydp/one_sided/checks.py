"""pydp, geometric noise on one side."""

from __future__ import annotations

from wild.pydp.audits import MACHINE, SUM, one_check

CHECKS = [
    one_check("ml.Geometric", SUM, MACHINE),
    one_check("ml.GeometricTruncated", SUM, MACHINE),
]
