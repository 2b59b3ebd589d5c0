"""Measure how close the certified bound comes to the truth, and to the limit of all runs certifying.

    python -m benchmarks.bound

True epsilon 1, 95 %, N outputs per dataset including training, median over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median
from typing import Any

import joblib
import numpy as np
from scipy import stats

from audit import check_privacy
from benchmarks import subjects

SEEDS = 20


class ScoredLaplace:
    """The Laplace subject with its log-likelihood."""

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return subjects.laplace(data, size, rng)

    def log_likelihood(self, data: Any, outputs: Any) -> np.ndarray:
        """Up to a constant."""
        return -np.abs(np.asarray(outputs) - data)


def guess_game(mechanism: Callable[..., Any], budget: int, seed: int) -> float:
    """The bound that the audit certifies."""
    result = check_privacy(
        mechanism, subjects.claim(), subjects.PAIR, budget=budget, confirmation=None, seed=seed, method="fixed"
    )
    return result.epsilon_lower_bound


def limit(mass: float, budget: int) -> float:
    """Median bound of the binomial test on the pure-loss events with all runs certifying; mass of both events."""
    guesses = 2 * budget * mass
    theta = subjects.THETA
    return 1.0 - float(stats.norm.isf(0.05)) / math.sqrt(guesses * theta * (1 - theta))


def main() -> None:
    """Print one row a case and budget."""
    cases: list[tuple[str, Callable[..., Any], float]] = [
        ("Laplace", subjects.laplace, 0.5 * (1 + 1 / math.e)),
        ("Laplace with its log-likelihood", ScoredLaplace(), 0.5 * (1 + 1 / math.e)),
        ("randomized response", subjects.randomized_response, 1.0),
        ("geometric", subjects.geometric, 1.0),
    ]
    print(f"epsilon = 1; median and minimum of {SEEDS} seeds, and the limit of all runs certifying")
    print(f"{'mechanism':32} {'N':>9} {'certified':>10} {'min':>8} {'all runs':>9}")
    for name, mechanism, both in cases:
        for budget in (10_000, 100_000, 1_000_000):
            bounds = joblib.Parallel(n_jobs=-1)(
                joblib.delayed(guess_game)(mechanism, budget, seed) for seed in range(SEEDS)
            )
            found = f"{median(bounds):10.4f} {min(bounds):8.4f} {limit(both, budget):9.4f}"
            print(f"{name:32} {budget:9} {found}", flush=True)


if __name__ == "__main__":
    main()
