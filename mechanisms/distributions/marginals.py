"""Laws of a real feature without atoms, by distribution function and quantile function.

They serve twice: as the feature of a labeled distribution, and as the densities of the density estimator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from audit.errors import InvalidArgument

FloatArray = np.ndarray


class Marginal(ABC):
    """A law on the line without atoms."""

    @property
    def dim(self) -> int:
        """1."""
        return 1

    @abstractmethod
    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return P(X <= x)."""

    @abstractmethod
    def quantile(self, u: FloatArray) -> FloatArray:
        """Return a feature with distribution function u, 0 <= u < 1."""

    def density(self, x: ArrayLike) -> FloatArray:
        """Return the density where there is one."""
        raise InvalidArgument(f"{type(self).__name__} has no density")

    def mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return P(a <= X < b)."""
        return np.maximum(self.cdf(b) - self.cdf(a), 0.0)

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw n features."""
        return self.quantile(rng.random(n))


@dataclass(frozen=True)
class Uniform(Marginal):
    """Uniform on [0, 1)."""

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return x inside the unit interval."""
        return np.clip(np.asarray(x, dtype=float), 0.0, 1.0)

    def quantile(self, u: FloatArray) -> FloatArray:
        """Return u."""
        return u

    def density(self, x: ArrayLike) -> FloatArray:
        """Return 1 on [0, 1)."""
        at = np.asarray(x, dtype=float)
        return np.where((at >= 0) & (at < 1), 1.0, 0.0)


@dataclass(frozen=True)
class Cantor(Marginal):
    """The Cantor law: X = sum of 2 b_k / 3^k with fair bits b_k. No density, no atoms."""

    def cdf(self, x: ArrayLike) -> FloatArray:
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

    def quantile(self, u: FloatArray) -> FloatArray:
        """Write the binary digits of u as ternary digits 0 and 2."""
        rest, x = np.array(u, dtype=float), np.zeros(np.shape(u))
        for k in range(1, 41):
            rest = rest * 2
            bit = np.floor(rest)
            rest = rest - bit
            x = x + 2 * bit / 3.0**k
        return x


@dataclass(frozen=True)
class Known(Marginal):
    """A law of `scipy.stats`, frozen."""

    law: Any

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the distribution function."""
        return np.asarray(self.law.cdf(x))

    def quantile(self, u: FloatArray) -> FloatArray:
        """Return the quantile; 0 counts as 2^-54."""
        return np.asarray(self.law.ppf(np.maximum(u, 2.0**-54)))

    def density(self, x: ArrayLike) -> FloatArray:
        """Return the density."""
        return np.asarray(self.law.pdf(x))


UNIFORM = Uniform()
SQUARE_ROOT = Known(stats.beta(0.5, 1))  # density 1 / (2 sqrt(x)) on (0, 1), unbounded at 0
CAUCHY, NORMAL, EXPONENTIAL = Known(stats.cauchy()), Known(stats.norm()), Known(stats.expon())
PARETO = Known(stats.pareto(0.5))  # density x^(-3/2) / 2 on [1, inf): no mean


@dataclass(frozen=True)
class NarrowMixture(Marginal):
    """Half N(-2, 1) and half N(2, 0.01^2): two scales at once."""

    parts = (Known(stats.norm(-2.0, 1.0)), Known(stats.norm(2.0, 0.01)))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return the mean of the two distribution functions."""
        return (self.parts[0].cdf(x) + self.parts[1].cdf(x)) / 2

    def quantile(self, u: FloatArray) -> FloatArray:
        """Return a part's quantile; the first binary digit of u chooses the part (not monotone in u)."""
        doubled = 2 * np.asarray(u, dtype=float)
        return np.where(doubled < 1, self.parts[0].quantile(doubled % 1), self.parts[1].quantile(doubled % 1))

    def density(self, x: ArrayLike) -> FloatArray:
        """Return the mean of the two densities."""
        return (self.parts[0].density(x) + self.parts[1].density(x)) / 2


@dataclass(frozen=True)
class LogTail(Marginal):
    """Density 1 / (x (1 + log x)^2) on [1, inf): no moment of any order.

    A draw exceeds the largest double with probability 1 / 710, so that there is no quantile function; cell masses
    are exact.
    """

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Return 1 - 1 / (1 + log x) for x > 1."""
        return 1 - 1 / (1 + np.log(np.maximum(np.asarray(x, dtype=float), 1.0)))

    def quantile(self, u: FloatArray) -> FloatArray:
        """Refuse: a quantile does not fit into a double."""
        raise InvalidArgument("LogTail cannot be sampled: one draw in 710 exceeds the largest double")

    def density(self, x: ArrayLike) -> FloatArray:
        """Return 1 / (x (1 + log x)^2) from 1 on."""
        at = np.maximum(np.asarray(x, dtype=float), 1.0)
        return np.where(np.asarray(x) >= 1, 1 / (at * (1 + np.log(at)) ** 2), 0.0)
