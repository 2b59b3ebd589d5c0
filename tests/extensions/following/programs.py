"""Unmodified code whose bound is known by hand; sparse vector 1 to 6 are those of Lyu, Su & Li 2017."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import per_call

ZERO, ONE = np.zeros(5), np.r_[1.0, 0, 0, 0, 0]
EVEN, ODD = np.array([0.0, 1, 0, 1, 0]), np.array([1.0, 0, 1, 0, 1])


@dataclass(frozen=True)
class Program:
    """Code, a pair, and the bound by hand."""

    mechanism: Callable[..., Any]
    left: Any
    right: Any
    epsilon: float = 0.0
    mu: float = 0.0


def count(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(size=size)


def clipped_mean(data: Any, rng: np.random.Generator) -> Any:
    return np.clip(data, 0, 1).mean() + rng.laplace(scale=1 / len(data))


def histogram(data: Any, size: int, rng: np.random.Generator) -> Any:
    return np.bincount(data, minlength=50) + rng.laplace(scale=2.0, size=(size, 50))


def two_queries(data: Any, rng: np.random.Generator) -> Any:
    first = data.sum() + rng.laplace(scale=2.0)
    return first, (data > first / 10).sum() + rng.laplace(scale=2.0)


def gaussian_vector(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.normal(scale=4 * math.sqrt(1000), size=(size, 1000))


def noisy_max_value(data: Any, rng: np.random.Generator) -> Any:
    return (data + rng.laplace(scale=2.0, size=len(data))).max()


def best_in_a_loop(data: Any, rng: np.random.Generator) -> Any:
    best, place = None, None
    for i, score in enumerate(data):
        value = score + rng.laplace(scale=2.0)
        if best is None or value > best:
            best, place = value, i
    return place


def sparse_vector(threshold: float, scale: float, most: int = 1, value: str = "") -> Any:
    def release(data: Any, rng: np.random.Generator) -> Any:
        bar, out, found = rng.laplace(scale=threshold), [], 0
        for query in data:
            noisy = query + (rng.laplace(scale=scale) if scale else 0.0)
            if noisy >= bar:
                released = noisy if value == "same" else True
                out.append(query + rng.laplace(scale=4.0) if value == "fresh" else released)
                found += 1
                if found >= most:
                    break
            else:
                out.append(False)
        return out

    return release


def two_gaussians(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.normal(size=size) + rng.normal(size=size)


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


def location(data: Any, rng: np.random.Generator) -> Any:
    """Move to the records in two noisy steps: each step looks at the first sum once a record."""
    place = 0.0
    for _ in range(2):
        place = place + sum(np.clip(x - place, -1, 1) for x in data) + rng.laplace(scale=4.0)
    return place


DAY = np.r_[1.0, np.zeros(15)]
PROGRAMS = {
    "count": Program(count, ZERO, ONE, 1),
    "clipped mean": Program(per_call(clipped_mean), ZERO, ONE, 1),
    "histogram of 50": Program(histogram, np.arange(5), np.r_[49, np.arange(1, 5)], 1),
    "two adaptive queries": Program(per_call(two_queries), ZERO, ONE, 1),
    "Gaussian vector of 1,000": Program(gaussian_vector, ZERO, ONE, mu=0.25),  # sqrt(1000) / (4 sqrt(1000))
    # four others move down by 1, the released one too: 1/2 each, or 4 x 1/2
    "noisy max releases the value": Program(per_call(noisy_max_value), EVEN, ODD, 2),
    "noisy max in a loop": Program(per_call(best_in_a_loop), EVEN, ODD, 2),
    # one query above: 1/4, the threshold 1/2
    "sparse vector 1": Program(per_call(sparse_vector(2, 4)), EVEN, ODD, 0.75),
    "sparse vector, numeric": Program(per_call(sparse_vector(4, 8, value="fresh")), EVEN, ODD, 0.625),
    "sparse vector 3": Program(per_call(sparse_vector(2, 2, value="same")), EVEN, ODD, 1.5),
    "sparse vector 4": Program(per_call(sparse_vector(4, 4 / 3, most=2)), EVEN, ODD, 3),
    "sparse vector 5": Program(per_call(sparse_vector(2, 0, most=9)), EVEN, ODD, math.inf),
    "sparse vector 6": Program(per_call(sparse_vector(2, 2, most=9)), EVEN, ODD, 2.5),
    "sum of Gaussians": Program(two_gaussians, ZERO, ONE, mu=math.sqrt(0.5)),
    "location": Program(per_call(location), np.r_[100.0, ZERO], np.r_[-100.0, ZERO], 1),  # twice 2 / 4
    "smart sums": Program(per_call(smart_sums), 0 * DAY, DAY, 2),
}
