"""The published bug benchmark: 20 mechanisms meant to be 0.1-DP, of which twelve are not.

dp-audit run benchmarks.bugs
python -m benchmarks.bugs.scoreboard
"""

from __future__ import annotations

from audit import PrivacyCheck
from benchmarks.bugs.catalogue import BUGS, Bug

CHECKS: list[PrivacyCheck] = [bug.check() for bug in BUGS]

__all__ = ["BUGS", "CHECKS", "Bug"]
