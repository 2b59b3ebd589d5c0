"""Masses of intervals under a one-dimensional density, each with a bound on its error."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from scipy import integrate

from audit.laws.loss import FloatArray

LogDensity = Callable[[FloatArray], FloatArray]
Cdf = Callable[[FloatArray], FloatArray]

_ROUNDING = 8 * np.finfo(float).eps


class Measure(ABC):
    """A measure on the line with a density; its total mass may be below 1."""

    @abstractmethod
    def mass(self, start: FloatArray, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the masses of [start, stop], start <= stop, and bounds on their errors."""


class CdfMeasure(Measure):
    """Masses from a distribution function; the error is the rounding of a difference."""

    def __init__(self, cdf: Cdf) -> None:
        self._cdf = cdf

    def mass(self, start: FloatArray, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give cdf(stop) - cdf(start), never negative."""
        low, high = (np.asarray(self._cdf(x), dtype=float) for x in (start, stop))
        return np.maximum(high - low, 0.0), _ROUNDING * np.where(stop > start, np.abs(high), 0.0)


class QuadratureMeasure(Measure):
    """Masses by adaptive quadrature of the density; the error is the one that QUADPACK reports.

    One quadrature for each interval: give a cdf where many thresholds are asked for.
    """

    def __init__(self, log_density: LogDensity) -> None:
        self._log_density = log_density

    def mass(self, start: FloatArray, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Integrate the density over each interval."""
        pairs = [self._integral(float(a), float(b)) for a, b in zip(start, stop, strict=True)]
        values, errors = np.array(pairs, dtype=float).reshape(-1, 2).T
        return np.maximum(values, 0.0), errors

    def _integral(self, start: float, stop: float) -> tuple[float, float]:
        if not start < stop:
            return 0.0, 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", integrate.IntegrationWarning)
            value, error = integrate.quad(self._density, start, stop, epsabs=1e-13, epsrel=1e-11, limit=200)
        return (value, error) if math.isfinite(value) else (0.0, 1.0)

    def _density(self, x: float) -> float:
        return math.exp(float(np.asarray(self._log_density(np.array([x], dtype=float)))[0]))


def measure(log_density: LogDensity, cdf: Cdf | None) -> Measure:
    """Give the measure of a density, from its distribution function when there is one."""
    return QuadratureMeasure(log_density) if cdf is None else CdfMeasure(cdf)
