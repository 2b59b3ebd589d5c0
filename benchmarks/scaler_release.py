"""State the release of diffprivlib's `StandardScaler` and its law: means and variances of the features.

Half of epsilon is for the means and half for the variances, shared out evenly over the features. A mean has Laplace
noise and is cut at the bounds; a variance has Laplace noise within [0, (high - low)^2 / 4], drawn again until it
lies there, at the scale that Holohan et al. (2020) give for it. Read in version 0.6.6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.extensions.conformance.documented_laws import ClampedLaplace
from audit.laws import AtomsAndDensity, Laplace, Product

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class BoundedLaplace(AtomsAndDensity):
    """Laplace noise that is drawn again until it lies in [low, high], and so has no atoms."""

    loc: float
    scale: float
    low: float
    high: float

    @property
    def atoms(self) -> Mapping[float, float]:
        """None."""
        return {}

    @property
    def kinks(self) -> tuple[float, ...]:
        """The ends and the location."""
        return tuple(sorted({self.low, min(max(self.loc, self.low), self.high), self.high}))

    @cached_property
    def _noise(self) -> Laplace:
        return Laplace(self.loc, self.scale)

    @cached_property
    def _ends(self) -> FloatArray:
        return np.asarray(self._noise.cdf(np.array([self.low, self.high])))

    def slope(self, x: float) -> tuple[float, float]:
        """Return the slope of the Laplace law."""
        return self._noise.slope(x)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return that of the Laplace law inside, over the share that is kept."""
        inside = (x >= self.low) & (x <= self.high)
        return np.where(inside, self._noise.log_density(x) - math.log(np.ptp(self._ends)), -np.inf)

    def antiderivative(self, x: FloatArray) -> FloatArray:
        """Return the mass between low and x."""
        below = self._noise.cdf(np.clip(x, self.low, self.high)) - self._ends[0]
        return np.asarray(below / np.ptp(self._ends))

    def cdf(self, x: FloatArray) -> FloatArray:
        """Return the probability of an output <= x."""
        return self.antiderivative(x)


@dataclass(frozen=True)
class ScalerRelease:
    """The release of `StandardScaler(epsilon, bounds=(low, high))` on some number of features."""

    estimator: Any
    features: int

    def reveal(self, fitted: Any) -> tuple[Any, Any]:
        """Return means and variances."""
        return np.r_[fitted.mean_, fitted.var_], None

    def rebuild(self, fresh: Any, revealed: tuple[Any, Any], public: Any) -> Any:
        """Return a scaler that was fitted to other records, with these numbers in it."""
        fresh.fit(np.zeros((public, self.features)))
        fresh.mean_, fresh.var_ = (np.array(part) for part in np.split(np.asarray(revealed[0]), 2))
        fresh.scale_ = np.where(fresh.var_ < 10 * np.finfo(float).eps ** 2, 1.0, np.sqrt(fresh.var_))
        return fresh

    def law(self, dataset: Any) -> Product:
        """Return the law of means, then variances."""
        from diffprivlib.mechanisms import LaplaceBoundedDomain

        low, high = self.estimator.bounds
        rows, share = np.clip(np.asarray(dataset, dtype=float), low, high), self.estimator.epsilon / 2 / self.features
        n, most = len(rows), (high - low) ** 2 / 4
        wide = ((high - low) / n) ** 2 * (n - 1)
        scale = LaplaceBoundedDomain(epsilon=share, delta=0, sensitivity=wide, lower=0, upper=most)._find_scale()
        means = [ClampedLaplace(float(mean), (high - low) / n / share, low, high) for mean in rows.mean(axis=0)]
        variances = [BoundedLaplace(float(each), float(scale), 0.0, most) for each in rows.var(axis=0)]
        return Product((*means, *variances))
