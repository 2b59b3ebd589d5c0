"""Claims along a curve: Gaussian, Renyi and zero-concentrated differential privacy, and the divergence of a pair."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, singledispatch
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from audit.claims.privacy import USUAL, Claim, Point, exceeds
from audit.claims.relations import Substitution
from audit.errors import InvalidArgument
from audit.laws import (
    ARITHMETIC_TOLERANCE,
    DIRECTIONS,
    ComposedLoss,
    Direction,
    FiniteLoss,
    GaussianLoss,
    LaplaceLoss,
    PrivacyLoss,
    compose,
)
from audit.laws.privacy_loss import FloatArray
from audit.validate import Finite, Limits, nonnegative, real

SHARES = (1.0, 0.5, 0.1, 0.01, 1e-4, 1e-8)
"""The points at which a curve is tested: where its delta has fallen to these shares of delta(0)."""
FARTHEST = 40.0  # to certify a larger epsilon takes more than e^40 outputs
_EPSILON_BISECTIONS = 40
_LARGEST_FACTOR, _FACTOR_BISECTIONS = 64.0, 16
_MOST_CELLS = 4_000  # of epsilon, on which a profile is held against the claimed one


@dataclass(frozen=True)
class ExactJudgment:
    """The outcome of comparing a claim with the exact privacy loss of one pair."""

    # True if the loss was shown to keep the claim, up to rounding (relative 1e-9); False if it was shown to break
    # it; None if the bounds leave it open
    keeps: bool | None
    detail: str  # one sentence with the numbers


@dataclass(frozen=True, kw_only=True)
class CurveClaim(Claim):
    """A claim that implies (epsilon, delta)-differential privacy along a whole curve, for both orders of a pair."""

    relation: Any = field(default_factory=Substitution)
    source: str = ""

    is_curve: ClassVar[bool] = True
    unit: ClassVar[str] = ""  # the parameter in which a resolution is stated; none if it is empty

    def scale(self, factor: float) -> Self | None:
        """Return the claim with its parameter times a factor; None where no parameter makes it weaker."""
        if not self.unit or not 0 < (value := getattr(self, self.unit)) < math.inf:
            return None
        return dataclasses.replace(self, **{self.unit: factor * value})

    def epsilon_at(self, delta: float) -> float:
        """Return the least epsilon, from above, at which the claim implies a delta; inf if it is out of reach."""
        return _least_epsilon(self, delta)

    def factor_at(self, point: Point) -> float:
        """Return by how much the claim has to be scaled until it no longer excludes a point."""
        low, high = 1.0, 1.0
        while high < _LARGEST_FACTOR and self._excludes(high, point):
            low, high = high, 2 * high
        for _ in range(_FACTOR_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._excludes(middle, point) else (low, middle)
        return high

    def _excludes(self, factor: float, point: Point) -> bool:
        wider = self.scale(factor)
        return wider is not None and wider.profile(point.epsilon) <= point.delta

    @abstractmethod
    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare the claim with the exact privacy loss of a pair, in both directions; rounding never decides."""

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The points where the profile falls to each of `SHARES` of its value at 0, as far as an audit can reach."""
        largest = self.profile(0.0)
        epsilons = dict.fromkeys(self.epsilon_at(share * largest) for share in SHARES)
        return tuple(Point(epsilon, self.profile(epsilon)) for epsilon in epsilons if epsilon <= FARTHEST)


@lru_cache(maxsize=256)
def _least_epsilon(claim: CurveClaim, delta: float) -> float:
    """Return the least epsilon, from above, at which a claim implies a delta; inf if it is out of reach."""
    if claim.profile(0.0) <= delta:
        return 0.0
    if claim.profile(FARTHEST) > delta:
        return math.inf
    low, high = 0.0, FARTHEST
    for _ in range(_EPSILON_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if claim.profile(middle) <= delta else (middle, high)
    return high


@dataclass(frozen=True)
class GaussianClaim(CurveClaim):
    """mu-Gaussian differential privacy: T(alpha) >= Phi(Phi^-1(1 - alpha) - mu).

    T(alpha) is the least type-II error of a test between two neighbors whose type-I error is alpha.

    Parameters
    ----------
    mu : float, finite, >= 0
        Distance of the two means, in standard deviations, of the normal laws that are as hard to tell apart.
    relation, source
        As for `audit.PrivacyClaim`; keywords only.

    Raises
    ------
    InvalidArgument
        If a parameter lies outside its admissible set.

    References
    ----------
    Dong, Roth & Su 2022, Gaussian Differential Privacy, definition 2.6.

    Examples
    --------
    >>> from audit import GaussianClaim
    >>> claim = GaussianClaim(1.0)
    >>> print(claim)
    1-Gaussian DP under substitution
    >>> round(claim.profile(1.0), 6)
    0.126937
    """

    mu: Finite

    kind: ClassVar[str] = "gaussian"
    unit: ClassVar[str] = "mu"
    long_form: ClassVar[str] = "{0.mu:g}-Gaussian DP"
    short_form: ClassVar[str] = "{0.mu:g}-GDP"
    admissible: ClassVar = {"mu": nonnegative}

    def profile(self, epsilon: float) -> float:
        """Return the least delta that the claim implies at `epsilon` (Dong, Roth & Su 2022, corollary 2.13)."""
        return GaussianLoss(self.mu).delta(epsilon)

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare mu with mu for Gaussian noise, else the privacy profile of the pair with the claimed one.

        Both profiles fall, so that on a cell of epsilons the first value of one is held against the last of the other.
        An unbounded loss is never shown to keep the claim, since its cells have no end.
        """
        if isinstance(loss, GaussianLoss):
            keeps = loss.shift_over_scale <= self.mu * (1 + ARITHMETIC_TOLERANCE)
            return ExactJudgment(keeps, f"{self}: the pair has mu = {loss.shift_over_scale:.6g} exactly")
        largest = max(require_loss(loss).max_loss(side) for side in DIRECTIONS)
        waiting, is_open = [(0.0, min(largest, FARTHEST))], largest > FARTHEST
        for _ in range(_MOST_CELLS):
            if not waiting:
                break
            low, high = waiting.pop(0)
            for epsilon in (low, high):
                if exceeds(delta := loss.delta_lower_bound(epsilon), claimed := self.profile(epsilon)):
                    found = f"delta({epsilon:.6g}) >= {delta:.6g}, the claim implies {claimed:.6g}"
                    return ExactJudgment(False, f"{self}: {found}")
            if exceeds(loss.delta(low), self.profile(high)):
                middle = (low + high) / 2
                waiting += [(low, middle), (middle, high)]
        if waiting or is_open:
            return ExactJudgment(None, f"{self}: undecided, the profile of the pair comes too near to the claimed one")
        return ExactJudgment(True, f"{self}: the privacy profile of the pair lies below the claimed one")


_ROUNDING = 2e-15  # of delta = p - e^t q, relative to p
_BISECTIONS = 70
_FEW_ORDERS = (1.0, 1.5, 2.0, 3.0, 5.0, 9.0)
_ORDER_STEPS = 40


def _order(order: object, name: str = "order") -> float:
    number = real(order, name)
    if not number >= 1:
        raise InvalidArgument.of(name, "be >= 1: Renyi orders below 1 imply no (epsilon, delta) here", order)
    return number


class DivergenceClaim(CurveClaim):
    """A claim that bounds Renyi divergences, of one law of a pair from the other and back."""

    @property
    @abstractmethod
    def orders(self) -> tuple[float, ...]:
        """The orders, >= 1 and finite, among which a test chooses one."""

    @abstractmethod
    def divergence_at(self, order: float) -> float:
        """Return the claimed bound of the divergence of one of `orders`."""

    @property
    def point(self) -> Point:
        """The point that is tested unless the training outputs favor another one: of a small delta."""
        return self.resolved_points[-1]

    @property
    def resolved_points(self) -> tuple[Point, ...]:
        """The points in the middle of the curve.

        A claim of this kind implies little at a small epsilon, where a test of the divergence itself refutes more. At a
        large epsilon its delta is too small for any test.
        """
        return self.points[USUAL : USUAL + 2] or self.points[-1:]


@dataclass(frozen=True)
class RenyiClaim(DivergenceClaim):
    """(order, epsilon)-Renyi differential privacy: D_order(P, Q) <= epsilon for every pair of neighbors.

    Parameters
    ----------
    order : float >= 1 or inf
        1 bounds the Kullback-Leibler divergence, inf is epsilon-differential privacy.
    epsilon : float, finite, >= 0
        Bound of the divergence, in natural logarithms.
    relation, source
        As for `audit.PrivacyClaim`; keywords only.

    Raises
    ------
    InvalidArgument
        If a parameter lies outside its admissible set.

    References
    ----------
    Mironov 2017, Renyi Differential Privacy, definition 4.

    Examples
    --------
    >>> from audit import RenyiClaim
    >>> claim = RenyiClaim(order=2.0, epsilon=0.5)
    >>> print(claim)
    (2, 0.5)-Renyi DP under substitution
    >>> round(claim.profile(4.0), 5)
    0.00303
    """

    order: Annotated[float, Limits(least=1)]
    epsilon: Finite

    kind: ClassVar[str] = "renyi"
    unit: ClassVar[str] = "epsilon"
    long_form: ClassVar[str] = "({0.order:g}, {0.epsilon:g})-Renyi DP"
    short_form: ClassVar[str] = "({0.order:g}, {0.epsilon:g})-Renyi"
    admissible: ClassVar = {"order": _order, "epsilon": nonnegative}

    @property
    def orders(self) -> tuple[float, ...]:
        """The order of the claim; none if it is infinite, where the claim is one of epsilon."""
        return (self.order,) if math.isfinite(self.order) else ()

    def divergence_at(self, order: float) -> float:
        """Return the claimed epsilon."""
        return self.epsilon

    def profile(self, epsilon: float) -> float:
        """Return the smaller of two upper bounds of the delta that the claim implies.

        One is the closed form of Canonne, Kamath & Steinke 2020, proposition 12. The other is the largest p - e^eps q
        over all probabilities p, q of one event that the data-processing inequality D(p, q) <= epsilon admits: tight
        for one direction (Asoodeh et al. 2020), and smaller where delta is not small.
        """
        at = nonnegative(epsilon, "epsilon")
        if self.order == math.inf:
            return max(0.0, -math.expm1(np.logaddexp(0.0, at) - np.logaddexp(0.0, self.epsilon)))
        closed = math.exp(min(0.0, _log_delta(self.order, self.epsilon, at)))
        return min(closed, _binary_delta(self.order, self.epsilon, at))

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare the bracketed Renyi divergence with the claimed one, both directions."""
        brackets = {side: renyi_divergence(loss, self.order, side) for side in DIRECTIONS}
        lower, upper = map(max, zip(*brackets.values(), strict=True))
        keeps = False if exceeds(lower, self.epsilon) else None if exceeds(upper, self.epsilon) else True
        detail = f"{self}: the pair's divergence lies in [{lower:.6g}, {upper:.6g}]"
        return ExactJudgment(keeps, detail)


@dataclass(frozen=True)
class ZeroConcentratedClaim(DivergenceClaim):
    """rho-zero-concentrated differential privacy: the Renyi divergence of every order a > 1 is at most rho a.

    Parameters
    ----------
    rho : float, finite, >= 0
        mu^2 / 2 for Gaussian noise whose mean moves by mu standard deviations.
    relation, source
        As for `audit.PrivacyClaim`; keywords only.

    Raises
    ------
    InvalidArgument
        If a parameter lies outside its admissible set.

    References
    ----------
    Bun & Steinke 2016, Concentrated Differential Privacy, definition 1.1.

    Examples
    --------
    >>> from audit import ZeroConcentratedClaim
    >>> claim = ZeroConcentratedClaim(0.5)
    >>> print(claim)
    0.5-zero-concentrated DP under substitution
    >>> claim.profile(6.0) < 1e-5
    True
    """

    rho: Finite

    kind: ClassVar[str] = "zero-concentrated"
    unit: ClassVar[str] = "rho"
    long_form: ClassVar[str] = "{0.rho:g}-zero-concentrated DP"
    short_form: ClassVar[str] = "{0.rho:g}-zCDP"
    admissible: ClassVar = {"rho": nonnegative}
    orders: ClassVar = _FEW_ORDERS  # at order 1 by continuity: the divergence is at most rho

    def divergence_at(self, order: float) -> float:
        """Return rho times the order."""
        return self.rho * order

    def profile(self, epsilon: float) -> float:
        """Return the least delta over the orders of the implied Renyi claims; each order gives a valid delta."""
        from scipy import optimize

        at = nonnegative(epsilon, "epsilon")
        if self.rho == 0:
            return 0.0
        search = optimize.minimize_scalar(
            lambda x: _log_delta(1 + math.exp(x), self.rho * (1 + math.exp(x)), at),
            bounds=(-12.0, 12.0),
            method="bounded",
        )
        few = min(_binary_delta(order, self.rho * order, at) for order in _FEW_ORDERS)
        return min(few, math.exp(min(0.0, float(search.fun))))

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare D_a with rho a at all orders: between two by convexity, beyond the last by the largest loss."""
        parts = require_loss(loss).parts
        gaussian = math.fsum(part.shift_over_scale**2 / 2 for part in parts if isinstance(part, GaussianLoss))
        rest = compose([part for part in parts if not isinstance(part, GaussianLoss)]) if gaussian else loss
        left, rounding = self.rho - gaussian, ARITHMETIC_TOLERANCE * max(self.rho, 1e-3)
        if left < -rounding:
            return ExactJudgment(False, f"{self}: the Gaussian part alone has rho = {gaussian:.6g}")
        # a loss bounded by m has at most rho = m^2 / 2 (Bun & Steinke 2016, proposition 3.3)
        largest = max(rest.max_loss(side) for side in DIRECTIONS)
        if largest**2 / 2 <= left + rounding:
            return ExactJudgment(True, f"{self}: rho <= {gaussian + largest**2 / 2:.6g}")
        return self._at_orders(rest, max(left, 0.0), largest)

    def _at_orders(self, rest: PrivacyLoss, rho: float, largest: float) -> ExactJudgment:
        last = largest / rho if rho > 0 else math.inf
        orders = 1 + np.r_[0.0, np.geomspace(1e-3, max(min(last, 1e4) - 1, 1.0) * (1 + 1e-9), _ORDER_STEPS)]
        open_point: float | None = None
        for direction in DIRECTIONS:
            upper = np.empty(orders.shape)
            for index, order in enumerate(orders):
                lower, upper[index] = renyi_divergence(rest, float(order), direction)
                if exceeds(lower, rho * order):
                    detail = f"{self}: at order {order:.6g} the divergence is >= {lower + (self.rho - rho) * order:.6g}"
                    return ExactJudgment(False, detail)
            open_point = _above_parabola(orders, upper, rho) or open_point
        if open_point is None and last <= orders[-1]:
            return ExactJudgment(True, f"{self}: kept at all orders, between {len(orders)} of them by convexity")
        where = "beyond the last order" if open_point is None else f"near order {open_point:.4g}"
        return ExactJudgment(None, f"{self}: undecided {where}")


def renyi_divergence(loss: PrivacyLoss, order: float, direction: Direction) -> tuple[float, float]:
    """Return a lower and an upper bound of the Renyi divergence of one law of a pair from the other.

    The law of `direction` stands in the numerator. Order 1 is the Kullback-Leibler divergence, inf the largest loss.
    The bounds are far apart where neither a closed form nor a finite sum is known.
    """
    if direction not in DIRECTIONS:
        raise InvalidArgument.of("direction", 'be "left" or "right"', direction)
    number = _order(order)
    if number == math.inf:
        return require_loss(loss).epsilon_lower_bound(0.0, direction), loss.epsilon(0.0, direction)
    return _divergence(require_loss(loss), number, direction)


@singledispatch
def _divergence(loss: PrivacyLoss, order: float, direction: Direction) -> tuple[float, float]:
    """Return bounds for any loss: every divergence is at most the largest loss (van Erven & Harremoes 2014)."""
    return 0.0, loss.max_loss(direction)


@_divergence.register
def _finite(loss: FiniteLoss, order: float, direction: Direction) -> tuple[float, float]:
    """Sum over the outcomes, up to rounding."""
    if loss.mass_at_infinity(direction) > 0:
        return math.inf, math.inf
    losses, masses = loss.losses(direction)
    if order == 1:
        value = float(masses @ losses)
    else:
        value = float(np.logaddexp.reduce(np.log(masses) + (order - 1) * losses)) / (order - 1)
    rounding = _ROUNDING * len(masses) * (1 + float(np.abs(losses).max()))
    return max(0.0, value - rounding), value + rounding


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
def _compose(loss: ComposedLoss, order: float, direction: Direction) -> tuple[float, float]:
    """Sum over independent coordinates (van Erven & Harremoes 2014, theorem 28)."""
    bounds = [_divergence(part, order, direction) for part in loss.parts]
    return math.fsum(low for low, _ in bounds), math.fsum(high for _, high in bounds)


def _above_parabola(orders: FloatArray, upper: FloatArray, rho: float) -> float | None:
    """Return an order near which a chord of the convex (a - 1) D_a exceeds rho a (a - 1); None if there is none."""
    values = (orders - 1) * np.where(orders > 1, upper, 0.0)
    slopes = np.diff(values) / np.diff(orders)
    with np.errstate(divide="ignore", invalid="ignore"):
        highest = np.clip((slopes / rho + 1) / 2 if rho > 0 else orders[1:], orders[:-1], orders[1:])
    parabola = rho * highest * (highest - 1)
    wrong = ~(values[:-1] + slopes * (highest - orders[:-1]) - parabola <= ARITHMETIC_TOLERANCE * parabola)
    return float(highest[int(np.argmax(wrong))]) if wrong.any() else None


def _log_delta(order: float, divergence: float, epsilon: float) -> float:
    """Return log of e^((a-1)(r-eps)) (1 - 1/a)^(a-1) / a (Canonne, Kamath & Steinke 2020, proposition 12)."""
    # dp_accounting's `compute_delta` is clipped at 1: a search over orders needs a function that is not flat
    if order == 1:
        return 0.0
    return (order - 1) * (divergence - epsilon + math.log1p(-1 / order)) - math.log(order)


def _binary_delta(order: float, divergence: float, epsilon: float) -> float:
    """Return an upper bound of p - e^eps q with D(p, q) <= divergence, over a polygon below the least q of each p."""
    p, q = _binary_region(order, divergence)
    best = float(np.max(p - math.exp(min(epsilon, 709.0)) * q))
    return min(1.0, max(0.0, best * (1 + 1e-9) + _ROUNDING))


@lru_cache(maxsize=256)
def _binary_region(order: float, divergence: float) -> tuple[FloatArray, FloatArray]:
    """Return a polygon below the least q <= p with D(p, q) <= divergence: convex in p, D is jointly quasi-convex."""
    inner = np.r_[np.geomspace(1e-12, 0.3, 600), np.linspace(0.3, 0.7, 200)[1:-1], 1 - np.geomspace(0.3, 1e-12, 600)]
    low, high = np.full(inner.shape, -800.0), np.log(inner)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        outside = _coin_divergence(order, inner, middle) > divergence
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return polygon_below(np.r_[0.0, inner, 1.0], np.r_[0.0, np.exp(low), math.exp(-divergence)])


def _coin_divergence(order: float, p: FloatArray, log_q: FloatArray) -> FloatArray:
    """Return the Renyi divergence of two coins, p in (0, 1), q < 1."""
    log_p, log_rest_p = np.log(p), np.log1p(-p)
    log_rest_q = np.log(-np.expm1(log_q))
    if order == 1:
        return p * (log_p - log_q) + (1 - p) * (log_rest_p - log_rest_q)
    first = order * log_p + (1 - order) * log_q
    second = order * log_rest_p + (1 - order) * log_rest_q
    return np.logaddexp(first, second) / (order - 1)


def polygon_below(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the vertices of a polygon that lies below every convex, nonnegative function through the given points.

    On a cell it lies above both neighboring secants; the first and last cell have one, and jumps at the ends.
    """
    width = np.diff(x)  # x strictly increases, at least 4 points
    slope = np.diff(y) / width
    left, right = np.r_[np.nan, slope[:-1]], np.r_[slope[1:], np.nan]
    turn = right - left
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(turn > 0, np.clip((right - slope) / turn, 0.0, 1.0), 0.5)
    share[0], share[-1] = 0.0, 1.0
    low = np.fmin(y[:-1] + left * share * width, y[1:] - right * (1 - share) * width)
    points = np.stack([x[:-1] + share * width, x[1:]], axis=1).ravel()[:-1]
    values = np.stack([low, y[1:]], axis=1).ravel()[:-1]
    at = np.flatnonzero(values[:-1] * values[1:] < 0)  # where it crosses 0, and has a vertex more
    crossing = points[at] + values[at] / (values[at] - values[at + 1]) * (points[at + 1] - points[at])
    return np.insert(points, at + 1, crossing), np.insert(np.maximum(values, 0.0), at + 1, 0.0)


def require_loss(loss: object) -> PrivacyLoss:
    """Return `loss`, or raise `InvalidArgument` if it is not the privacy loss of a pair."""
    if not isinstance(loss, PrivacyLoss):
        raise InvalidArgument.of("loss", "be an audit.laws.PrivacyLoss: no exact judgment without one", loss)
    return loss
