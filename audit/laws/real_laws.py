"""Laws of one real number: Laplace, Gaussian, a point mass, and the base of laws with atoms and a density.

The log-density of each is at most quadratic between its kinks. The kinks, and the derivative on each piece, tell where
the log-ratio of any two of them turns: all that their privacy loss needs.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from audit.base.arguments import positive, real
from audit.base.errors import InvalidArgument
from audit.laws.density_loss import DensityLoss
from audit.laws.exact_loss import FiniteLoss, GaussianLoss, LaplaceLoss, no_loss
from audit.laws.law import Law, ScalarLaw
from audit.laws.privacy_loss import FloatArray, PrivacyLoss


class AtomsAndDensity(ScalarLaw):
    """A law on the line with a sub-normalized density and finitely many atoms.

    The base measure is Lebesgue measure plus a unit mass at each atom of either law of a pair. Subclass it, decorated
    as a frozen dataclass, to state a law that is not in `audit.laws`: any two such laws can be compared. A law with a
    density overrides `kinks`, `log_density` and `slope`; one with atoms as well also `atoms` and `antiderivative`.
    """

    @property
    def atoms(self) -> Mapping[float, float]:
        """The probability of each value that has one; none unless overridden."""
        return {}

    @property
    def kinks(self) -> tuple[float, ...]:
        """Points where the log-density has a kink, and the finite ends of the density's support."""
        return ()

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return the logarithm of the sub-normalized density, -inf outside its support."""
        return np.full(np.shape(x), -np.inf)

    def slope(self, x: float) -> tuple[float, float]:
        """Return (s, c): on the piece around x the log-density's derivative at y is s + c y."""
        return 0.0, 0.0

    def antiderivative(self, x: FloatArray) -> FloatArray:
        """Return the mass of the density up to x, plus any constant; override it for a law with atoms."""
        return self.cdf(x)

    def loss_against(self, other: Law) -> PrivacyLoss:
        """Return the privacy loss by densities and atoms: the line is cut at kinks and where the log-ratio turns."""
        if not isinstance(other, AtomsAndDensity):
            return super().loss_against(other)
        if self == other:
            return no_loss()
        return DensityLoss(
            self.log_density,
            other.log_density,
            breakpoints=_breakpoints(self, other),
            left_cdf=self.antiderivative,
            right_cdf=other.antiderivative,
            left_atoms=self.atoms,
            right_atoms=other.atoms,
        )

    def log_likelihood(self, outputs: np.ndarray) -> FloatArray:
        x = as_vector(outputs)
        values = self.log_density(x)
        for value, mass in self.atoms.items():
            values = np.where(x == value, math.log(mass) if mass > 0 else -np.inf, values)
        return np.where(np.isfinite(x), values, -np.inf)

    def cdf_left(self, x: FloatArray) -> FloatArray:
        values = self.cdf(x)
        for value, mass in self.atoms.items():
            values = np.where(x == value, values - mass, values)
        return np.maximum(values, 0.0)


@dataclass(frozen=True)
class _LocationScale(AtomsAndDensity):
    loc: float
    scale: float
    _loss_at_one_scale: ClassVar[type[LaplaceLoss] | type[GaussianLoss]]

    def __post_init__(self) -> None:
        set_finite(self, "loc")
        object.__setattr__(self, "scale", positive(self.scale, "scale"))

    @property
    def kinks(self) -> tuple[float, ...]:
        """The location: a kink, or a point from which the support is cut into cells."""
        return (self.loc,)

    def loss_against(self, other: Law) -> PrivacyLoss:
        if isinstance(other, type(self)) and other.scale == self.scale:
            return type(self)._loss_at_one_scale(abs(self.loc - other.loc) / self.scale)
        return super().loss_against(other)


@dataclass(frozen=True)
class Laplace(_LocationScale):
    """The Laplace law: density e^(-|x - loc| / scale) / (2 scale).

    Parameters
    ----------
    loc : float, finite
    scale : float, finite, > 0

    Examples
    --------
    >>> from audit.laws import Laplace
    >>> Laplace(0.0, 2.0).loss_against(Laplace(1.0, 2.0)).epsilon(0.0)
    0.5
    """

    _loss_at_one_scale = LaplaceLoss

    def slope(self, x: float) -> tuple[float, float]:
        """Return -1 / scale above the location and 1 / scale below."""
        return math.copysign(1 / self.scale, self.loc - x), 0.0

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return -|x - loc| / scale - log(2 scale)."""
        return -np.abs(x - self.loc) / self.scale - math.log(2 * self.scale)

    def cdf(self, x: FloatArray) -> FloatArray:
        tail = self.tail(x)
        return np.where(x < self.loc, tail, 1 - tail)

    def tail(self, x: FloatArray) -> FloatArray:
        """Return the probability on the far side of x as seen from the location, without cancellation."""
        return np.exp(-np.abs(x - self.loc) / self.scale) / 2


@dataclass(frozen=True)
class Gaussian(_LocationScale):
    """The normal law of mean `loc` and standard deviation `scale`.

    Parameters
    ----------
    loc : float, finite
    scale : float, finite, > 0

    Examples
    --------
    >>> from audit.laws import Gaussian
    >>> round(Gaussian(0.0, 2.0).loss_against(Gaussian(2.0, 2.0)).delta(1.0), 6)
    0.126937
    """

    _loss_at_one_scale = GaussianLoss

    def slope(self, x: float) -> tuple[float, float]:
        """Return (loc - y) / scale^2 by its two coefficients."""
        return self.loc / self.scale**2, -1 / self.scale**2

    def log_density(self, x: FloatArray) -> FloatArray:
        """Return -((x - loc) / scale)^2 / 2 - log(scale sqrt(2 pi))."""
        with np.errstate(over="ignore"):
            return -(((x - self.loc) / self.scale) ** 2) / 2 - math.log(self.scale * math.sqrt(2 * math.pi))

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.asarray(special.ndtr((x - self.loc) / self.scale))


@dataclass(frozen=True)
class PointMass(AtomsAndDensity):
    """The law of one value with probability 1.

    Parameters
    ----------
    value : float, finite

    Examples
    --------
    >>> from audit.laws import PointMass
    >>> PointMass(0.0).loss_against(PointMass(1.0)).epsilon(0.0)
    inf
    """

    value: float

    def __post_init__(self) -> None:
        set_finite(self, "value")

    def loss_against(self, other: Law) -> PrivacyLoss:
        return FiniteLoss(self.atoms, other.atoms) if isinstance(other, PointMass) else super().loss_against(other)

    @property
    def atoms(self) -> Mapping[float, float]:
        return {self.value: 1.0}

    def antiderivative(self, x: FloatArray) -> FloatArray:
        return np.zeros(np.shape(x))

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.where(x >= self.value, 1.0, 0.0)


def _breakpoints(left: AtomsAndDensity, right: AtomsAndDensity) -> list[float]:
    """Return the kinks of both log-densities, and the zeros of the log-ratio's slope on the pieces between."""
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


def set_finite(law: object, name: str) -> None:
    """Replace a field of a frozen law by its float, or raise `InvalidArgument` if it is not a finite number."""
    number = real(getattr(law, name), name)
    if not math.isfinite(number):
        raise InvalidArgument.of(name, "be finite", getattr(law, name))
    object.__setattr__(law, name, number)


def as_vector(outputs: np.ndarray) -> FloatArray:
    """Return outputs as floats of shape (size,), or raise `InvalidArgument`."""
    try:
        array = np.asarray(outputs, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of("outputs", "be real numbers", outputs) from None
    if array.ndim != 1:
        raise InvalidArgument(f"`outputs` must have shape (size,), got {array.shape}")
    return array
