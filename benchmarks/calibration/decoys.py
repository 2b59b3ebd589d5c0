"""The catalogue again and again: checks that are expected to PASS must not FAIL, whatever the seed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from audit import PrivacyCheck, Verdict
from audit.checks.base import run_check
from audit.evidence.base import Allowance
from audit.execution.seeds import Stream
from audit.runner import collect

BUDGET, SIGNIFICANCE = 300, 1e-6


@dataclass
class Catalogue:
    """Results of auditing the catalog repeatedly; `failed` has names and seeds of the checks that failed."""

    checks: int  # of different names
    audits: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the table."""
        return {
            "checks": self.checks,
            "audits": self.audits,
            "fails": len(self.failed),
            "failed": self.failed,
            "budget": BUDGET,
            "significance": SIGNIFICANCE,
        }


def innocent(targets: Sequence[str] = ("mechanisms",)) -> list[PrivacyCheck]:
    """The privacy checks that are expected to PASS, with a small budget; laws are left out, the game is played."""
    checks = [check for check in collect(targets) if type(check) is PrivacyCheck]
    return [
        replace(check, budget=max(BUDGET, 2 * len(check.pairs)), method=_played(check))
        for check in checks
        if check.expected is Verdict.PASS
    ]


def _played(check: PrivacyCheck) -> Any:
    return "sequential" if getattr(check.method, "way", "") == "sequential" else "fixed"


def repeat(checks: Sequence[PrivacyCheck], audits: int, minutes: float) -> Catalogue:
    """Audit the checks in turn, a new seed each round, until the audits or the time are over."""
    found = Catalogue(len(checks))
    until = time.perf_counter() + 60 * minutes
    seed = 0
    while True:
        for check in checks:
            if found.audits >= audits or (time.perf_counter() > until and found.audits >= len(checks)):
                return found
            result = run_check(check, Allowance(BUDGET, SIGNIFICANCE, Stream.of(seed, check.name)))
            found.audits += 1
            found.verdicts[result.verdict.value] += 1
            if result.verdict is Verdict.FAIL:
                found.failed.append(f"{check.name} (seed {seed})")
        seed += 1
