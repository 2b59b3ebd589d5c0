"""Measure how close the certified bound comes to the truth, next to two Clopper-Pearson bounds on the best event.

    python -m benchmarks.bound

True epsilon 1, 95 %, N outputs per dataset including training, median over seeds. "Two tails" gives the baseline the
Neyman-Pearson event for free and every output for certifying.
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
from audit.statistics.binomial import proportion_lower_bound, proportion_upper_bound
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


def two_proportion_epsilon_lower_bound(
    left_hits: int, left_runs: int, right_hits: int, right_runs: int, significance: float, delta: float = 0.0
) -> float:
    """Return a baseline: the lower confidence bound of log((P(E) - delta) / Q(E)) from two exact bounds, half each.

    The event must be fixed beforehand. Kept for comparison with the guess game, which needs one tail only.
    """
    p = proportion_lower_bound(left_hits, left_runs, significance / 2)
    q = proportion_upper_bound(right_hits, right_runs, significance / 2)
    return float(np.log((p - delta) / q)) if p > delta else 0.0


def two_tails(mass: float, budget: int, seed: int) -> float:
    """Baseline: the event of probability `mass` on one side and `mass / e` on the other, known beforehand."""
    rng = np.random.default_rng(seed)
    hits, misses = rng.binomial(budget, mass), rng.binomial(budget, mass / math.e)
    return two_proportion_epsilon_lower_bound(int(hits), budget, int(misses), budget, 0.05)


def limit(mass: float, budget: int) -> float:
    """Median bound of the binomial test on the pure-loss events with all runs certifying; mass of both events."""
    guesses = 2 * budget * mass
    theta = subjects.THETA
    return 1.0 - float(stats.norm.isf(0.05)) / math.sqrt(guesses * theta * (1 - theta))


def main() -> None:
    """Print one row a case and budget."""
    cases: list[tuple[str, Callable[..., Any], float, float]] = [
        ("Laplace", subjects.laplace, 0.5, 0.5 * (1 + 1 / math.e)),
        ("Laplace with its log-likelihood", ScoredLaplace(), 0.5, 0.5 * (1 + 1 / math.e)),
        ("randomized response", subjects.randomized_response, subjects.THETA, 1.0),
        ("geometric", subjects.geometric, 1 / (1 + 1 / math.e), 1.0),
    ]
    print(f"{'mechanism':32} {'N':>9} {'certified':>10} {'min':>8} {'two tails':>10} {'all runs':>9}")
    for name, mechanism, mass, both in cases:
        for budget in (10_000, 100_000, 1_000_000):
            bounds = joblib.Parallel(n_jobs=-1)(
                joblib.delayed(guess_game)(mechanism, budget, seed) for seed in range(SEEDS)
            )
            baseline = median(two_tails(mass, budget, seed) for seed in range(SEEDS))
            print(
                f"{name:32} {budget:9} {median(bounds):10.4f} {min(bounds):8.4f} {baseline:10.4f} "
                f"{limit(both, budget):9.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
