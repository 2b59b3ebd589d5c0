"""Privacy loss of independent coordinates: losses rounded to a lattice on a known side, and convolved.

Of the discretizations of dp_accounting, the optimistic ones are made for one noise each, and "connect the dots" works
on differences of the profile, which loses digits: a delta of 1e-12 / 4 came out 160 times too large. The rounding here
needs only the tails of a loss, and accounts for their errors. Sums by a Fourier transform and the profile in one pass
are those of dp_accounting (Koskela et al. 2020, Doroshenko et al. 2022), for many thresholds at once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy import fft

from audit.errors import InvalidArgument
from audit.laws.privacy_loss import (
    DIRECTIONS,
    Direction,
    FloatArray,
    PrivacyLoss,
    Tails,
    no_loss,
    opposite,
    scale_by_exponential,
)
from audit.validate import positive

# They trade the gap between the bounds for time and memory; tests/core/laws/test_composition.py holds the gap.
_FEWEST_CELLS, _MOST_CELLS = 2**15, 2**18  # of the lattice, over the range of the composed loss
_TRUNCATION = 1e-15  # mass cut from the tails of unbounded losses
_NOTHING_LEFT = 1e-12  # finite losses of less mass than this are not convolved
_LARGEST_LOSS = 700.0  # e^700 is finite
_LEAST_MASS = 1e-12  # added to a distribution of less: a convolution needs some, and more is safe


def compose(parts: Sequence[PrivacyLoss], grid: float = 1e-4) -> PrivacyLoss:
    """Return the privacy loss of independent coordinates, one part each; coordinates of equal laws drop out.

    Gaussian coordinates are merged into one, and finite ones while their product stays small: these are exact. No parts
    give the loss of two equal laws, one is returned as it is. `grid` is that of `ComposedLoss`.

    Examples
    --------
    >>> from audit.laws import GaussianLoss, compose
    >>> compose([GaussianLoss(3.0), GaussianLoss(4.0)])
    GaussianLoss(shift_over_scale=5.0)
    """
    known = [coordinate for part in parts for coordinate in part.parts]
    kinds = dict.fromkeys(type(part) for part in known)
    flat = [loss for kind in kinds for loss in kind.merge([part for part in known if type(part) is kind])]
    if len(flat) < 2:
        return flat[0] if flat else no_loss()
    return _sum_of(tuple(flat), grid)


@lru_cache(maxsize=4)  # the pairs of a mechanism often have equal losses; convolved, one takes up to 8 MB
def _sum_of(parts: tuple[PrivacyLoss, ...], grid: float) -> ComposedLoss:
    return ComposedLoss(parts, grid)


class ComposedLoss(PrivacyLoss):
    """Sum of independent privacy losses, bounded from both sides on a lattice of losses.

    `delta` and `epsilon` are upper bounds from a discretization that dominates the pair of laws. `delta_lower_bound`
    and `epsilon_lower_bound` come from one that the pair dominates. The sum of the largest losses is exact: epsilon(0)
    returns it, and no delta gives more.

    Parameters
    ----------
    parts : sequence of PrivacyLoss, at least one
        One for each independent coordinate.
    grid : float > 0
        Wanted step of the lattice. It is made finer if the range of the loss has fewer than 2^15 steps, coarser beyond
        2^18, and divides the smallest of the largest losses: equal coordinates end on the lattice.

    Notes
    -----
    `tails` are those of the dominating discretization: the tails of the truth at a threshold displaced by at most
    `threshold_error`.

    References
    ----------
    Doroshenko et al. 2022, Connect the Dots, algorithm 1 (upper side).

    Examples
    --------
    >>> from audit.laws import ComposedLoss, LaplaceLoss
    >>> loss = ComposedLoss([LaplaceLoss(0.5), LaplaceLoss(0.5)])
    >>> loss.epsilon(0.0), loss.delta_lower_bound(0.5) <= loss.delta(0.5)
    (1.0, True)
    """

    def __init__(self, parts: Sequence[PrivacyLoss], grid: float = 1e-4) -> None:
        self._parts = tuple(coordinate for part in parts for coordinate in part.parts)
        if not self._parts:
            raise InvalidArgument.of("parts", "hold a loss that is not constantly 0", parts)
        self._cut = _TRUNCATION / len(self._parts)  # mass cut from each tail of an unbounded part
        self._spans = {(part, side): _span(part, side, self._cut) for part in set(self._parts) for side in DIRECTIONS}
        self._choose_lattice(positive(grid, "grid"))
        self._distributions: dict[tuple[Direction, bool], LatticeLoss] = {}
        self.threshold_error = (len(self._parts) + 1) * self._step
        self.tail_error = self._slack()

    def _choose_lattice(self, grid: float) -> None:
        """Choose the step, and the distance within which a loss counts as lying on a lattice point."""
        distinct = set(self._parts)
        ends = {part: [end for side in DIRECTIONS for end in self._spans[part, side]] for part in distinct}
        widths = np.array([max(b - a for a, b in (ends[part][:2], ends[part][2:])) for part in self._parts])
        reach = float(sum(max(map(abs, ends[part])) for part in self._parts))
        effective = float(min(widths.sum(), 20 * np.sqrt((widths**2).sum())))
        step = min(max(grid, effective / _MOST_CELLS), effective / _FEWEST_CELLS)
        largest = [part.max_loss(side) for part in distinct for side in DIRECTIONS]
        least = min((loss for loss in largest if 0 < loss < math.inf), default=0.0)
        self._step = least / math.ceil(least / step) if least > step else step
        self._cells = math.ceil(effective / self._step)
        tolerance = max(part.threshold_error for part in distinct) * (1 + reach)
        self._nudge = 1e-8 * self._step + 4e-16 * reach + 2 * tolerance

    @property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """The coordinates, without those of equal laws."""
        return self._parts

    def max_loss(self, direction: Direction) -> float:
        """Return the sum of the largest losses, exact: the coordinates are independent."""
        return math.fsum(part.max_loss(direction) for part in self._parts)

    def mass_at_infinity(self, direction: Direction) -> float:
        """Return 1 - prod(1 - m) over the masses m of the coordinates."""
        masses = [min(part.mass_at_infinity(direction), 1.0) for part in self._parts]
        if 1.0 in masses:
            return 1.0
        return -math.expm1(math.fsum(math.log1p(-mass) for mass in masses))

    def _attained_loss(self, direction: Direction) -> float:
        return math.fsum(part._attained_loss(direction) for part in self._parts)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Read both profiles at thresholds moved by the most by which the lattice displaces the loss."""
        leaked = self.mass_at_infinity(direction)
        if leaked > 1 - _NOTHING_LEFT:
            return np.full(thresholds.shape, leaked - _NOTHING_LEFT), np.ones(thresholds.shape)
        shift = len(self._parts) * self._nudge
        lower = self._profile(thresholds + shift, direction, False)
        upper = self._profile(thresholds - shift, direction, True)
        return lower - self.tail_error, upper + self.tail_error

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        """Read p and q off the profile, which is linear in e^t between two lattice points."""
        cells = np.floor(np.clip(thresholds, -_LARGEST_LOSS, _LARGEST_LOSS) / self._step)
        first, second = (cells + 0.25) * self._step, (cells + 0.75) * self._step
        at_first, at_second = (self._profile(t, direction, True) for t in (first, second))
        q = np.clip((at_first - at_second) / (np.exp(first) * np.expm1(second - first)), 0.0, 1.0)
        p = np.clip(at_first + np.exp(first) * q, 0.0, 1.0)
        return p, q, np.full(p.shape, self.tail_error)

    def _slack(self) -> float:
        """Bound what the discretized distributions leave out: errors of the parts, cut tails, FFT rounding."""
        parts = math.fsum(8 * part.tail_error for part in self._parts)
        # an FFT of N cells: u log2(N) in the 2-norm; times n for the n-th power, times sqrt(N) for a sum of its cells
        rounding = len(self._parts) * 2.0**-53 * math.sqrt(self._cells) * math.log2(self._cells)
        return parts + rounding + 8 * _TRUNCATION

    def _profile(self, thresholds: FloatArray, direction: Direction, pessimistic: bool) -> FloatArray:
        return self._distribution(direction, pessimistic).profile(thresholds)

    def _distribution(self, direction: Direction, pessimistic: bool) -> LatticeLoss:
        """Convolve the discretized parts; computed once."""
        key = (direction, pessimistic)
        if key not in self._distributions:
            counted = Counter(self._parts).items()
            parts = [(self._discretize(part, direction, pessimistic), times) for part, times in counted]
            self._distributions[key] = sum_losses(parts, _TRUNCATION)
        return self._distributions[key]

    def _discretize(self, part: PrivacyLoss, direction: Direction, pessimistic: bool) -> LatticeLoss:
        """Return a lattice distribution whose profile lies above (pessimistic) or below that of `part`."""
        low, high = self._spans[part, direction]
        first = math.floor((low - self._nudge) / self._step)
        last = max(math.ceil((high - self._nudge) / self._step), first + 1)
        points = np.asarray(np.arange(first, last + 1) * self._step, dtype=float)
        if pessimistic:
            masses, infinite = _dominating(part._tails(points + self._nudge, direction), points, self._step)
        else:
            # each loss is rounded down to the lattice; mass below the first point is dropped
            p = part._tails(points - self._nudge, direction)[0]
            infinite = min(part.mass_at_infinity(direction), float(p[-1]))
            masses = np.maximum(p - np.append(p[1:], infinite), 0.0)
        return LatticeLoss(self._step, first, masses, min(1.0, infinite))


def _dominating(tails: Tails, points: FloatArray, step: float) -> tuple[FloatArray, float]:
    """Spread the mass of each cell over its ends, keeping p and q of the cell; tail errors raise the upper share.

    The share of t in (s, t] is (P - e^s Q) / (1 - e^(s - t)) (Doroshenko et al. 2022, algorithm 1).
    """
    p, q, error = tails
    cell_p, cell_q = np.maximum(p[:-1] - p[1:], 0.0), np.maximum(q[:-1] - q[1:], 0.0)
    doubt = error[:-1] + error[1:]
    excess = cell_p + doubt - scale_by_exponential(np.maximum(cell_q - doubt, 0.0), points[:-1])
    up = np.clip(excess / -np.expm1(-step), 0.0, cell_p)
    masses = np.zeros(points.shape)
    masses[1:] += up
    masses[:-1] += cell_p - up
    masses[0] += max(0.0, 1 - p[0])
    masses[-1] += _LEAST_MASS if masses.sum() < _LEAST_MASS else 0.0
    return masses, float(p[-1] + error[-1])


def _span(loss: PrivacyLoss, direction: Direction, truncation: float) -> tuple[float, float]:
    """Return an interval that holds all finite losses but a mass of `truncation` at either end."""
    at_infinity = loss.mass_at_infinity(direction)
    top = min(loss.max_loss(direction), _LARGEST_LOSS)
    bottom = -min(loss.max_loss(opposite(direction)), _LARGEST_LOSS)
    high = _first(lambda t: loss._tails(t, direction)[0] - at_infinity <= truncation, bottom, top)
    low = -_first(lambda t: 1 - loss._tails(-t, direction)[0] <= truncation, -high, -bottom)
    return low, high


def _first(holds: Callable[[FloatArray], Any], low: float, high: float) -> float:
    """Return a point of [low, high], close to the least one, from which `holds` is true; `high` if there is none."""
    if high - low <= 0:
        return high
    for _ in range(6):
        inner = np.linspace(low, high, 33)[1:-1]
        found = np.flatnonzero(holds(inner))
        place = int(found[0]) if len(found) else len(inner)
        ends = np.concatenate([[low], inner, [high]])
        low, high = float(ends[place]), float(ends[place + 1])
    return high


_LARGEST_RANGE = 300.0  # of losses in one pass: e^300 times a mass is finite


@dataclass(frozen=True, eq=False)
class LatticeLoss:
    """A loss with the given masses at `first * step`, `(first + 1) * step` and so on, and one at infinity."""

    step: float
    first: int
    masses: FloatArray
    infinite: float

    def profile(self, thresholds: FloatArray) -> FloatArray:
        """Return the hockey-stick divergence at any thresholds: the sum over losses l > t of m (1 - e^(t - l)).

        With the least such l of the lattice, and its mass P at or above, it is P (1 - e^(t - l)) + e^(t - l) D(l): no
        term is negative, so that small values keep their digits.
        """
        end = self.first + len(self.masses)
        next_ones = np.clip(np.floor(thresholds / self.step) + 1, self.first, end)
        gaps = np.maximum(next_ones * self.step - thresholds, 0.0)
        places = next_ones.astype(int) - self.first
        above, at_points = self._sums
        return self.infinite - above[places] * np.expm1(-gaps) + np.exp(-gaps) * at_points[places]

    @cached_property
    def _sums(self) -> tuple[FloatArray, FloatArray]:
        """Return, for each point and one beyond, the mass at or above it, and the sum D of the profile there."""
        above = np.append(np.cumsum(self.masses[::-1])[::-1], 0.0)
        rising, sums, known = -math.expm1(-self.step) * above[:0:-1], np.zeros(len(above)), 0.0
        most = max(1, int(_LARGEST_RANGE / self.step))
        for start in range(1, len(above), most):  # D(l - step) = P(l) (1 - e^-step) + e^-step D(l), from the top
            part = rising[start - 1 : start - 1 + most]
            powers = np.exp(self.step * np.arange(1, len(part) + 1))
            sums[start : start + most] = (known + np.cumsum(part * powers)) / powers
            known = float(sums[start + len(part) - 1])
        return above, sums[::-1]


def sum_losses(parts: Sequence[tuple[LatticeLoss, int]], cut: float) -> LatticeLoss:
    """Return the sum of independent losses of one step, each taken some times.

    Only the points within Hoeffding's distance of the mean are kept. At most `cut` of the mass lies beyond, and moves
    to other points: a transform is periodic.
    """
    steps = [(len(loss.masses) - 1, times) for loss, times in parts]
    distance = math.sqrt(math.log(2 / cut) / 2 * sum(times * width**2 for width, times in steps))
    mean = sum(times * _mean_place(loss.masses) for loss, times in parts)
    start = max(0, math.floor(mean - distance))
    stop = min(sum(times * width for width, times in steps), math.ceil(mean + distance)) + 1
    size = fft.next_fast_len(max(stop - start, *(width + 1 for width, _ in steps)), real=True)
    spectrum = np.ones(size // 2 + 1, dtype=complex)
    for loss, times in parts:
        spectrum *= fft.rfft(loss.masses, size) ** times
    masses = np.roll(fft.irfft(spectrum, size), -start)[: stop - start]
    stays = math.fsum(times * math.log1p(-loss.infinite) if loss.infinite < 1 else -math.inf for loss, times in parts)
    first = start + sum(times * loss.first for loss, times in parts)
    return LatticeLoss(parts[0][0].step, first, np.maximum(masses, 0.0), -math.expm1(stays))


def _mean_place(masses: FloatArray) -> float:
    total = float(masses.sum())
    return float(masses @ np.arange(len(masses))) / total if total > 0 else 0.0
