"""Observe the mean loss of a learner, at one or several sample sizes; what cannot be judged raises `Unusable`."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, ParamSpec, TypeVar

import numpy as np
from scipy import stats

from audit.base.arguments import integer
from audit.base.errors import InvalidArgument
from audit.checks.base import Allowance, Evidence
from audit.checks.utility.mean_bounds import MeanSample, summarize
from audit.checks.utility.theorem import UtilityCheck, UtilityEvidence
from audit.subjects import Stream
from audit.subjects.subject import CAUGHT

BLOCK = 1024  # values per call; a learner may hold an array of this many times n numbers
_FEWEST = 12  # losses below which nothing is left after the pilot
_PILOT_CALLS = 8
PROBED_CALLS = _PILOT_CALLS + 1  # the first call is made twice
_PILOT_SHARE, _LARGEST_PILOT = 0.1, 2048
_FEWEST_PER_CALL = 16  # values of one call below which dependence within it cannot be seen
_ALARM = 1e-9  # significance of the test for dependence within a call: its false alarms are negligible
_ROUNDING = 1e-9  # relative error of arithmetic: of a loss, to the width of its support, and of an evaluator
_PILOT, _MAIN = 0, 1  # children of a stream

Support = tuple[float, float]
P = ParamSpec("P")
R = TypeVar("R")


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
    values = np.concatenate(calls)
    if len(calls[0]) >= _FEWEST_PER_CALL and len(np.unique(values)) > 1:
        constant = all(len(np.unique(part)) == 1 for part in calls)
        if constant or stats.kruskal(*calls).pvalue < _ALARM:
            raise Unusable(f"{what} gave values that share noise within a call: the replicates are not independent")
    return values


class LossDrawer:
    """Draws losses of `(*leading, count, rng) -> (count,)`, and counts them in `drawn`."""

    def __init__(self, losses: Callable[..., Any]) -> None:
        self._losses = losses
        self.drawn = 0

    def sample(self, count: int, support: Support, significance: float, stream: Stream, *leading: int) -> MeanSample:
        """Draw a pilot and a sample, `count` losses together, and summarize them for bounds of this significance."""
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


@dataclass(frozen=True)
class CurvePoint:
    """The observations at one sample size: an evaluator's value, simulated losses, or both."""

    size: int
    exact: float | None
    sample: MeanSample | None
    reference: float | None  # value of the function that the claim states: a bound, or a scale

    def interval(self, significance: float) -> tuple[float, float]:
        """Return bounds of the mean, each wrong with probability at most `significance`; equal if it was computed."""
        if self.sample is not None:
            return self.sample.bounds(significance)
        assert self.exact is not None
        return self.exact, self.exact


@dataclass(frozen=True)
class CurveEvidence(UtilityEvidence):
    """The curve."""

    points: tuple[CurvePoint, ...] = ()
    beyond: tuple[CurvePoint, ...] = ()  # values of an evaluator at larger sizes, before a rate is refuted
    compared: tuple[CurvePoint, ...] = ()  # where the losses were compared with the evaluator: both are there

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that were observed."""
        return tuple(point.size for point in self.points)

    def intervals(self, significance: float, *, compared: bool = False) -> list[tuple[float, float]]:
        """Return bounds of all means of one kind, together right with probability at least 1 - significance."""
        points = self.compared if compared else self.points
        share = significance / (2 * max(1, len(points)))
        return [point.interval(share) for point in points]

    def barred(self, significance: float) -> str | None:
        """Return why there can be no verdict: the check ended early, or the losses contradict the evaluator."""
        if self.failure is not None:
            return self.failure
        for point, (lower, upper) in zip(self.compared, self.intervals(significance, compared=True), strict=True):
            assert point.exact is not None
            if not lower - _ROUNDING * abs(lower) <= point.exact <= upper + _ROUNDING * abs(upper):
                numbers = f"{point.exact:.6g}, and a mean in [{lower:.6g}, {upper:.6g}]"
                return f"the evaluator and the losses disagree at n = {point.size}: {numbers}"
        return None

    def how(self, significance: float) -> str:
        if self.uses == "simulation":
            return "by simulation"
        if not self.compared:
            return "by an evaluator, without noise"
        widest = max((upper - lower) / 2 for lower, upper in self.intervals(significance, compared=True))
        sizes = ", ".join(str(point.size) for point in self.compared)
        return f"by an evaluator, without noise; the losses agree with it within {widest:.2g} at n = {sizes}"


@dataclass(frozen=True, kw_only=True)
class CurveCheck(UtilityCheck):
    """A claim about the mean loss as a function of the sample size; `ConsistencyCheck` documents its parameters."""

    losses: Callable[..., Any] | None = None
    evaluator: Callable[[int], float] | None = None
    sizes: Sequence[int]
    support: Support | Callable[[int], Support] = (0.0, 1.0)
    compared_at: Sequence[int] = ()

    callables: ClassVar = {"evaluator": "(n)", "losses": "(n, replicates, rng)"}
    least_sizes: ClassVar[int] = 1
    evidence_type: ClassVar[type[Evidence]] = CurveEvidence

    def _validate(self) -> None:
        if self.losses is None and self.evaluator is None:
            raise InvalidArgument("one of `losses` and `evaluator` must be given, got neither")
        object.__setattr__(self, "sizes", _checked_sizes(self.sizes, "sizes", self.least_sizes))
        if self.losses is not None and self.evaluator is not None:
            compared = _checked_sizes(self.compared_at or self.sizes[:1], "compared_at", 1)
            object.__setattr__(self, "compared_at", compared)
        elif self.compared_at:
            raise InvalidArgument("`compared_at` needs both `losses` and `evaluator`")
        if self.losses is not None and not callable(self.support):
            self._convert(support=require_support)

    def reference(self, size: int) -> float | None:
        """Return the value at `size` of the function that the claim states, if it states one."""
        return None

    def bet_share(self, significance: float) -> float:
        """Return the significance for which bets are chosen; the bounds hold whatever it is."""
        return significance / (2 * len(self.sizes))

    def look_beyond(self, points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
        """Return further values of an evaluator, if the kind of check needs any."""
        return ()

    def gather(self, allowance: Allowance) -> CurveEvidence:
        """Observe every size; a failure ends it, and what was observed before is kept."""
        drawer = LossDrawer(self.subject if self.losses is None else self.losses)
        points: list[CurvePoint] = []
        compared: list[CurvePoint] = []
        beyond: tuple[CurvePoint, ...] = ()
        failure = None
        count, share = allowance.budget // len(self.compared_at or self.sizes), self.bet_share(allowance.significance)

        def simulate(index: int, size: int) -> MeanSample:
            return drawer.sample(count, self._support_at(size), share, allowance.stream.child(index), size)

        try:
            for index, size in enumerate(self.sizes):
                sample = simulate(index, size) if self.evaluator is None else None
                points.append(CurvePoint(size, self._value(size), sample, self.reference(size)))
            for index, size in enumerate(self.compared_at):
                compared.append(CurvePoint(size, self._value(size), simulate(index, size), None))
            beyond = self.look_beyond(tuple(points))
        except Unusable as unusable:
            failure = str(unusable)
        values = 0 if self.evaluator is None else len(points) + len(beyond)
        return CurveEvidence(drawer.drawn + values, self.uses, tuple(points), beyond, tuple(compared), failure=failure)

    def _value(self, size: int) -> float | None:
        return None if self.evaluator is None else call_number(self.evaluator, "evaluator", size)

    def _support_at(self, size: int) -> Support:
        if not callable(self.support):
            return self.support
        try:
            return require_support(call(self.support, size, what=f"support({size})"))
        except InvalidArgument as error:
            raise Unusable(str(error)) from None


def exceeds(a: float, b: float) -> bool:
    """Return whether a > b by more than the rounding of an evaluator."""
    return a > b + _ROUNDING * abs(b)


def _checked_sizes(sizes: Any, name: str, least: int) -> tuple[int, ...]:
    try:
        listed = tuple(integer(size, name, at_least=1) for size in sizes)
    except TypeError:
        raise InvalidArgument.of(name, "be a sequence of integers", sizes) from None
    if len(listed) < least:
        raise InvalidArgument.of(name, f"hold at least {least} sample sizes", sizes)
    if any(b <= a for a, b in pairwise(listed)):
        raise InvalidArgument.of(name, "increase", sizes)
    return listed


def losses_or_evaluator(check: Callable[P, R]) -> Callable[P, R]:
    """Return a function `check_...` whose `losses` may be left out if an `evaluator` takes their place."""

    @functools.wraps(check)
    def wrapped(*arguments: P.args, **settings: P.kwargs) -> R:
        if not arguments:
            settings.setdefault("losses", None)
        return check(*arguments, **settings)

    return wrapped
