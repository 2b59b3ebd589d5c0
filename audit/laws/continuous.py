"""Laws of one real number: Laplace, Gaussian, Laplace cut off below a threshold, and a point.

Each log-density is piecewise quadratic at most; its kinks and its derivative on each piece are what the
privacy loss of any two of them needs (where the log-ratio turns round).
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.base.arguments import positive, real
from audit.base.errors import InvalidArgument
from audit.laws.closed_form import GaussianLoss, LaplaceLoss, no_loss
from audit.laws.density import DensityLoss
from audit.laws.finite import FiniteLoss
from audit.laws.law import ScalarLaw, loss_between
from audit.laws.loss import FloatArray, PrivacyLoss


class AtomsAndDensity(ScalarLaw):
    """A law on the line with a density (sub-normalised) and finitely many atoms.

    The base measure is Lebesgue measure plus a unit mass at each atom of either law of a pair.
    """

    @property
    @abstractmethod
    def atoms(self) -> dict[float, float]:
        """Probability of each value that has one."""

    @abstractmethod
    def log_density(self, x: FloatArray) -> FloatArray:
        """Give the logarithm of the sub-normalised density, -inf outside its support."""

    @abstractmethod
    def density_cdf(self, x: FloatArray) -> FloatArray:
        """Give the mass of the density up to x, up to one constant for all x."""

    @property
    @abstractmethod
    def kinks(self) -> tuple[float, ...]:
        """Points where the log-density has a kink, and the finite ends of the density's support."""

    @abstractmethod
    def slope(self, x: float) -> tuple[float, float]:
        """Give (s, c): on the piece around x the log-density's derivative at y is s + c y."""

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        """Give the log-density with respect to Lebesgue measure plus a unit mass at each atom."""
        x = _as_vector(outputs)
        values = self.log_density(x)
        for value, mass in self.atoms.items():
            values = np.where(x == value, math.log(mass) if mass > 0 else -np.inf, values)
        return np.where(np.isfinite(x), values, -np.inf)

    def cdf_left(self, x: FloatArray) -> FloatArray:
        """Give the probability of an output < x."""
        values = self.cdf(x)
        for value, mass in self.atoms.items():
            values = np.where(x == value, values - mass, values)
        return np.maximum(values, 0.0)


@dataclass(frozen=True)
class Laplace(AtomsAndDensity):
    """Laplace law: density e^(-|x - loc| / scale) / (2 scale).

    Parameters
    ----------
    loc : float, finite
    scale : float, finite, > 0
    """

    loc: float
    scale: float

    def __post_init__(self) -> None:
        _set_location(self, "loc")
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @property
    def atoms(self) -> dict[float, float]:
        """None."""
        return {}

    @property
    def kinks(self) -> tuple[float, ...]:
        """The location."""
        return (self.loc,)

    def slope(self, x: float) -> tuple[float, float]:
        """Give -1 / scale above the location and 1 / scale below."""
        return math.copysign(1 / self.scale, self.loc - x), 0.0

    def log_density(self, x: FloatArray) -> FloatArray:
        """Give -|x - loc| / scale - log(2 scale)."""
        return -np.abs(x - self.loc) / self.scale - math.log(2 * self.scale)

    def cdf(self, x: FloatArray) -> FloatArray:
        """Give the probability of an output <= x."""
        tail = self.tail(x)
        return np.where(x < self.loc, tail, 1 - tail)

    def density_cdf(self, x: FloatArray) -> FloatArray:
        """Give the probability of an output <= x."""
        return self.cdf(x)

    def tail(self, x: FloatArray) -> FloatArray:
        """Give the probability on the far side of x as seen from the location, without cancellation."""
        return np.exp(-np.abs(x - self.loc) / self.scale) / 2

    def survival(self, x: float) -> float:
        """Give the probability of an output > x, without cancellation."""
        tail = math.exp(-abs(x - self.loc) / self.scale) / 2
        return tail if x >= self.loc else 1 - tail


@dataclass(frozen=True)
class Gaussian(AtomsAndDensity):
    """Normal law.

    Parameters
    ----------
    loc : float, finite
        Mean.
    scale : float, finite, > 0
        Standard deviation.
    """

    loc: float
    scale: float

    def __post_init__(self) -> None:
        _set_location(self, "loc")
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @property
    def atoms(self) -> dict[float, float]:
        """None."""
        return {}

    @property
    def kinks(self) -> tuple[float, ...]:
        """None; the mean is given to place the panels."""
        return (self.loc,)

    def slope(self, x: float) -> tuple[float, float]:
        """Give (loc - y) / scale^2 by its two coefficients."""
        return self.loc / self.scale**2, -1 / self.scale**2

    def log_density(self, x: FloatArray) -> FloatArray:
        """Give -((x - loc) / scale)^2 / 2 - log(scale sqrt(2 pi))."""
        with np.errstate(over="ignore"):
            return -(((x - self.loc) / self.scale) ** 2) / 2 - math.log(self.scale * math.sqrt(2 * math.pi))

    def cdf(self, x: FloatArray) -> FloatArray:
        """Give the probability of an output <= x."""
        return np.asarray(special.ndtr((x - self.loc) / self.scale))

    def density_cdf(self, x: FloatArray) -> FloatArray:
        """Give the probability of an output <= x."""
        return self.cdf(x)


@dataclass(frozen=True)
class ThresholdedLaplace(AtomsAndDensity):
    """Laplace noise released only from a threshold on: an atom for "absent", and the density above.

    The output is z drawn from Laplace(loc, scale) when z >= threshold, and `absent` otherwise: a noisy count
    of a stability histogram. A count that is never released at all is `Point(absent)`, also
    `ThresholdedLaplace.never`.

    Parameters
    ----------
    loc, threshold : float, finite
    scale : float, finite, > 0
    absent : float, finite, < threshold
        What is returned below the threshold.
    """

    loc: float
    scale: float
    threshold: float
    absent: float = 0.0

    def __post_init__(self) -> None:
        for name in ("loc", "threshold", "absent"):
            _set_location(self, name)
        object.__setattr__(self, "scale", positive(self.scale, "scale"))
        if not self.absent < self.threshold:
            raise InvalidArgument.of("absent", f"be < threshold = {self.threshold}", self.absent)

    @staticmethod
    def never(absent: float = 0.0) -> Point:
        """Give the law of a label that is never released: `absent` with probability 1."""
        return Point(absent)

    @property
    def released(self) -> float:
        """Probability of a release, without cancellation."""
        return self._noise.survival(self.threshold)

    @property
    def atoms(self) -> dict[float, float]:
        """The probability of `absent`."""
        return {self.absent: float(self._noise.cdf(np.array([self.threshold]))[0])}

    @property
    def kinks(self) -> tuple[float, ...]:
        """The threshold, and the location when it lies above."""
        return (self.threshold, self.loc) if self.loc > self.threshold else (self.threshold,)

    @property
    def _noise(self) -> Laplace:
        return Laplace(self.loc, self.scale)

    def slope(self, x: float) -> tuple[float, float]:
        """Give the slope of the Laplace law, 0 below the threshold."""
        return self._noise.slope(x) if x >= self.threshold else (0.0, 0.0)

    def log_density(self, x: FloatArray) -> FloatArray:
        """Give the Laplace log-density from the threshold on."""
        return np.where(x >= self.threshold, self._noise.log_density(x), -np.inf)

    def density_cdf(self, x: FloatArray) -> FloatArray:
        """Give minus the mass above x, so that small masses keep their digits."""
        cut = np.maximum(x, self.threshold)
        tail = self._noise.tail(cut)
        return -np.where(cut >= self.loc, tail, 1 - tail)

    def cdf(self, x: FloatArray) -> FloatArray:
        """Give the probability of an output <= x."""
        return np.where(x >= self.absent, 1 + self.density_cdf(x), 0.0)


@dataclass(frozen=True)
class Point(AtomsAndDensity):
    """The law of one value with probability 1.

    Parameters
    ----------
    value : float, finite
    """

    value: float

    def __post_init__(self) -> None:
        _set_location(self, "value")

    @property
    def atoms(self) -> dict[float, float]:
        """The value."""
        return {self.value: 1.0}

    @property
    def kinks(self) -> tuple[float, ...]:
        """None."""
        return ()

    def slope(self, x: float) -> tuple[float, float]:
        """Give 0: there is no density."""
        return 0.0, 0.0

    def log_density(self, x: FloatArray) -> FloatArray:
        """Give -inf: there is no density."""
        return np.full(np.shape(x), -np.inf)

    def density_cdf(self, x: FloatArray) -> FloatArray:
        """Give 0: there is no density."""
        return np.zeros(np.shape(x))

    def cdf(self, x: FloatArray) -> FloatArray:
        """Give 1 from the value on."""
        return np.where(x >= self.value, 1.0, 0.0)


@loss_between(Laplace, Laplace)
def _laplace_pair(left: Laplace, right: Laplace) -> PrivacyLoss:
    if left.scale == right.scale:
        return LaplaceLoss(abs(left.loc - right.loc) / left.scale)
    return _general_pair(left, right)


@loss_between(Gaussian, Gaussian)
def _gaussian_pair(left: Gaussian, right: Gaussian) -> PrivacyLoss:
    if left.scale == right.scale:
        return GaussianLoss(abs(left.loc - right.loc) / left.scale)
    return _general_pair(left, right)


@loss_between(Point, Point)
def _point_pair(left: Point, right: Point) -> PrivacyLoss:
    return FiniteLoss({left.value: 1.0}, {right.value: 1.0})


@loss_between(AtomsAndDensity, AtomsAndDensity)
def _general_pair(left: AtomsAndDensity, right: AtomsAndDensity) -> PrivacyLoss:
    """Compare by densities and atoms; break the line at kinks and where the log-ratio turns."""
    if left == right:
        return no_loss()
    return DensityLoss(
        left.log_density,
        right.log_density,
        breakpoints=breakpoints(left, right),
        left_cdf=left.density_cdf,
        right_cdf=right.density_cdf,
        left_atoms=left.atoms,
        right_atoms=right.atoms,
    )


def breakpoints(left: AtomsAndDensity, right: AtomsAndDensity) -> list[float]:
    """Give the kinks of both log-densities, and the zeros of the log-ratio's slope on the pieces between."""
    kinks = sorted({*left.kinks, *right.kinks})
    if not kinks:
        return []
    pieces = [kinks[0] - 1.0, *((a + b) / 2 for a, b in itertools.pairwise(kinks)), kinks[-1] + 1.0]
    turns = []
    for x in pieces:
        (s, c), (t, d) = left.slope(x), right.slope(x)
        if c != d:
            turns.append((s - t) / (d - c))
    return sorted({*kinks, *turns})


def _set_location(law: object, name: str) -> None:
    number = real(getattr(law, name), name)
    if not math.isfinite(number):
        raise InvalidArgument.of(name, "be finite", getattr(law, name))
    object.__setattr__(law, name, number)


def _as_vector(outputs: np.ndarray) -> FloatArray:
    try:
        array = np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of("outputs", "be real numbers", outputs) from None
    if array.ndim != 1:
        raise InvalidArgument(f"`outputs` must have shape (size,), got {array.shape}")
    return array
