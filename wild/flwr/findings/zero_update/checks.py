"""flwr, an update of zeros."""

from __future__ import annotations

from wild.flwr.audits import AT, RELEASE, SAYS

CHECKS = [
    RELEASE.entry("LocalDpMod, update of zeros", [([0.0], [0.5])], SAYS, **AT),
]
