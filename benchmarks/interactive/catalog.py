"""Convict every fault of objects that answer, and draw their correct twins with many seeds at the same budgets.

`python -m benchmarks.interactive.catalog [SEEDS]` prints a line a fault: how it is convicted at its own budget, the
least budget (conversations per dataset) of `BUDGETS` that convicts it, and the CPU seconds of both. Then it prints how
many audits of the correct twins, each at the least budget that convicts its fault, are refuted with any of the seeds
(200 unless given), how many were suspected at first, and the verdicts of the objects that are correct by themselves.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import replace
from typing import Any

from audit import Verdict, run
from mechanisms.faults.interactive import CHECKS as FAULTS
from mechanisms.faults.interactive import TWINS
from mechanisms.interactive import CHECKS

BUDGETS = (300, 1_000, 3_000, 20_000)


def convicted(check: Any) -> tuple[str, float]:
    """Return how a fault is convicted, or its verdict, and the CPU seconds."""
    started = time.process_time()
    (result,) = run([check], workers=0).results
    found = "by ledger" if result.basis == "computed" else "by game"
    return found if result.verdict is Verdict.FAIL else str(result.verdict), time.process_time() - started


def least(check: Any) -> tuple[int, float]:
    """Return the least budget that convicts a fault, with the CPU seconds at it."""
    for budget in BUDGETS:
        said, seconds = convicted(replace(check, budget=budget))
        if said.startswith("by"):
            return budget, seconds
    return check.budget, seconds


def main(seeds: str = "200") -> None:
    """Print the counts."""
    found, keep = Counter[str](), []
    for check, twin in zip(FAULTS, TWINS, strict=True):
        (said, seconds), (budget, quick) = convicted(check), least(check)
        found[said] += 1
        keep.append(replace(twin, budget=budget))
        print(f"{check.name}: {said}, {seconds:.1f} CPU s; at {budget:,} in {quick:.1f} CPU s", flush=True)
    print(f"faults: {len(FAULTS)}, {dict(found)}", flush=True)
    started, refuted, suspected = time.process_time(), Counter[str](), 0
    for seed in range(int(seeds)):
        for result in run(keep, workers=0, seed=seed).results:
            refuted[result.name] += result.verdict is Verdict.FAIL
            suspected += result.evidence.confirmation is not None
    seconds = time.process_time() - started
    names = [name for name, number in refuted.items() if number]
    said = f"{len(keep)} twins, {seeds} seeds, {suspected} suspected, {seconds:.0f} CPU s"
    print(f"twins: {sum(refuted.values())} refuted of {said} {names}", flush=True)
    for result in run(CHECKS, workers=0).results:
        print(f"{result.name}: {result.verdict} {result.basis}, expected {result.check.expected}")


if __name__ == "__main__":
    main(*sys.argv[1:])
