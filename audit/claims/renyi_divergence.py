"""The Renyi divergence of a pair, bracketed from its hockey-stick divergences.

With delta_P(t) and delta_Q(t) the divergence of P from Q and of Q from P at epsilon = t, for order a > 0,

    E_Q[(P/Q)^a] = 1 + a (a - 1) integral_0^inf  e^((a - 1) t) delta_P(t) + e^(-a t) delta_Q(t)  dt,
    KL(P, Q)     =                integral_0^inf  delta_P(t) + e^-t delta_Q(t)  dt

(Sason & Verdu 2016, equations 428 and 430, with gamma = e^t): integration by parts over the tails of the loss.
delta is convex in gamma = e^t. On a cell of weight W with center of weight gamma', W delta(gamma') is a lower bound of
the integral (Jensen), and W times the chord at gamma' an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from audit.base.arguments import real
from audit.base.errors import InvalidArgument
from audit.claims.convex import FloatArray
from audit.claims.curve_claim import require_loss
from audit.laws import DIRECTIONS, ComposedLoss, Direction, GaussianLoss, LaplaceLoss, PrivacyLoss

_SPURIOUS = 1e-15  # an infinite loss of less mass may be what a law's exact side adds to stay on the safe side
_ROUNDING = 2e-15  # of delta = p - e^t q, relative to p
_UNDERFLOW = 1e-305  # a tail this small may have lost its digits
_FARTHEST = 700.0
_FIRST, _MOST = 128, 2048  # cells
_WANTED = 1e-9  # relative width of the bracket


def renyi_divergence(loss: PrivacyLoss, order: float, direction: Direction) -> tuple[float, float]:
    """Return a lower and an upper bound of the Renyi divergence of one law of a pair from the other.

    Closed forms serve Gaussian and Laplace noise and their sums; any other divergence is integrated, both errors on
    their side. The upper bound is inf where the loss is unbounded and no closed form is known.

    Parameters
    ----------
    loss : PrivacyLoss
    order : float >= 1 or inf
        1 is the Kullback-Leibler divergence, inf the largest loss.
    direction : {"left", "right"}
        The law in the numerator.

    Returns
    -------
    (float, float)
        Both are inf if the divergence is.

    Raises
    ------
    InvalidArgument
        If an argument lies outside its admissible set.
    """
    if direction not in DIRECTIONS:
        raise InvalidArgument.of("direction", 'be "left" or "right"', direction)
    number = renyi_order(order)
    if number == math.inf:
        return loss.epsilon_lower_bound(0.0, direction), loss.epsilon(0.0, direction)
    return _divergence(require_loss(loss), number, direction)


def renyi_order(order: object) -> float:
    """Return `order` as a float >= 1, inf included."""
    number = real(order, "order")
    if not number >= 1:
        raise InvalidArgument.of("order", "be >= 1: Renyi orders below 1 imply no (epsilon, delta) here", order)
    return number


@singledispatch
def _divergence(loss: PrivacyLoss, order: float, direction: Direction) -> tuple[float, float]:
    mass = loss.mass_at_infinity(direction)
    if mass > max(_SPURIOUS, 2 * loss.tail_error):
        return math.inf, math.inf
    integral = _Integral(loss, order, direction, mass)
    lower, upper = integral.bounds()
    unbounded = mass > 0 or loss.max_loss(direction) > integral.ends[direction]
    return _from_integral(lower, order), math.inf if unbounded else _from_integral(upper, order)


@_divergence.register
def _gaussian(loss: GaussianLoss, order: float, direction: Direction) -> tuple[float, float]:
    """a mu^2 / 2   (Mironov 2017, proposition 7)."""
    value = order * loss.shift_over_scale**2 / 2
    return value, value


@_divergence.register
def _laplace(loss: LaplaceLoss, order: float, direction: Direction) -> tuple[float, float]:
    """log(a/(2a-1) e^((a-1)s) + (a-1)/(2a-1) e^(-a s)) / (a - 1), s = shift / scale   (Mironov 2017, proposition 6)."""
    s = loss.shift_over_scale
    if order == 1:
        value = s + math.expm1(-s)
    else:
        share = order / (2 * order - 1)
        tail = math.log1p((1 - share) / share * math.exp(-(2 * order - 1) * s))
        value = max(0.0, s + (math.log(share) + tail) / (order - 1))
    return value, value


@_divergence.register
def _composed(loss: ComposedLoss, order: float, direction: Direction) -> tuple[float, float]:
    """Sum over independent coordinates (van Erven & Harremoes 2014, theorem 28)."""
    bounds = [_divergence(part, order, direction) for part in loss.parts]
    return math.fsum(low for low, _ in bounds), math.fsum(high for _, high in bounds)


def _from_integral(log_integral: float, order: float) -> float:
    if order == 1:
        return math.exp(log_integral)
    return float(np.logaddexp(0.0, math.log(order * (order - 1)) + log_integral)) / (order - 1)


@dataclass(frozen=True)
class _Integral:
    """Bounds of the logarithm of the integral above."""

    loss: PrivacyLoss
    order: float
    direction: Direction
    spurious: float

    @property
    def ends(self) -> dict[Direction, float]:
        """The points where the integral of each direction's divergence is cut."""
        return {side: min(self.loss.max_loss(side), _FARTHEST) for side in DIRECTIONS}

    def bounds(self) -> tuple[float, float]:
        """Refine the cells whose brackets are widest until the whole bracket is narrow."""
        cells = [(side, np.linspace(0.0, end, _FIRST + 1)) for side, end in self.ends.items() if end > 0]
        known: dict[tuple[Direction, float], tuple[float, float]] = {}
        if not cells:
            return -math.inf, -math.inf
        while True:
            parts = [self._cells(side, edges, known) for side, edges in cells]
            lower, upper = (float(np.logaddexp.reduce(np.concatenate(p))) for p in zip(*parts, strict=True))
            upper = float(np.logaddexp(upper, self._remainder()))
            count = sum(len(edges) for _, edges in cells)
            if upper - lower <= _WANTED or count > _MOST:
                return lower - 1e-12, upper + 1e-12
            cells = [
                (side, _split(edges, part, upper + math.log(_WANTED / count)))
                for (side, edges), part in zip(cells, parts, strict=True)
            ]
            if sum(len(edges) for _, edges in cells) == count:
                return lower - 1e-12, upper + 1e-12

    def _cells(
        self, side: Direction, edges: FloatArray, known: dict[tuple[Direction, float], tuple[float, float]]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the logarithms of a lower and an upper bound of each cell's integral."""
        power = self.order - 1 if side == self.direction else -self.order
        start, width = edges[:-1], np.diff(edges)
        log_weight = power * start + _log_integral(power, width)
        offset = np.clip(_log_integral(power + 1, width) - _log_integral(power, width), 0.0, width)
        share = np.expm1(offset) / np.expm1(width)
        at_edges = np.array([self._delta(side, t, known)[1] for t in edges])
        at_center = np.array([self._delta(side, t, known)[0] for t in start + offset])
        chord = at_edges[:-1] + share * (at_edges[1:] - at_edges[:-1])
        with np.errstate(divide="ignore"):
            return log_weight + np.log(at_center), log_weight + np.log(chord)

    def _delta(
        self, side: Direction, t: float, known: dict[tuple[Direction, float], tuple[float, float]]
    ) -> tuple[float, float]:
        key = side, float(t)
        if key not in known:
            rounding = _ROUNDING * self.loss.tails(key[1], side)[0] + math.exp(min(key[1], _FARTHEST)) * _UNDERFLOW
            low, high = self.loss.delta_lower_bound(key[1], side), self.loss.delta(key[1], side)
            known[key] = max(0.0, low - rounding - self.spurious), high + rounding
        return known[key]

    def _remainder(self) -> float:
        """Return the logarithm of a bound of what was cut off in the other direction, where the weight is e^(-a t)."""
        other = next(side for side in DIRECTIONS if side != self.direction)
        if self.loss.max_loss(other) <= self.ends[other]:
            return -math.inf
        return -self.order * self.ends[other] - math.log(self.order)


def _log_integral(power: float, width: FloatArray) -> FloatArray:
    """Return log of the integral of e^(power u) over [0, width], without overflow."""
    x = power * width
    if power == 0:
        return np.log(width)
    tail = np.log(-np.expm1(-np.abs(x))) - math.log(abs(power))
    return np.where(x > 0, x + tail, tail)


def _split(edges: FloatArray, bounds: tuple[FloatArray, FloatArray], allowed: float) -> FloatArray:
    """Halve the cells whose bracket is wider than exp(allowed)."""
    lower, upper = bounds
    with np.errstate(invalid="ignore"):
        inside = np.minimum(lower - upper, 0.0)
        relative = np.log(-np.expm1(inside), where=inside < 0, out=np.full(upper.shape, -np.inf))
        wide = upper + relative
    chosen = (wide > allowed) & (np.diff(edges) > 1e-12)
    return np.sort(np.r_[edges, (edges[:-1] + edges[1:])[chosen] / 2])
