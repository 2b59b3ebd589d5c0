"""The scoreboard of the bug benchmark: certified lower bounds beside target, ceiling and the published bound.

    python -m benchmarks.bugs.scoreboard --budget 1000000 --seeds 5 --only SVT4

Any auditor can be plugged in: `main([...], {"mine": auditor})`, with a callable `(mechanism, pair, budget,
significance, seed) -> lower bound`, or `--auditor module:callable` on the command line.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.bugs.auditors import AUDITORS, Auditor
from benchmarks.bugs.catalogue import BUGS, Bug

SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Entry:
    """Results of one auditor on one mechanism: bounds over the seeds, and seconds per audit."""

    bounds: tuple[float, ...]
    seconds: float

    @property
    def bound(self) -> float:
        """Median over the seeds."""
        return median(self.bounds)


def measure(bug: Bug, auditor: Auditor, budget: int, seeds: int) -> Entry:
    """Run one auditor on one mechanism, once per seed."""
    started = time.perf_counter()
    bounds = [auditor(bug.mechanism, bug.pair, budget, SIGNIFICANCE, seed) for seed in range(seeds)]
    return Entry(tuple(bounds), (time.perf_counter() - started) / seeds)


def goal_at(bug: Bug, budget: int) -> tuple[float, float] | None:
    """Return target and ceiling at a budget, or None where they are not stated."""
    for index, stated in enumerate((1_000_000, 10_000_000)):
        if budget == stated:
            return bug.goal.target[index], bug.goal.ceiling[index]
    return None


def row(bug: Bug, entries: Mapping[str, Entry], budget: int) -> str:
    """Return one line: name, truth, goals, and the bound and the seconds of each auditor."""
    goal = goal_at(bug, budget)
    goals = " ".join(f"{x:8.4f}" for x in goal) if goal else f"{'-':>8} {'-':>8}"
    first = next(iter(entries.values())).bound
    mark = " " if goal is None else ("+" if first >= goal[0] else "-")
    found = " ".join(f"{entry.bound:10.4f} {entry.seconds:6.1f}s" for entry in entries.values())
    truth = f"{bug.epsilon:.4g}" if bug.known else f">={bug.epsilon:.4g}"
    return f"{bug.name:19} {truth:>8} {goals} {bug.goal.published:9.4f} {mark} {found}"


def header(auditors: Mapping[str, Auditor]) -> str:
    """Column names."""
    names = " ".join(f"{name[:13]:>18}" for name in auditors)
    return f"{'mechanism':19} {'truth':>8} {'target':>8} {'ceiling':>8} {'published':>9}   {names}"


def load(path: str) -> Auditor:
    """The callable named by "module:callable"."""
    module, _, name = path.partition(":")
    found: Auditor = getattr(importlib.import_module(module), name)
    return found


def main(arguments: Sequence[str] | None = None, auditors: Mapping[str, Auditor] = AUDITORS) -> None:
    """Print one row a mechanism; "+" marks a bound of the first auditor that reaches its target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=int, default=1_000_000, help="outputs per dataset, training included")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=[bug.name for bug in BUGS], metavar="NAME")
    parser.add_argument("--auditor", nargs="*", default=[], metavar="MODULE:CALLABLE", help="compare these too")
    parser.add_argument("--skip-baselines", action="store_true", help="run the first auditor only")
    options = parser.parse_args(arguments)
    chosen = dict(list(auditors.items())[: 1 if options.skip_baselines else None])
    chosen |= {path: load(path) for path in options.auditor}
    print(header(chosen))
    total = 0.0
    for bug in BUGS:
        if options.only and bug.name not in options.only:
            continue
        entries = {name: measure(bug, auditor, options.budget, options.seeds) for name, auditor in chosen.items()}
        total += next(iter(entries.values())).seconds
        print(row(bug, entries, options.budget), flush=True)
    print(f"{next(iter(chosen))}: {total:.1f} s for one audit of each")


if __name__ == "__main__":
    main()
