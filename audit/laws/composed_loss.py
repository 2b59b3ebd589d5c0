"""Privacy loss of independent coordinates: losses rounded to a lattice on a known side, and convolved.

dp_accounting convolves. Its own discretizations are not used: they are made for one noise each, while the rounding here
needs only the tails of a loss and accounts for the errors of these tails.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from audit.base.arguments import positive
from audit.base.errors import InvalidArgument
from audit.laws.exact_loss import no_loss
from audit.laws.privacy_loss import DIRECTIONS, Direction, FloatArray, PrivacyLoss, Tails, opposite, scaled

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_FEWEST_CELLS = 2**15
_MOST_CELLS = 2**18
_TRUNCATION = 1e-15
_LINES = 1001
_FEW = 100
_NOTHING_LEFT = 1e-12
_LARGEST_LOSS = 700.0
_LEAST_MASS = 1e-12


@dataclass(frozen=True)
class _Lattice:
    """Losses are rounded to multiples of `step`; at most `truncation` mass is cut from an unbounded loss.

    `cells` is the expected length of the composed distribution. A loss within `nudge` of a lattice point counts as
    lying on it, which allows for the `threshold_error` of the tails.
    """

    step: float
    cells: int
    truncation: float
    nudge: float


def compose(parts: Sequence[PrivacyLoss], grid: float = 1e-4) -> PrivacyLoss:
    """Return the privacy loss of independent coordinates; coordinates of equal laws drop out.

    Gaussian coordinates are merged into one, and finite ones while their product stays small: these are exact.

    Parameters
    ----------
    parts : sequence of PrivacyLoss
        One for each coordinate; none gives the loss of two equal laws, one is returned as it is.
    grid : float > 0
        Wanted step of the discretized loss; see `ComposedLoss`.

    Returns
    -------
    PrivacyLoss

    Raises
    ------
    InvalidArgument
        If `grid` is not positive.

    Examples
    --------
    >>> from audit.laws import GaussianLoss, compose
    >>> compose([GaussianLoss(3.0), GaussianLoss(4.0)])
    GaussianLoss(shift_over_scale=5.0)
    """
    flat = _merged([coordinate for part in parts for coordinate in part.parts])
    if len(flat) < 2:
        return flat[0] if flat else no_loss()
    return ComposedLoss(flat, grid)


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

    Raises
    ------
    InvalidArgument
        If no part has a loss other than 0, or `grid` is not positive.

    Notes
    -----
    `tails` are those of the dominating discretization: the tails of the truth at a threshold displaced by at most
    `threshold_error`. The trade-off function is the largest of 1001 of its supporting lines, a lower bound.

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
        self._cuts = _TRUNCATION / len(self._parts)
        self._lattice = _lattice(self._parts, positive(grid, "grid"), self._cuts)
        self._distributions: dict[tuple[Direction, bool], PrivacyLossDistribution] = {}
        self.threshold_error = (len(self._parts) + 1) * self._lattice.step
        self.tail_error = self._slack()
        self._shift = len(self._parts) * self._lattice.nudge

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
        """Read both profiles at thresholds moved by `_shift`, the most by which the lattice displaces the loss."""
        leaked = self.mass_at_infinity(direction)
        if leaked > 1 - _NOTHING_LEFT:
            return np.full(thresholds.shape, leaked - _NOTHING_LEFT), np.ones(thresholds.shape)
        lower = _profile(self._distribution(direction, False), thresholds + self._shift)
        upper = _profile(self._distribution(direction, True), thresholds - self._shift)
        return lower - self.tail_error, upper + self.tail_error

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        """Read p and q off the profile, which is linear in e^t between two lattice points."""
        step = self._lattice.step
        cells = np.floor(np.clip(thresholds, -700.0, 700.0) / step)
        first, second = (cells + 0.25) * step, (cells + 0.75) * step
        known = self._distribution(direction, True)
        at_first, at_second = _profile(known, first), _profile(known, second)
        q = np.clip((at_first - at_second) / (np.exp(first) * np.expm1(second - first)), 0.0, 1.0)
        p = np.clip(at_first + np.exp(first) * q, 0.0, 1.0)
        return p, q, np.full(p.shape, self.tail_error)

    def _trade_off(self, alphas: FloatArray) -> FloatArray:
        """Take the best of the supporting lines at a fixed set of slopes; each is a lower bound."""
        ends = [min(self.max_loss(side), self._lattice.step * self._lattice.cells) for side in DIRECTIONS]
        thresholds = np.unique(np.r_[np.linspace(-ends[0], ends[1], _LINES - 1), 0.0])
        upper = self._hockey_stick(thresholds, "right")[1]
        lines = 1 - np.minimum(upper, 1.0) - scaled(alphas[:, None], thresholds)
        return np.asarray(lines.max(axis=1))

    def _slack(self) -> float:
        """Bound what the discretized distributions leave out: errors of the parts, cut tails, FFT rounding.

        A convolution of N cells by FFT has an error of about u log2(N) in the 2-norm, u = 2^-53, hence of
        u sqrt(N) log2(N) in any sum of its cells; 2e-17 N is larger than that for N >= 2^15.
        """
        parts = math.fsum(8 * part.tail_error for part in self._parts)
        return parts + self._lattice.cells * 2e-17 + 8 * _TRUNCATION

    def _distribution(self, direction: Direction, pessimistic: bool) -> PrivacyLossDistribution:
        """Convolve the discretized parts, equal ones by repeated squaring; computed once."""
        key = (direction, pessimistic)
        if key not in self._distributions:
            powers = [
                _power(_discretized(part, direction, self._lattice, pessimistic), times)
                for part, times in Counter(self._parts).items()
            ]
            total = powers[0]
            for factor in powers[1:]:
                total = total.compose(factor, self._cuts)
            self._distributions[key] = total
        return self._distributions[key]


def _merged(parts: Sequence[PrivacyLoss]) -> list[PrivacyLoss]:
    kinds = dict.fromkeys(type(part) for part in parts)
    return [loss for kind in kinds for loss in kind.merged([part for part in parts if type(part) is kind])]


def _power(base: PrivacyLossDistribution, times: int) -> PrivacyLossDistribution:
    """Compose `times` copies by repeated squaring, truncated on the side that the estimate allows."""
    result = None
    while times:
        if times % 2:
            result = base if result is None else result.compose(base, _TRUNCATION)
        times //= 2
        if times:
            base = base.compose(base, _TRUNCATION)
    return result


def _profile(known: PrivacyLossDistribution, thresholds: FloatArray) -> FloatArray:
    if thresholds.size < _FEW:
        return np.array([known.get_delta_for_epsilon(float(t)) for t in thresholds])
    order = np.argsort(thresholds)
    values = np.empty(thresholds.shape)
    values[order] = known.get_delta_for_epsilon(thresholds[order])
    return values


def _lattice(parts: Sequence[PrivacyLoss], grid: float, truncation: float) -> _Lattice:
    """Choose the step: the wanted one, within bounds on the number of cells, dividing the least largest loss."""
    spans = {part: [_span(part, side, truncation) for side in DIRECTIONS] for part in dict.fromkeys(parts)}
    widths = np.array([max(high - low for low, high in spans[part]) for part in parts])
    reach = float(sum(max(abs(end) for pair in spans[part] for end in pair) for part in parts))
    effective = float(min(widths.sum(), 20 * np.sqrt((widths**2).sum())))
    step = min(max(grid, effective / _MOST_CELLS), effective / _FEWEST_CELLS)
    finite = [loss for part in spans for side in DIRECTIONS if 0 < (loss := part.max_loss(side)) < math.inf]
    if finite and min(finite) > step:
        step = min(finite) / math.ceil(min(finite) / step)
    tolerance = max(part.threshold_error for part in spans) * (1 + reach)
    return _Lattice(step, math.ceil(effective / step), truncation, 1e-8 * step + 4e-16 * reach + 2 * tolerance)


def _span(loss: PrivacyLoss, direction: Direction, truncation: float) -> tuple[float, float]:
    """Return an interval that holds all finite losses but a mass of `truncation` at either end."""
    at_infinity = loss.mass_at_infinity(direction)
    top = min(loss.max_loss(direction), _LARGEST_LOSS)
    bottom = -min(loss.max_loss(opposite(direction)), _LARGEST_LOSS)
    high = _first(lambda t: _upper_tail(loss, t, direction) - at_infinity <= truncation, bottom, top)
    low = -_first(lambda t: 1 - _upper_tail(loss, -t, direction) <= truncation, -high, -bottom)
    return low, high


def _discretized(
    loss: PrivacyLoss, direction: Direction, lattice: _Lattice, pessimistic: bool
) -> PrivacyLossDistribution:
    """Return a lattice distribution whose profile lies above (pessimistic) or below that of `loss`."""
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    build = _dominating if pessimistic else _dominated
    low, high = _span(loss, direction, lattice.truncation)
    first = math.floor((low - lattice.nudge) / lattice.step)
    last = max(math.ceil((high - lattice.nudge) / lattice.step), first + 1)
    indices = np.arange(first, last + 1)
    masses, infinite = build(loss, direction, np.asarray(indices * lattice.step, dtype=float), lattice)
    kept = masses > 0
    table = dict(zip(indices[kept].tolist(), masses[kept].tolist(), strict=True))
    return PrivacyLossDistribution.create_from_rounded_probability(
        table or {0: 0.0}, infinite, lattice.step, pessimistic_estimate=pessimistic, symmetric=True
    )


def _dominating(loss: PrivacyLoss, side: Direction, points: FloatArray, lattice: _Lattice) -> tuple[FloatArray, float]:
    """Spread the mass of each cell over its two ends, keeping p and q of the cell.

    A mean-preserving spread of the likelihood ratio raises every hockey-stick divergence. With P, Q the masses of the
    losses in (s, t], the share of t is (P - e^s Q) / (1 - e^(s - t)): algorithm 1 of Doroshenko et al. 2022, written in
    the tails. Errors of the tails make that share larger, never smaller.
    """
    p, q, error = loss._tails(points + lattice.nudge, side)
    cell_p, cell_q = np.maximum(p[:-1] - p[1:], 0.0), np.maximum(q[:-1] - q[1:], 0.0)
    doubt = error[:-1] + error[1:]
    excess = cell_p + doubt - scaled(np.maximum(cell_q - doubt, 0.0), points[:-1])
    up = np.clip(excess / -np.expm1(-lattice.step), 0.0, cell_p)
    masses = np.zeros(points.shape)
    masses[1:] += up
    masses[:-1] += cell_p - up
    masses[0] += max(0.0, 1 - p[0])
    masses[-1] += _LEAST_MASS if masses.sum() < _LEAST_MASS else 0.0  # a convolution needs some; more is safe
    return masses, float(p[-1] + error[-1])


def _dominated(loss: PrivacyLoss, side: Direction, points: FloatArray, lattice: _Lattice) -> tuple[FloatArray, float]:
    """Round each loss down to the lattice; mass below the first point is dropped."""
    p, _, _ = loss._tails(points - lattice.nudge, side)
    infinite = min(loss.mass_at_infinity(side), float(p[-1]))
    masses = np.maximum(p - np.append(p[1:], infinite), 0.0)
    return masses, infinite


def _upper_tail(loss: PrivacyLoss, threshold: float, direction: Direction) -> float:
    return float(loss._tails(np.array([threshold]), direction)[0][0])


def _first(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return a point of [low, high], close to the least one, from which `holds` is true; `high` if there is none."""
    if high - low <= 0:
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
