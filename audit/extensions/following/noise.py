"""Laws of noise: the cost of a shift of unit noise, which is added on the other dataset: n' = n + s.

It is the supremum over n of log f(n) - log f(n + s).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

INFINITE = float("inf")
_ZERO = 1e-12  # a shift this small is a rounding error
_PRICES = {
    "laplace": (1.0, 1.0),
    "exponential": (1.0, INFINITE),  # n' < 0 has no density
    "gumbel": (1.0, INFINITE),  # exp(-n) (exp(-s) - 1) + s has no bound for s < 0
}


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

    @property
    def is_uniform(self) -> bool:
        """True for the only law of which comparisons with numbers are aligned by intervals."""
        return self.name == "uniform"

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
