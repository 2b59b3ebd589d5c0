"""Families of log-likelihood ratios of one standardised coordinate: location and scale shifts, and steps.

A family is a finite set of functions u -> log P(u) / Q(u) with prior weights. Mixed by their likelihood on past
outputs they are a Bayesian posterior over a parametric model: a few bits tell a shift from a change of scale,
where counting in cells would need many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy import stats

STEEPEST = 8.0  # log-likelihood ratios are cut here: no output is worth more
_SHIFTS = (0.15, 0.3, 0.5, 0.7, 0.9, 1.15, 1.5, 2.0, 2.8, 4.0, 8.0)
_RATIOS = (0.2, 0.4, 0.65, 0.95, 1.4, 2.0, 3.0)
_FEW_SHIFTS, _FEW_RATIOS = (0.3, 0.75, 1.5, 4.0), (0.3, 0.75, 1.5)  # where both differ
_NULL, _SHIFT_ONLY, _RATIO_ONLY, _BOTH = 0.05, 0.4, 0.35, 0.2  # prior weights of the parts of a family


@dataclass(frozen=True)
class Family:
    """A finite set of log-likelihood ratios.

    Parameters
    ----------
    name : str
    log_prior : array, shape (K,)
    ratios : callable
        u of shape (n,) -> array of shape (K, n).
    """

    name: str
    log_prior: np.ndarray
    ratios: Callable[[np.ndarray], np.ndarray]


@cache
def families() -> tuple[Family, ...]:
    """All families, built once."""
    return (
        _location_scale("Laplace", lambda x: -np.abs(x), _laplace_deviation),
        _location_scale("Gaussian", lambda x: -0.5 * np.square(x), _gaussian_deviation),
        _steps("steps", (-2.0, -1.0, -0.4, 0.0, 0.4, 1.0, 2.0), folded=False),
        _steps("folded steps", (0.15, 0.5, 1.0, 2.0, 4.0), folded=True),
    )


def _location_scale(
    name: str, log_density: Callable[[np.ndarray], np.ndarray], deviation: Callable[[float, float], float]
) -> Family:
    """Left at +d/2 with scale e^(r/2), right at -d/2 with e^(-r/2), in units of their mean absolute deviation."""
    either = [(0.0, 0.0), *product(_signed(_SHIFTS), (0.0,)), *product((0.0,), _signed(_RATIOS))]
    grid = np.array([*either, *product(_signed(_FEW_SHIFTS), _signed(_FEW_RATIOS))])
    d, r = grid[:, :1], grid[:, 1:]
    wide, narrow = np.exp(r / 2), np.exp(-r / 2)
    scales = zip(d.flat, wide.flat, narrow.flat, strict=True)
    unit = np.array([[(deviation(shift, a) + deviation(shift, b)) / 2] for shift, a, b in scales])

    def ratios(u: np.ndarray) -> np.ndarray:
        x = u * unit
        found = log_density((x - d / 2) / wide) - log_density((x + d / 2) / narrow) - r
        return np.clip(found, -STEEPEST, STEEPEST)

    kind = (grid[:, 0] != 0) * 1 + (grid[:, 1] != 0) * 2
    usual = np.exp(-0.5 * np.abs(grid[:, 1]))  # smaller changes of scale are likelier
    share = np.array([_NULL, _SHIFT_ONLY, _RATIO_ONLY, _BOTH])[kind] * usual / np.bincount(kind, weights=usual)[kind]
    return Family(name, np.log(share), ratios)


def _signed(sizes: tuple[float, ...]) -> list[float]:
    return sorted(sign * size for size in sizes for sign in (1, -1))


def _laplace_deviation(shift: float, scale: float) -> float:
    """E|X| of a Laplace variable at shift/2: |m| + s exp(-|m| / s)."""
    m = abs(shift) / 2
    return m + scale * math.exp(-m / scale)


def _gaussian_deviation(shift: float, scale: float) -> float:
    """E|X| of a Gaussian variable at shift/2, the mean of a folded normal."""
    m = abs(shift) / 2
    spread = scale * math.sqrt(2 / math.pi) * math.exp(-((m / scale) ** 2) / 2)
    return spread + m * (1 - 2 * float(stats.norm.cdf(-m / scale)))


def _steps(name: str, centres: tuple[float, ...], folded: bool) -> Family:
    """Soft steps: the ratio goes from -a to +a at a threshold, or from near 0 on one side of it."""
    heights = (0.25, 0.5, 0.8, 1.2, 2.0, 4.0)
    grid = np.array([(c, s * h) for c in centres for h in heights for s in (1, -1)])
    centre, height = grid[:, :1], grid[:, 1:]
    width = 0.25 * np.maximum(1.0, np.abs(centre)) if folded else 0.4

    def ratios(u: np.ndarray) -> np.ndarray:
        x = np.abs(u) if folded else u
        return np.asarray(height * np.tanh((x - centre) / width))

    return Family(name, np.full(len(grid), -math.log(len(grid))), ratios)
