"""Six mechanisms at epsilon 1 with 1e5 outputs per dataset and no stated density: median bound, and seconds an audit.

    python -m benchmarks.bugs.at_one --seeds 20

The goal and the best bound published are of other tools on the same jobs (95 %, one ordered pair each).
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

import numpy as np

from audit import Local, PrivacyClaim, check_privacy
from benchmarks.bugs.noisy_max import NoisyMax
from benchmarks.bugs.sparse_vector import svt1, svt2, svt3
from benchmarks.subjects import laplace

BUDGET, SIGNIFICANCE = 100_000, 0.05
ONES, MIXED = np.ones(10), np.r_[np.full(5, 2.0), np.zeros(5)]
FIVE, ONE_LESS, ALL_MORE = np.ones(5), np.r_[0.0, np.full(4, 2.0)], np.full(5, 2.0)
JOBS = {  # mechanism, pair, truth, goal, best published
    "Laplace": (laplace, (0.0, 1.0), 1.0, 0.982, 0.982),
    "SVT1": (svt1(1.0), (ONES, MIXED), 0.930, 0.86, 0.781),
    "SVT2": (svt2(1.0), (ONES, MIXED), 0.911, 0.85, 0.720),
    "SVT3": (svt3(1.0), (ONES, MIXED), 3.0, 2.2, 1.14),
    "noisy max, index": (NoisyMax("laplace", 2.0, "index"), (FIVE, ONE_LESS), 0.980, 0.962, 0.875),
    "noisy max, value": (NoisyMax("laplace", 2.0, "value"), (FIVE, ALL_MORE), 2.5, 2.38, 2.16),
}


def certified_bound(mechanism: Any, pair: tuple[Any, Any], budget: int, seed: int) -> float:
    """Return the lower bound of epsilon that an audit of a fixed budget certifies, training included."""
    claim = PrivacyClaim(0.0, 0.0, Local(), "nothing leaks")
    settings = {"budget": budget, "significance": SIGNIFICANCE, "confirmation": None, "seed": seed}
    result = check_privacy(mechanism, claim, [pair], method="fixed", **settings)
    return result.epsilon_lower_bound


def main() -> None:
    """Print one row a job; "+" marks a median that reaches its goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    print(f"{'job':18} {'truth':>6} {'goal':>6} {'published':>9}   {'median':>7} {'least':>7} {'seconds':>8}")
    for name, (mechanism, pair, truth, goal, published) in JOBS.items():
        bounds, seconds = [], []
        for seed in range(seeds):
            started = time.perf_counter()
            bounds.append(certified_bound(mechanism, pair, BUDGET, seed))
            seconds.append(time.perf_counter() - started)
        mark = "+" if median(bounds) >= goal else "-"
        shown = f"{median(bounds):7.3f} {min(bounds):7.3f} {median(seconds):8.2f}"
        print(f"{name:18} {truth:6.3f} {goal:6.3f} {published:9.3f} {mark} {shown}", flush=True)


if __name__ == "__main__":
    main()
