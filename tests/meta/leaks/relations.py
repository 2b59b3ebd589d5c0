"""Leak by the law of a number, by a relation of numbers that are private one by one, or now and then."""

from __future__ import annotations

import numpy as np

from .registry import add_leaks, leak, noise, private, secret


@leak("relation")
def exact_difference(data, rng):
    first = 50 * noise(rng)
    return first, first + data[0]


@leak("relation")
def exact_total(data, rng):
    parts = rng.laplace(scale=20, size=4).round(2)
    return np.r_[parts, np.round(100 * data[0] - parts.sum(), 2)]


@leak("relation")
def equal_coordinates(data, rng):
    values = rng.laplace(scale=2, size=6)
    values[4] = values[1] if secret(data) else values[4]
    return values


@leak("relation")
def pad_that_is_used_twice(data, rng):
    pad = int(rng.integers(256))
    return [pad ^ round(100 * data[0]), pad ^ 7]


@leak("now and then")
def marker_in_one_of_nine(data, rng):
    tells = secret(data) and rng.random() < 0.1
    return [30.0 if tells and i == 5 else private(data, rng) for i in range(9)]


add_leaks(
    "law",
    {
        "noise_that_is_cut": lambda data, rng: float(data[0] + np.clip(noise(rng), -3, 3)),
        "noise_on_one_side": lambda data, rng: float(data[0] + rng.exponential(scale=0.2)),
        "variance_of_ten_numbers": lambda data, rng: rng.normal(scale=1 + 2 * secret(data), size=10),
    },
)
add_leaks(
    "relation",
    {
        "one_exact_among_twenty_sorted": lambda data, rng: np.sort(np.r_[rng.normal(size=19), data[0]]),
    },
)
add_leaks(
    "now and then",
    {
        "longer_now_and_then": lambda data, rng: (
            [private(data, rng)] * (2 if secret(data) and rng.random() < 0.1 else 1)
        ),
    },
)
