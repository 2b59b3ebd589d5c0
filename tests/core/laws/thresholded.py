"""A law with an atom and a density, for the tests of such laws: Laplace noise from a threshold on, and 0 below it."""

from dataclasses import dataclass

import numpy as np

from audit.laws import AtomsAndDensity, Laplace


@dataclass(frozen=True)
class ThresholdedLaplace(AtomsAndDensity):
    """Of z drawn from Laplace(loc, scale): z if z >= threshold > 0, else 0."""

    loc: float
    scale: float
    threshold: float

    @property
    def noise(self):
        return Laplace(self.loc, self.scale)

    @property
    def atoms(self):
        return {0.0: float(self.noise.cdf(np.array([self.threshold]))[0])}

    @property
    def kinks(self):
        return (self.threshold, self.loc) if self.loc > self.threshold else (self.threshold,)

    def slope(self, x):
        return self.noise.slope(x) if x >= self.threshold else (0.0, 0.0)

    def log_density(self, x):
        return np.where(x >= self.threshold, self.noise.log_density(x), -np.inf)

    def antiderivative(self, x):
        """Minus the mass above x, which keeps the digits of small masses."""
        cut = np.maximum(x, self.threshold)
        tail = self.noise.tail(cut)
        return -np.where(cut >= self.loc, tail, 1 - tail)

    def cdf(self, x):
        return np.where(x >= 0, 1 + self.antiderivative(x), 0.0)
