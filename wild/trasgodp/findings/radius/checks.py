"""trasgodp, the distance is released beside the location."""

from __future__ import annotations

from audit import Local
from wild.trasgodp.audits import METRIC, PLACES, RELEASE

CHECKS = [
    RELEASE.entry(
        "metric_privacy table", PLACES, METRIC, relation=Local(), budget=4_000, named="eps=1, with another seed"
    ),
]
