"""Laws of a real feature without atoms, and margins 2 eta - 1 as functions of its rank u = F(x).

The laws serve twice: as the feature of a labeled distribution, and as the densities of the density estimator. A feature
without atoms has a uniform rank, so a margin written in ranks has closed integrals whatever the feature is: the Cantor
law is no harder than the uniform one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audit.errors import InvalidArgument

FloatArray = np.ndarray
OfRanks = Callable[[FloatArray], FloatArray]


def _no_density(x: ArrayLike) -> FloatArray:
    raise InvalidArgument("the law has no density")


@dataclass(frozen=True)
class Marginal:
    """A law on the line without atoms."""

    cdf: Callable[[ArrayLike], FloatArray]
    quantile: Callable[[FloatArray], FloatArray]  # a feature with distribution function u, 0 <= u < 1
    density: Callable[[ArrayLike], FloatArray] = _no_density

    def mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return P(a <= X < b)."""
        return np.maximum(self.cdf(b) - self.cdf(a), 0.0)


def take_known(law: Any) -> Marginal:
    """Return a law of `scipy.stats`, frozen; the quantile at 0 counts as that at 2^-54."""
    return Marginal(law.cdf, lambda u: np.asarray(law.ppf(np.maximum(u, 2.0**-54))), law.pdf)


def _cantor_function(x: ArrayLike) -> FloatArray:
    """Return the Cantor function, from 40 ternary digits: the error is below 2^-40 of the value's last digit."""
    rest = np.clip(np.asarray(x, dtype=float), 0.0, 1.0).copy()
    value, weight, open_ = np.zeros(rest.shape), 0.5, np.ones(rest.shape, dtype=bool)
    whole = rest >= 1
    for _ in range(40):
        rest = rest * 3
        digit = np.minimum(np.floor(rest), 2)
        rest = rest - digit
        value = value + np.where(open_ & (digit >= 1), weight, 0.0)
        open_ &= digit != 1
        weight /= 2
    return np.where(whole, 1.0, value)


def _cantor_quantile(u: FloatArray) -> FloatArray:
    """Write the binary digits of u as ternary digits 0 and 2."""
    rest, x = np.array(u, dtype=float), np.zeros(np.shape(u))
    for k in range(1, 41):
        rest = rest * 2
        bit = np.floor(rest)
        rest = rest - bit
        x = x + 2 * bit / 3.0**k
    return x


UNIFORM = Marginal(  # on [0, 1)
    lambda x: np.clip(np.asarray(x, dtype=float), 0.0, 1.0),
    lambda u: u,
    lambda x: np.where((np.asarray(x) >= 0) & (np.asarray(x) < 1), 1.0, 0.0),
)
CAUCHY = take_known(stats.cauchy())
# X = sum of 2 b_k / 3^k with fair bits b_k: no density, no atoms
CANTOR = Marginal(_cantor_function, _cantor_quantile)

DENSITIES: dict[str, Marginal] = {
    "uniform": UNIFORM,
    "normal": take_known(stats.norm()),
    "cauchy": CAUCHY,
    "exponential": take_known(stats.expon()),
    "square root": take_known(stats.beta(0.5, 1)),  # 1 / (2 sqrt(x)) on (0, 1), unbounded at 0
    "pareto": take_known(stats.pareto(0.5)),  # x^(-3/2) / 2 on [1, inf): no mean
}


@dataclass(frozen=True)
class Response:
    """A margin as a function of the rank u in [0, 1]."""

    at: OfRanks  # the margin at u, in [-1, 1]
    signed: OfRanks  # its integral over [0, u]
    absolute: OfRanks  # that of |margin|


def make_steps(edges: ArrayLike, margins: ArrayLike) -> Response:
    """Return a constant margin between successive edges, increasing and inside (0, 1); each on [edge, next edge).

    There is one margin more than edges: before the first, between edges, and after the last.
    """
    inner, sizes = np.array(edges, dtype=float), np.array(margins, dtype=float)
    ends = np.r_[0.0, inner, 1.0]
    parts = sizes * np.diff(ends)
    signed, absolute = (np.r_[0.0, np.cumsum(each)] for each in (parts, np.abs(parts)))
    return Response(
        at=lambda u: sizes[np.searchsorted(inner, u, side="right")],
        signed=lambda u: np.interp(u, ends, signed),
        absolute=lambda u: np.interp(u, ends, absolute),
    )


def make_sine(amplitude: float, phase: float = 0.0) -> Response:
    """Return the margin amplitude * sin(2 pi (u - phase))."""

    def integral(t: FloatArray | float) -> FloatArray:
        return -np.cos(2 * math.pi * np.asarray(t)) / (2 * math.pi)

    def half_periods(t: FloatArray) -> FloatArray:
        """Count half periods, 1 / pi each, and add the part of the last one."""
        whole = np.floor(2 * t)
        return np.asarray((whole + (1 - np.cos(2 * math.pi * t - math.pi * whole)) / 2) / math.pi)

    return Response(
        at=lambda u: amplitude * np.sin(2 * math.pi * (u - phase)),
        signed=lambda u: amplitude * (integral(u - phase) - integral(-phase)),
        absolute=lambda u: abs(amplitude) * (half_periods(u - phase) - half_periods(np.asarray(-phase))),
    )


def make_power(c: float, s: float) -> Response:
    """Return the margin 2 c sign(u - 1/2) |u - 1/2|^s: eta = 1/2 + c sign(u - 1/2) |u - 1/2|^s; c = s = 1 is the rank.

    c <= 2^(s - 1), so that eta stays in [0, 1].
    """
    k = s + 1
    return Response(
        at=lambda u: 2 * c * np.sign(u - 0.5) * np.abs(u - 0.5) ** s,
        signed=lambda u: 2 * c * (np.abs(u - 0.5) ** k - 0.5**k) / k,
        absolute=lambda u: 2 * c * (np.sign(u - 0.5) * np.abs(u - 0.5) ** k + 0.5**k) / k,
    )


NO_MARGIN = make_steps([], [0.0])  # eta = 1/2: nothing to learn
