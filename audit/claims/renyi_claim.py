"""Claims about Renyi divergences: Renyi differential privacy at one order, zero-concentrated privacy at all orders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from audit.base.arguments import nonnegative
from audit.claims.convex import FloatArray, polygon_below
from audit.claims.curve_claim import CurveClaim, ExactJudgment, exceeds, require_loss
from audit.claims.privacy_claim import softplus
from audit.claims.renyi_divergence import renyi_divergence, renyi_order
from audit.laws import ARITHMETIC_TOLERANCE, DIRECTIONS, Direction, GaussianLoss, PrivacyLoss, compose

_ROUNDING = 2e-15
_BISECTIONS = 70
_FEW_ORDERS = (1.0, 1.5, 2.0, 3.0, 5.0, 9.0)
_ORDER_STEPS = 40


@dataclass(frozen=True)
class RenyiClaim(CurveClaim):
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

    order: float
    epsilon: float

    kind: ClassVar[str] = "renyi"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "order", renyi_order(self.order))
        object.__setattr__(self, "epsilon", nonnegative(self.epsilon, "epsilon"))

    def __str__(self) -> str:
        return f"({self.order:g}, {self.epsilon:g})-Renyi DP under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim as it fits a narrow column."""
        return f"({self.order:g}, {self.epsilon:g})-Renyi"

    def profile(self, epsilon: float) -> float:
        """Return the smaller of two upper bounds of the delta that the claim implies.

        One is the closed form of Canonne, Kamath & Steinke 2020, proposition 12. The other is the largest p - e^eps q
        over all probabilities p, q of one event that the data-processing inequality D(p, q) <= epsilon admits: tight
        for one direction (Asoodeh et al. 2020), and smaller where delta is not small.
        """
        at = nonnegative(epsilon, "epsilon")
        if self.order == math.inf:
            return max(0.0, -math.expm1(softplus(at) - softplus(self.epsilon)))
        closed = math.exp(min(0.0, log_renyi_delta(self.order, self.epsilon, at)))
        return min(closed, _binary_delta(self.order, self.epsilon, at))

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare the bracketed Renyi divergence with the claimed one, both directions."""
        brackets: list[tuple[float, float, Direction]] = [
            (*renyi_divergence(require_loss(loss), self.order, side), side) for side in DIRECTIONS
        ]
        lower, upper, worst = max(brackets)
        upper = max(bracket[1] for bracket in brackets)
        keeps = False if exceeds(lower, self.epsilon) else None if exceeds(upper, self.epsilon) else True
        detail = f"{self}: the pair's divergence lies in [{lower:.6g}, {upper:.6g}]"
        return ExactJudgment(keeps, detail, self.order, worst)


@dataclass(frozen=True)
class ZeroConcentratedClaim(CurveClaim):
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

    rho: float

    kind: ClassVar[str] = "zero-concentrated"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rho", nonnegative(self.rho, "rho"))

    def __str__(self) -> str:
        return f"{self.rho:g}-zero-concentrated DP under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim as it fits a narrow column."""
        return f"{self.rho:g}-zCDP"

    def profile(self, epsilon: float) -> float:
        """Return the least delta over the orders of the implied Renyi claims; each order gives a valid delta."""
        from scipy import optimize

        at = nonnegative(epsilon, "epsilon")
        if self.rho == 0:
            return 0.0
        search = optimize.minimize_scalar(
            lambda x: log_renyi_delta(1 + math.exp(x), self.rho * (1 + math.exp(x)), at),
            bounds=(-12.0, 12.0),
            method="bounded",
        )
        few = min(_binary_delta(order, self.rho * order, at) for order in _FEW_ORDERS)
        return min(few, math.exp(min(0.0, float(search.fun))))

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare D_a with rho a at all orders.

        K(a) = (a - 1) D_a is convex with K(1) = 0. Between two orders it lies below its chord, and the claim is kept
        there if the chord lies below the parabola rho a (a - 1). Beyond the order (largest loss) / rho the
        largest loss decides. Gaussian coordinates contribute mu^2 / 2 exactly; a loss bounded by m has at most
        rho = m^2 / 2 (Bun & Steinke 2016, proposition 3.3).
        """
        gaussian, rest = _gaussian_share(require_loss(loss))
        left = self.rho - gaussian
        if left < -ARITHMETIC_TOLERANCE * max(self.rho, 1e-3):
            return ExactJudgment(False, f"{self}: the Gaussian part alone has rho = {gaussian:.6g}", math.inf, "left")
        largest = max(rest.max_loss(side) for side in DIRECTIONS)
        if largest**2 / 2 <= left * (1 + ARITHMETIC_TOLERANCE):
            return ExactJudgment(True, f"{self}: rho <= {gaussian + largest**2 / 2:.6g}")
        return self._at_orders(rest, max(left, 0.0), largest)

    def _at_orders(self, rest: PrivacyLoss, rho: float, largest: float) -> ExactJudgment:
        last = largest / rho if rho > 0 else math.inf
        orders = 1 + np.r_[0.0, np.geomspace(1e-3, max(min(last, 1e4) - 1, 1.0) * (1 + 1e-9), _ORDER_STEPS)]
        open_point: float | None = None
        direction: Direction
        for direction in DIRECTIONS:
            upper = np.empty(orders.shape)
            for index, order in enumerate(orders):
                lower, upper[index] = renyi_divergence(rest, float(order), direction)
                if exceeds(lower, rho * order):
                    detail = f"{self}: at order {order:.6g} the divergence is >= {lower + (self.rho - rho) * order:.6g}"
                    return ExactJudgment(False, detail, float(order), direction)
            wrong = _above_parabola(orders, upper, rho)
            if wrong is not None:
                open_point = wrong
        if open_point is None and last <= orders[-1]:
            return ExactJudgment(True, f"{self}: kept at all orders, between {len(orders)} of them by convexity")
        where = "beyond the last order" if open_point is None else f"near order {open_point:.4g}"
        return ExactJudgment(None, f"{self}: undecided {where}", open_point)


def log_renyi_delta(order: float, divergence: float, epsilon: float) -> float:
    """Return log of e^((a-1)(r-eps)) (1 - 1/a)^(a-1) / a   (Canonne, Kamath & Steinke 2020, proposition 12)."""
    if order == 1:
        return 0.0
    return (order - 1) * (divergence - epsilon + math.log1p(-1 / order)) - math.log(order)


def _gaussian_share(loss: PrivacyLoss) -> tuple[float, PrivacyLoss]:
    """Return rho of the Gaussian coordinates, and the loss of the others."""
    gaussian = [part for part in loss.parts if isinstance(part, GaussianLoss)]
    rho = math.fsum(part.shift_over_scale**2 / 2 for part in gaussian)
    return rho, compose([part for part in loss.parts if not isinstance(part, GaussianLoss)]) if gaussian else loss


def _above_parabola(orders: FloatArray, upper: FloatArray, rho: float) -> float | None:
    """Return an order near which a chord of (a - 1) D_a exceeds rho a (a - 1); None if there is none."""
    values = (orders - 1) * np.where(orders > 1, upper, 0.0)
    slopes = np.diff(values) / np.diff(orders)
    with np.errstate(divide="ignore", invalid="ignore"):
        highest = np.clip((slopes / rho + 1) / 2 if rho > 0 else orders[1:], orders[:-1], orders[1:])
    excess = values[:-1] + slopes * (highest - orders[:-1]) - rho * highest * (highest - 1)
    scale = rho * highest * (highest - 1)
    wrong = ~(excess <= ARITHMETIC_TOLERANCE * scale)
    return float(highest[int(np.argmax(wrong))]) if wrong.any() else None


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
