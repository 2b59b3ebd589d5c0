"""The privacy loss of an ordered pair of laws: the tails of the loss, and their consequences.

The pair is (left, right). Direction "left" puts the left law in the numerator: L = log(left / right), drawn under left;
"right" swaps the two. Let p(t) = P(L > t) and q(t) = Q(L > t), P the law in the numerator, Q the other. They give

* the hockey-stick divergence  delta(eps) = p(eps) - e^eps q(eps)     (Balle & Wang 2018, theorem 5),
* the smallest eps for a delta, by inverting it.

Every function that returns a bound says on which side. Two errors are accounted for: `tail_error`, the absolute error
of p and of q, and `threshold_error`: the tails returned for t are those of some t' with
|t' - t| <= threshold_error (1 + |t|), which moves delta by no more than that.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from audit.errors import InvalidArgument
from audit.validate import closed_probability, nonnegative, real

ARITHMETIC_TOLERANCE = 1e-9
"""Relative tolerance of comparisons between a computed privacy parameter and a claimed one.

Claims are decimal numbers, mechanisms compute in binary: shift / scale = 1.0000000000000002 keeps the claim
epsilon <= 1. The functions here return unrounded bounds; a judge compares with `claimed * (1 + tolerance)`.
"""

Direction = Literal["left", "right"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
FloatArray = NDArray[np.float64]
Tails = tuple[FloatArray, FloatArray, FloatArray]

_LARGEST_EXPONENT = 709.0  # e^709 is finite
_LARGEST_SEARCH = 2.0**40  # epsilons beyond are not searched


def opposite(direction: Direction) -> Direction:
    """Return the other direction."""
    return "right" if direction == "left" else "left"


class PrivacyLoss(ABC):
    """Privacy loss of a pair of laws, in both directions.

    Subclasses define `_tails`, `_hockey_stick`, `max_loss` and `mass_at_infinity`, and may replace derived methods.

    Examples
    --------
    >>> from audit.laws import Laplace
    >>> loss = Laplace(0.0, 1.0).loss_against(Laplace(1.0, 1.0))
    >>> round(loss.delta(0.5), 4), loss.epsilon(0.0)
    (0.2212, 1.0)
    """

    tail_error: float = 0.0
    threshold_error: float = 0.0

    @abstractmethod
    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        """Return p, q and a bound of their error, one for each threshold."""

    @abstractmethod
    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of p(t) - e^t q(t), at any real thresholds."""

    @abstractmethod
    def max_loss(self, direction: Direction) -> float:
        """Return the essential supremum of the loss; inf if it is unbounded."""

    @abstractmethod
    def mass_at_infinity(self, direction: Direction) -> float:
        """Return the probability, by the numerator, of outputs that the denominator never makes."""

    @property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """The independent losses that this loss is the sum of; () if the two laws are equal."""
        return () if self.max_loss("left") == 0 == self.max_loss("right") else (self,)

    @classmethod
    def merged(cls, parts: Sequence[PrivacyLoss]) -> list[PrivacyLoss]:
        """Return fewer losses of this class with the same sum as the independent `parts`, if possible."""
        return list(parts)

    def tails(self, threshold: float, direction: Direction) -> tuple[float, float]:
        """Return the probabilities of a loss > `threshold`, finite, by the numerator and by the denominator."""
        number = real(threshold, "threshold")
        if not math.isfinite(number):
            raise InvalidArgument.of("threshold", "be finite", threshold)
        p, q, _ = self._tails(np.array([number]), _sides(str(direction))[0])
        return float(p[0]), float(q[0])

    def delta(self, epsilon: float, direction: Direction | None = None) -> float:
        """Return an upper bound of the hockey-stick divergence at `epsilon` >= 0; exact for closed forms.

        The larger of the two directions counts if `direction` is None.
        """
        number = nonnegative(epsilon, "epsilon")
        return max(self._delta_bounds(number, side)[1] for side in _sides(direction))

    def delta_lower_bound(self, epsilon: float, direction: Direction | None = None) -> float:
        """Return a lower bound of the hockey-stick divergence at `epsilon`; arguments as for `delta`."""
        number = nonnegative(epsilon, "epsilon")
        return max(self._delta_bounds(number, side)[0] for side in _sides(direction))

    def epsilon(self, delta: float, direction: Direction | None = None) -> float:
        """Return an upper bound of the least epsilon with at most `delta`: the largest loss for 0, inf if none."""
        level = closed_probability(delta, "delta")
        return max(self._epsilon_bound(level, side, 1) for side in _sides(direction))

    def epsilon_lower_bound(self, delta: float, direction: Direction | None = None) -> float:
        """Return a lower bound of the smallest epsilon >= 0 whose hockey-stick divergence is at most `delta`."""
        level = closed_probability(delta, "delta")
        return max(self._epsilon_bound(level, side, 0) for side in _sides(direction))

    def total_variation(self) -> float:
        """Return an upper bound of the total-variation distance of the two laws; exact for closed forms."""
        return min(self._delta_bounds(0.0, side)[1] for side in DIRECTIONS)

    def _epsilon_bound(self, level: float, direction: Direction, side: int) -> float:
        """Return the lower (side 0) or upper (side 1) bound of the smallest epsilon whose delta is at most `level`."""
        ceiling = self.max_loss(direction)
        if level >= 1:
            return 0.0
        if self.mass_at_infinity(direction) - (0.0 if side else self.tail_error) > level:
            return math.inf
        if level == 0:
            return ceiling if side else self._attained_loss(direction)
        kept = _crossing(lambda t: self._delta_bounds(t, direction)[side] <= level, ceiling)
        return kept[side] if kept else (0.0, ceiling)[side]

    def _attained_loss(self, direction: Direction) -> float:
        """Return a lower bound of the essential supremum of the loss."""
        return self.max_loss(direction)

    def _delta_bounds(self, threshold: float, direction: Direction) -> tuple[float, float]:
        if threshold >= self.max_loss(direction):
            return 0.0, 0.0
        lower, upper = self._hockey_stick(np.array([threshold]), direction)
        return max(0.0, float(lower[0])), min(1.0, max(0.0, float(upper[0])))


def scaled(probabilities: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Return e^t times a probability, without overflow wherever the product can be represented."""
    direct = np.exp(np.minimum(thresholds, _LARGEST_EXPONENT)) * probabilities
    far = thresholds > _LARGEST_EXPONENT
    if not far.any():
        return direct
    with np.errstate(divide="ignore"):
        exponents = np.minimum(thresholds + np.log(probabilities), _LARGEST_EXPONENT)
    return np.where(far, np.exp(exponents), direct)


def _sides(direction: object) -> tuple[Direction, ...]:
    """Return the direction alone, or both if it is None."""
    found = tuple(known for known in DIRECTIONS if direction is None or direction == known)
    if not found:
        raise InvalidArgument.of("direction", 'be "left" or "right"', direction)
    return found


def _crossing(small: Callable[[float], bool], ceiling: float) -> tuple[float, float] | None:
    """Bracket the point from which `small` holds by (seen false or 0, seen true); None if it never holds."""
    if small(0.0):
        return 0.0, 0.0
    low, high = 0.0, min(1.0, ceiling)
    while not (high >= ceiling or small(high)):
        low, high = high, min(2 * high, ceiling)
        if high > _LARGEST_SEARCH:
            return None
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if small(middle) else (middle, high)
    return low, high
