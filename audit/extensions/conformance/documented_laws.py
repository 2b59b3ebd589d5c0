"""Laws that libraries document beside the textbook's: of noise that is clamped to what its result can be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import AtomsAndDensity, FiniteLoss, Laplace, ScalarLaw, positive

FARTHEST = 9  # deviations beyond which a Gaussian law on the integers is not written down: 1e-18 of it
NEAR = 16  # counts that noise is added to are at most this: laws of neighbors then have the same outcomes
WIDEST = 2_000.0  # scale beyond which a law on the integers has too many outcomes to be written down


@dataclass(frozen=True)
class ClampedLaplace(AtomsAndDensity):
    """Laplace noise on a number within bounds, clamped to them."""

    loc: float
    scale: float
    lower: float
    upper: float

    @property
    def _noise(self) -> Laplace:
        return Laplace(self.loc, self.scale)

    @property
    def atoms(self) -> Mapping[float, float]:
        return {end: float(self._noise.tail(np.array(end))) for end in (self.lower, self.upper)}

    @property
    def kinks(self) -> tuple[float, ...]:
        return (self.lower, self.loc, self.upper)

    def log_density(self, x: Any) -> Any:
        return np.where((self.lower < x) & (x < self.upper), self._noise.log_density(x), -np.inf)

    def slope(self, x: float) -> tuple[float, float]:
        return self._noise.slope(x)

    def antiderivative(self, x: Any) -> Any:
        return self._noise.cdf(np.clip(x, self.lower, self.upper))

    def cdf(self, x: Any) -> Any:
        return np.where(x >= self.upper, 1.0, np.where(x < self.lower, 0.0, self._noise.cdf(x)))


@dataclass(frozen=True)
class IntegerLaw(ScalarLaw):
    """A law on successive integers, the first of which is `low`."""

    low: int
    masses: tuple[float, ...]

    def loss_against(self, other: Any) -> FiniteLoss:
        return FiniteLoss(*(dict(enumerate(law.masses, law.low)) for law in (self, other)))

    def log_likelihood(self, outputs: Any) -> Any:
        place = np.asarray(outputs, dtype=float) - self.low
        is_there = (place >= 0) & (place < len(self.masses)) & (place == np.floor(place))
        with np.errstate(divide="ignore"):
            return np.where(is_there, np.log(self.masses)[np.where(is_there, place, 0).astype(int)], -np.inf)

    def cdf(self, x: Any) -> Any:
        upto = np.r_[0.0, np.cumsum(self.masses)]
        return np.minimum(upto[np.clip(np.floor(x) - self.low + 1, 0, len(self.masses)).astype(int)], 1.0)

    def cdf_left(self, x: Any) -> Any:
        return self.cdf(np.ceil(x) - 1)


def clamped_geometric(loc: int, ratio: float, upper: int | None = None) -> IntegerLaw | None:
    """Return two-sided geometric noise clamped to [0, `upper`], or to what is not negative; None if it is too wide."""
    if upper is None and -1 / math.log(ratio) > WIDEST:
        return None
    top = 2 * NEAR + math.ceil(-44 / math.log(ratio)) if upper is None else upper
    inside = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(top + 1) - loc)
    inside[0], inside[-1] = ratio**loc / (1 + ratio), ratio ** (top - loc) / (1 + ratio)
    return IntegerLaw(0, tuple(inside / inside.sum()))


def rounded_laplace(loc: int, scale: float) -> IntegerLaw | None:
    """Return Laplace noise that is rounded to an integer; None if it is too wide."""
    if scale > WIDEST:
        return None
    reach = math.ceil(44 * scale)
    steps = np.abs(np.arange(-reach, reach + 10) - loc)  # the same for all of 0 to 9
    masses = np.where(steps == 0, -math.expm1(-0.5 / scale), np.exp(-steps / scale) * math.sinh(0.5 / scale))
    return IntegerLaw(-reach, tuple(masses / masses.sum()))


def clamped(law: IntegerLaw | None, upper: int) -> IntegerLaw | None:
    """Return a law on the integers, of outputs that are clamped to [0, `upper`]; None if there is none."""
    if law is None:
        return None
    places = np.clip(np.arange(law.low, law.low + len(law.masses)), 0, upper)
    return IntegerLaw(0, tuple(np.bincount(places, law.masses, upper + 1)))


def discrete_gaussian(loc: int, deviation: float) -> IntegerLaw | None:
    """Return the discrete Gaussian law; None if it is too wide to be written down.

    Parameters
    ----------
    loc : int
        The value that the noise is added to.
    deviation : float > 0
        The parameter sigma.

    Returns
    -------
    IntegerLaw or None

    Raises
    ------
    InvalidArgument
        For a deviation that is not positive.

    References
    ----------
    Canonne, Kamath & Steinke 2020, The discrete Gaussian for differential privacy, definition 1.

    Examples
    --------
    >>> from audit.extensions.conformance import discrete_gaussian
    >>> law = discrete_gaussian(3, 1.0)
    >>> [round(float(law.masses[x - law.low]), 3) for x in (2, 3, 4)]
    [0.242, 0.399, 0.242]
    """
    if positive(deviation, "deviation") > WIDEST:
        return None
    reach = math.ceil(FARTHEST * deviation)
    masses = np.exp(-((np.arange(-reach, reach + 9) - loc) ** 2) / (2 * deviation**2))  # the same for all of 0 to 8
    return IntegerLaw(-reach, tuple(masses / masses.sum()))
