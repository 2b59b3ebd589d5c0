"""Decide 588 published claims by following the noise: 49 functions, six mechanisms, the right scale and half of it.

    python -m benchmarks.following_claims

The claims are those of DPriv-Bench, category 1 (github.com/erchiw/DPriv-Bench, Apache-2.0). Datasets are four numbers
in [0, 1] of which one is replaced; selections choose among 12 columns. The pair is the one of the largest difference
that a search finds. A claim is kept if the bound is at most what is claimed. One label is wrong for four records: the
median moves by at most 1/2, so that half the scale is private.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from audit.extensions.following import follow

N, COLUMNS = 4, 12
A, B, TAU, MU, D = 0.2, 0.6, 0.4, 0.0, 1.5  # the free parameters of some functions
_PLACES = np.arange(1, N + 1)
_ORDER = np.array([2, 0, 3, 1])
E = math.e


def _pairs(x: np.ndarray) -> float:
    return float((x.sum() ** 2 - (x**2).sum()) / 2)


FUNCTIONS: dict[str, tuple[float, Callable[[np.ndarray], float]]] = {  # sensitivity, function
    "sum": (1, np.sum), "product": (1, np.prod), "max": (1, np.max), "min": (1, np.min), "mean": (1 / N, np.mean),
    "root of squares": (1, lambda x: np.sqrt((x**2).sum())),
    "absolute steps": (2, lambda x: np.abs(np.diff(x)).sum()),
    "absolute deviations": (2 * (N - 1) / N, lambda x: np.abs(x - x.mean()).sum()),
    "squared deviations": ((N - 1) / N, lambda x: ((x - x.mean()) ** 2).sum()),
    "squares about mu": (1, lambda x: ((x - MU) ** 2).sum()),
    "sum of squares": (1, lambda x: (x**2).sum()), "sum of cubes": (1, lambda x: (x**3).sum()),
    "sum of roots": (1, lambda x: np.sqrt(x).sum()), "sum log(x+1)": (math.log(2), lambda x: np.log(x + 1).sum()),
    "sum exp": (E - 1, lambda x: np.exp(x).sum()), "sum sin": (1, lambda x: np.sin(np.pi * x).sum()),
    "sum cos": (2, lambda x: np.cos(np.pi * x).sum()), "sum arctan": (math.pi / 4, lambda x: np.arctan(x).sum()),
    "median": (1, np.median), "Q3 - Q1": (1, lambda x: np.percentile(x, 75) - np.percentile(x, 25)),
    "count > .5": (1, lambda x: (x > 0.5).sum()), "count in [a, b]": (1, lambda x: ((x >= A) & (x <= B)).sum()),
    "products of neighbors": (2, lambda x: (x[1:] * x[:-1]).sum()), "products of pairs": (N - 1, _pairs),
    "alternating": (1, lambda x: (x[0::2] - x[1::2]).sum()), "square of sum": (2 * N - 1, lambda x: x.sum() ** 2),
    "sum i x": (N, lambda x: (_PLACES * x).sum()), "sum > n/2": (1, lambda x: float(x.sum() > N / 2)),
    "softmax": (E / (E + N - 1), lambda x: (np.exp(x) / np.exp(x).sum() * x).sum()),
    "squared steps": (2, lambda x: (np.diff(x) ** 2).sum()), "rank": (N - 1, lambda x: (x <= x[0]).sum()),
    "sum x / i": (1, lambda x: (x / _PLACES).sum()), "sum x(1-x)": (1 / 4, lambda x: (x * (1 - x)).sum()),
    "sum x^2(1-x)^2": (1 / 16, lambda x: (x**2 * (1 - x) ** 2).sum()), "count > .7": (1, lambda x: (x > 0.7).sum()),
    "all > tau": (1, lambda x: float((x > TAU).all())), "x1 > x2": (1, lambda x: float(x[0] > x[1])),
    "parity": (1, lambda x: (x > 0.5).sum() % 2),
    "log of squares": (math.log(2), lambda x: math.log(1 + (x**2).sum())),
    "root of cyclic steps": (math.sqrt(2), lambda x: np.sqrt(((x - np.roll(x, -1)) ** 2).sum())),
    "squares over sum": (1 / 2, lambda x: (x**2).sum() / (1 + x.sum())),
    "exp of squares": (1 - 1 / E, lambda x: math.exp(-(x**2).sum())),
    "sum 1/(1+x^2)": (1 / 2, lambda x: (1 / (1 + x**2)).sum()),
    "sum sigmoid": ((1 - 1 / E) / (2 * (1 + 1 / E)), lambda x: (1 / (1 + np.exp(-x))).sum()),
    "sum |x - 1/2|": (1 / 2, lambda x: np.abs(x - 0.5).sum()), "permuted sum": (1, lambda x: x[_ORDER].sum()),
    "even places": (1, lambda x: x[1::2].sum()), "entropy": (math.log(1 + D), lambda x: -(x * np.log(x + D)).sum()),
    "distances to the grid": (1, lambda x: np.abs(x - _PLACES / N).sum()),
}  # fmt: skip


def find_pair(function: Callable[[np.ndarray], float], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbors of the largest difference among corners, a grid, random points, and moves of the best."""
    rng = np.random.default_rng(seed)
    values = np.array([0.0, 0.25, 0.5, 0.5001, 0.71, 1.0])
    points = [np.array([i >> k & 1 for k in range(N)], float) for i in range(2**N)]
    points += [rng.random(N) for _ in range(24)] + [values[rng.integers(len(values), size=N)] for _ in range(400)]
    best = (-1.0, points[0], points[0])
    for _ in range(3):
        for point in points:
            for place in range(N):
                others = [np.r_[point[:place], value, point[place + 1 :]] for value in values]
                results = [float(function(other)) for other in others]
                low, high = int(np.argmin(results)), int(np.argmax(results))
                best = max(best, (results[high] - results[low], others[low], others[high]), key=lambda found: found[0])
        center = best[1]
        points = [np.clip(center + rng.normal(scale=0.2, size=N) * (rng.random(N) < 0.5), 0, 1) for _ in range(40)]
    return best[1], best[2]


def build(mechanism: str, function: Any, spread: float) -> Callable[..., Any]:
    """Return a mechanism at a scale; `spread` is the sensitivity, or half of it."""

    def scores(table: np.ndarray) -> np.ndarray:
        return np.array([float(function(column)) for column in table.T])

    def choose(table: np.ndarray, size: int, rng: np.random.Generator) -> Any:
        weights = np.exp((scores(table) - scores(table).max()) / (2 * spread))
        return rng.choice(COLUMNS, size=size, p=weights / weights.sum()) if size > 1 else [
            int(rng.choice(COLUMNS, p=weights / weights.sum()))
        ]  # fmt: skip

    return {
        "Laplace": lambda x, size, rng: float(function(x)) + rng.laplace(scale=spread, size=size),
        "GDP": lambda x, size, rng: float(function(x)) + rng.normal(scale=spread, size=size),
        "zCDP": lambda x, size, rng: float(function(x)) + rng.normal(scale=spread / math.sqrt(2 * 0.5), size=size),
        "exponential": choose,
        "noisy max": lambda x, size, rng: np.argmax(
            scores(x) + rng.laplace(scale=2 * spread, size=(size, COLUMNS)), axis=1
        ),
        "permute and flip": lambda x, size, rng: np.argmax(
            scores(x) + rng.exponential(scale=2 * spread, size=(size, COLUMNS)), axis=1
        ),
    }[mechanism]


MECHANISMS = ("Laplace", "GDP", "zCDP", "exponential", "noisy max", "permute and flip")


def keeps(mechanism: str, function: Any, spread: float, pair: tuple[np.ndarray, np.ndarray]) -> bool | None:
    """Return whether the bound is at most the claim: epsilon 1, mu 1, rho 1/2."""
    left, right = pair
    if mechanism not in ("Laplace", "GDP", "zCDP"):  # one column rises, the others fall
        left, right = (
            np.column_stack([first] + [other] * (COLUMNS - 1)) for first, other in ((left, right), (right, left))
        )
    result = follow(build(mechanism, function, spread), left, right, runs=40, rows=1_000, fresh=False)
    if not result.is_followed:
        return None
    return max(result.epsilon, result.mu) <= 1 + 1e-6


def main() -> None:
    """Print the claims whose label is not found, and the sum."""
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    begun = time.process_time()
    for name, (sensitivity, function) in FUNCTIONS.items():
        pair = find_pair(function)
        for mechanism in MECHANISMS:
            for label, spread in ((True, sensitivity), (False, sensitivity / 2)):
                kept = keeps(mechanism, function, spread, pair)
                outcome = "not followed" if kept is None else "as labelled" if kept == label else "other"
                counts[outcome] += 1
                if outcome != "as labelled":
                    gap = abs(float(function(pair[0])) - float(function(pair[1])))
                    print(
                        f"{name}, {mechanism}, {'right' if label else 'half'} scale: {outcome}, "
                        f"moves by {gap:.4g} of {sensitivity:.4g}"
                    )
    print(
        f"{len(FUNCTIONS)} functions, {counts.total()} claims: {dict(counts)}, {time.process_time() - begun:.0f} CPU s"
    )


if __name__ == "__main__":
    main()
