"""The privacy loss of an ordered pair of laws: the tails of the loss, and their consequences.

The pair is (left, right). Direction "left" puts the left law in the numerator: L = log(left / right), drawn under left;
"right" swaps the two. Let p(t) = P(L > t) and q(t) = Q(L > t), P the law in the numerator, Q the other. They give

* the hockey-stick divergence  delta(eps) = p(eps) - e^eps q(eps)     (Balle & Wang 2018, theorem 5),
* the smallest eps for a delta, by inverting it.

Every function that returns a bound says on which side. Two errors are accounted for: `tail_error`, the absolute error
of p and of q, and `threshold_error`: the tails returned for t are those of some t' with
|t' - t| <= threshold_error (1 + |t|), which moves delta by no more than that.

For laws given by densities, with or without atoms, the line is cut into cells on which the log-ratio of the densities
is monotone, so that {L > t} is an interval in each.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from audit.errors import InvalidArgument
from audit.validate import closed_probability, integer, nonnegative, open_probability, real

ARITHMETIC_TOLERANCE = 1e-9
"""Relative tolerance of comparisons between a computed privacy parameter and a claimed one.

Claims are decimal numbers, mechanisms compute in binary: shift / scale = 1.0000000000000002 keeps the claim
epsilon <= 1. The functions here return unrounded bounds; a judge compares with `claimed * (1 + tolerance)`.
"""

Direction = Literal["left", "right"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
FloatArray = NDArray[np.float64]
Tails = tuple[FloatArray, FloatArray, FloatArray]

_LARGEST_EXPONENT = 709.0  # e^709 is finite
_LARGEST_SEARCH = 2.0**40  # epsilons beyond are not searched


def opposite(direction: Direction) -> Direction:
    """Return the other direction."""
    return "right" if direction == "left" else "left"


class PrivacyLoss(ABC):
    """Privacy loss of a pair of laws, in both directions.

    Subclasses define `_tails`, `_hockey_stick`, `max_loss` and `mass_at_infinity`, and may replace derived methods.

    Examples
    --------
    >>> from audit.laws import Laplace
    >>> loss = Laplace(0.0, 1.0).loss_against(Laplace(1.0, 1.0))
    >>> round(loss.delta(0.5), 4), loss.epsilon(0.0)
    (0.2212, 1.0)
    """

    tail_error: float = 0.0
    threshold_error: float = 0.0

    @abstractmethod
    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        """Return p, q and a bound of their error, one for each threshold."""

    @abstractmethod
    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper bounds of p(t) - e^t q(t), at thresholds from 0 to below the largest loss."""

    @abstractmethod
    def max_loss(self, direction: Direction) -> float:
        """Return the essential supremum of the loss; inf if it is unbounded."""

    @abstractmethod
    def mass_at_infinity(self, direction: Direction) -> float:
        """Return the probability, by the numerator, of outputs that the denominator never makes."""

    @property
    def parts(self) -> tuple[PrivacyLoss, ...]:
        """The independent losses that this loss is the sum of; () if the two laws are equal."""
        return () if self.max_loss("left") == 0 == self.max_loss("right") else (self,)

    @classmethod
    def merge(cls, parts: Sequence[PrivacyLoss]) -> list[PrivacyLoss]:
        """Return fewer losses of this class with the same sum as the independent `parts`, if possible."""
        return list(parts)

    def tails(self, threshold: float, direction: Direction) -> tuple[float, float]:
        """Return the probabilities of a loss > `threshold`, finite, by the numerator and by the denominator."""
        number = real(threshold, "threshold")
        if not math.isfinite(number):
            raise InvalidArgument.of("threshold", "be finite", threshold)
        p, q, _ = self._tails(np.array([number]), _sides(str(direction))[0])
        return float(p[0]), float(q[0])

    def delta(self, epsilon: float, direction: Direction | None = None) -> float:
        """Return an upper bound of the hockey-stick divergence at `epsilon` >= 0; exact for closed forms.

        The larger of the two directions counts if `direction` is None.
        """
        number = nonnegative(epsilon, "epsilon")
        return max(self._delta_bounds(number, side)[1] for side in _sides(direction))

    def delta_lower_bound(self, epsilon: float, direction: Direction | None = None) -> float:
        """Return a lower bound of the hockey-stick divergence at `epsilon`; arguments as for `delta`."""
        number = nonnegative(epsilon, "epsilon")
        return max(self._delta_bounds(number, side)[0] for side in _sides(direction))

    def epsilon(self, delta: float, direction: Direction | None = None) -> float:
        """Return an upper bound of the least epsilon with at most `delta`: the largest loss for 0, inf if none."""
        level = closed_probability(delta, "delta")
        return max(self._epsilon_bound(level, side, 1) for side in _sides(direction))

    def epsilon_lower_bound(self, delta: float, direction: Direction | None = None) -> float:
        """Return a lower bound of the smallest epsilon >= 0 whose hockey-stick divergence is at most `delta`."""
        level = closed_probability(delta, "delta")
        return max(self._epsilon_bound(level, side, 0) for side in _sides(direction))

    def total_variation(self) -> float:
        """Return an upper bound of the total-variation distance of the two laws; exact for closed forms."""
        return min(self._delta_bounds(0.0, side)[1] for side in DIRECTIONS)

    def _epsilon_bound(self, level: float, direction: Direction, side: int) -> float:
        """Return the lower (side 0) or upper (side 1) bound of the smallest epsilon whose delta is at most `level`."""
        ceiling = self.max_loss(direction)
        if level >= 1:
            return 0.0
        if self.mass_at_infinity(direction) - (0.0 if side else self.tail_error) > level:
            return math.inf
        if level == 0:
            return ceiling if side else self._attained_loss(direction)
        kept = _crossing(lambda t: self._delta_bounds(t, direction)[side] <= level, ceiling)
        return kept[side] if kept else (0.0, ceiling)[side]

    def _attained_loss(self, direction: Direction) -> float:
        """Return a lower bound of the essential supremum of the loss."""
        return self.max_loss(direction)

    def _delta_bounds(self, threshold: float, direction: Direction) -> tuple[float, float]:
        if threshold >= self.max_loss(direction):
            return 0.0, 0.0
        lower, upper = self._hockey_stick(np.array([threshold]), direction)
        return max(0.0, float(lower[0])), min(1.0, max(0.0, float(upper[0])))


def scale_by_exponential(probabilities: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Return e^t times a probability, without overflow wherever the product can be represented."""
    direct = np.exp(np.minimum(thresholds, _LARGEST_EXPONENT)) * probabilities
    far = thresholds > _LARGEST_EXPONENT
    if not far.any():
        return direct
    with np.errstate(divide="ignore"):
        exponents = np.minimum(thresholds + np.log(probabilities), _LARGEST_EXPONENT)
    return np.where(far, np.exp(exponents), direct)


def _sides(direction: object) -> tuple[Direction, ...]:
    """Return the direction alone, or both if it is None."""
    found = tuple(known for known in DIRECTIONS if direction is None or direction == known)
    if not found:
        raise InvalidArgument.of("direction", 'be "left" or "right"', direction)
    return found


def _crossing(small: Callable[[float], bool], ceiling: float) -> tuple[float, float] | None:
    """Bracket the point from which `small` holds by (seen false or 0, seen true); None if it never holds."""
    if small(0.0):
        return 0.0, 0.0
    low, high = 0.0, min(1.0, ceiling)
    while not (high >= ceiling or small(high)):
        low, high = high, min(2 * high, ceiling)
        if high > _LARGEST_SEARCH:
            return None
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if small(middle) else (middle, high)
    return low, high


Pmf = Mapping[Any, float] | ArrayLike

_LOSS_ROUNDING = 1e-12  # relative: a loss this close to a threshold does not exceed it
_MOST_CELLS = 4096  # of a product of pmfs; larger ones are composed on a lattice, with a gap between the bounds


class FiniteLoss(PrivacyLoss):
    """Privacy loss of two pmfs; every derived quantity is exact up to rounding.

    Parameters
    ----------
    left, right : mappings outcome -> probability, or two arrays of shape (cells,)
        Arrays are aligned by position; an outcome that a mapping does not hold has probability 0.
        Probabilities are finite, >= 0 and sum to 1 within 1e-9.

    Notes
    -----
    `tails` counts a loss as larger than t if it exceeds t by more than 1e-12 (1 + abs(t)): a loss of log(e^1) is not
    "> 1" by rounding. `delta` does not depend on it.

    Examples
    --------
    >>> from audit.laws import FiniteLoss
    >>> loss = FiniteLoss({"yes": 0.75, "no": 0.25}, {"yes": 0.25, "no": 0.75})
    >>> round(loss.epsilon(0.0), 6), loss.delta(0.0)
    (1.098612, 0.5)
    """

    threshold_error = _LOSS_ROUNDING

    def __init__(self, left: Pmf, right: Pmf) -> None:
        first, second = _align(left, right)
        self._pmf: dict[Direction, FloatArray] = {"left": first, "right": second}
        self._key = first.tobytes(), second.tobytes()
        self._sorted = {side: self._order(side) for side in self._pmf}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteLoss) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"FiniteLoss(left={self._pmf['left']!r}, right={self._pmf['right']!r})"

    @classmethod
    def merge(cls, parts: Sequence[PrivacyLoss]) -> list[PrivacyLoss]:
        """Multiply pmfs while the product has at most 4096 different losses; exact up to rounding."""
        products: list[FiniteLoss] = []
        for part in parts:
            assert isinstance(part, FiniteLoss)
            if products:
                pairs = ((products[-1]._pmf[side], part._pmf[side]) for side in DIRECTIONS)
                product = FiniteLoss(*(np.outer(*pair).ravel() for pair in pairs))._lump()
                if product._pmf["left"].size <= _MOST_CELLS:
                    products[-1] = product
                    continue
            products.append(part._lump())
        return list(products)

    def max_loss(self, direction: Direction) -> float:
        return max(0.0, float(self._sorted[direction][0][-1]))

    def mass_at_infinity(self, direction: Direction) -> float:
        return math.fsum(self._pmf[direction][self._pmf[opposite(direction)] == 0])

    def losses(self, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Return the loss of each outcome of the numerator, and its probability."""
        numerator, denominator = self._pmf[direction], self._pmf[opposite(direction)]
        kept = numerator > 0
        with np.errstate(divide="ignore"):
            return np.log(numerator[kept]) - np.log(denominator[kept]), numerator[kept]

    def _lump(self) -> FiniteLoss:
        """Join outcomes whose losses differ only by rounding: the likelihood ratio is sufficient."""
        left, right = self._pmf["left"], self._pmf["right"]
        with np.errstate(divide="ignore"):
            losses = np.clip(np.log(left) - np.log(right), -1e300, 1e300)
        order = np.argsort(losses)
        group = np.r_[0, np.cumsum(np.diff(losses[order]) > 1e-14 * (1 + np.abs(losses[order][1:])))]
        return FiniteLoss(*(np.bincount(group, weights=pmf[order]) for pmf in (left, right)))

    def _order(self, direction: Direction) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the sorted losses, with p and q of {loss >= this one} and a closing 0."""
        numerator, denominator = self._pmf[direction], self._pmf[opposite(direction)]
        with np.errstate(divide="ignore"):
            losses = np.log(numerator) - np.log(denominator)
        order = np.argsort(losses, kind="stable")
        p = np.append(np.cumsum(numerator[order][::-1])[::-1], 0.0)
        q = np.append(np.cumsum(denominator[order][::-1])[::-1], 0.0)
        return losses[order], p, q

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        losses, p, q = self._sorted[direction]
        first = np.searchsorted(losses, thresholds + _LOSS_ROUNDING * (1 + np.abs(thresholds)), side="right")
        return p[first], q[first], np.zeros(thresholds.shape)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Sum the positive parts of p - e^t q over the outcomes: no cancellation between outcomes."""
        numerator, denominator = self._pmf[direction], self._pmf[opposite(direction)]
        factors = np.exp(np.minimum(thresholds, 700.0))
        values = np.array([np.maximum(numerator - factor * denominator, 0.0).sum() for factor in factors])
        return values, values


def _align(left: Pmf, right: Pmf) -> tuple[FloatArray, FloatArray]:
    if isinstance(left, Mapping) != isinstance(right, Mapping):
        raise InvalidArgument("`left` and `right` must be both mappings or both arrays of probabilities")
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        outcomes = list(dict.fromkeys([*left, *right]))
        left, right = ([pmf.get(outcome, 0.0) for outcome in outcomes] for pmf in (left, right))
    first, second = (probabilities(pmf, name) for pmf, name in ((left, "left"), (right, "right")))
    if first.shape != second.shape:
        raise InvalidArgument(f"`left` and `right` must have one shape, got {first.shape} and {second.shape}")
    kept = (first > 0) | (second > 0)
    return first[kept], second[kept]


def probabilities(values: Any, name: str) -> FloatArray:
    """Return `values` as a probability vector, or raise; the sum may miss 1 by at most 1e-9."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument.of(name, "hold real probabilities", values) from None
    if array.ndim != 1 or array.size == 0:
        raise InvalidArgument.of(name, "be a non-empty vector of probabilities", values)
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InvalidArgument.of(name, "hold finite probabilities >= 0", values)
    total = math.fsum(array)
    if abs(total - 1) > 1e-9:
        raise InvalidArgument.of(name, "sum to 1 within 1e-9", total)
    return array


@dataclass(frozen=True)
class _ShiftLoss(PrivacyLoss):
    """Privacy loss of one noise at two locations."""

    shift_over_scale: float  # finite, >= 0: their distance in units of the scale; at 0 the laws are equal

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift_over_scale", nonnegative(self.shift_over_scale, "shift_over_scale"))

    def mass_at_infinity(self, direction: Direction) -> float:
        return 0.0


class LaplaceLoss(_ShiftLoss):
    """Privacy loss of Laplace noise of one scale at two locations; exact, equal in both directions.

    With a = shift_over_scale the loss is a with probability 1/2, -a with probability e^-a / 2, and has density
    e^(-(a - t) / 2) / 4 between. delta(eps) = 1 - e^(-(a - eps) / 2) for 0 <= eps <= a.

    Examples
    --------
    >>> from audit.laws import LaplaceLoss
    >>> LaplaceLoss(1.5).epsilon(0.0)
    1.5
    """

    def max_loss(self, direction: Direction) -> float:
        """Return a, attained with probability 1/2."""
        return self.shift_over_scale

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        a = self.shift_over_scale
        inside = np.clip(thresholds, -a, a)
        pieces = [thresholds < -a, thresholds < a]
        p = np.select(pieces, [1.0, 1 - np.exp(-(a - inside) / 2) / 2], 0.0)
        q = np.select(pieces, [1.0, np.exp(-(a + inside) / 2) / 2], 0.0)
        return p, q, np.zeros_like(p)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        value = -np.expm1(-(self.shift_over_scale - thresholds) / 2)
        return value, value


class GaussianLoss(_ShiftLoss):
    """Privacy loss of Gaussian noise of one scale at two locations; exact up to rounding.

    With mu = shift_over_scale the loss is normal with mean mu^2 / 2 and variance mu^2, and
    delta(eps) = Phi(mu / 2 - eps / mu) - e^eps Phi(-mu / 2 - eps / mu).

    References
    ----------
    Balle & Wang 2018, Improving the Gaussian Mechanism for Differential Privacy, theorem 8.

    Examples
    --------
    >>> from audit.laws import GaussianLoss
    >>> round(GaussianLoss(1.0).delta(1.0), 6)
    0.126937
    """

    def max_loss(self, direction: Direction) -> float:
        """Return inf, or 0 if the laws are equal."""
        return math.inf if self.shift_over_scale > 0 else 0.0

    @classmethod
    def merge(cls, parts: Sequence[PrivacyLoss]) -> list[PrivacyLoss]:
        """Return one Gaussian loss, whose mu^2 is the sum of the mu^2: a sum of independent normal losses is normal."""
        return [cls(math.hypot(*(part.shift_over_scale for part in parts if isinstance(part, cls))))]

    def _tails(self, thresholds: FloatArray, direction: Direction) -> Tails:
        low, high = self._arguments(thresholds)
        return special.ndtr(-low), special.ndtr(-high), np.zeros_like(thresholds)

    def _hockey_stick(self, thresholds: FloatArray, direction: Direction) -> tuple[FloatArray, FloatArray]:
        """Write e^t q / p as a ratio of Mills ratios where p is small, which keeps the digits of small deltas."""
        low, high = self._arguments(thresholds)
        p, q = special.ndtr(-low), special.ndtr(-high)
        root = math.sqrt(2)
        ratio = special.erfcx(np.maximum(high, 0) / root) / special.erfcx(np.maximum(low, 0) / root)
        value = np.where(low > 0, p * (1 - ratio), p - scale_by_exponential(q, thresholds))
        return value, value

    def _arguments(self, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
        mu = self.shift_over_scale
        if mu == 0:
            far = np.where(thresholds < 0, -np.inf, np.inf)
            return far, far
        with np.errstate(over="ignore"):
            center = thresholds / mu
        return center - mu / 2, center + mu / 2


def geometric_loss(shift: int, ratio: float) -> FiniteLoss:
    """Return the privacy loss of two-sided geometric noise at two integer locations; exact.

    For locations 0 and k the likelihood ratio is constant on {z <= 0} and on {z >= k}. Those two sets and the k - 1
    points between are the k + 1 outcomes of the loss. `shift` is k or -k, `ratio` in (0, 1) the r of
    `TwoSidedGeometric`.

    Examples
    --------
    >>> from audit.laws import geometric_loss
    >>> round(geometric_loss(2, 0.5).epsilon(0.0), 6)
    1.386294
    """
    r = open_probability(ratio, "ratio")
    k = abs(integer(shift, "shift", at_least=-(2**53)))
    if k == 0:
        return FiniteLoss([1.0], [1.0])
    inner = np.arange(1, k)
    left = np.r_[1 / (1 + r), (1 - r) / (1 + r) * r**inner, r**k / (1 + r)]
    return FiniteLoss(left, left[::-1].copy())


def no_loss() -> PrivacyLoss:
    """Return the privacy loss of two equal laws: 0 everywhere."""
    return LaplaceLoss(0.0)


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
