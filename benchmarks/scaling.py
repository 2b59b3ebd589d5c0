"""Measure the cost of executors, the gain of two cores, and the parts of an audit of 1e11 outputs.

    python -m benchmarks.scaling                      all of it, some minutes on two idle cores
    python -m benchmarks.scaling cost                 seconds a block and a task
    python -m benchmarks.scaling layout               1e11 outputs per dataset on 50 workers, from the measured cost
    python -m benchmarks.scaling efficiency --repeats 3 --budget 6e5

Everything that is not `efficiency` takes seconds. Needs the extra `dask`. The machine should have nothing else to do:
the load is printed beside what depends on it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, per_call
from audit import runner as suite
from audit.events.candidates import TestDesign, choose_events
from audit.evidence.session import draw_calls, join_calls, play
from audit.execution.seeds import BLOCK, HERE, Calls, Place, Side, Stream
from audit.execution.workers import group_size, groups_from, open_pool
from audit.mechanism.call import Subject
from audit.scorers import Training

RECORDS = 1_500
PAIR = ([0.5] * RECORDS, [0.5] * (RECORDS - 1) + [1.0])
CLAIM = PrivacyClaim(1.0, 0.0, Substitution(), "by construction: a record in [0, 1] moves the sum by at most 1/2")
CORES = 2
WORKERS = 50


def clipped_sum(records: list[float], rng: np.random.Generator) -> float:
    """One output a call, in plain Python, as libraries do it: some 50 microseconds."""
    total = 0.0
    for record in records:
        total += 0.0 if record < 0.0 else 1.0 if record > 1.0 else record
    return total + float(rng.laplace())


def noisy_sum(records: list[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """The same law, all outputs at once."""
    return float(np.clip(records, 0.0, 1.0).sum()) + rng.laplace(size=size)


PER_CALL, VECTORIZED = per_call(clipped_sum), noisy_sum


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a Dask cluster on this machine, one thread a worker."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local:
        yield local.scheduler_address


def block_seconds(mechanism: Any, blocks: int, repeats: int = 3) -> float:
    """Processor seconds to draw a block and count its guesses; the least of some measurements, whatever else runs."""
    subject, stream = Subject(mechanism), Stream(0)
    drawn = join_calls(draw_calls(subject, [PAIR], 1, 4_000, stream.child(0))[0])[0]
    design = TestDesign(1.0, 0.0, 4_000, 10**6, 0.05)
    events = choose_events(Training(*drawn, mechanism, PAIR), [design])[0]
    assert events is not None

    def played() -> None:
        play(subject, PAIR, [events], [blocks * BLOCK], stream, HERE)

    return min(seconds_of(played, time.process_time) for _ in range(repeats)) / blocks


def seconds_of(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds it takes."""
    start = clock()
    work()
    return clock() - start


def cost() -> dict[str, float]:
    """Print seconds a block and a task; return the former."""
    seconds = {"vectorized": block_seconds(VECTORIZED, 200), "per call": block_seconds(PER_CALL, 2, repeats=2)}
    print(f"processor seconds a block of {BLOCK:,} outputs:", *(f"{name} {one:.3g}" for name, one in seconds.items()))
    print(f"load {os.getloadavg()[0]:.1f}")
    print(f"\n{'executor':>10} {'start s':>8} {'ms a task':>10}")
    with cluster(1) as address:
        for name, place in (("serial", HERE), ("processes", Place(workers=1)), ("dask", Place(address))):
            start, task = _task_seconds(place)
            print(f"{name:>10} {start:8.2f} {1e3 * task:10.2f}")
    return seconds


def _task_seconds(place: Place, tasks: int = 200) -> tuple[float, float]:
    """Seconds until a first task is done, and for each of those that follow, one after the other."""
    begun = time.perf_counter()
    with open_pool(place) as pool:
        pool.call(abs, -1, timeout=60)
        start = time.perf_counter() - begun
        return start, seconds_of(lambda: [pool.call(abs, -1, timeout=60) for _ in range(tasks)]) / tasks


def layout(seconds: dict[str, float]) -> None:
    """Print how audits of growing size are laid out on 50 workers, and how long they take."""
    header = ("outputs each", "blocks", "a task", "tasks", "s a task", "hours")
    print(f"{'mechanism':>11} " + " ".join(f"{name:>14}" for name in header))
    for name, block in seconds.items():
        for outputs in (10**9, 10**10, 10**11):
            blocks = len(Calls([Side(None, outputs, Stream(0, (side,))) for side in (0, 1)]))
            size = group_size(block, blocks, WORKERS)
            tasks = sum(1 for _ in groups_from(blocks, 0, size))
            row = outputs, blocks, size, tasks, size * block, blocks * block / WORKERS / 3600
            print(f"{name:>11} " + " ".join(f"{value:14,.4g}" for value in row), flush=True)


def efficiency(budget: int, repeats: int) -> None:
    """Print t1 / (cores t2) for one per-call mechanism whose blocks are spread over two workers."""
    check = PrivacyCheck(name="sum", mechanism=PER_CALL, claim=CLAIM, pairs=[PAIR], method="fixed", timeout=3600.0)

    def timed(executor: str, workers: int | None = None) -> tuple[float, Any]:
        start = time.perf_counter()
        report = suite.run([check], budget=budget, executor=executor, workers=workers)
        return time.perf_counter() - start, report["sum"].evidence

    print(f"{'load':>5} {'serial s':>9} {'processes s':>12} {'Dask s':>8} {'efficiency: processes':>22} {'Dask':>6}")
    with cluster(CORES) as address:
        for _ in range(repeats):
            load = os.getloadavg()[0]
            (one, expected), (local, here), (remote, there) = (
                timed("serial"),
                timed("processes", CORES),
                timed(address),
            )
            assert here == there == expected
            ratios = one / (CORES * local), one / (CORES * remote)
            print(f"{load:5.1f} {one:9.1f} {local:12.1f} {remote:8.1f} {ratios[0]:22.0%} {ratios[1]:6.0%}", flush=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="cost, layout, efficiency; all unless named")
    parser.add_argument("--budget", type=float, default=1e6, help="outputs per dataset")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    parts = asked.parts or ["cost", "layout", "efficiency"]
    if {"cost", "layout"} & set(parts):
        seconds = cost()
        print()
        layout(seconds)
        print()
    if "efficiency" in parts:
        efficiency(int(asked.budget), asked.repeats)


if __name__ == "__main__":
    main()
