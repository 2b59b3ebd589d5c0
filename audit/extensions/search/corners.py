"""Draw numbers at few places of their ranges: the backend of Hypothesis that generates the first cases of a search.

A privacy loss is mostly largest where records lie at ends of their range, and many of them at the same one: one record
moves from end to end, or one column of it against all others. Independent numbers seldom are there together.
"""

from __future__ import annotations

import math
from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

_PLACES = (0.0, 1.0, 0.5)  # of a range, from its lower end
_ODD = (0.1, 0.3, 1.0)  # shares of the numbers of a case that do not lie at its usual place
_NARROW = 16  # integers in a range that are drawn as Hypothesis does, like places of records


class CornerProvider(HypothesisProvider):
    """Draws bounded numbers at one usual place of their range, which all numbers of a case share, or at an odd one."""

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self._usual: float | None = None

    def draw_float(self, **limits: Any) -> float:
        """Draw a number between finite limits from few places."""
        low, high = limits["min_value"], limits["max_value"]
        if math.isfinite(high - low):
            number = min(high, low + self._draw_place() * (high - low))
            if not 0 < abs(number) < limits["smallest_nonzero_magnitude"]:
                return number
        return super().draw_float(**limits)

    def draw_integer(self, *args: Any, **limits: Any) -> int:
        """Draw an integer of a wide range from few places."""
        low, high = limits.get("min_value"), limits.get("max_value")
        if low is None or high is None or high - low < _NARROW or limits.get("weights"):
            return super().draw_integer(*args, **limits)
        return low + round(self._draw_place() * (high - low))

    def _draw_place(self) -> float:
        random: Any = self._random
        if self._usual is None:
            self._usual, self._odd = random.choice(_PLACES), random.choice(_ODD)
        if random.random() >= self._odd:
            return self._usual
        place: float = random.choice((*_PLACES, random.random()))
        return place


CORNERS = "corners of ranges"
AVAILABLE_PROVIDERS[CORNERS] = CornerProvider
