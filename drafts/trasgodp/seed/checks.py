"""trasgodp, noise from one seed."""

from __future__ import annotations

from audit import Local
from wild.trasgodp.audits import METRIC, PLACES, RELEASE

CHECKS = [
    RELEASE.entry("metric_privacy", PLACES, METRIC, relation=Local(), budget=2_000),
]
