"""Vectors that are private coordinate by coordinate, and tell the record together, in one place, or now and then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.leaks.data import Data, Leak, private


def shifted(data: Data, rng: np.random.Generator, d: int, at: Any, by: float, scale: float = 2.0) -> Any:
    """Return d noisy zeros, some of which move by `by` with the record."""
    values = rng.laplace(scale=scale, size=d)
    values[at] += by * (len(data) - 4)
    return values


def equal_pair(data: Data, rng: np.random.Generator) -> Any:
    values = rng.laplace(scale=2, size=6)
    if len(data) > 4:
        values[4] = values[1]
    return values


def exact_total(data: Data, rng: np.random.Generator) -> Any:
    values = rng.laplace(scale=20, size=4).round(2)
    return np.r_[values, np.round(sum(data) - values.sum(), 2)]


def exact_ratio(data: Data, rng: np.random.Generator) -> Any:
    first = rng.laplace(scale=5)
    return [float(first), float(first * len(data))]


def exact_norm(data: Data, rng: np.random.Generator, d: int = 5) -> Any:
    direction = rng.normal(size=d)
    return sum(data) * direction / np.linalg.norm(direction)


def parity(data: Data, rng: np.random.Generator, d: int) -> Any:
    """Return signs whose product is the secret."""
    signs = rng.choice([-1, 1], size=d)
    signs[-1] = np.prod(signs[:-1]) * (1 if len(data) > 4 else -1)
    return signs.tolist()


def shares(data: Data, rng: np.random.Generator, parts: int) -> list[int]:
    """Return shares that add up to the sum, modulo 1,009."""
    drawn = rng.integers(0, 1009, size=parts - 1)
    return [*map(int, drawn), int((sum(data) - drawn.sum()) % 1009)]


def correlated(data: Data, rng: np.random.Generator, d: int) -> Any:
    """Return noise whose first two coordinates have a correlation that the record turns."""
    noise = rng.normal(size=d)
    noise[1] = (0.99 if len(data) > 4 else -0.99) * noise[0] + 0.14 * noise[1]
    return noise


def sorted_or_not(data: Data, rng: np.random.Generator) -> Any:
    values = rng.laplace(scale=2, size=8)
    return np.sort(values) if len(data) > 4 else values


def one_hot(data: Data, rng: np.random.Generator) -> list[int]:
    """Return the place of the last record among 40, or another one in one of ten runs."""
    place = int(4 * data[-1]) if rng.random() < 0.9 else int(rng.integers(40))
    return [int(i == place) for i in range(40)]


def sampled_records(data: Data, rng: np.random.Generator) -> list[float]:
    """Return synthetic records, among them a true one in one of ten runs."""
    made = rng.uniform(0, 10, size=6)
    if rng.random() < 0.1:
        made[rng.integers(6)] = max(data)
    return np.sort(made).tolist()


def random_projection(data: Data, rng: np.random.Generator) -> Any:
    matrix = rng.normal(size=(2, 2))
    return np.r_[matrix.ravel(), matrix @ [sum(data), len(data)]]


def of_a_stream(data: Data, rng: np.random.Generator) -> list[float]:
    """Release running sums with one noise that is never drawn again."""
    noise = rng.laplace(scale=20)
    return [float(total + noise) for total in np.cumsum([*data, 0.0, 0.0][:6])]


def _rarely(data: Data, rng: np.random.Generator, share: float, values: Any, tell: Any) -> Any:
    return tell if len(data) > 4 and rng.random() < share else values


LEAKS: Mapping[str, Leak] = {
    "all of 2 coordinates move": lambda d, r: shifted(d, r, 2, slice(None), 8),
    "all of 5 coordinates move": lambda d, r: shifted(d, r, 5, slice(None), 5),
    "all of 20 coordinates move": lambda d, r: shifted(d, r, 20, slice(None), 2),
    "all of 100 coordinates move": lambda d, r: shifted(d, r, 100, slice(None), 1),
    "every second of 20 coordinates moves": lambda d, r: shifted(d, r, 20, slice(0, 20, 2), 4),
    "one of 20 coordinates moves": lambda d, r: shifted(d, r, 20, 13, 12),
    "one of 100 coordinates moves": lambda d, r: shifted(d, r, 100, 71, 14),
    "half up and half down": lambda d, r: shifted(d, r, 10, slice(None), 4 * np.r_[np.ones(5), -np.ones(5)]),
    "first of 3 in single precision": lambda d, r: shifted(d, r, 3, 0, 10).astype(np.float32),
    "one of 8 integers": lambda d, r: np.rint(shifted(d, r, 8, 2, 10)).astype(int),
    "last bit of 16": lambda d, r: [*map(int, r.integers(0, 2, 15)), int(len(d) > 4)],
    "one of 64 bits, kept at .95": lambda d, r: (
        [int(b) for b in r.integers(0, 2, 63)] + [int((len(d) > 4) ^ (r.random() > 0.95))]
    ),
    "two equal coordinates": equal_pair,
    "exact total": exact_total,
    "exact ratio": exact_ratio,
    "exact difference": lambda d, r: (x := r.laplace(scale=50), x + sum(d)),
    "exact norm of 5": exact_norm,
    "exact norm of 2": lambda d, r: exact_norm(d, r, 2),
    "exact largest coordinate": lambda d, r: r.permutation([sum(d), *r.uniform(-9, 9, 4)]),
    "parity of 2 signs": lambda d, r: parity(d, r, 2),
    "parity of 3 signs": lambda d, r: parity(d, r, 3),
    "two shares": lambda d, r: shares(d, r, 2),
    "one-time pad used twice": lambda d, r: [(p := int(r.integers(256))) ^ int(sum(d)), p ^ 7],
    "correlation of 2": lambda d, r: correlated(d, r, 2),
    "correlation of 2 in 6": lambda d, r: correlated(d, r, 6),
    "variance of 10": lambda d, r: r.normal(scale=len(d) - 3, size=10),
    "heavier tails in 10": lambda d, r: r.normal(size=10) if len(d) > 4 else r.standard_t(1.5, size=10),
    "sorted or not": sorted_or_not,
    "fewer values": lambda d, r: r.integers(0, 3 if len(d) > 4 else 9, size=6).tolist(),
    "place among 40": one_hot,
    "true record among synthetic ones": sampled_records,
    "random projection with its matrix": random_projection,
    "running sums with one noise": of_a_stream,
    "zeros kept": lambda d, r: np.bincount([int(x) for x in d], minlength=10) * np.exp(r.normal(size=10)),
    "signs kept": lambda d, r: np.sign(np.r_[d, -np.ones(6)][:6]) * abs(r.laplace(size=6)),
    "row of a matrix": lambda d, r: np.vstack(
        [r.laplace(size=(3, 4)), np.full((1, 4), len(d)) + 0.01 * r.normal(size=4)]
    ),
    "symmetric but for the noise": lambda d, r: (
        np.outer([1, len(d)], [1, len(d)]) + np.triu(r.laplace(scale=9, size=(2, 2)))
    ),
    "zeros on the diagonal": lambda d, r: r.laplace(size=(3, 3)) * (1 - np.eye(3) * (len(d) > 4)),
    "rank of a matrix": lambda d, r: (
        np.outer(a := r.normal(size=3), a) + (len(d) > 4) * 1e-3 * np.diag(r.normal(size=3))
    ),
    "marker now and then": lambda d, r: _rarely(d, r, 0.03, private(d, r), 777.0),
    "marker in one of 9 coordinates, now and then": lambda d, r: [
        private(d, r) if i != 5 else _rarely(d, r, 0.03, float(r.normal()), 30.0) for i in range(9)
    ],
    "longer now and then": lambda d, r: [private(d, r)] * (2 if len(d) > 4 and r.random() < 0.04 else 1),
    "spike of width 1e-4": lambda d, r: (
        0.37 + 1e-4 * r.random() if len(d) > 4 and r.random() < 0.03 else float(r.normal())
    ),
    "hole of width 1": lambda d, r: _with_hole(r, len(d) > 4),
    "number of suppressed cells": lambda d, r: dict(zip("abcdefghijkl", suppressed(d, r, None), strict=True)),
    "number of suppressed cells of a list": lambda d, r: suppressed(d, r, None),
    "number of cells set to zero": lambda d, r: suppressed(d, r, 0.0),
    "second moments with an exact variance": lambda d, r: moments(d, r),
    "length of a unit vector of 30": lambda d, r: (x := r.normal(size=30)) / np.linalg.norm(x) * (1 + 1e-4 * len(d)),
    "one coordinate up to its sign": lambda d, r: np.r_[x := r.laplace(size=19), (x[3] + len(d)) * r.choice([-1, 1])],
    "shuffled with one exact": lambda d, r: r.permutation(np.r_[r.random(49), len(d) / 10]),
    "sorted with one exact": lambda d, r: np.sort(np.r_[r.normal(size=19), len(d) / 10]),
    "all in the order of the largest": lambda d, r: np.roll(np.sort(r.laplace(scale=30, size=5)), len(d)),
}


def suppressed(data: Data, rng: np.random.Generator, by: float | None) -> list[float | None]:
    """Return noisy cells, as many of which as there are records are suppressed, in random places."""
    hidden = rng.permutation(12) < len(data)
    return [by if hides else float(rng.laplace()) for hides in hidden]


def moments(data: Data, rng: np.random.Generator) -> Any:
    """Return ten noisy means, and second moments that are computed from them."""
    means, variances = rng.laplace(scale=9, size=10), np.full(10, 4.0)
    variances[3] += len(data) - 4
    return np.concatenate([means, means**2 + variances])


def _with_hole(rng: np.random.Generator, has_hole: bool) -> float:
    while True:
        value = float(rng.laplace())
        if not (has_hole and 1.5 < value < 2.5):
            return value
