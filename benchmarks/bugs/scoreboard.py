"""The scoreboard of the bug benchmark: certified lower bounds beside target, ceiling and the published bound.

python -m benchmarks.bugs.scoreboard --budget 1000000 --seeds 5 --only SVT4
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import median

from benchmarks.bugs.at_one import certified_bound
from benchmarks.bugs.catalogue import BUGS, Bug


def goal_at(bug: Bug, budget: int) -> tuple[float, float] | None:
    """Return target and ceiling at a budget, or None where they are not stated."""
    for index, stated in enumerate((1_000_000, 10_000_000)):
        if budget == stated:
            return bug.goal.target[index], bug.goal.ceiling[index]
    return None


def row(bug: Bug, bound: float, seconds: float, budget: int) -> str:
    """Return one line: name, truth, goals, the median bound, and the seconds of an audit."""
    goal = goal_at(bug, budget)
    goals = " ".join(f"{x:8.4f}" for x in goal) if goal else f"{'-':>8} {'-':>8}"
    mark = " " if goal is None else ("+" if bound >= goal[0] else "-")
    truth = f"{bug.epsilon:.4g}" if bug.known else f">={bug.epsilon:.4g}"
    return f"{bug.name:19} {truth:>8} {goals} {bug.goal.published:9.4f} {mark} {bound:10.4f} {seconds:6.1f}s"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one row a mechanism; "+" marks a median bound that reaches its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=1_000_000, help="outputs per dataset, training included")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=[bug.name for bug in BUGS], metavar="NAME")
    options = parser.parse_args(arguments)
    print(f"{'mechanism':19} {'truth':>8} {'target':>8} {'ceiling':>8} {'published':>9}   {'bound':>10}")
    total = 0.0
    for bug in BUGS:
        if options.only and bug.name not in options.only:
            continue
        started = time.perf_counter()
        bounds = [certified_bound(bug.mechanism, bug.pair, options.budget, seed) for seed in range(options.seeds)]
        seconds = (time.perf_counter() - started) / options.seeds
        total += seconds
        print(row(bug, median(bounds), seconds, options.budget), flush=True)
    print(f"{total:.1f} s for one audit of each")


if __name__ == "__main__":
    main()
