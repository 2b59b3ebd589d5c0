"""Measure the CPU time of an audit as a ratio to raw vectorized sampling, side by side in the same run.

    python -m benchmarks.overhead [ratios] [marginal] [process] [--repeats N]

`ratios` audits numbers at growing budgets, and prints the peak of memory. `marginal` prints what ten million more
numbers per dataset cost beyond the first ten million, what 100,000 more vectors of 6 cost beyond as many, and what the
first of these cost. `process` is the time that a process of its own adds to a check. The least times of some repeats
are printed: load can only add to them.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from audit import check_privacy
from audit.execution.seeds import Place
from audit.execution.workers import open_pool
from benchmarks import subjects

BLOCK = 1_000_000
Mechanism = Callable[[Any, int, np.random.Generator], Any]


def vectors(data: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return six numbers with noise for the sum of their changes: epsilon = 1 between the records 0 and 1."""
    return data / 6 + rng.laplace(size=(size, 6))


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of this process for the work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def raw(mechanism: Mechanism, budget: int) -> float:
    """Draw as many outputs in blocks of at most a million, and do nothing with them."""
    rng = np.random.default_rng(0)
    sizes = [min(BLOCK, 2 * budget - done) for done in range(0, 2 * budget, BLOCK)]
    return cpu_seconds(lambda: [len(mechanism(0.0, size, rng)) for size in sizes])


def audited(mechanism: Mechanism, budget: int) -> float:
    """Audit the mechanism at that budget, in this process."""
    settings: dict[str, Any] = {"confirmation": None, "method": "fixed", "workers": 0}
    return cpu_seconds(lambda: check_privacy(mechanism, subjects.claim(), subjects.PAIR, budget=budget, **settings))


def least(mechanism: Mechanism, budget: int, repeats: int, less: int = 0) -> tuple[float, float]:
    """Return the least CPU seconds of sampling and of auditing as many outputs, beyond those of `less` of them."""
    tried = []
    for _ in range(repeats):
        pairs = [(raw(mechanism, size), audited(mechanism, size)) for size in (budget, less) if size]
        tried.append(pairs[0] if not less else (pairs[0][0] - pairs[1][0], pairs[0][1] - pairs[1][1]))
    return min(at for at, _ in tried), min(at for _, at in tried)


def process_seconds(calls: int) -> float:
    """Run that many empty calls, each in a new process as a check of a run has it; return the seconds of one."""
    with open_pool(Place(workers=1)) as pool:
        pool.call(abs, -1)  # starts what forks the processes
        start = time.perf_counter()
        for _ in range(calls):
            pool.call(abs, -1)
        return (time.perf_counter() - start) / calls


def main() -> None:
    """Print one line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", default=["ratios", "marginal", "process"])
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    audited(subjects.laplace, 100_000)  # what is imported at first use
    audited(vectors, 20_000)
    if "ratios" in asked.parts:
        print(f"{'numbers':>12} {'raw s':>8} {'audit s':>8} {'ratio':>6} {'peak MiB':>9}")
        for budget in (100_000, 1_000_000, 10_000_000):
            drawn, spent = least(subjects.laplace, budget, asked.repeats)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{budget:12} {drawn:8.3f} {spent:8.3f} {spent / drawn:6.2f} {peak:9.0f}", flush=True)
    if "marginal" in asked.parts:
        for name, at in (
            ("numbers beyond 1e7", least(subjects.laplace, 20_000_000, asked.repeats, 10_000_000)),
            ("vectors of 6 beyond 1e5", least(vectors, 200_000, asked.repeats, 100_000)),
            ("vectors of 6 at 1e5", least(vectors, 100_000, asked.repeats)),
        ):
            print(f"{name}: {at[1]:.3f} CPU s for {at[0]:.3f} of sampling, {at[1] / at[0]:.2f} times", flush=True)
    if "process" in asked.parts:
        check, process = audited(subjects.laplace, 100_000), min(process_seconds(20) for _ in range(asked.repeats))
        print(f"new process for a check: {1e3 * process:.1f} ms, {process / check:.3f} of a check with 100,000 outputs")


if __name__ == "__main__":
    main()
