"""Calling a learner's losses or trials: in blocks with seeds of their own, with everything unusable named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from audit.base.errors import InvalidArgument
from audit.checks.utility.means import MeanSample, summarise
from audit.subjects import Stream
from audit.subjects.subject import CAUGHT

BLOCK_REPLICATES = 1024  # a block; a learner may hold an array of this many times n numbers
LEAST_LOSSES = 12  # fewer cannot pay for a pilot
_PILOT_CALLS = 8
PROBED_CALLS = _PILOT_CALLS + 1  # one is made twice
_PILOT_SHARE, _MOST_PILOT = 0.1, 2048
_LEAST_CALL = 16  # replicates a pilot call, below which dependence within a call cannot be told
_ALARM = 1e-9  # false-alarm level of the test for dependence between the replicates of one call
_ROUNDING = 1e-9  # a loss may leave its support by this part of the support's width
_PILOT, _MAIN = 0, 1  # children of a stream

Support = tuple[float, float]


class Unusable(Exception):
    """The subject gave nothing that can be judged; the text says what it did."""


def require_support(support: Any, name: str = "support") -> Support:
    """Return (low, high) as floats, low < high, at least one of them finite."""
    try:
        low, high = map(float, support)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, "be (low, high)", support) from None
    if not low < high or (math.isinf(low) and math.isinf(high)):
        raise InvalidArgument.of(name, "be (low, high) with low < high and a finite end", support)
    return low, high


def call(function: Callable[..., Any], *arguments: Any, what: str) -> Any:
    """Call the subject.

    Raises
    ------
    Unusable
        When it raises; the text has the exception.
    """
    try:
        return function(*arguments)
    except CAUGHT as error:
        raise Unusable(f"{what} raised {type(error).__name__}: {str(error)[:200]}") from error


def call_number(function: Callable[..., Any], *arguments: Any, what: str) -> float:
    """Call the subject for one finite number; anything else is `Unusable`."""
    value = call(function, *arguments, what=what)
    if isinstance(value, (bool, np.bool_)):
        raise Unusable(f"{what} returned {value!r} where a number was due")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Unusable(f"{what} returned {str(value)[:80]!r} ({type(value).__name__}) where a number was due") from None
    if not math.isfinite(number):
        raise Unusable(f"{what} returned {number}")
    return number


def draw_array(
    function: Callable[..., Any], leading: tuple[Any, ...], replicates: int, stream: Stream, what: str
) -> np.ndarray:
    """One call for `replicates` values: numbers or booleans, shape (replicates,).

    Raises
    ------
    Unusable
        When it raises, or returns another shape or something that is no number.
    """
    value = call(function, *leading, replicates, stream.rng(), what=what)
    try:
        array = np.asarray(value)
    except ValueError:
        raise Unusable(f"{what} returned a ragged {type(value).__name__}") from None
    if array.dtype.kind not in "biuf":
        raise Unusable(f"{what} returned {type(value).__name__} of {array.dtype}, where numbers were due")
    if array.shape != (replicates,):
        raise Unusable(f"{what} returned shape {array.shape} where ({replicates},) was due")
    return array


def within(values: np.ndarray, support: Support, what: str) -> np.ndarray:
    """The values as floats, refused when one is NaN or lies outside the support by more than rounding."""
    values = values.astype(np.float64)
    low, high = support
    if np.isnan(values).any():
        raise Unusable(f"{what} returned NaN ({int(np.isnan(values).sum())} of {len(values)} losses)")
    slack = _ROUNDING * (high - low) if math.isfinite(high - low) else _ROUNDING
    outside = (values < low - slack) | (values > high + slack) | np.isinf(values)
    if outside.any():
        raise Unusable(f"{what} returned {values[outside][0]:g}, outside its support [{low:g}, {high:g}]")
    return np.clip(values, low, high)


class Drawer:
    """Draws the losses of one check, and counts them.

    Parameters
    ----------
    losses : callable
        `(*leading, replicates, rng) -> (replicates,)`.
    """

    def __init__(self, losses: Callable[..., Any]) -> None:
        self._losses = losses
        self.drawn = 0

    def sample(
        self, leading: tuple[Any, ...], replicates: int, support: Support, significance: float, stream: Stream
    ) -> MeanSample:
        """A pilot and a sample, `replicates` losses together, summarised for bounds of the given significance.

        Raises
        ------
        Unusable
            When there are too few, a call fails, a loss is NaN or outside `support`, or the losses are not
            independent.
        """
        if replicates < LEAST_LOSSES:
            raise Unusable(f"the budget gives {replicates} losses{_at(leading)}, fewer than {LEAST_LOSSES}")
        before = self.drawn
        pilot = self._pilot(leading, replicates, support, stream.child(_PILOT))
        left = replicates - (self.drawn - before)
        return summarise(pilot, self._draw(leading, left, support, stream.child(_MAIN)), support, significance)

    def _draw(self, leading: tuple[Any, ...], replicates: int, support: Support, stream: Stream) -> np.ndarray:
        """Losses in blocks; shape (replicates,)."""
        what = f"losses(){_at(leading)}"
        parts = []
        for index, start in enumerate(range(0, replicates, BLOCK_REPLICATES)):
            size = min(BLOCK_REPLICATES, replicates - start)
            self.drawn += size
            parts.append(within(draw_array(self._losses, leading, size, stream.child(index), what), support, what))
        return np.concatenate(parts)

    def _pilot(self, leading: tuple[Any, ...], replicates: int, support: Support, stream: Stream) -> np.ndarray:
        """Several calls that choose the bets."""
        size = max(1, min(int(_PILOT_SHARE * replicates), _MOST_PILOT) // _PILOT_CALLS)

        def draw(stream: Stream) -> np.ndarray:
            return self._draw(leading, size, support, stream)

        return probed(draw, stream, f"losses(){_at(leading)}")


def probed(draw: Callable[[Stream], np.ndarray], stream: Stream, what: str) -> np.ndarray:
    """The values of several calls, which must look like independent replicates.

    Raises
    ------
    Unusable
        When the same seed gives other values, or the values of one call are more alike than those of different calls.
    """
    calls = [draw(stream.child(index)) for index in range(_PILOT_CALLS)]
    if not np.array_equal(calls[0], draw(stream.child(0))):
        raise Unusable(f"{what} gave other values under the same seed: it keeps state or does not draw from `rng`")
    if len(calls[0]) >= _LEAST_CALL and _dependent(calls):
        raise Unusable(f"{what} gave values that share noise within a call: the replicates are not independent")
    return np.concatenate(calls)


def _at(leading: tuple[Any, ...]) -> str:
    return f" at n = {leading[0]}" if leading else ""


def _dependent(calls: list[np.ndarray]) -> bool:
    if len(np.unique(np.concatenate(calls))) == 1:
        return False
    if all(len(np.unique(part)) == 1 for part in calls):
        return True
    return bool(stats.kruskal(*calls).pvalue < _ALARM)
