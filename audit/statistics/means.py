"""Draw losses and bound their means in finite samples, one by one or several jointly; `docs/utility.md` has the proofs.

A bet at rate r that the mean exceeds m has the wealth prod (1 + r (X_i - low)) / (1 + r (m - low)). It depends on the
losses through sum log(1 + r (X_i - low)), one number per rate: the evidence stores these sums.

References
----------
Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, section 4.
Orabona and Jun (2023), Tight concentrations and confidence sequences from the regret of universal portfolio.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from audit.errors import InvalidArgument
from audit.execution.sandbox import is_of_subject
from audit.execution.seeds import Stream
from audit.limits import Limits, Nonnegative
from audit.statistics.independence import kruskal_pvalue
from audit.text import described

_SPREAD = np.array([-4.0, -3.0, -2.0, -1.25, -0.5, 0.0, 0.5, 1.25, 2.0])  # log2 of each rate over the central one
# Weights of the mixture; the outer rates hedge against a bad pilot
_LOG_WEIGHTS = np.log(np.array([1, 1, 1, 2, 30, 30, 30, 3, 2]) / 100)
_LARGEST_STAKE = 0.9  # share of the wealth that the central rate risks on one loss
_TINY = 1e-280  # a pilot mean below this overflows the rate
_ENDS, _NARROWINGS = 65, 10  # points of a search, whose interval becomes 1/64 or 1/32 of what it was; how often
_GRID = 800  # points per mean at which the region tabulates the log wealth
_SAFETY = 1e-6  # nats by which a numerical minimum of the log wealth is rounded down
_MULTIPLIERS = np.geomspace(1e-5, 1e3, 160)  # Lagrange multipliers that compete, relative to the size of the form

BLOCK = 1024  # values per call; a learner may hold an array of this many times n numbers
_FEWEST = 12  # losses below which nothing is left after the pilot
_PILOT_CALLS = 8
PROBED_CALLS = _PILOT_CALLS + 1  # the first call is made twice
_PILOT_SHARE, _LARGEST_PILOT = 0.1, 2048
_FEWEST_PER_CALL = 16  # values of one call below which dependence within it cannot be seen
_ALARM = 1e-9  # significance of the test for dependence within a call: its false alarms are negligible
ROUNDING = 1e-9  # relative error of arithmetic: of a loss, to the width of its support, and of an evaluator
_PILOT, _MAIN = 0, 1  # children of a stream


Support = tuple[float, float]
Rates = Annotated[tuple[Nonnegative, ...], Limits(shortest=1)]


@dataclass(frozen=True)
class Bets:
    """The bets that losses lie further from one end of their support than a candidate mean does."""

    rates: Rates  # chosen without the losses that they bet on; unit 1 / loss
    growth: Rates  # per rate, the sum over the losses of log(1 + rate * distance from the end)

    @classmethod
    def on(cls, distances: np.ndarray, pilot: np.ndarray, significance: float) -> Bets:
        """Return the bets on `distances` at rates that the distances of the pilot suggest."""
        mean, spread = float(pilot.mean()), float(pilot.std())
        center = 1.0
        if mean > _TINY:
            fraction = _LARGEST_STAKE / mean
            if spread > 0:
                fraction = min(fraction, math.sqrt(2 * math.log(1 / significance) / len(distances)) / spread)
            center = fraction / (1 - fraction * mean)
        rates = center * 2.0**_SPREAD
        return cls(tuple(map(float, rates)), tuple(float(np.log1p(rate * distances).sum()) for rate in rates))

    def log_wealth(self, count: int, distance: np.ndarray | float) -> np.ndarray:
        """Return the log wealth against means at most `distance` from the end; decreasing and convex in it."""
        rates, growth = self._arrays  # a bound asks for the wealth many times
        paid = count * np.log1p(np.multiply.outer(distance, rates))
        return np.asarray(np.logaddexp.reduce(growth - paid + _LOG_WEIGHTS, axis=-1))

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.rates), np.array(self.growth)

    def refuted_up_to(self, count: int, farthest: float, significance: float) -> float:
        """Return the largest refuted distance up to `farthest`, rounded down; 0.0 if none is refuted."""
        target = math.log(1 / significance)
        if self.log_wealth(count, 0.0) < target:
            return 0.0
        return _change(lambda distances: self.log_wealth(count, distances) >= target, 0.0, farthest)[0]


@dataclass(frozen=True)
class MeanSample:
    """The summary of a sample of losses that the bounds of its mean need."""

    low: float  # the support of a loss; either end may be infinite, and has no bets then
    high: float
    count: int  # without the pilot
    mean: float  # an estimate
    above_low: Bets | None
    below_high: Bets | None

    @property
    def fits_its_bets(self) -> bool:
        """True if losses in the support with this mean can bring the growth of every bet: logarithms are concave."""
        sides = (self.above_low, self.mean - self.low), (self.below_high, self.high - self.mean)
        grown = [(n, r, d) for bets, d in sides if bets for r, n in zip(bets.rates, bets.growth, strict=True)]
        room = ROUNDING * max(1.0, abs(self.mean))
        is_inside = self.low - room <= self.mean <= self.high + room
        return is_inside and all(n <= self.count * math.log1p(r * max(d, 0)) + 1e-6 for n, r, d in grown)

    def bounds(self, significance: float) -> tuple[float, float]:
        """Return both bounds, each wrong with probability at most `significance`; -inf or inf if there is none."""
        return self.lower_bound(significance), self.upper_bound(significance)

    def lower_bound(self, significance: float) -> float:
        if self.above_low is None:
            return -math.inf
        return self.low + self.above_low.refuted_up_to(self.count, abs(self.mean - self.low), significance)

    def upper_bound(self, significance: float) -> float:
        if self.below_high is None:
            return math.inf
        return self.high - self.below_high.refuted_up_to(self.count, abs(self.high - self.mean), significance)

    def log_wealth(self, mean: np.ndarray | float) -> np.ndarray:
        """Return the log of half the wealth bet on each side against `mean`; convex in the mean."""
        sides = (self.above_low, np.subtract(mean, self.low)), (self.below_high, np.subtract(self.high, mean))
        logs = [
            bets.log_wealth(self.count, np.maximum(distance, 0.0)) if bets else np.zeros(np.shape(mean))
            for bets, distance in sides
        ]
        return np.asarray(np.logaddexp(*logs) - math.log(2))


def summarize(pilot: np.ndarray, losses: np.ndarray, support: tuple[float, float], significance: float) -> MeanSample:
    """Return the summary of losses for bounds that hold at any significance and are narrowest at the given one."""
    low, high = support
    above = Bets.on(losses - low, pilot - low, significance) if math.isfinite(low) else None
    below = Bets.on(high - losses, high - pilot, significance) if math.isfinite(high) else None
    return MeanSample(low, high, len(losses), float(losses.mean()), above, below)


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
    except BaseException as error:  # also the one of sys.exit
        if not is_of_subject(error):
            raise
        raise Unusable(f"{what} raised {type(error).__name__}: {described(error)[:200]}") from error


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
    values = np.concatenate(calls)
    if len(calls[0]) >= _FEWEST_PER_CALL and len(np.unique(values)) > 1:
        constant = all(len(np.unique(part)) == 1 for part in calls)
        if constant or kruskal_pvalue(calls) < _ALARM:
            raise Unusable(f"{what} gave values that share noise within a call: the replicates are not independent")
    return values


class LossDrawer:
    """Draws losses of `(*leading, count, rng) -> (count,)`, and counts them in `drawn`."""

    def __init__(self, losses: Callable[..., Any]) -> None:
        self._losses = losses
        self.drawn = 0

    def sample(self, count: int, support: Support, significance: float, stream: Stream, *leading: int) -> MeanSample:
        """Draw a pilot and a sample, `count` losses together, and summarize them for bounds of this significance."""
        pilot = self.pilot(count, support, stream, *leading)
        return pilot.sample(pilot.left, significance)

    def pilot(self, count: int, support: Support, stream: Stream, *leading: int) -> PilotSample:
        """Draw the part of `count` losses that chooses the bets on the others."""
        at = f" at n = {leading[0]}" if leading else ""
        if count < _FEWEST:
            raise Unusable(f"the budget gives {count} losses{at}, fewer than {_FEWEST}")

        def draw(size: int, child: Stream) -> np.ndarray:
            self.drawn += size
            what, (low, high) = f"losses(){at}", support
            values = draw_array(self._losses, *leading, count=size, stream=child, what=what).astype(np.float64)
            if np.isnan(values).any():
                raise Unusable(f"{what} returned NaN ({int(np.isnan(values).sum())} of {len(values)} losses)")
            slack = ROUNDING * (high - low) if math.isfinite(high - low) else ROUNDING
            outside = (values < low - slack) | (values > high + slack) | np.isinf(values)
            if outside.any():
                raise Unusable(f"{what} returned {values[outside][0]:g}, outside its support [{low:g}, {high:g}]")
            return np.clip(values, low, high)

        per_call = max(1, min(int(_PILOT_SHARE * count), _LARGEST_PILOT) // _PILOT_CALLS)
        values = probed(lambda child: draw_blocks(draw, per_call, child), stream.child(_PILOT), f"losses(){at}")
        return PilotSample(values, count - PROBED_CALLS * per_call, support, draw, stream)


@dataclass(frozen=True)
class PilotSample:
    """Losses that choose the bets on those drawn after them, of which `left` are due."""

    values: np.ndarray
    left: int
    support: Support
    draw: Callable[[int, Stream], np.ndarray]
    stream: Stream

    @property
    def relative_spread(self) -> float:
        """An estimate of the standard deviation of a loss over its mean, finite for a pilot of zeros too."""
        mean, most = float(self.values.mean()), math.sqrt(len(self.values))
        return most if mean <= _TINY else min(max(float(self.values.std()) / mean, 1 / most), most)

    def sample(self, count: int, significance: float) -> MeanSample:
        """Draw `count` losses, and summarize them for bounds of this significance."""
        losses = draw_blocks(self.draw, count, self.stream.child(_MAIN))
        return summarize(self.values, losses, self.support, significance)


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

    def __init__(self, samples: Sequence[MeanSample], significance: float) -> None:
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

    def __init__(self, sample: MeanSample, place: float, least: float, room: float) -> None:
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


def _lowest(sample: MeanSample) -> tuple[float, float]:
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


def _end(sample: MeanSample, inside: float, outside: float, room: float) -> float:
    """Return a mean at or beyond which the log wealth exceeds `room`, or the end of the support."""
    if math.isinf(outside) or float(sample.log_wealth(outside)) <= room:
        return outside
    return _change(lambda means: sample.log_wealth(means) <= room, inside, outside)[1]


def _change(holds: Callable[[np.ndarray], np.ndarray], inside: float, outside: float) -> tuple[float, float]:
    """Return the ends of an interval in which `holds` changes: it is true at the first, and maybe not at the second.

    Many points are looked at together, which is much faster than to halve the interval as often as it takes.
    """
    for _ in range(_NARROWINGS):
        grid = np.linspace(inside, outside, _ENDS)
        kept = int(np.append(holds(grid[1:-1]), False).argmin())
        if (inside, outside) == (before := (float(grid[kept]), float(grid[kept + 1]))):
            break
        inside, outside = before
    return inside, outside
