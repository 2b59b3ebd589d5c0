"""Measure what following the noise finds: bound, truth and CPU seconds of unmodified code.

    python -m benchmarks.following [NAME]

The truth is known in closed form, or by the papers that are named; sparse vector 1 to 6 are those of Lyu, Su & Li 2017.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from audit import per_call
from audit.extensions.following import explain, follow

ZERO, ONE = np.zeros(5), np.r_[1.0, 0, 0, 0, 0]
EVEN, ODD = np.array([0.0, 1, 0, 1, 0]), np.array([1.0, 0, 1, 0, 1])
EVEN_100, ODD_100 = np.arange(100) % 2 * 1.0, (1 + np.arange(100)) % 2 * 1.0


@dataclass(frozen=True)
class Program:
    """Code, a pair, and the truth that a bound should reach."""

    mechanism: Callable[..., Any]
    left: Any
    right: Any
    truth: str
    epsilon: float | None = None  # a claim, for which comparisons are merged
    runs: int = 200  # 0: one followed pair, which bounds nothing


def count(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(size=size)


def clipped_mean(data: Any, rng: np.random.Generator) -> Any:
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=1 / len(data))


def rounded(data: Any, rng: np.random.Generator) -> Any:
    return round(data.sum() + rng.laplace(), 1)


def located(data: Any, rng: np.random.Generator) -> Any:
    return rng.laplace(data.sum(), 1.0)


def histogram(data: Any, size: int, rng: np.random.Generator) -> Any:
    return np.bincount(data, minlength=50) + rng.laplace(scale=2.0, size=(size, 50))


def two_queries(data: Any, rng: np.random.Generator) -> Any:
    first = data.sum() + rng.laplace(scale=2.0)
    return first, (data > first / 10).sum() + rng.laplace(scale=2.0)


def gaussian_vector(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.normal(scale=4 * math.sqrt(1000), size=(size, 1000))


def descend(data: Any, rng: np.random.Generator, steps: int = 5, scale: float = 10.3, rate: float = 0.1) -> Any:
    """Clip the gradients of a logistic regression, add noise, step."""
    x, y = data[:, :-1], data[:, -1]
    weights = np.zeros(x.shape[1])
    for _ in range(steps):
        gradients = (expit(x @ weights) - y)[:, None] * x
        gradients = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1))[:, None]
        weights = weights - rate * (gradients.sum(0) + rng.normal(scale=scale, size=len(weights)))
    return weights


def descend_long(data: Any, rng: np.random.Generator) -> Any:
    return descend(data, rng, steps=100, scale=20 * math.sqrt(2))


def noisy_max(data: Any, size: int, rng: np.random.Generator) -> Any:
    return np.argmax(data + rng.laplace(scale=2.0, size=(size, len(data))), axis=1)


def noisy_max_value(data: Any, rng: np.random.Generator) -> Any:
    return (data + rng.laplace(scale=2.0, size=len(data))).max()


def best_in_a_loop(data: Any, rng: np.random.Generator) -> Any:
    best, place = None, None
    for i, score in enumerate(data):
        value = score + rng.laplace(scale=2.0)
        if best is None or value > best:
            best, place = value, i
    return place


def sparse_vector(threshold: float, scale: float, most: int = 1, again: bool = False, value: str = "") -> Any:
    def release(data: Any, rng: np.random.Generator) -> Any:
        bar, out, found = rng.laplace(scale=threshold), [], 0
        for query in data:
            noisy = query + (rng.laplace(scale=scale) if scale else 0.0)
            if noisy >= bar:
                released = {"": True, "same": noisy, "gap": noisy - bar, "fresh": 0.0}[value]
                out.append(query + rng.laplace(scale=4.0) if value == "fresh" else released)
                bar, found = rng.laplace(scale=threshold) if again else bar, found + 1
                if found >= most:
                    break
            else:
                out.append(False)
        return out

    return release


def gumbel(data: Any, size: int, rng: np.random.Generator) -> Any:
    return np.argmax(data / 2 + rng.gumbel(size=(size, len(data))), axis=1)


def respond(data: Any, rng: np.random.Generator) -> Any:
    keep = math.e / (1 + math.e)
    return [int(bit) if rng.random() < keep else 1 - int(bit) for bit in data]


def student(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.standard_cauchy(size)


def two_gaussians(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.normal(size=size) + rng.normal(size=size)


def partial_sums(data: Any, rng: np.random.Generator) -> Any:
    return np.cumsum(data + rng.laplace(size=len(data)))


def smart_sums(data: Any, rng: np.random.Generator, block: int = 4) -> Any:
    """Sum blocks with noise of their own, and the rest of a block one by one."""
    total, rest, out = 0.0, 0.0, []
    for i, value in enumerate(data):
        if (i + 1) % block == 0:
            total = total + data[i + 1 - block : i + 1].sum() + rng.laplace()
            rest = 0.0
        else:
            rest = rest + value + rng.laplace()
        out.append(total + rest)
    return out


_RNG = np.random.default_rng(0)
_ROWS = np.c_[_RNG.normal(size=(20, 4)), _RNG.integers(2, size=20)]
_WIDE = np.c_[_RNG.normal(size=(50, 10_000)), _RNG.integers(2, size=50)]


def _opposite(rows: Any) -> Any:
    """Return the rows with the first one's label turned: its first clipped gradient turns too."""
    return np.r_[[np.r_[rows[0, :-1], 1 - rows[0, -1]]], rows[1:]]


_DAY = np.r_[1.0, np.zeros(15)]
PROGRAMS = {
    "count": Program(count, ZERO, ONE, "1"),
    "clipped mean": Program(per_call(clipped_mean), ZERO, ONE, "1"),
    "rounded": Program(per_call(rounded), ZERO, ONE, "1"),
    "rng.laplace(loc)": Program(per_call(located), ZERO, ONE, "1"),
    "histogram of 50": Program(histogram, np.arange(5), np.r_[49, np.arange(1, 5)], "1"),
    "two adaptive queries": Program(per_call(two_queries), ZERO, ONE, "1"),
    "Gaussian vector of 1,000": Program(gaussian_vector, ZERO, ONE, "mu .25"),
    "DP-SGD, 5 steps": Program(per_call(descend), _ROWS, _opposite(_ROWS), "mu <= .435"),
    "DP-SGD, 100 steps, 10,000 parameters": Program(
        per_call(descend_long), _WIDE, _opposite(_WIDE), "mu <= .707", runs=0
    ),
    "noisy max of 5": Program(noisy_max, EVEN, ODD, "1"),
    "noisy max of 100": Program(noisy_max, EVEN_100, ODD_100, "1"),
    "noisy max releases the value": Program(per_call(noisy_max_value), EVEN, ODD, "2"),
    "noisy max in a loop": Program(per_call(best_in_a_loop), EVEN, ODD, "1", 1.0),
    "sparse vector 1": Program(per_call(sparse_vector(2, 4)), EVEN, ODD, "at most 1"),
    "sparse vector 2": Program(per_call(sparse_vector(2, 4, again=True)), EVEN, ODD, "at most 1"),
    "sparse vector, numeric": Program(per_call(sparse_vector(4, 8, value="fresh")), EVEN, ODD, "at most 1"),
    "sparse vector with a gap": Program(per_call(sparse_vector(2, 4, value="gap")), EVEN, ODD, "at most 1"),
    "sparse vector 3": Program(per_call(sparse_vector(2, 2, value="same")), EVEN, ODD, "above 1"),
    "sparse vector 4": Program(per_call(sparse_vector(4, 4 / 3, most=2)), EVEN, ODD, "above 1"),
    "sparse vector 5": Program(per_call(sparse_vector(2, 0, most=9)), EVEN, ODD, "inf"),
    "sparse vector 6": Program(per_call(sparse_vector(2, 2, most=9)), EVEN, ODD, "above 1"),
    "exponential mechanism, Gumbel": Program(gumbel, EVEN, ODD, "1"),
    "randomized response": Program(per_call(respond), ZERO, ONE, "1"),
    "Student noise": Program(student, ZERO, ONE, ".962"),
    "sum of Gaussians": Program(two_gaussians, ZERO, ONE, "mu .707"),
    "partial sums": Program(per_call(partial_sums), 0 * _DAY, _DAY, "1"),
    "smart sums": Program(per_call(smart_sums), 0 * _DAY, _DAY, "2"),
}


def main() -> None:
    """Print the table."""
    print("| code | bound | truth | CPU s |\n| --- | --- | --- | --- |")
    for name, program in PROGRAMS.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        begun = time.process_time()
        pair = program.left, program.right
        if program.runs:
            bound: object = follow(program.mechanism, *pair, epsilon=program.epsilon, runs=program.runs)
        else:
            bound = f"one pair of runs: mu {explain(program.mechanism, *pair, runs=1).mu:.4g}"
        print(f"| {name} | {bound} | {program.truth} | {time.process_time() - begun:.2f} |", flush=True)


if __name__ == "__main__":
    main()
