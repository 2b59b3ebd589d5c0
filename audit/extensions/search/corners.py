"""Draw numbers at few places of their ranges: the backend of Hypothesis that generates the first cases of a search.

A privacy loss is mostly largest where records lie at ends of their range, and many of them at the same one: one record
moves from end to end, or one column of it against all others. Independent numbers seldom are there together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, ClassVar, cast

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

_PLACES = (0.0, 1.0, 0.5)  # of a range, from its lower end
_ODD = (0.1, 0.3, 1.0)  # shares of the numbers of a case that do not lie at its usual place
_MOVES = (0.0, 0.03)  # probabilities that the usual place is another one from a number on
_NARROW = 16  # integers in a range that are drawn as Hypothesis does, like places of records
_REPEATED, _CHANGED = 0.7, (1.5, 6.0)  # share of cases that repeat the best one; numbers of it that they draw anew


class CornerProvider(HypothesisProvider):
    """Draws bounded numbers at one usual place of their range, which all numbers of a case share, or at an odd one.

    Most cases repeat the one that was kept last, with a few numbers changed.
    """

    current: ClassVar[CornerProvider | None] = None  # the simplest case is not drawn by this class
    kept: ClassVar[tuple[Any, ...]] = ()

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        random: Any = self._random
        CornerProvider.current = self
        self.drawn: list[Any] = []
        self._model = self.kept if random is not None and random.random() < _REPEATED else ()
        if random is not None:
            self._usual, self._odd, self._moves = map(random.choice, (_PLACES, _ODD, _MOVES))
            self._change = min(0.5, random.choice(_CHANGED) / max(1, len(self._model)))  # some repeat it all

    @classmethod
    def keep(cls) -> None:
        """Keep the choices of this case, which is the best so far."""
        cls.kept = tuple(cls.current.drawn) if cls.current is not None else ()

    @classmethod
    def forget(cls) -> None:
        """Forget the cases of a search."""
        cls.current, cls.kept = None, ()

    def draw_boolean(self, p: float = 0.5, **limits: Any) -> bool:
        """Draw or repeat a truth value."""
        draw = partial(super().draw_boolean, p, **limits)
        return bool(self._recall(bool, draw, lambda value: p < 1 if not value else p > 0))

    def draw_float(self, **limits: Any) -> float:
        """Draw a number between finite limits from few places."""
        low, high = limits["min_value"], limits["max_value"]
        draw = partial(super().draw_float, **limits)

        def is_allowed(number: float) -> bool:
            return bool(low <= number <= high and not 0 < abs(number) < limits["smallest_nonzero_magnitude"])

        def draw_at_place() -> float:
            number = min(high, low + self._draw_place() * (high - low))
            return number if is_allowed(number) else draw()

        return float(self._recall(float, draw_at_place if math.isfinite(high - low) else draw, is_allowed))

    def draw_integer(self, *args: Any, **limits: Any) -> int:
        """Draw an integer of a wide range from few places."""
        low: Any = limits.get("min_value")
        high: Any = limits.get("max_value")
        draw: Callable[[], int] = partial(super().draw_integer, *args, **limits)
        if low is None or high is None:
            return draw()
        if high - low >= _NARROW and not limits.get("weights"):
            draw = lambda: int(low + round(self._draw_place() * (high - low)))  # noqa: E731
        return int(self._recall(int, draw, lambda number: low <= number <= high))

    def _recall(self, kind: type, draw: Callable[[], Any], is_allowed: Callable[[Any], bool]) -> Any:
        """Return the number at this place of the kept case, or a new one."""
        at, random = len(self.drawn), cast("Random", self._random)
        number: Any = self._model[at] if at < len(self._model) and random.random() >= self._change else None
        if type(number) is not kind or not is_allowed(number):
            number = draw()
        self.drawn.append(number)
        return number

    def _draw_place(self) -> float:
        random: Any = self._random
        if random.random() < self._moves:
            self._usual = random.choice(_PLACES)
        if random.random() >= self._odd:
            return self._usual
        place: float = random.choice((*_PLACES, random.random()))
        return place


CORNERS = "corners of ranges"
AVAILABLE_PROVIDERS[CORNERS] = f"{__name__}.{CornerProvider.__name__}"
