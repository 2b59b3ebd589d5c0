"""Convict every fault of objects that answer, and draw their correct twins with many seeds.

`python -m benchmarks.interactive.catalog [SEEDS [BUDGET]]` prints how many faults of the catalog are convicted, by
ledgers and by games, with the slowest one; then how many of the twins are refuted with any of the seeds (200 unless
given), at a small budget (300 conversations per dataset unless given), and how many audits were suspected at first.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import replace

from audit import Verdict, run
from mechanisms.faults.interactive import CHECKS as FAULTS
from mechanisms.faults.interactive import TWINS
from mechanisms.interactive import CHECKS


def main(seeds: str = "200", budget: str = "300") -> None:
    """Print the counts."""
    found, slowest = Counter[str](), (0.0, "")
    for check in FAULTS:
        started = time.process_time()
        (result,) = run([check], workers=0).results
        slowest = max(slowest, (time.process_time() - started, check.name))
        found[result.basis if result.verdict is Verdict.FAIL else f"{result.verdict}: {check.name}"] += 1
    print(f"faults: {len(FAULTS)}, {dict(found)}; slowest {slowest[0]:.1f} CPU s, {slowest[1]}", flush=True)
    keep = [replace(check, budget=int(budget)) for check in TWINS]
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
