"""Seconds a label against the number of classes: least of five runs, each on as many labels as hold 2e6 numbers."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from mechanisms.labels.laplace import LaplaceOneHotEncoder, literal_posterior
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

CLASSES = (10, 30, 100, 300, 1_000, 3_000, 10_000)
_NUMBERS, _RUNS, _MOST_LITERAL = 2_000_000, 5, 1_000


def seconds(action: Callable[[], object], labels: int) -> float:
    """Return the seconds a label of the fastest run."""
    best = float("inf")
    for _ in range(_RUNS):
        started = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - started)
    return best / labels


def costs() -> dict[str, list[float]]:
    """Return the seconds a label of every step, for all `CLASSES`; NaN where the definition holds too many numbers."""
    columns = [costs_of(K) for K in CLASSES]
    return {name: [column[name] for column in columns] for name in columns[0]}


def costs_of(K: int) -> dict[str, float]:
    """Return the seconds a label of every step, for K classes."""
    rng, labels = np.random.default_rng(K), np.zeros(_NUMBERS // K, dtype=np.int64)
    vector, laplace = SymmetricUnaryLabelEncoder(K, 1.0), LaplaceOneHotEncoder(K, 1.0)
    released = laplace.release(labels, rng)
    few = released[: max(1, _NUMBERS // K**2)]
    flat = np.ones((len(few), K))
    literal = seconds(lambda: literal_posterior(few, flat, laplace.scale), len(few)) if K <= _MOST_LITERAL else np.nan
    return {
        "vector": seconds(lambda: vector.release(labels, rng), len(labels)),
        "Laplace": seconds(lambda: laplace.release(labels, rng), len(labels)),
        "posterior": seconds(lambda: laplace.posterior(released), len(labels)),
        "posterior, by definition": literal,
    }


def exponent(times: list[float]) -> float:
    """Return the slope of log seconds against log K, from K = 100 on."""
    known = [(K, cost) for K, cost in zip(CLASSES, times, strict=True) if K >= 100 and np.isfinite(cost)]
    return float(np.polyfit(*np.log(known).T, 1)[0])
