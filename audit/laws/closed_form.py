"""Privacy losses with a closed form: additive Laplace, Gaussian and two-sided geometric noise; equal laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from audit.base.arguments import integer, nonnegative, open_probability
from audit.laws.finite import FiniteLoss
from audit.laws.loss import Direction, FloatArray, PrivacyLoss, Tails, scaled


@dataclass(frozen=True)
class LaplaceLoss(PrivacyLoss):
    """Privacy loss of Laplace noise of one scale at two locations; exact.

    With a = |shift| / scale the loss is a with probability 1/2, -a with probability e^-a / 2, and has density
    e^(-(a - t) / 2) / 4 between. delta(eps) = 1 - e^(-(a - eps) / 2) for 0 <= eps <= a. Both directions
    agree.

    Parameters
    ----------
    shift_over_scale : float, finite, >= 0
        a; 0 means that the laws are equal.
    """

    shift_over_scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift_over_scale", nonnegative(self.shift_over_scale, "shift_over_scale"))

    def max_loss(self, direction: Direction) -> float:
        """Give a, attained with probability 1/2."""
        return self.shift_over_scale

    def mass_at_infinity(self, direction: Direction) -> float:
        """Give 0: the laws have the same support."""
        return 0.0

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        a = self.shift_over_scale
        inside = np.clip(thresholds, -a, a)
        p = 1 - np.exp(-(a - inside) / 2) / 2
        q = np.exp(-(a + inside) / 2) / 2
        below, above = thresholds < -a, thresholds >= a
        p = np.where(above, 0.0, np.where(below, 1.0, p))
        q = np.where(above, 0.0, np.where(below, 1.0, q))
        return p, q, np.zeros_like(p)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        a = self.shift_over_scale
        value = -np.expm1(-(a - np.clip(thresholds, -a, a)) / 2)
        value = np.where(thresholds < -a, -np.expm1(np.minimum(thresholds, 0.0)), value)
        return value, value

    def _epsilon_upper(self, level: float, direction: Direction) -> float:
        return 0.0 if level >= 1 else max(0.0, self.shift_over_scale + 2 * math.log1p(-level))

    _epsilon_lower = _epsilon_upper


@dataclass(frozen=True)
class GaussianLoss(PrivacyLoss):
    """Privacy loss of Gaussian noise of one scale at two locations; exact up to rounding.

    With mu = |shift| / scale the loss is normal with mean mu^2 / 2 and variance mu^2, so that
    delta(eps) = Phi(mu / 2 - eps / mu) - e^eps Phi(-mu / 2 - eps / mu)   (Balle & Wang 2018, theorem 8).

    Parameters
    ----------
    shift_over_scale : float, finite, >= 0
        mu; 0 means that the laws are equal.
    """

    shift_over_scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift_over_scale", nonnegative(self.shift_over_scale, "shift_over_scale"))

    def max_loss(self, direction: Direction) -> float:
        """Give inf, or 0 when the laws are equal."""
        return math.inf if self.shift_over_scale > 0 else 0.0

    def mass_at_infinity(self, direction: Direction) -> float:
        """Give 0: the laws have the same support."""
        return 0.0

    @classmethod
    def merged(cls, parts: Sequence[PrivacyLoss]) -> list[PrivacyLoss]:
        """Give one Gaussian loss: a sum of independent normal losses is one, with mu^2 the sum of the mu^2."""
        return [cls(math.hypot(*(part.shift_over_scale for part in parts if isinstance(part, cls))))]

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        low, high = self._arguments(thresholds)
        return special.ndtr(-low), special.ndtr(-high), np.zeros_like(thresholds)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Write e^t q / p as a ratio of Mills ratios where p is small: small deltas keep their digits."""
        if self.shift_over_scale == 0:
            value = -np.expm1(np.minimum(thresholds, 0.0))
            return value, value
        low, high = self._arguments(thresholds)
        p, q = special.ndtr(-low), special.ndtr(-high)
        root = math.sqrt(2)
        ratio = special.erfcx(np.maximum(high, 0) / root) / special.erfcx(np.maximum(low, 0) / root)
        value = np.where(low > 0, p * (1 - ratio), p - scaled(q, thresholds))
        return value, value

    def _arguments(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        mu = self.shift_over_scale
        if mu == 0:
            far = np.where(thresholds < 0, -np.inf, np.inf)
            return far, far
        with np.errstate(over="ignore"):
            centre = thresholds / mu
        return centre - mu / 2, centre + mu / 2


def geometric_loss(shift: int, ratio: float) -> FiniteLoss:
    """Give the privacy loss of two-sided geometric noise at two integer locations; exact.

    The noise has probability (1 - r) / (1 + r) r^|z|. For locations 0 and k the likelihood ratio is constant
    on {z <= 0} and on {z >= k}, so those sets and the k - 1 points between are sufficient: k + 1 cells.

    Parameters
    ----------
    shift : int
        Difference of the locations; only its size matters.
    ratio : float in (0, 1)
        r; e^-epsilon for sensitivity 1.
    """
    r = open_probability(ratio, "ratio")
    k = abs(integer(shift, "shift", at_least=-(2**53)))
    if k == 0:
        return FiniteLoss([1.0], [1.0])
    inner = np.arange(1, k)
    left = np.r_[1 / (1 + r), (1 - r) / (1 + r) * r**inner, r**k / (1 + r)]
    return FiniteLoss(left, left[::-1].copy())


def no_loss() -> PrivacyLoss:
    """Give the privacy loss of two equal laws: 0 everywhere."""
    return LaplaceLoss(0.0)
