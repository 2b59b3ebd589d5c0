"""Cells of the line on which the log-ratio of two densities is monotone, and masses of intervals under a density."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.base.arguments import real
from audit.base.errors import InvalidArgument
from audit.laws.privacy_loss import FloatArray

RATIO_TOLERANCE = 1e-11
_MONOTONE_TOLERANCE = 1e-9
_BISECTIONS = 160
_SECANTS = 2
_DOUBLINGS = 400

_ROUNDING = 8 * np.finfo(float).eps

Interval = tuple[FloatArray, FloatArray]
Function = Callable[[FloatArray], FloatArray]
Measure = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""(start, stop) -> the masses of [start, stop], and bounds of their errors."""


def measure(log_density: Function, cdf: Function | None) -> Measure:
    """Return the measure of a density whose total mass may be below 1.

    With `cdf` the error is the rounding of a difference. Without it each interval takes one adaptive quadrature, and
    the error is the one that QUADPACK reports.
    """

    def between(start: FloatArray, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
        assert cdf is not None
        low, high = (np.asarray(cdf(x), dtype=float) for x in (start, stop))
        return np.maximum(high - low, 0.0), _ROUNDING * np.where(stop > start, np.abs(high), 0.0)

    def integrated(start: FloatArray, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
        pairs = [_integral(log_density, float(a), float(b)) for a, b in zip(start, stop, strict=True)]
        values, errors = np.array(pairs, dtype=float).reshape(-1, 2).T
        return np.maximum(values, 0.0), errors

    return integrated if cdf is None else between


def _integral(log_density: Function, start: float, stop: float) -> tuple[float, float]:
    from scipy import integrate

    def density(x: float) -> float:
        return math.exp(float(np.asarray(log_density(np.array([x], dtype=float)))[0]))

    if not start < stop:
        return 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", integrate.IntegrationWarning)
        value, error = integrate.quad(density, start, stop, epsabs=1e-13, epsrel=1e-11, limit=200)
    return (value, error) if math.isfinite(value) else (0.0, 1.0)


def log_ratio(left: Function, right: Function) -> Function:
    """Return x -> log left(x) - log right(x), which is nan where both densities vanish."""

    def ratio(x: FloatArray) -> FloatArray:
        high, low = (np.asarray(f(x), dtype=float) for f in (left, right))
        if np.isnan(high).any() or np.isnan(low).any() or (high == np.inf).any() or (low == np.inf).any():
            raise InvalidArgument(f"a log-density must be below inf and not nan, on {x.min():g}..{x.max():g}")
        with np.errstate(invalid="ignore"):
            return high - low

    return ratio


@dataclass(frozen=True)
class Cell:
    """An interval [start, stop] on which the log-ratio is monotone; `rising` if it is largest at the stop."""

    ratio: Function
    start: float
    stop: float
    rising: bool
    at_start: float
    at_stop: float
    limit_at_start: float
    limit_at_stop: float
    noise: float

    @property
    def ends(self) -> Interval:
        """The two ends as arrays of one element."""
        return np.array([self.start]), np.array([self.stop])

    def highest(self, sign: int) -> float:
        """Return the largest value of sign * ratio at the ends: a lower bound of its supremum."""
        return max(sign * self.at_start, sign * self.at_stop)

    def lowest(self, sign: int) -> float:
        """Return the least value of sign * ratio at the ends."""
        return min(sign * self.at_start, sign * self.at_stop)

    def supremum(self, sign: int) -> float:
        """Return an upper bound of sign * ratio on the cell and beyond a cut-off infinite end."""
        return max(sign * self.limit_at_start, sign * self.limit_at_stop)

    def exceeding(self, thresholds: FloatArray, sign: int) -> tuple[Interval, Interval]:
        """Return the intervals where sign * ratio exceeds each threshold, and the brackets left in doubt."""
        upwards = self.rising if sign > 0 else not self.rising
        bottom, top = (self.start, self.stop) if upwards else (self.stop, self.start)
        inside = (_inner(bottom, top), _inner(top, bottom))
        everywhere, somewhere = (sign * self.ratio(np.array([x]))[0] > thresholds for x in inside)
        cut, doubt = (np.where(everywhere, bottom, top) for _ in range(2))
        crossed = somewhere & ~everywhere
        doubt[crossed], cut[crossed] = self._bisect(thresholds[crossed], sign, *inside)
        end = np.full(thresholds.shape, top)
        if upwards:
            return (cut, end), (doubt, cut)
        return (end, cut), (cut, doubt)

    def _bisect(self, thresholds: FloatArray, sign: int, no: float, yes: float) -> tuple[FloatArray, FloatArray]:
        """Bracket the crossing of each threshold between neighboring floats."""
        below, above = np.full(thresholds.shape, no), np.full(thresholds.shape, yes)
        for _ in range(_SECANTS if thresholds.size else 0):
            below, above = self._secant(thresholds, sign, below, above)
        for _ in range(_BISECTIONS):
            middle = below + (above - below) / 2
            if np.all((middle == below) | (middle == above)):
                break
            exceeds = sign * self.ratio(middle) > thresholds
            below, above = np.where(exceeds, below, middle), np.where(exceeds, middle, above)
        return below, above

    def _secant(
        self, thresholds: FloatArray, sign: int, below: FloatArray, above: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Try a few floats on either side of where a straight line crosses; exact for linear ratios."""
        low, high = (sign * self.ratio(x) - thresholds for x in (below, above))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            guess = below - low / (high - low) * (above - below)
        guess = np.where(np.isfinite(guess), guess, (below + above) / 2)
        near = 8 * np.finfo(float).eps * np.maximum(np.abs(below), np.abs(above))
        for probe in (guess - near, guess + near):
            inside = np.clip(probe, np.minimum(below, above), np.maximum(below, above))
            exceeds = sign * self.ratio(inside) > thresholds
            below, above = np.where(exceeds, below, inside), np.where(exceeds, inside, above)
        return below, above


def cells_between(
    ratio: Function,
    measures: Sequence[Measure],
    support: tuple[float, float],
    breakpoints: Sequence[float],
    negligible: float,
) -> tuple[list[Cell], float]:
    """Cut the support at the breakpoints, and infinite ends where at most `negligible` mass remains.

    Returns
    -------
    cells : list of Cell
        Without those on which both densities vanish.
    beyond : float
        Bound of the mass, of either law, beyond the cut-off ends.
    """
    low, high = support
    points = [real(b, "breakpoints") for b in breakpoints]
    if not all(map(math.isfinite, points)):
        raise InvalidArgument.of("breakpoints", "be finite", breakpoints)
    inner = sorted({point for point in points if low < point < high})
    anchor = inner or [min(max(0.0, low), high)]
    start, lost_low = _cut(measures, anchor[0], low, negligible)
    stop, lost_high = _cut(measures, anchor[-1], high, negligible)
    edges = [start, *(point for point in inner if start < point < stop), stop]
    last = len(edges) - 2
    built = [
        _cell(ratio, edges[k], edges[k + 1], k == 0 and low == -math.inf, k == last and high == math.inf)
        for k in range(last + 1)
    ]
    return [cell for cell in built if cell is not None], lost_low + lost_high


def _cut(measures: Sequence[Measure], anchor: float, end: float, negligible: float) -> tuple[float, float]:
    """Return a finite point with at most `negligible` mass between it and `end`, and a bound of that mass."""
    if math.isfinite(end):
        return end, 0.0
    sign = math.copysign(1.0, end)
    for power in range(_DOUBLINGS):
        point = anchor + sign * 2.0**power
        low, high = (np.array([x]) for x in sorted((point, end)))
        masses = [mass(low, high) for mass in measures]
        if power == _DOUBLINGS - 1 or max(value[0] for value, _ in masses) <= negligible:
            break
    return point, max(float(value[0] + error[0]) for value, error in masses)


def _cell(ratio: Function, start: float, stop: float, open_start: bool, open_stop: bool) -> Cell | None:
    """Return the cell with the ratio at its ends; None if both densities vanish, an error if it is not monotone."""
    points = _probes(start, stop)
    values = ratio(points)
    if np.isnan(values).all():
        return None
    if np.isnan(values).any():
        rule = f"hold the ends of the densities' supports; one lies inside [{start:g}, {stop:g}]"
        raise InvalidArgument(f"`breakpoints` must {rule}")
    noise = _require_monotone(points, values)
    at_start, at_stop = float(values[0]), float(values[-1])
    rising = at_stop >= at_start
    if at_start == at_stop or abs(at_stop - at_start) <= RATIO_TOLERANCE * (1 + abs(at_start)):
        at_start = at_stop = at_stop if open_start else at_start
        return Cell(ratio, start, stop, rising, at_start, at_stop, at_start, at_stop, noise)
    first = _limit(ratio, 2 * start - stop, at_start) if open_start else at_start
    last = _limit(ratio, 2 * stop - start, at_stop) if open_stop else at_stop
    return Cell(ratio, start, stop, rising, at_start, at_stop, first, last, noise)


def _require_monotone(points: FloatArray, values: FloatArray) -> float:
    """Return the largest step against the direction of the cell, or raise if it is more than rounding."""
    finite = np.clip(values, -1e300, 1e300)
    steps = np.diff(finite) * (1 if finite[-1] >= finite[0] else -1)
    noise = max(0.0, -float(steps.min()))
    if noise > _MONOTONE_TOLERANCE * (1 + float(np.min(np.abs(finite)))):
        where = f"[{points[0]:g}, {points[-1]:g}], near {points[int(steps.argmin())]:g}"
        rule = "make the log-ratio monotone between them; it is not on"
        raise InvalidArgument(f"`breakpoints` must {rule} {where}")
    return noise


def _limit(ratio: Function, further: float, value: float) -> float:
    """Return the limit toward an infinite end: the value there, or infinite if it has not settled."""
    beyond = float(ratio(np.array([further]))[0])
    if math.isnan(beyond) or abs(beyond - value) <= _MONOTONE_TOLERANCE * (1 + abs(value)):
        return value
    return math.copysign(math.inf, beyond - value)


def _probes(start: float, stop: float) -> FloatArray:
    """Return points inside a cell: evenly spaced, and dense at both ends."""
    near = np.logspace(-9, -2, 36)
    shares = np.unique(np.concatenate([np.linspace(0, 1, 65)[1:-1], near, 1 - near]))
    inner = np.unique(start + (stop - start) * shares)
    return np.unique(np.r_[_inner(start, stop), inner[(inner > start) & (inner < stop)], _inner(stop, start)])


def _inner(end: float, other: float) -> float:
    """Return the float next to `end`, toward `other`."""
    return float(np.nextafter(end, other))
