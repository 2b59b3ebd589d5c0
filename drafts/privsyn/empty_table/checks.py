"""privsyn, a table without records."""

from __future__ import annotations

from wild.privsyn.audits import AT, RELEASE, SAYS

CHECKS = [
    RELEASE.entry("no record", [([], [[0, 0]])], SAYS, **AT, budget=1_000),
]
