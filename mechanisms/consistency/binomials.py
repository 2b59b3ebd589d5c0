"""Exact expectations of functions of binomial counts, vectorized over cells, at any number of records."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

FloatArray = np.ndarray
_CHUNK = 1 << 13


def by_distinct(function: Callable[..., FloatArray], *columns: FloatArray) -> FloatArray:
    """Apply a function of equally long columns once per distinct row, in chunks: many cells are alike."""
    rows = np.stack([np.asarray(column, dtype=float) for column in columns], axis=1)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    pieces = [function(*distinct[i : i + _CHUNK].T) for i in range(0, len(distinct), _CHUNK)]
    return np.concatenate(pieces)[inverse.ravel()] if pieces else np.empty(0)


def probability_at_most(k: int, n: int, p: FloatArray) -> FloatArray:
    """Return P(Bin(n, p) <= k), by the incomplete beta function: `scipy.special.bdtr` overflows beyond n = 2^31."""
    if k < 0 or k >= n:
        return np.full(np.shape(p), 0.0 if k < 0 else 1.0)
    return np.asarray(special.betaincc(k + 1, n - k, np.clip(p, 0.0, 1.0)))


def visits_at_most(k: int, n: int, mass: FloatArray) -> float:
    """Return P(N(X) <= k): a fresh point's cell holds at most k of n records."""
    return float(np.sum(mass * by_distinct(lambda p: probability_at_most(k, n, p), mass)))


def mean_inverse(n: int, p: FloatArray, power: float = 1.0) -> FloatArray:
    """Return E[N^-power 1{N > 0}] for N ~ Bin(n, p), power > 0.

    N^-s is the integral of t^(s-1) e^(-t N) dt / Gamma(s). With t = e^x the integrand is analytic and falls off on
    both sides, so that the trapezoid rule is exact to about 1e-12.
    """
    return by_distinct(lambda q: _mean_inverse(n, q, power), np.asarray(p, dtype=float))


def _mean_inverse(n: int, p: FloatArray, power: float) -> FloatArray:
    low = -np.log(max(n * float(np.max(p, initial=0.0)), 1.0)) - 40.0 / power
    step = 0.125
    t = np.exp(np.arange(low, np.log(60.0), step))
    with np.errstate(divide="ignore"):
        empty = n * np.log1p(-p)[:, None]
        generating = n * np.log1p(p[:, None] * np.expm1(-t))
    gap = np.minimum(np.where(np.isinf(generating), 0.0, empty) - np.maximum(generating, -1e300), 0.0)
    visited = np.exp(generating) * -np.expm1(gap)
    return np.asarray(np.sum(visited * t**power, axis=1) * step / special.gamma(power))


def mean_inverse_visits(n: int, mass: FloatArray, power: float = 1.0) -> float:
    """Return E[N(X)^-power 1{N(X) > 0}] for a fresh point X."""
    return float(np.sum(mass * mean_inverse(n, mass, power)))
