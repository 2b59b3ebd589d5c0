"""Noisy counts that are released from a threshold on: a count of 0 draws no noise and is absent.

The law of one is `ThresholdedLaplace`, an atom for "absent" and a density above.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from audit.laws import AtomsAndDensity, Laplace, PointMass, Product
from audit.laws.outputs import set_finite
from audit.validate import positive
from mechanisms.queries import admit


@dataclass(frozen=True)
class ThresholdedLaplace(AtomsAndDensity):
    """Laplace noise released only from a threshold on: an atom at 0 for "absent", and the density above.

    The output is z drawn from Laplace(loc, scale) if z >= threshold, and 0 otherwise. The law of a count that is never
    released is `PointMass(0)`.
    """

    loc: float
    scale: float
    threshold: float

    def __post_init__(self) -> None:
        set_finite(self, "loc")
        admit(self, scale=positive, threshold=positive)

    @property
    def atoms(self) -> Mapping[float, float]:
        """The probability of 0."""
        return {0.0: float(self._noise.cdf(np.array([self.threshold]))[0])}

    @property
    def kinks(self) -> tuple[float, ...]:
        """The threshold, and the location if it lies above."""
        return (self.threshold, self.loc) if self.loc > self.threshold else (self.threshold,)

    @cached_property
    def _noise(self) -> Laplace:
        return Laplace(self.loc, self.scale)

    def slope(self, x: float) -> tuple[float, float]:
        """Return the slope of the Laplace law, 0 below the threshold."""
        return self._noise.slope(x) if x >= self.threshold else (0.0, 0.0)

    def log_density(self, x: np.ndarray) -> np.ndarray:
        """Return the Laplace log-density from the threshold on."""
        return np.where(x >= self.threshold, self._noise.log_density(x), -np.inf)

    def antiderivative(self, x: np.ndarray) -> np.ndarray:
        """Return minus the mass above x, which keeps the digits of small masses."""
        cut = np.maximum(x, self.threshold)
        tail = self._noise.tail(cut)
        return -np.where(cut >= self.loc, tail, 1 - tail)

    def cdf(self, x: np.ndarray) -> np.ndarray:
        """Return the probability of an output <= x."""
        return np.where(x >= 0, 1 + self.antiderivative(x), 0.0)


def released_counts(counts: Any, scale: float, threshold: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw releases of counts >= 0, shape (size, labels); 0 is absent, and no released value is below the threshold."""
    exact = np.asarray(counts)
    present = np.flatnonzero(exact)
    output = np.zeros((size, exact.size))
    noisy = exact[present] + rng.laplace(scale=scale, size=(size, present.size))
    output[:, present] = np.where(noisy < threshold, 0.0, noisy)
    return output


def released_law(counts: Any, scale: float, threshold: float) -> Product:
    """Return the law of a release: independent labels, an atom at 0 each."""
    known = (ThresholdedLaplace(float(c), scale, threshold) if c else PointMass(0.0) for c in np.asarray(counts))
    return Product(tuple(known))
