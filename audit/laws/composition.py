"""Privacy loss of independent coordinates: a sum of losses, by privacy-loss-distribution arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from dp_accounting.pld import privacy_loss_distribution

from audit.base.arguments import positive
from audit.base.errors import InvalidArgument
from audit.laws.closed_form import no_loss
from audit.laws.discretise import Lattice, distribution, span
from audit.laws.loss import DIRECTIONS, Direction, FloatArray, PrivacyLoss, Tails, scaled

_FEWEST_CELLS = 2**15
_MOST_CELLS = 2**18
_TRUNCATION = 1e-15
_LINES = 1001
_FEW = 100
_NOTHING_LEFT = 1e-12

Distribution: TypeAlias = privacy_loss_distribution.PrivacyLossDistribution


def compose(parts: Sequence[PrivacyLoss], grid: float = 1e-4) -> PrivacyLoss:
    """Give the privacy loss of independent coordinates; coordinates of equal laws drop out.

    Gaussian coordinates become one, and so do finite ones while their product stays small: those are exact.

    Parameters
    ----------
    parts : sequence of PrivacyLoss
        One for each coordinate; none leaves the loss of two equal laws, one is returned as it is.
    grid : float > 0
        Wanted step of the discretised loss; see `ComposedLoss`.
    """
    flat = _merged([coordinate for part in parts for coordinate in part.parts])
    if len(flat) < 2:
        return flat[0] if flat else no_loss()
    return ComposedLoss(flat, grid)


class ComposedLoss(PrivacyLoss):
    """Sum of independent privacy losses, bounded from both sides on a lattice of losses.

    `delta` and `epsilon` are upper bounds from a discretisation that dominates the pair of laws,
    `delta_lower_bound` and `epsilon_lower_bound` come from one that the pair dominates. The sum of the
    largest losses is exact: epsilon(0) returns it, and no delta gives more.

    Parameters
    ----------
    parts : sequence of PrivacyLoss, at least one
        One for each independent coordinate.
    grid : float > 0
        Wanted step of the lattice. It is made finer when the whole range of the loss has fewer than 2^15
        steps, coarser beyond 2^18, and divides the smallest largest loss, so that equal coordinates end on
        the lattice.

    Notes
    -----
    `tails` are those of the dominating discretisation: the tails of the truth at a threshold displaced by at
    most `threshold_error`. The trade-off function is the largest of 1001 of its supporting lines, a lower
    bound.

    References
    ----------
    Doroshenko et al. 2022, Connect the Dots, algorithm 1 (upper side); dp_accounting for the convolutions.
    """

    def __init__(self, parts: Sequence[PrivacyLoss], grid: float = 1e-4) -> None:
        self._parts = tuple(coordinate for part in parts for coordinate in part.parts)
        if not self._parts:
            raise InvalidArgument.of("parts", "hold a loss that is not constantly 0", parts)
        self._cuts = _TRUNCATION / len(self._parts)
        self._lattice = _lattice(self._parts, positive(grid, "grid"), self._cuts)
        self._distributions: dict[tuple[Direction, bool], Distribution] = {}
        self.threshold_error = (len(self._parts) + 1) * self._lattice.step
        self.tail_error = self._slack()
        self._shift = len(self._parts) * self._lattice.nudge

    @property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """The coordinates, those of equal laws left out."""
        return self._parts

    def max_loss(self, direction: Direction) -> float:
        """Give the sum of the largest losses, exact: the coordinates are independent."""
        return math.fsum(part.max_loss(direction) for part in self._parts)

    def mass_at_infinity(self, direction: Direction) -> float:
        """Give 1 - prod(1 - m) over the masses m of the coordinates."""
        masses = [min(part.mass_at_infinity(direction), 1.0) for part in self._parts]
        if 1.0 in masses:
            return 1.0
        return -math.expm1(math.fsum(math.log1p(-mass) for mass in masses))

    def _attained_loss(self, direction: Direction) -> float:
        return math.fsum(part._attained_loss(direction) for part in self._parts)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Read both profiles; the lattice displaces the loss by less than `_shift`, so the threshold gives way."""
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
        """Bound what the discretised distributions leave out: errors of the parts, cut tails, FFT rounding.

        A convolution of N cells by FFT has an error of about u log2(N) in the 2-norm, u = 2^-53, hence of
        u sqrt(N) log2(N) in any sum of its cells; 2e-17 N is larger than that for N >= 2^15.
        """
        parts = math.fsum(8 * part.tail_error for part in self._parts)
        return parts + self._lattice.cells * 2e-17 + 8 * _TRUNCATION

    def _distribution(self, direction: Direction, pessimistic: bool) -> Distribution:
        """Convolve the discretised parts, equal ones by repeated squaring; computed once."""
        key = (direction, pessimistic)
        if key not in self._distributions:
            powers = [
                _power(distribution(part, direction, self._lattice, pessimistic), times)
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


def _power(base: Distribution, times: int) -> Distribution:
    """Compose `times` copies by repeated squaring, truncating on the side that the estimate allows."""
    result = None
    while times:
        if times % 2:
            result = base if result is None else result.compose(base, _TRUNCATION)
        times //= 2
        if times:
            base = base.compose(base, _TRUNCATION)
    return result


def _profile(known: Distribution, thresholds: FloatArray) -> FloatArray:
    if thresholds.size < _FEW:
        return np.array([known.get_delta_for_epsilon(float(t)) for t in thresholds])
    order = np.argsort(thresholds)
    values = np.empty(thresholds.shape)
    values[order] = known.get_delta_for_epsilon(thresholds[order])
    return values


def _lattice(parts: Sequence[PrivacyLoss], grid: float, truncation: float) -> Lattice:
    """Choose the step: the wanted one, within bounds on the cells, dividing the least largest loss."""
    spans = {part: [span(part, side, truncation) for side in DIRECTIONS] for part in dict.fromkeys(parts)}
    widths = np.array([max(high - low for low, high in spans[part]) for part in parts])
    reach = float(sum(max(abs(end) for pair in spans[part] for end in pair) for part in parts))
    effective = float(min(widths.sum(), 20 * np.sqrt((widths**2).sum())))
    step = min(max(grid, effective / _MOST_CELLS), effective / _FEWEST_CELLS)
    finite = [loss for part in spans for side in DIRECTIONS if 0 < (loss := part.max_loss(side)) < math.inf]
    if finite and min(finite) > step:
        step = min(finite) / math.ceil(min(finite) / step)
    tolerance = max(part.threshold_error for part in spans) * (1 + reach)
    return Lattice(step, math.ceil(effective / step), truncation, 1e-8 * step + 4e-16 * reach + 2 * tolerance)
