"""Laws of noise: the cost of a shift of unit noise, by its supremum (for epsilon) and exactly (for delta).

Everywhere the shift is added on the other dataset: n' = n + s. Its cost is sup over n of log f(n) - log f(n + s).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

Function = Callable[[Any], Any]
INFINITE = float("inf")
_ZERO = 1e-12  # a shift this small is a rounding error


@dataclass(frozen=True)
class NoiseLaw:
    """Unit noise of a known law; the parameter is the degrees of freedom or the probability of success."""

    name: str
    parameter: float = 0.0

    def __str__(self) -> str:
        return self.name.capitalize() if not self.parameter else f"{self.name.capitalize()}({self.parameter:.4g})"

    @property
    def is_discrete(self) -> bool:
        """True if the noise is an integer, so that its shifts are."""
        return self.name == "geometric"

    @property
    def is_normal(self) -> bool:
        """True for the only law whose shifts cost a square."""
        return self.name == "normal"

    @cached_property
    def prices(self) -> tuple[float, float]:
        """Upper bounds of the cost of a shift by one, up and down; infinite where no multiple of it will do."""
        if self.name == "student":
            slope = (self.parameter + 1) / (2 * np.sqrt(self.parameter))
            return float(slope), float(slope)
        if self.name == "geometric":
            return float(-np.log1p(-self.parameter)), INFINITE
        return _PRICES.get(self.name, (INFINITE, INFINITE))

    def cost_of(self, shift: np.ndarray) -> np.ndarray:
        """Return the supremum of the loss over all noise, for each shift."""
        size = np.abs(shift)
        if self.name == "student":
            return (self.parameter + 1) * np.arcsinh(size / (2 * np.sqrt(self.parameter)))
        up, down = self.prices
        with np.errstate(invalid="ignore"):
            cost = np.where(shift > 0, up * size, down * size)
        if self.is_discrete:
            cost = np.where(np.abs(shift - np.round(shift)) > 1e-9, INFINITE, cost)
        return np.where(size <= _ZERO, 0.0, cost)

    def log_density(self, value: np.ndarray) -> np.ndarray:
        """Return the log density, or the log probability, at each value."""
        if self.name == "student":
            nu = self.parameter
            constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
            return constant - (nu + 1) / 2 * np.log1p(value**2 / nu)
        if self.name == "geometric":
            return np.where(value > 0.5, np.log(self.parameter) + (value - 1) * np.log1p(-self.parameter), -np.inf)
        return _LOG_DENSITIES[self.name](np.asarray(value, float))

    def log_mass(self, low: float, high: float) -> float:
        """Return the log probability of the interval from `low` to `high`."""
        cdf, sf, _ = self.distribution
        mass = cdf(high) - cdf(low) if low < 0 else sf(low) - sf(high)
        return float(np.log(mass)) if mass > 0 else -INFINITE

    def draw_inside(self, box: tuple[float, float], share: float) -> float:
        """Return the quantile of an interval."""
        cdf, _, quantile = self.distribution
        low, high = (float(cdf(end)) for end in box)
        inside = float(quantile(low + share * (high - low)))
        return inside if box[0] < inside < box[1] else float(quantile(0.5 * (low + high)))

    def move_into(self, value: float, old: tuple[float, float], new: tuple[float, float]) -> float:
        """Return the quantile of the interval `new` at which `value` lies in the interval `old`."""
        at, low, high = (float(self.distribution[0](x)) for x in (value, *old))
        return self.draw_inside(new, (at - low) / (high - low) if high > low else 0.5)

    @cached_property
    def distribution(self) -> tuple[Function, Function, Function]:
        """The distribution function, the upper tail, and the quantile function."""
        if self.name == "student":
            nu = self.parameter
            return lambda x: special.stdtr(nu, x), lambda x: special.stdtr(nu, -x), lambda q: special.stdtrit(nu, q)
        return _DISTRIBUTIONS[self.name]


_PRICES = {
    "laplace": (1.0, 1.0),
    "logistic": (1.0, 1.0),
    "exponential": (1.0, INFINITE),  # n' < 0 has no density
    "gumbel": (1.0, INFINITE),  # exp(-n) (exp(-s) - 1) + s has no bound for s < 0
}

_LOG_DENSITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "laplace": lambda n: -np.abs(n) - np.log(2.0),
    "normal": lambda n: -0.5 * n * n - 0.5 * np.log(2 * np.pi),
    "exponential": lambda n: np.where(n >= 0, -n, -np.inf),
    "gumbel": lambda n: -n - np.exp(-n),
    "logistic": lambda n: -n - 2 * np.logaddexp(0.0, -n),
    "uniform": lambda n: np.where((n >= 0) & (n <= 1), 0.0, -np.inf),
}


def _cdf_of_laplace(x: Any) -> Any:
    return 0.5 * np.exp(x) if x < 0 else 1 - 0.5 * np.exp(-x)


_DISTRIBUTIONS: dict[str, tuple[Function, Function, Function]] = {
    "laplace": (
        _cdf_of_laplace,
        lambda x: _cdf_of_laplace(-x),
        lambda q: np.log(2 * q) if q < 0.5 else -np.log(2 * (1 - q)),
    ),
    "normal": (special.ndtr, lambda x: special.ndtr(-x), special.ndtri),
    "exponential": (lambda x: -np.expm1(-max(x, 0.0)), lambda x: np.exp(-max(x, 0.0)), lambda q: -np.log1p(-q)),
    "gumbel": (
        lambda x: np.exp(-np.exp(-x)),
        lambda x: -np.expm1(-np.exp(-x)),
        lambda q: -np.log(-np.log(q)),
    ),
    "logistic": (special.expit, lambda x: special.expit(-x), special.logit),
    "uniform": (lambda x: min(max(x, 0.0), 1.0), lambda x: 1 - min(max(x, 0.0), 1.0), lambda q: q),
}
