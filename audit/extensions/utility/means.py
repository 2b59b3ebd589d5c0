"""Draw losses and bound their means, one by one or several jointly; `docs/utility.md` has the proofs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.api import InvalidArgument, Stream, bounds, call, errors, independence

_ENDS, _NARROWINGS = 65, 10  # points of a search, whose interval becomes 1/64 or 1/32 as long; how often
_GRID = 800  # points per mean at which the region tabulates the log wealth
_SAFETY = 1e-6  # nats by which a numerical minimum of the log wealth is rounded down
_MULTIPLIERS = np.geomspace(1e-5, 1e3, 160)  # Lagrange multipliers that compete, relative to the size of the form

BLOCK = 1024  # values per call; a learner may hold an array of this many times n numbers
_FEWEST = 12  # losses below which nothing is left after the pilot
_PILOT_CALLS = 8
PROBED_CALLS = _PILOT_CALLS + 1  # the first call is made twice
_PILOT_SHARE, _LARGEST_PILOT = 0.1, 2048
_FEWEST_PER_CALL = 16  # values of one call below which dependence within it cannot show
_ALARM = 1e-9  # significance of the test for dependence within a call: its false alarms are negligible
_PILOT, _MAIN = 0, 1  # children of a stream

Support = tuple[float, float]


def require_support(support: Any, name: str = "support") -> Support:
    """Return (low, high) as floats, low < high, at least one of them finite."""
    try:
        low, high = map(float, support)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, "be (low, high)", support) from None
    if not low < high or (math.isinf(low) and math.isinf(high)):
        raise InvalidArgument.of(name, "be (low, high) with low < high and a finite end", support)
    return low, high


def draw_array(function: Callable[..., Any], *arguments: Any, count: int, stream: Stream, what: str) -> np.ndarray:
    """Return `count` numbers or booleans of one call, shape (count,); raise `Unusable` for anything else."""
    value = call(function, *arguments, count, stream.rng(), what=what)
    try:
        array = np.asarray(value)
    except ValueError:
        raise errors.Unusable(f"{what} returned a ragged {type(value).__name__}") from None
    if array.dtype.kind not in "biuf":
        raise errors.Unusable(f"{what} returned {type(value).__name__} of {array.dtype}, where numbers were due")
    if array.shape != (count,):
        raise errors.Unusable(f"{what} must return shape ({count},), got {array.shape}")
    return array


def draw_blocks(draw: Callable[[int, Stream], np.ndarray], count: int, stream: Stream) -> np.ndarray:
    """Return `count` values, drawn in blocks with a seed of their own each."""
    starts = range(0, count, BLOCK)
    return np.concatenate([draw(min(BLOCK, count - start), stream.child(i)) for i, start in enumerate(starts)])


def probe_calls(draw: Callable[[Stream], np.ndarray], stream: Stream, what: str) -> np.ndarray:
    """Return the values of several calls; raise `Unusable` unless they look like independent values of seeded calls."""
    calls = [draw(stream.child(index)) for index in range(_PILOT_CALLS)]
    if not np.array_equal(calls[0], draw(stream.child(0))):
        raise errors.Unusable(f"{what} gave other values under the same seed: it keeps state or ignores `rng`")
    values = np.concatenate(calls)
    if len(calls[0]) >= _FEWEST_PER_CALL and len(np.unique(values)) > 1:
        constant = all(len(np.unique(part)) == 1 for part in calls)
        if constant or independence.kruskal_pvalue(calls) < _ALARM:
            raise errors.Unusable(f"{what} gave values that share noise within a call: replicates are not independent")
    return values


class LossDrawer:
    """Draws losses of `(*leading, count, rng) -> (count,)`, and counts them in `drawn`."""

    def __init__(self, losses: Callable[..., Any]) -> None:
        self._losses = losses
        self.drawn = 0

    def sample(
        self, count: int, support: Support, stream: Stream, significance: float, *leading: int
    ) -> bounds.MeanSample:
        """Draw `count` losses, the first of which choose the bets, and summarize them for bounds."""
        at = f" at n = {leading[0]}" if leading else ""
        if count < _FEWEST:
            raise errors.Unusable(f"the budget gives {count} losses{at}, fewer than {_FEWEST}")

        def draw(size: int, child: Stream) -> np.ndarray:
            self.drawn += size
            what, (low, high) = f"losses(){at}", support
            values = draw_array(self._losses, *leading, count=size, stream=child, what=what).astype(np.float64)
            if np.isnan(values).any():
                raise errors.Unusable(f"{what} returned NaN ({int(np.isnan(values).sum())} of {len(values)} losses)")
            slack = bounds.ROUNDING * (high - low) if math.isfinite(high - low) else bounds.ROUNDING
            outside = (values < low - slack) | (values > high + slack) | np.isinf(values)
            if outside.any():
                raise errors.Unusable(
                    f"{what} returned {values[outside][0]:g}, outside its support [{low:g}, {high:g}]"
                )
            return np.clip(values, low, high)

        per_call = max(1, min(int(_PILOT_SHARE * count), _LARGEST_PILOT) // _PILOT_CALLS)
        pilot = probe_calls(lambda child: draw_blocks(draw, per_call, child), stream.child(_PILOT), f"losses(){at}")
        losses = draw_blocks(draw, count - PROBED_CALLS * per_call, stream.child(_MAIN))
        return bounds.summarize(pilot, losses, support, significance)


@dataclass(frozen=True)
class LogGrid:
    """The linear forms of a weighted log-log regression over several sizes; all arrays have shape (k,)."""

    x: np.ndarray  # natural logarithm of the scale, increasing
    weights: np.ndarray  # of the squared residuals, > 0

    @property
    def halves(self) -> tuple[slice, slice]:
        """The rows of the lower and the upper half; the middle, one row or two, belongs to both."""
        return slice(0, len(self.x) // 2 + 1), slice((len(self.x) - 1) // 2, None)

    def exponent(self, rows: slice = slice(None)) -> np.ndarray:
        """Return the form of the decay exponent fitted to some rows, minus the weighted slope."""
        x, w = self.x[rows], self.weights[rows]
        centered = x - np.average(x, weights=w)
        form = np.zeros(len(self.x))
        form[rows] = -w * centered / float((w * centered**2).sum())
        return form

    @property
    def bend(self) -> np.ndarray:
        """The form of the change of the exponent over half the grid, lower half to upper half."""
        lower, upper = self.halves
        apart = float(self.x[upper].mean() - self.x[lower].mean())
        return (self.exponent(upper) - self.exponent(lower)) * float(np.ptp(self.x)) / (2 * apart)

    def at(self, row: int) -> np.ndarray:
        """Return the form of the log mean at one row."""
        form = np.zeros(len(self.x))
        form[row] = 1.0
        return form


class Region:
    """The joint region of the means of independent samples; some mean lies outside with probability `significance`."""

    def __init__(self, samples: Sequence[bounds.MeanSample], significance: float) -> None:
        self._threshold = math.log(1 / significance)
        lowest = [_lowest(sample) for sample in samples]
        total = sum(least for _, least in lowest)
        self._wealth = [
            _LogWealth(sample, place, least, self._threshold - total + least)
            for sample, (place, least) in zip(samples, lowest, strict=True)
        ]
        # per log mean; inf where the region does not bound it
        self.widths = np.array([np.ptp(wealth.grid) if len(wealth.grid) else math.inf for wealth in self._wealth])
        self.unbounded = np.flatnonzero(np.isinf(self.widths)).tolist()  # indices

    def bounds(self, form: np.ndarray) -> tuple[float, float]:
        """Return bounds of sum form_k log mean_k over the region; those of all forms hold together."""
        return -self._upper(-form), self._upper(form)

    def _upper(self, form: np.ndarray) -> float:
        if any(form[index] != 0 for index in self.unbounded):
            return math.inf
        multipliers = float(np.abs(form).max()) * float(self.widths[form != 0].mean()) * _MULTIPLIERS
        parts = (wealth.support(factor, multipliers) for wealth, factor in zip(self._wealth, form, strict=True))
        return float((multipliers * self._threshold + sum(parts)).min())


class _LogWealth:
    """The log wealth at one size, tabulated over the log means where it is at most `room`; it is least at `place`."""

    def __init__(self, sample: bounds.MeanSample, place: float, least: float, room: float) -> None:
        self.least = least  # bounds it from below everywhere
        self.grid = self.between = np.empty(0)  # the grid stays empty if the region does not bound the log mean
        low, high = (_end(sample, place, outside, room) for outside in (sample.low, sample.high))
        if low > 0 and math.isfinite(high):
            self.grid = np.linspace(math.log(low), math.log(high), _GRID)
            values = sample.log_wealth(np.exp(self.grid))
            self.between = np.minimum(values[1:], values[:-1])  # bounds it from below between neighbors of the grid
            holds = np.searchsorted(self.grid, math.log(place))
            self.between[max(0, holds - 2) : holds + 1] = least

    def support(self, factor: float, nu: np.ndarray) -> np.ndarray:
        """Return an upper bound of factor * log m - nu * c(m) over the means of the region, for each nu."""
        if factor == 0:
            return -nu * self.least
        ends = np.maximum(factor * self.grid[1:], factor * self.grid[:-1])
        return np.asarray((ends - np.multiply.outer(nu, self.between)).max(axis=1))


def _lowest(sample: bounds.MeanSample) -> tuple[float, float]:
    """Return a mean where the log wealth is nearly least, and a lower bound of it at all means."""
    one_sided, unbounded = (sample.above_low is None) != (sample.below_high is None), sample.above_low is None
    if one_sided or unbounded:  # bets on one side fall to 0 towards the infinite end, and no bets keep their wealth
        return sample.mean, -math.log(2) - _SAFETY if one_sided else 0.0
    low, high, lowest = sample.low, sample.high, -math.inf
    for _ in range(_NARROWINGS):
        grid = np.linspace(low, high, _ENDS)
        values = sample.log_wealth(grid)
        best = int(values.argmin())
        middle = min(max(best, 1), len(grid) - 2)
        around = values[middle - 1], values[middle + 1]
        lowest = float(2 * values[middle] - max(around))  # the chords on both sides of a convex function, extended
        if values[best] - lowest <= _SAFETY:
            break
        low, high = float(grid[middle - 1]), float(grid[middle + 1])
    return float(grid[best]), lowest - _SAFETY


def _end(sample: bounds.MeanSample, inside: float, outside: float, room: float) -> float:
    """Return a mean at or beyond which the log wealth exceeds `room`, or the end of the support."""
    if math.isinf(outside) or float(sample.log_wealth(outside)) <= room:
        return outside
    return bounds.find_change(lambda means: sample.log_wealth(means) <= room, inside, outside)[1]
