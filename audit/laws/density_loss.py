"""Privacy loss of two one-dimensional laws given by densities, with or without atoms.

The line is cut into cells on which the log-ratio of the densities is monotone, so that {L > t} is an interval in each.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from audit.errors import InvalidArgument
from audit.laws.privacy_loss import (
    DIRECTIONS,
    Direction,
    FloatArray,
    PrivacyLoss,
    Tails,
    opposite,
    scale_by_exponential,
)
from audit.validate import real

_RATIO_TOLERANCE = 1e-11  # relative: log-ratios this close to a threshold do not exceed it
_MONOTONE_TOLERANCE = 1e-9  # relative: steps against the direction of a cell up to this are rounding
_BISECTIONS, _SECANTS = 160, 2  # enough to reach neighboring floats; secants save bisections where the ratio is linear
_DOUBLINGS, _NEGLIGIBLE = 400, 1e-17  # an infinite support is cut where at most this mass remains
_ROUNDING = 8 * np.finfo(float).eps
_SIGNS: dict[Direction, int] = {"left": 1, "right": -1}

Interval = tuple[FloatArray, FloatArray]
Function = Callable[[FloatArray], FloatArray]


class DensityLoss(PrivacyLoss):
    """Privacy loss of two laws on the line: a continuous part by its log-density, plus atoms.

    Parameters
    ----------
    left_logpdf, right_logpdf : callables, vectorized
        Log-densities of the continuous parts, with respect to one base measure; -inf outside the support. They are
        SUB-NORMALIZED: the density of a law with atoms of total mass m integrates to 1 - m.
    left_cdf, right_cdf : callables, vectorized
        An antiderivative of each density; only differences are used.
    breakpoints : sequence of float, finite
        Between consecutive breakpoints the log-ratio is monotone, constant allowed, and each density is smooth and
        either positive everywhere or zero everywhere. The caller guarantees this; it is spot-checked.
    left_atoms, right_atoms : mapping value -> probability, optional

    Notes
    -----
    Bisection finds the set {L > t} on each cell, down to neighboring floats. A point counts if its loss exceeds t
    by more than 1e-11 (1 + abs(t)), the `threshold_error`: a plateau of the ratio at exactly t (two Laplace laws of one
    scale) is not counted by rounding. The error of every bound includes the mass in the final brackets, the rounding of
    the cdf, and the mass beyond the points where the line is cut. `tail_error` is the largest such error on a grid of
    thresholds.

    The supremum of the ratio toward an infinite end is taken to be infinite unless the ratio has settled where less
    than 1e-17 of the mass remains: an upper bound. A log-ratio that is not monotone between breakpoints, or
    a total mass that misses 1 by more than 1e-9, raises `InvalidArgument`.

    Examples
    --------
    >>> from audit.laws import DensityLoss, Gaussian
    >>> left, right = Gaussian(0.0, 1.0), Gaussian(1.0, 1.0)
    >>> loss = DensityLoss(left.log_density, right.log_density, left_cdf=left.cdf, right_cdf=right.cdf)
    >>> round(loss.delta(1.0), 6)
    0.126937
    """

    def __init__(
        self,
        left_logpdf: Function,
        right_logpdf: Function,
        left_cdf: Function,
        right_cdf: Function,
        breakpoints: Sequence[float] = (),
        left_atoms: Mapping[float, float] | None = None,
        right_atoms: Mapping[float, float] | None = None,
    ) -> None:
        self._cdfs: dict[Direction, Function] = {"left": left_cdf, "right": right_cdf}
        left, right = _aligned_atoms(left_atoms or {}, right_atoms or {})
        self._atoms: dict[Direction, Interval] = {"left": (left, right), "right": (right, left)}
        ratio = partial(_log_ratio, left_logpdf, right_logpdf)
        self._cells, self._beyond = _cells_between(ratio, (left_cdf, right_cdf), breakpoints)
        for side, atoms in zip(DIRECTIONS, (left, right), strict=True):
            total = math.fsum([*atoms, *(cell.mass(self._cdfs[side]) for cell in self._cells)])
            if abs(total - 1) > 1e-9 + 2 * self._beyond:
                rule = "have total mass 1 within 1e-9, atoms and sub-normalized density together"
                raise InvalidArgument.of(f"{side} law", rule, total)
        noise = max((cell.noise for cell in self._cells), default=0.0)
        self.threshold_error = 3 * _RATIO_TOLERANCE + 4 * noise
        low, high = (min(self._attained_loss(side), 50.0) for side in ("right", "left"))
        self.tail_error = float(np.max(self._tails(np.linspace(-low, high, 64), "left")[2]))

    def max_loss(self, direction: Direction) -> float:
        """Return the supremum of the log-ratio over cells and atoms; inf at an end where it does not settle."""
        return self._largest(direction, [value for cell in self._cells for value in cell.limits])

    def _attained_loss(self, direction: Direction) -> float:
        return self._largest(direction, [value for cell in self._cells for value in cell.values])

    def _largest(self, direction: Direction, ratios: list[float]) -> float:
        atoms = float(np.max(_atom_ratio(*self._atoms[direction]), initial=0.0))
        return max(0.0, atoms, *(_SIGNS[direction] * ratio for ratio in ratios))

    def mass_at_infinity(self, direction: Direction) -> float:
        """Return the numerator's mass where the denominator has none: cells of infinite ratio, and lone atoms."""
        numerator, denominator = self._atoms[direction]
        cells = [cell for cell in self._cells if min(_SIGNS[direction] * value for value in cell.values) == math.inf]
        return math.fsum([*numerator[denominator == 0], *(cell.mass(self._cdfs[direction]) for cell in cells)])

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Bracket {L > t} by the sets above t + w and t - w; the upper misses at most 1 - e^(-2 w) of their mass."""
        window = self.threshold_error * (1 + np.abs(thresholds))
        wide, narrow = (self._cell_tails(thresholds + shift, direction) for shift in (-window, window))
        lowers = [p - error - scale_by_exponential(q + error, thresholds) for p, q, error in (wide, narrow)]
        p, q, error = narrow
        missed = np.maximum(wide[0] - p, 0.0) + error + wide[2]
        upper = p + error - scale_by_exponential(np.maximum(q - error, 0.0), thresholds) + 2 * window * missed
        numerator, denominator = self._atoms[direction]
        shape = (thresholds.size, denominator.size)
        excess = numerator - scale_by_exponential(np.broadcast_to(denominator, shape), thresholds[:, None])
        atoms = np.maximum(excess, 0.0).sum(axis=1)
        return atoms + np.maximum(*lowers), atoms + upper

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        strict = thresholds + _RATIO_TOLERANCE * (1 + np.abs(thresholds))
        p, q, error = self._cell_tails(strict, direction)
        numerator, denominator = self._atoms[direction]
        above = _atom_ratio(numerator, denominator)[None, :] > strict[:, None]
        return p + above @ numerator, q + above @ denominator, error

    def _cell_tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        """Sum the masses of the parts of the cells where the log-ratio exceeds each threshold."""
        p, q = np.zeros(thresholds.shape), np.zeros(thresholds.shape)
        error = np.full(thresholds.shape, self._beyond)
        for cell in self._cells:
            (start, stop), doubt = cell.exceeding(thresholds, _SIGNS[direction])
            for total, side in ((p, direction), (q, opposite(direction))):
                value, rounding = _mass(self._cdfs[side], start, stop)
                total += value
                error += rounding + sum(_mass(self._cdfs[side], *doubt))
        return p, q, error


def _atom_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(numerator) - np.log(denominator)


def _aligned_atoms(left: Mapping[float, float], right: Mapping[float, float]) -> Interval:
    values = list(dict.fromkeys([*left, *right]))
    first, second = (np.array([atoms.get(value, 0.0) for value in values], dtype=float) for atoms in (left, right))
    for name, masses in (("left_atoms", first), ("right_atoms", second)):
        if not (np.isfinite(masses).all() and (masses >= 0).all() and masses.sum() <= 1 + 1e-9):
            raise InvalidArgument.of(name, "hold probabilities >= 0 with a sum of at most 1", masses)
    kept = (first > 0) | (second > 0)
    return first[kept], second[kept]


def _mass(cdf: Function, start: FloatArray, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the masses of [start, stop], and bounds of the rounding of these differences."""
    low, high = (np.asarray(cdf(x), dtype=float) for x in (start, stop))
    return np.maximum(high - low, 0.0), _ROUNDING * np.where(stop > start, np.abs(high), 0.0)


def _log_ratio(left: Function, right: Function, x: FloatArray) -> FloatArray:
    """Return log left(x) - log right(x), which is nan where both densities vanish."""
    high, low = (np.asarray(f(x), dtype=float) for f in (left, right))
    if np.isnan(high).any() or np.isnan(low).any() or (high == np.inf).any() or (low == np.inf).any():
        raise InvalidArgument(f"a log-density must be below inf and not nan, on {x.min():g}..{x.max():g}")
    with np.errstate(invalid="ignore"):
        return high - low


@dataclass(frozen=True)
class _Cell:
    """An interval [start, stop] on which the log-ratio is monotone."""

    ratio: Function
    start: float
    stop: float
    rising: bool
    values: tuple[float, float]  # the ratio at both ends: bounds of its extremes on one side
    limits: tuple[float, float]  # on the other side, beyond a cut-off infinite end too
    noise: float  # largest step against the direction of the cell

    def mass(self, cdf: Function) -> float:
        return float(_mass(cdf, np.array([self.start]), np.array([self.stop]))[0][0])

    def exceeding(self, thresholds: FloatArray, sign: int) -> tuple[Interval, Interval]:
        """Return the intervals where sign * ratio exceeds each threshold, and the brackets left in doubt."""
        upwards = self.rising if sign > 0 else not self.rising
        bottom, top = (self.start, self.stop) if upwards else (self.stop, self.start)
        inside = (math.nextafter(bottom, top), math.nextafter(top, bottom))
        everywhere, somewhere = (sign * self.ratio(np.array([x]))[0] > thresholds for x in inside)
        cut, doubt = (np.where(everywhere, bottom, top) for _ in range(2))
        crossed = somewhere & ~everywhere
        doubt[crossed], cut[crossed] = self._bracket(thresholds[crossed], sign, *inside)
        end = np.full(thresholds.shape, top)
        if upwards:
            return (cut, end), (doubt, cut)
        return (end, cut), (cut, doubt)

    def _bracket(self, thresholds: FloatArray, sign: int, no: float, yes: float) -> tuple[FloatArray, FloatArray]:
        """Bracket the crossing of each threshold between neighboring floats."""
        below, above = np.full(thresholds.shape, no), np.full(thresholds.shape, yes)

        def narrow(x: FloatArray) -> tuple[FloatArray, FloatArray]:
            exceeds = sign * self.ratio(x) > thresholds
            return np.where(exceeds, below, x), np.where(exceeds, x, above)

        for _ in range(_SECANTS if thresholds.size else 0):
            # a few floats on either side of where a straight line crosses: linear ratios need one step
            low, high = (sign * self.ratio(x) - thresholds for x in (below, above))
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                guess = below - low / (high - low) * (above - below)
            guess = np.where(np.isfinite(guess), guess, (below + above) / 2)
            near = _ROUNDING * np.maximum(np.abs(below), np.abs(above))
            for probe in (guess - near, guess + near):
                below, above = narrow(np.clip(probe, np.minimum(below, above), np.maximum(below, above)))
        for _ in range(_BISECTIONS):
            middle = below + (above - below) / 2
            if np.all((middle == below) | (middle == above)):
                break
            below, above = narrow(middle)
        return below, above


def _cells_between(
    ratio: Function, cdfs: Sequence[Function], breakpoints: Sequence[float]
) -> tuple[list[_Cell], float]:
    """Cut the line into cells where a density is positive; return also a bound of the mass beyond the outer ends."""
    inner = sorted({real(b, "breakpoints") for b in breakpoints})
    if not all(map(math.isfinite, inner)):
        raise InvalidArgument.of("breakpoints", "be finite", breakpoints)
    start, lost_low = _cut(cdfs, inner[0] if inner else 0.0, -math.inf)
    stop, lost_high = _cut(cdfs, inner[-1] if inner else 0.0, math.inf)
    edges = [start, *(point for point in inner if start < point < stop), stop]
    last = len(edges) - 2
    built = [_cell(ratio, edges[k], edges[k + 1], k == 0, k == last) for k in range(last + 1)]
    return [cell for cell in built if cell is not None], lost_low + lost_high


def _cut(cdfs: Sequence[Function], anchor: float, end: float) -> tuple[float, float]:
    """Return a finite point with a negligible mass between it and the infinite `end`, and a bound of that mass."""
    for power in range(_DOUBLINGS):
        point = anchor + math.copysign(2.0**power, end)
        low, high = (np.array([x]) for x in sorted((point, end)))
        masses = [_mass(cdf, low, high) for cdf in cdfs]
        if max(value[0] for value, _ in masses) <= _NEGLIGIBLE:
            break
    return point, max(float(value[0] + error[0]) for value, error in masses)


def _cell(ratio: Function, start: float, stop: float, open_start: bool, open_stop: bool) -> _Cell | None:
    """Return the cell with the ratio at its ends; None if both densities vanish, an error if it is not monotone."""
    near = np.logspace(-9, -2, 36)
    shares = np.unique(np.concatenate([np.linspace(0, 1, 65)[1:-1], near, 1 - near]))
    first, last = math.nextafter(start, stop), math.nextafter(stop, start)
    points = np.unique(np.r_[first, np.clip(start + (stop - start) * shares, first, last), last])
    values = ratio(points)
    if np.isnan(values).all():
        return None
    if np.isnan(values).any():
        where = f"one lies inside [{start:g}, {stop:g}]"
        raise InvalidArgument(f"`breakpoints` must hold the ends of the densities' supports; {where}")
    noise = _require_monotone(points, values)
    at_start, at_stop = float(values[0]), float(values[-1])
    rising = at_stop >= at_start
    if at_start == at_stop or abs(at_stop - at_start) <= _RATIO_TOLERANCE * (1 + abs(at_start)):
        constant = (at_stop if open_start else at_start,) * 2
        return _Cell(ratio, start, stop, rising, constant, constant, noise)
    lowest = _limit(ratio, 2 * start - stop, at_start) if open_start else at_start
    highest = _limit(ratio, 2 * stop - start, at_stop) if open_stop else at_stop
    return _Cell(ratio, start, stop, rising, (at_start, at_stop), (lowest, highest), noise)


def _require_monotone(points: FloatArray, values: FloatArray) -> float:
    """Return the largest step against the direction of the cell, or raise if it is more than rounding."""
    finite = np.clip(values, -1e300, 1e300)
    steps = np.diff(finite) * (1 if finite[-1] >= finite[0] else -1)
    noise = max(0.0, -float(steps.min()))
    if noise > _MONOTONE_TOLERANCE * (1 + float(np.min(np.abs(finite)))):
        where = f"[{points[0]:g}, {points[-1]:g}], near {points[int(steps.argmin())]:g}"
        raise InvalidArgument(f"`breakpoints` must make the log-ratio monotone between them; it is not on {where}")
    return noise


def _limit(ratio: Function, further: float, value: float) -> float:
    """Return the limit toward an infinite end: the value there, or infinite if it has not settled."""
    beyond = float(ratio(np.array([further]))[0])
    if math.isnan(beyond) or abs(beyond - value) <= _MONOTONE_TOLERANCE * (1 + abs(value)):
        return value
    return math.copysign(math.inf, beyond - value)
