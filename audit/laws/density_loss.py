"""Privacy loss of two one-dimensional laws given by densities, with or without atoms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from audit.base.arguments import real
from audit.base.errors import InvalidArgument
from audit.laws.monotone_cells import RATIO_TOLERANCE, Function, Measure, cells_between, log_ratio, measure
from audit.laws.privacy_loss import Direction, FloatArray, PrivacyLoss, Tails, opposite, scaled

_NEGLIGIBLE = 1e-17


class DensityLoss(PrivacyLoss):
    """Privacy loss of two laws on the line: a continuous part by its log-density, plus atoms.

    Parameters
    ----------
    left_logpdf, right_logpdf : callables, vectorized
        Log-densities of the continuous parts, with respect to one base measure; -inf outside the support. They are
        SUB-NORMALIZED: the density of a law with atoms of total mass m integrates to 1 - m.
    support : (lo, hi), lo < hi
        Interval that holds both continuous parts; the ends may be infinite.
    breakpoints : sequence of float
        Between consecutive breakpoints the log-ratio is monotone, constant allowed, and each density is smooth and
        either positive everywhere or zero everywhere. The caller guarantees this; it is spot-checked.
    left_cdf, right_cdf : callables, vectorized, optional
        An antiderivative of each density; only differences are used. Without one, masses come from adaptive quadrature,
        one for each interval.
    left_atoms, right_atoms : mapping value -> probability

    Raises
    ------
    InvalidArgument
        If the log-ratio is not monotone on a cell, a law's total mass is not 1 within 1e-9, or an argument is
        malformed.

    Notes
    -----
    The set {L > t} is found on each cell by bisection down to neighboring floats. A point counts if its loss exceeds t
    by more than 1e-11 (1 + |t|), the `threshold_error`: a plateau of the ratio at exactly t (two Laplace laws of one
    scale) is not counted by rounding. The error of every bound includes the mass in the final brackets, the rounding of
    the cdf or the error of the quadrature, and the mass beyond the point where an infinite support is cut. `tail_error`
    is the largest such error on a grid of thresholds.

    The supremum of the ratio toward an infinite end is taken to be infinite unless the ratio has settled where less
    than 1e-17 of the mass remains: an upper bound.

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
        support: tuple[float, float] = (-math.inf, math.inf),
        breakpoints: Sequence[float] = (),
        left_cdf: Function | None = None,
        right_cdf: Function | None = None,
        left_atoms: Mapping[float, float] | None = None,
        right_atoms: Mapping[float, float] | None = None,
    ) -> None:
        self._measures: dict[Direction, Measure] = {
            "left": measure(left_logpdf, left_cdf),
            "right": measure(right_logpdf, right_cdf),
        }
        self._atoms = _aligned_atoms(left_atoms or {}, right_atoms or {})
        ratio, both = log_ratio(left_logpdf, right_logpdf), tuple(self._measures.values())
        self._cells, self._beyond = cells_between(ratio, both, _checked_support(support), breakpoints, _NEGLIGIBLE)
        for side in ("left", "right"):
            self._require_total_mass(side)
        noise = max((cell.noise for cell in self._cells), default=0.0)
        self.threshold_error = 3 * RATIO_TOLERANCE + 4 * noise
        self.tail_error = self._probed_error()

    def max_loss(self, direction: Direction) -> float:
        """Return the supremum of the log-ratio over cells and atoms; inf at an end where it does not settle."""
        sign = 1 if direction == "left" else -1
        return max(0.0, self._largest_atom_loss(direction), *(cell.supremum(sign) for cell in self._cells))

    def mass_at_infinity(self, direction: Direction) -> float:
        """Return the numerator's mass where the denominator has none: cells of infinite ratio, and lone atoms."""
        numerator, denominator = self._atoms[direction], self._atoms[opposite(direction)]
        cells = [cell for cell in self._cells if cell.lowest(1 if direction == "left" else -1) == math.inf]
        continuous = [self._measures[direction](*cell.ends)[0][0] for cell in cells]
        return math.fsum([*numerator[denominator == 0], *continuous])

    def _attained_loss(self, direction: Direction) -> float:
        sign = 1 if direction == "left" else -1
        return max(0.0, self._largest_atom_loss(direction), *(cell.highest(sign) for cell in self._cells))

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Add the atoms' divergence, exact, to bounds of the continuous part's.

        Bracket {L > t} by the sets above t + w and t - w, w the `threshold_error`. Every set gives a lower bound;
        the upper set misses outputs that add at most 1 - e^(-2 w) of their mass.
        """
        window = self.threshold_error * (1 + np.abs(thresholds))
        wide, narrow = (self._cell_tails(thresholds + shift, direction) for shift in (-window, window))
        lowers = [p - error - scaled(q + error, thresholds) for p, q, error in (wide, narrow)]
        p, q, error = narrow
        missed = np.maximum(wide[0] - p, 0.0) + error + wide[2]
        upper = p + error - scaled(np.maximum(q - error, 0.0), thresholds) + 2 * window * missed
        atoms = self._atom_divergence(thresholds, direction)
        return atoms + np.maximum(*lowers), atoms + upper

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        strict = thresholds + RATIO_TOLERANCE * (1 + np.abs(thresholds))
        p, q, error = self._cell_tails(strict, direction)
        numerator, denominator = self._atoms[direction], self._atoms[opposite(direction)]
        above = _atom_ratio(numerator, denominator)[None, :] > strict[:, None]
        return p + above @ numerator, q + above @ denominator, error

    def _cell_tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        """Sum the masses of the parts of the cells where the log-ratio exceeds each threshold."""
        sign = 1 if direction == "left" else -1
        p, q = np.zeros(thresholds.shape), np.zeros(thresholds.shape)
        error = np.full(thresholds.shape, self._beyond)
        for cell in self._cells:
            (start, stop), doubt = cell.exceeding(thresholds, sign)
            for total, side in ((p, direction), (q, opposite(direction))):
                value, rounding = self._measures[side](start, stop)
                total += value
                error += rounding + sum(self._measures[side](*doubt))
        return p, q, error

    def _atom_divergence(self, thresholds: FloatArray, direction: Direction) -> FloatArray:
        numerator, denominator = self._atoms[direction], self._atoms[opposite(direction)]
        if not numerator.size:
            return np.zeros(thresholds.shape)
        excess = numerator - scaled(
            np.broadcast_to(denominator, (thresholds.size, denominator.size)), thresholds[:, None]
        )
        return np.maximum(excess, 0.0).sum(axis=1)

    def _largest_atom_loss(self, direction: Direction) -> float:
        numerator, denominator = self._atoms[direction], self._atoms[opposite(direction)]
        return float(np.max(_atom_ratio(numerator, denominator), initial=0.0))

    def _require_total_mass(self, side: Direction) -> None:
        parts = [self._measures[side](*cell.ends)[0][0] for cell in self._cells]
        total = math.fsum([*self._atoms[side], *parts])
        if abs(total - 1) > 1e-9 + 2 * self._beyond:
            rule = "have total mass 1 within 1e-9, atoms and sub-normalized density together"
            raise InvalidArgument.of(f"{side} law", rule, total)

    def _probed_error(self) -> float:
        """Return the largest error of the tails at 64 thresholds over the range of the loss."""
        low, high = (min(self._attained_loss(side), 50.0) for side in ("right", "left"))
        return float(np.max(self._tails(np.linspace(-low, high, 64), "left")[2]))


def _atom_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(numerator) - np.log(denominator)


def _checked_support(support: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (real(end, "support") for end in support)
    except (TypeError, ValueError):
        raise InvalidArgument.of("support", "be a pair (lo, hi) of real numbers", support) from None
    if not low < high:
        raise InvalidArgument.of("support", "have lo < hi", support)
    return low, high


def _aligned_atoms(left: Mapping[float, float], right: Mapping[float, float]) -> dict[Direction, FloatArray]:
    values = list(dict.fromkeys([*left, *right]))
    aligned: dict[Direction, FloatArray] = {
        "left": np.array([left.get(value, 0.0) for value in values], dtype=float),
        "right": np.array([right.get(value, 0.0) for value in values], dtype=float),
    }
    for side, masses in aligned.items():
        if not (np.isfinite(masses).all() and (masses >= 0).all() and masses.sum() <= 1 + 1e-9):
            raise InvalidArgument.of(f"{side}_atoms", "hold probabilities >= 0 with a sum of at most 1", masses)
    kept = (aligned["left"] > 0) | (aligned["right"] > 0)
    return {side: masses[kept] for side, masses in aligned.items()}
