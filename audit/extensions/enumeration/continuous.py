"""Continuous draws that are not yet known: each comparison splits them, up to an interval that is left over.

A draw is known by the cell of its quantile, one of 2^64. The ends of a cell are computed in floating-point numbers and
moved apart by more than the logarithm can be wrong. Where the two ends of a cell fall on different sides of a
threshold, the cell is left over: the law is bracketed, and never rounded in favor of a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Any

from audit.extensions.enumeration.deferred import WIDEST, Deferred, Draw, is_within, size_of
from audit.extensions.enumeration.enumerated_law import exponential
from audit.extensions.enumeration.following import Follower

_CELLS = 2**64
_RELATIVE, _ABSOLUTE = 2.0**-48, 2.0**-50  # 32 and 4 times as much as two logarithms within 2 ulp can be wrong


def _exponential(cell: float) -> float:
    """Return the quantile of the exponential law at the lower end of a cell."""
    left = _CELLS - cell
    return math.inf if left == 0 else -math.log1p(-cell / _CELLS) if 2 * cell < _CELLS else -math.log(left / _CELLS)


def _laplace(cell: float) -> float:
    if 2 * cell > _CELLS:
        return -_laplace(_CELLS - cell)
    if cell == 0:
        return -math.inf
    return math.log(2 * cell / _CELLS) if 4 * cell < _CELLS else math.log1p((2 * cell - _CELLS) / _CELLS)


def _logistic(cell: float) -> float:
    if 2 * cell > _CELLS:
        return -_logistic(_CELLS - cell)
    if cell == 0:
        return -math.inf
    odds = cell / (_CELLS - cell)
    return math.log(odds) if 3 * cell < _CELLS else math.log1p((2 * cell - _CELLS) / (_CELLS - cell))


def _gumbel(cell: float) -> float:
    waited = _exponential(_CELLS - cell)
    return math.inf if waited == 0 else -math.inf if waited == math.inf else -math.log(waited)


def _normal(cell: float) -> float:
    """Return a quantile of the normal law; it is compared with the law where it matters."""
    if 2 * cell > _CELLS:
        return -_normal(_CELLS - cell)
    return -math.inf if cell == 0 else _INVERSE(cell / _CELLS)


_INVERSE = NormalDist().inv_cdf


def normal_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return rational numbers around the probability that a normal number is at most x, for |x| <= 16.

    1/2 + e^(-x^2/2) / sqrt(2 pi) * sum of x^(2k+1) / (1 * 3 * ... * (2k+1)), all terms of one sign (Marsaglia 2004,
    equation 2). Behind the term from which on each is at most half of the one before, the rest is at most that term.

    Examples
    --------
    >>> from fractions import Fraction
    >>> low, high = normal_bounds(Fraction(1))
    >>> float(low), float(high - low) < 1e-40
    (0.841344746068543, True)
    """
    if x < 0:
        low, high = normal_bounds(-x)
        return 1 - high, 1 - low
    one, half = 1 << _BITS, Fraction(1, 2)
    low_term = high_term = math.floor(x * one)
    high_term += 1
    square_low, square_high = math.floor(x * x * one), math.floor(x * x * one) + 1
    low_sum, high_sum, odd = low_term, high_term, 1
    while high_term > 1 or odd < 2 * x * x:
        odd += 2
        low_term = low_term * square_low // (one * odd)
        high_term = -(-high_term * square_high // (one * odd))
        low_sum, high_sum = low_sum + low_term, high_sum + high_term
    high_sum += high_term
    low_power, high_power = exponential(x * x / 2)
    low = half + Fraction(low_sum, one) / high_power / _ROOT_HIGH
    return low, min(Fraction(1), half + Fraction(high_sum, one) / low_power / _ROOT_LOW)


_BITS = 512  # the sum is as large as e^(x^2/2)
_PI = Fraction(314159265358979323846264338327950288419716939937510582097494, 10**59)  # rounded down
_ROOT_LOW = Fraction(math.isqrt(math.floor(2 * _PI * 4**200)), 2**200)  # of 2 pi
_ROOT_HIGH = Fraction(math.isqrt(math.ceil((2 * _PI + Fraction(2, 10**59)) * 4**200)) + 1, 2**200)


QUANTILES: dict[str, Callable[[float], float]] = {
    **{"exponential": _exponential, "laplace": _laplace, "logistic": _logistic, "gumbel": _gumbel, "normal": _normal},
}


def _finite(holds: Callable[[Any], bool], value: Any) -> bool:
    return math.isfinite(value) and holds(value)


def _moved(quantile: float, side: int) -> float:
    """Return an end of a cell, moved outward."""
    margin = abs(quantile) * _RELATIVE + _ABSOLUTE if math.isfinite(quantile) else 0.0
    return quantile + margin if side else quantile - margin


class Continuous(Draw):
    """One draw from a continuous law of location 0 and scale 1."""

    __slots__ = ("quantile",)

    def __init__(self, follower: Follower, name: str) -> None:
        super().__init__(follower, range(_CELLS), float)
        self.kind: Any = name
        self.quantile = QUANTILES[name]

    def value(self, point: int) -> Any:
        """Return a number of a cell."""
        found = [end for end in (self.quantile(point), self.quantile(point + 1)) if math.isfinite(end)]
        return sum(found) / len(found)

    def fixed(self, use: str) -> None:
        """Refuse: no single number has a probability."""
        self.follower.not_followed(f"a draw of the {self.kind} law was fixed, for {use}")

    def pieces(self, name: str, number: Deferred, known: Callable[[Any], Any], other: Any) -> list[tuple[Any, range]]:
        """Return the cells that are surely below a threshold, and those that are surely above it."""
        support, grows = self.support, number._grows
        before: Callable[[Any], bool] = (lambda value: value < other) if grows else (lambda value: value > other)
        upto: Callable[[Any], bool] = (lambda value: value <= other) if grows else (lambda value: value >= other)
        below = self._count(number, 1, before)
        parts = [support[:below], support[max(below, self._count(number, 0, upto)) :]]
        return [(known(number.at(part[0])), part) for part in parts if part]

    def whole(self, number: Deferred, function: Callable[[Any], Any]) -> list[tuple[Any, range]]:
        """Return for each integer part the cells that surely have it."""
        support, found = self.support, []
        at = int(not all(map(math.isfinite, self._ends(number, support[0], 0))))
        last = size_of(support) - int(not all(map(math.isfinite, self._ends(number, support[-1], 1))))
        while at < last:
            ends = map(function, self._ends(number, support[at], 0))
            whole = min(ends) if number._grows else max(ends)
            holds = partial(is_within, function, whole, number._grows)
            end = min(last, self._count(number, 1, partial(_finite, holds)))
            if end > at:
                found.append((whole, support[at:end]))
            at = max(at + 1, self._count(number, 0, holds))
            if len(found) > WIDEST:
                self.fixed("an integer part")
        return found

    def _ends(self, number: Deferred, point: int, side: int) -> list[Any]:
        """Return the number at an end of a cell, moved outward; rough steps have more than one."""
        return number.moved(_moved(self.quantile(point + side), side))

    def _count(self, number: Deferred, side: int, holds: Callable[[Any], bool]) -> int:
        """Return how many cells from the left surely hold at their upper end, or perhaps at their lower one."""
        low, high, test = 0, size_of(self.support), all if side else any
        while low < high:
            middle = (low + high) // 2
            is_so = test(map(holds, self._ends(number, self.support[middle], side)))
            low, high = (middle + 1, high) if is_so else (low, middle)
        if self.kind == "normal":
            self._mind(low - 1 if side else low, side)
        return low

    def _mind(self, at: int, side: int) -> None:
        """Compare an end of the last cell that counts, moved outward, with the law itself; the others lie inside."""
        if not 0 <= at < size_of(self.support):
            return
        point = self.support[at] + side
        quantile, true = self.quantile(point), Fraction(point, _CELLS)
        if math.isfinite(quantile):
            low, high = normal_bounds(Fraction(_moved(quantile, side)))
            if (low < true) if side else (high > true):
                self.follower.not_followed("a quantile of the normal law is not within its margin")


def continuous(follower: Follower, name: str, location: float, scale: float) -> Any:
    """Return a draw from the law of a name."""
    if math.copysign(1.0, scale) < 0:
        raise ValueError("scale < 0")  # as NumPy does
    drawn: Any = Deferred(Continuous(follower, name)) if follower.known is None else follower.next_known()
    scaled = drawn if scale == 1 else drawn * scale
    return scaled + location if location else scaled
