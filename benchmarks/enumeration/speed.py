"""Measure how long one law takes: `python -m benchmarks.enumeration.speed [word ...]` prints a row for each sampler.

CPU seconds on one core, to a residual of 1e-12, with a limit of 150 seconds for each law; imports are not counted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import audit
from benchmarks.enumeration import samplers

CASES: dict[str, tuple[Callable[[Any, Any], Any], Any, float]] = {
    "discrete Laplace, scale 10": (lambda d, rng: d + samplers.discrete_laplace(10, rng), 0, 1.2),
    "discrete Laplace, scale 100": (lambda d, rng: d + samplers.discrete_laplace(100, rng), 0, 12),
    "discrete Gaussian, sigma 4": (lambda d, rng: d + samplers.discrete_gaussian(4, rng), 0, 10),
    "permute-and-flip, 10 candidates": (
        lambda d, rng: samplers.permute_and_flip(d, 1.0, rng),
        (3, 1, 4, 1, 5, 9, 2, 6, 5, 3),
        2,
    ),
    "permute-and-flip, 14 candidates": (
        lambda d, rng: samplers.permute_and_flip(d, 1.0, rng),
        (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7),
        10,
    ),
    "sparse vector, scale 4, 6 queries": (
        lambda d, rng: samplers.sparse_vector(d, 1, 4, rng),
        (0, 1, 0, 1, 0, 1),
        6,
    ),
}


def main(words: list[str]) -> None:
    """Print one row per law; words select them by name."""
    audit.enumerate_law(audit.per_call(lambda d, rng: rng.random() < 0.5), 0, rng="random")
    print("| sampler | CPU s | target | residual | states | runs |\n| --- | --- | --- | --- | --- | --- |")
    for name, (function, data, target) in CASES.items():
        if words and not any(word in name for word in words):
            continue
        started = sum(os.times()[:4])  # the enumeration has a process of its own
        law = audit.enumerate_law(audit.per_call(function), data, rng="random", time_limit=150.0)
        seconds = sum(os.times()[:4]) - started
        row = f"{seconds:.1f} | {target} | {float(law.residual):.2g} | {law.states:,} | {law.runs:,}"
        print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
