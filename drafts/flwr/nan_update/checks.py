"""flwr, an update with NaN."""

from __future__ import annotations

from wild.flwr.audits import AT, RELEASE, SAYS

CHECKS = [
    RELEASE.entry("LocalDpMod, update with NaN", [([None], [0.5])], SAYS, **AT),
]
