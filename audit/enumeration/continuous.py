"""Continuous draws that are not yet known: each comparison splits them, up to an interval that is left over.

A draw is known by the cell of its quantile, one of 2^64. The ends of a cell are computed in floating-point numbers and
moved apart by more than the logarithm can be wrong. Where the two ends of a cell fall on different sides of a
threshold, the cell is left over: the law is bracketed, and never rounded in favor of a claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from audit.enumeration.deferred import WIDEST, Deferred, Draw, is_within, size_of
from audit.enumeration.following import Follower

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


QUANTILES: dict[str, Callable[[float], float]] = {
    **{"exponential": _exponential, "laplace": _laplace, "logistic": _logistic, "gumbel": _gumbel},
}


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
        at = int(not math.isfinite(self._end(number, support[0], 0)))
        last = size_of(support) - int(not math.isfinite(self._end(number, support[-1], 1)))
        while at < last:
            whole = function(self._end(number, support[at], 0))
            holds = partial(is_within, function, whole, number._grows)
            end = min(last, self._count(number, 1, holds))
            if end > at:
                found.append((whole, support[at:end]))
            at = max(at + 1, self._count(number, 0, holds))
            if len(found) > WIDEST:
                self.fixed("an integer part")
        return found

    def _end(self, number: Deferred, point: int, side: int) -> Any:
        """Return the number at an end of a cell, moved outward."""
        quantile = self.quantile(point + side)
        margin = abs(quantile) * _RELATIVE + _ABSOLUTE if math.isfinite(quantile) else 0.0
        return number.of(quantile + margin if side else quantile - margin)

    def _count(self, number: Deferred, side: int, holds: Callable[[Any], bool]) -> int:
        """Return how many cells from the left hold at one of their ends."""
        low, high = 0, size_of(self.support)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if holds(self._end(number, self.support[middle], side)) else (low, middle)
        return low


def continuous(follower: Follower, name: str, location: float, scale: float) -> Any:
    """Return a draw from the law of a name."""
    drawn: Any = Deferred(Continuous(follower, name)) if follower.known is None else follower.next_known()
    scaled = drawn if scale == 1 else drawn * scale
    return scaled + location if location else scaled
