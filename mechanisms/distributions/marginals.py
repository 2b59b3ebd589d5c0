"""Laws of a real feature without atoms, by distribution function and quantile function.

They serve twice: as the feature of a labeled distribution, and as the densities of the density estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audit.errors import InvalidArgument

FloatArray = np.ndarray


def _no_density(x: ArrayLike) -> FloatArray:
    raise InvalidArgument("the law has no density")


@dataclass(frozen=True)
class Marginal:
    """A law on the line without atoms.

    Parameters
    ----------
    cdf : callable
        P(X <= x).
    quantile : callable
        A feature with distribution function u, 0 <= u < 1.
    density : callable, optional
    """

    cdf: Callable[[ArrayLike], FloatArray]
    quantile: Callable[[FloatArray], FloatArray]
    density: Callable[[ArrayLike], FloatArray] = _no_density

    dim: ClassVar[int] = 1

    def mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return P(a <= X < b)."""
        return np.maximum(self.cdf(b) - self.cdf(a), 0.0)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw n features."""
        return self.quantile(rng.random(n))


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


def _narrow_quantile(u: FloatArray) -> FloatArray:
    """Return a part's quantile; the first binary digit of u chooses the part (not monotone in u)."""
    doubled = 2 * np.asarray(u, dtype=float)
    return np.where(doubled < 1, _WIDE.quantile(doubled % 1), _NARROW.quantile(doubled % 1))


def _log_tail_density(x: ArrayLike) -> FloatArray:
    at = np.maximum(np.asarray(x, dtype=float), 1.0)
    return np.where(np.asarray(x) >= 1, 1 / (at * (1 + np.log(at)) ** 2), 0.0)


def _no_quantile(u: FloatArray) -> FloatArray:
    raise InvalidArgument("LOG_TAIL cannot be sampled: one draw in 710 exceeds the largest double")


UNIFORM = Marginal(  # on [0, 1)
    lambda x: np.clip(np.asarray(x, dtype=float), 0.0, 1.0),
    lambda u: u,
    lambda x: np.where((np.asarray(x) >= 0) & (np.asarray(x) < 1), 1.0, 0.0),
)
SQUARE_ROOT = take_known(stats.beta(0.5, 1))  # density 1 / (2 sqrt(x)) on (0, 1), unbounded at 0
CAUCHY, NORMAL, EXPONENTIAL = take_known(stats.cauchy()), take_known(stats.norm()), take_known(stats.expon())
PARETO = take_known(stats.pareto(0.5))  # density x^(-3/2) / 2 on [1, inf): no mean
# X = sum of 2 b_k / 3^k with fair bits b_k: no density, no atoms
CANTOR = Marginal(_cantor_function, _cantor_quantile)
_WIDE, _NARROW = take_known(stats.norm(-2.0, 1.0)), take_known(stats.norm(2.0, 0.01))
# half N(-2, 1) and half N(2, 0.01^2): two scales at once
NARROW_MIXTURE = Marginal(
    lambda x: (_WIDE.cdf(x) + _NARROW.cdf(x)) / 2,
    _narrow_quantile,
    lambda x: (_WIDE.density(x) + _NARROW.density(x)) / 2,
)
# density 1 / (x (1 + log x)^2) on [1, inf): no moment of any order. A draw exceeds the largest double with probability
# 1 / 710, so that there is no quantile function; cell masses are exact
LOG_TAIL = Marginal(
    lambda x: 1 - 1 / (1 + np.log(np.maximum(np.asarray(x, dtype=float), 1.0))), _no_quantile, _log_tail_density
)
