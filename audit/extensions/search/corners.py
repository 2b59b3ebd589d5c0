"""Draw cases whose numbers lie at few places of their ranges: the first cases of a search, and the simplest of them.

A privacy loss is mostly largest where records lie at ends of their range, and many of them at the same one: one record
moves from end to end, or one column of it against all others. Independent numbers seldom are there together.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, cast

from hypothesis import strategies
from hypothesis.control import BuildContext
from hypothesis.errors import StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture.choice import ChoiceTemplate, choice_from_index
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.strategies import SearchStrategy

_PLACES = (0.0, 1.0, 0.5)  # of a range, from its lower end
_ODD = (0.1, 0.3, 1.0)  # shares of the numbers of a case that do not lie at its usual place
_MOVES = (0.0, 0.03)  # probabilities that the usual place is another one from a number on
_NARROW = 16  # integers in a range that are drawn as Hypothesis does, like places of records
_WIDTHS = (8, 4, 3, 2, 1)  # of choices that are left out to make a case simpler
_REPEATED, _CHANGED = 0.7, (1.5, 6.0)  # share of cases that repeat the best one; numbers of it that they draw anew


class CornerProvider(HypothesisProvider):
    """Draws bounded numbers at one usual place of their range, which all numbers of a case share, or at an odd one.

    Most cases repeat those of a model, with a few numbers changed.
    """

    def __init__(self, data: Any, model: Sequence[Any] = ()) -> None:
        super().__init__(data)
        random: Any = self._random
        self.drawn: list[Any] = []
        self._model = model if random.random() < _REPEATED else ()
        self._usual, self._odd, self._moves = map(random.choice, (_PLACES, _ODD, _MOVES))
        self._change = min(0.5, random.choice(_CHANGED) / max(1, len(self._model)))  # some repeat it all

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


class Corners:
    """Cases of a strategy at corners of their ranges; `kept` made the best one, which most others repeat."""

    def __init__(self, cases: SearchStrategy[Any], seed: int) -> None:
        self._cases, self._random = cases, Random(seed)
        self.kept = self._last = self._start((ChoiceTemplate("simplest", count=None),))
        self._is_first = True

    def _start(self, choices: Any = None) -> Any:
        model = () if choices is not None else self.kept.provider.drawn
        return ConjectureData(
            random=self._random, prefix=choices, provider=CornerProvider, provider_kw={"model": model}
        )

    def draw(self) -> Any:
        """Return a case, the simplest one first; None where the numbers make none."""
        self._last, self._is_first = self._last if self._is_first else self._start(), False
        return self._make(self._last)

    def keep(self) -> None:
        """Keep the choices that made the last case, the best so far."""
        self.kept = self._last

    def _make(self, data: Any) -> Any:
        try:
            with BuildContext(data, **_TEST):
                return data.draw(self._cases)
        except (StopTest, UnsatisfiedAssumption):
            return None

    def simplify(self, is_good: Callable[[Any], bool]) -> None:
        """Keep simpler choices of which `is_good` accepts the case: fewer of them, then the simplest of each."""
        is_shorter = True
        while is_shorter:
            before = len(self.kept.choices)
            for width in _WIDTHS:
                for start in range(before - width, -1, -1):
                    self._replace(start, width, (), is_good)
            is_shorter = len(self.kept.choices) < before
        for place in range(len(self.kept.nodes)):
            if place < len(self.kept.nodes):
                node = self.kept.nodes[place]
                self._replace(place, 1, (choice_from_index(0, node.type, node.constraints),), is_good)

    def _replace(self, start: int, width: int, new: tuple[Any, ...], is_good: Callable[[Any], bool]) -> None:
        choices = self.kept.choices
        if start + width > len(choices) or choices[start : start + width] == new:
            return
        data = ConjectureData.for_choices((*choices[:start], *new, *choices[start + width :]))
        case = self._make(data)
        if case is not None and len(data.choices) <= len(choices) and is_good(case):
            self.kept = data


def _is_no_test() -> None:
    """Stand for the test that a build context of newer versions wants."""


_TEST: Any = {"wrapped_test": _is_no_test} if "wrapped_test" in inspect.signature(BuildContext).parameters else {}


def are_possible() -> bool:
    """Test whether the installed Hypothesis, whose inner parts these are, draws and makes simpler as it did."""
    try:
        corners = Corners(strategies.lists(strategies.floats(0, 1)), 0)
        drawn = [corners.draw() for _ in range(9)]
        corners.keep()
        corners.simplify(lambda case: len(case) >= 0)
        return any(drawn) and corners.kept.choices is not None
    except (AttributeError, TypeError):
        return False
