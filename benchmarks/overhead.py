"""Measure the cost of an audit as a ratio to raw vectorized sampling in the same run.

python -m benchmarks.overhead
"""

from __future__ import annotations

import resource
import time

import numpy as np

from audit import check_privacy
from audit.subjects.place import Place
from audit.subjects.pool import open_pool
from benchmarks import subjects

REPEATS = 3


def raw_seconds(budget: int) -> float:
    """Draw the same number of outputs in blocks of a million, and do nothing with them."""
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for _ in range(0, 2 * budget, 1_000_000):
        subjects.laplace(0.0, min(1_000_000, 2 * budget), rng)
    return time.perf_counter() - start


def audit_seconds(budget: int) -> float:
    """Audit the Laplace subject at that budget."""
    start = time.perf_counter()
    check_privacy(subjects.laplace, subjects.claim(), subjects.PAIR, budget=budget, confirmation=None, method="fixed")
    return time.perf_counter() - start


def process_seconds(calls: int) -> float:
    """Run that many empty calls, each in a new process as a check of a run has it; return the seconds of one."""
    with open_pool(Place(workers=1)) as pool:
        pool.call(abs, -1)  # starts what forks the processes
        start = time.perf_counter()
        for _ in range(calls):
            pool.call(abs, -1)
        return (time.perf_counter() - start) / calls


def main() -> None:
    """Print the cost of a process, seconds and ratio for growing budgets, and the peak memory at the end."""
    check, process = audit_seconds(100_000), min(process_seconds(20) for _ in range(REPEATS))
    print(f"new process for a check: {1e3 * process:.1f} ms, {process / check:.3f} of a check with 100,000 outputs")
    print(f"{'N a side':>12} {'raw s':>8} {'audit s':>8} {'ratio':>6} {'peak MiB':>9}")
    for budget in (100_000, 1_000_000, 10_000_000):
        pairs = [(raw_seconds(budget), audit_seconds(budget)) for _ in range(REPEATS)]
        raw, audited = min(pairs, key=lambda pair: pair[1] / pair[0])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{budget:12} {raw:8.3f} {audited:8.3f} {audited / raw:6.2f} {peak:9.0f}", flush=True)


if __name__ == "__main__":
    main()
