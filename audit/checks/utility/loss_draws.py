"""Draw the losses of a learner in blocks with seeds of their own; what cannot be judged raises `Unusable`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from audit.base.errors import InvalidArgument
from audit.checks.utility.mean_bounds import MeanSample, summarize
from audit.subjects import Stream
from audit.subjects.subject import CAUGHT

BLOCK = 1024  # values per call; a learner may hold an array of this many times n numbers
_FEWEST = 12  # losses below which nothing is left after the pilot
_PILOT_CALLS = 8
PROBED_CALLS = _PILOT_CALLS + 1  # the first call is made twice
_PILOT_SHARE, _LARGEST_PILOT = 0.1, 2048
_FEWEST_PER_CALL = 16  # values of one call below which dependence within it cannot be seen
_ALARM = 1e-9  # significance of the test for dependence within a call: its false alarms are negligible
_ROUNDING = 1e-9  # a loss may leave its support by this part of the support's width
_PILOT, _MAIN = 0, 1  # children of a stream

Support = tuple[float, float]


class Unusable(Exception):
    """The learner returned nothing that can be judged; the text says what it did."""


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
    """Call a function of the caller; raise `Unusable` with the exception if it raises one."""
    try:
        return function(*arguments)
    except CAUGHT as error:
        raise Unusable(f"{what} raised {type(error).__name__}: {str(error)[:200]}") from error


def call_number(function: Callable[..., Any], name: str, size: int) -> float:
    """Call a function of the caller for one finite number; raise `Unusable` for anything else."""
    what = f"{name}({size})"
    value = call(function, size, what=what)
    if isinstance(value, (bool, np.bool_)):
        raise Unusable(f"{what} returned {value!r} where a number was due")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Unusable(f"{what} returned {str(value)[:80]!r} ({type(value).__name__}) where a number was due") from None
    if not math.isfinite(number):
        raise Unusable(f"{what} returned {number}")
    return number


def draw_array(function: Callable[..., Any], *arguments: Any, count: int, stream: Stream, what: str) -> np.ndarray:
    """Return `count` numbers or booleans of one call, shape (count,); raise `Unusable` for anything else."""
    value = call(function, *arguments, count, stream.rng(), what=what)
    try:
        array = np.asarray(value)
    except ValueError:
        raise Unusable(f"{what} returned a ragged {type(value).__name__}") from None
    if array.dtype.kind not in "biuf":
        raise Unusable(f"{what} returned {type(value).__name__} of {array.dtype}, where numbers were due")
    if array.shape != (count,):
        raise Unusable(f"{what} returned shape {array.shape} where ({count},) was due")
    return array


def draw_blocks(draw: Callable[[int, Stream], np.ndarray], count: int, stream: Stream) -> np.ndarray:
    """Return `count` values, drawn in blocks with a seed of their own each."""
    starts = range(0, count, BLOCK)
    return np.concatenate([draw(min(BLOCK, count - start), stream.child(i)) for i, start in enumerate(starts)])


def probed(draw: Callable[[Stream], np.ndarray], stream: Stream, what: str) -> np.ndarray:
    """Return the values of several calls; raise `Unusable` unless they look like independent values of seeded calls."""
    calls = [draw(stream.child(index)) for index in range(_PILOT_CALLS)]
    if not np.array_equal(calls[0], draw(stream.child(0))):
        raise Unusable(f"{what} gave other values under the same seed: it keeps state or does not draw from `rng`")
    if len(calls[0]) >= _FEWEST_PER_CALL and _dependent(calls):
        raise Unusable(f"{what} gave values that share noise within a call: the replicates are not independent")
    return np.concatenate(calls)


def _dependent(calls: list[np.ndarray]) -> bool:
    """Return whether the values of one call are more alike than those of different calls."""
    if len(np.unique(np.concatenate(calls))) == 1:
        return False
    if all(len(np.unique(part)) == 1 for part in calls):
        return True
    return bool(stats.kruskal(*calls).pvalue < _ALARM)


class LossDrawer:
    """Draws losses of `(*leading, count, rng) -> (count,)`, and counts them in `drawn`."""

    def __init__(self, losses: Callable[..., Any]) -> None:
        self._losses = losses
        self.drawn = 0

    def sample(self, *leading: int, count: int, support: Support, significance: float, stream: Stream) -> MeanSample:
        """Draw a pilot and a sample, `count` losses together, and summarize them for bounds of this significance.

        Raises
        ------
        Unusable
            If there are too few losses, a call fails, a loss is NaN or outside `support`, or the losses are dependent.
        """
        at = f" at n = {leading[0]}" if leading else ""
        if count < _FEWEST:
            raise Unusable(f"the budget gives {count} losses{at}, fewer than {_FEWEST}")

        def draw(size: int, child: Stream) -> np.ndarray:
            self.drawn += size
            what = f"losses(){at}"
            return _within(draw_array(self._losses, *leading, count=size, stream=child, what=what), support, what)

        per_call = max(1, min(int(_PILOT_SHARE * count), _LARGEST_PILOT) // _PILOT_CALLS)
        pilot = probed(lambda child: draw_blocks(draw, per_call, child), stream.child(_PILOT), f"losses(){at}")
        left = count - PROBED_CALLS * per_call
        return summarize(pilot, draw_blocks(draw, left, stream.child(_MAIN)), support, significance)


def _within(values: np.ndarray, support: Support, what: str) -> np.ndarray:
    """Return losses as floats inside their support; raise `Unusable` if one is NaN or outside by more than rounding."""
    values = values.astype(np.float64)
    low, high = support
    if np.isnan(values).any():
        raise Unusable(f"{what} returned NaN ({int(np.isnan(values).sum())} of {len(values)} losses)")
    slack = _ROUNDING * (high - low) if math.isfinite(high - low) else _ROUNDING
    outside = (values < low - slack) | (values > high + slack) | np.isinf(values)
    if outside.any():
        raise Unusable(f"{what} returned {values[outside][0]:g}, outside its support [{low:g}, {high:g}]")
    return np.clip(values, low, high)
