"""Claims by a trade-off function: Gaussian differential privacy, and f-DP for any f.

T(P, Q)(alpha) is the least type-II error of tests of P against Q of level alpha; f-DP says T >= f for both orders
of every pair of neighbors (Dong, Roth & Su 2022, definition 2.2).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import special

from audit.base.arguments import nonnegative
from audit.base.errors import InvalidArgument
from audit.claims.curve import ClaimKind, ExactJudgement, exceeds, require_loss
from audit.claims.lines import SupportingLines
from audit.claims.polygon import FloatArray, polygon_below, symmetrised
from audit.claims.vertices import PiecewiseLinear
from audit.laws import ARITHMETIC_TOLERANCE, DIRECTIONS, Direction, GaussianLoss, PrivacyLoss

_ROUNDING = 2e-15
_CHECK_TOLERANCE = 1e-11
_REFINEMENTS = 24


class _ByTradeOff(ClaimKind):
    """A claim T >= f, f convex and decreasing."""

    @abstractmethod
    def function_at(self, alpha: float) -> float:
        """Give f(alpha)."""

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgement:
        """Compare T with f.

        Every epsilon gives a line below T, T >= 1 - delta(t) - e^t alpha for t = +-epsilon. f is convex, so f <= their
        envelope everywhere when f <= it at its vertices: that shows that the claim is kept, up to 1e-9 in the
        type-II error. A lower bound of delta above the claim's profile shows that it is broken.
        """
        lines = SupportingLines(require_loss(loss))
        if broken := self._violation(lines):
            return broken
        short = math.inf
        for _ in range(_REFINEMENTS):
            gaps, between = lines.vertices(self.function_at)
            short = float(gaps.max())
            if short <= ARITHMETIC_TOLERANCE and self._infinite_losses_fit(loss):
                return ExactJudgement.of(True, f"{self}: the trade-off function of the pair lies above the claimed one")
            if not lines.refine(between[gaps > ARITHMETIC_TOLERANCE]):
                break
        return self._violation(lines) or ExactJudgement.of(
            None, f"{self}: undecided, the bound of the pair's type-II error lies {short:.2g} below the claimed one"
        )

    def _infinite_losses_fit(self, loss: PrivacyLoss) -> bool:
        """Whether outputs that one side never makes are as rare as f(0) says: they may be rarer than the tolerance."""
        mass = max(loss.mass_at_infinity(side) for side in DIRECTIONS)
        return mass <= 1 - self.function_at(0.0) + _ROUNDING

    def _violation(self, lines: SupportingLines) -> ExactJudgement | None:
        """The epsilon where a lower bound of delta exceeds the claim's profile most, if any does."""
        found: list[tuple[float, float, Direction, float]] = []
        for epsilon, direction in lines.points():
            claimed = self.profile(epsilon)
            seen = lines.loss.delta_lower_bound(epsilon, direction)
            if exceeds(seen, claimed):
                found.append((seen - claimed, epsilon, direction, seen))
        if not found:
            return None
        _, epsilon, direction, seen = max(found)
        return ExactJudgement.of(
            False,
            f"{self}: delta({epsilon:.6g}) >= {seen:.6g}, the claim implies {self.profile(epsilon):.6g}",
            epsilon,
            direction,
        )


@dataclass(frozen=True)
class GaussianClaim(_ByTradeOff):
    """mu-Gaussian differential privacy: T(alpha) >= Phi(Phi^-1(1 - alpha) - mu)   (Dong, Roth & Su 2022, def. 2.6).

    Parameters
    ----------
    mu : float, finite, >= 0
    relation, source
        As for `audit.PrivacyClaim`.
    """

    mu: float

    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mu", nonnegative(self.mu, "mu"))

    def __str__(self) -> str:
        return f"{self.mu:g}-Gaussian DP under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim for a narrow column."""
        return f"{self.mu:g}-GDP"

    def profile(self, epsilon: float) -> float:
        """Give delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu); tight (Dong, Roth & Su 2022, corollary 2.13)."""
        return GaussianLoss(self.mu).delta(epsilon)

    def function_at(self, alpha: float) -> float:
        return float(special.ndtr(-special.ndtri(alpha) - self.mu))

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgement:
        """Compare mu with mu for Gaussian noise, else the trade-off function of the pair with the claimed one."""
        if isinstance(loss, GaussianLoss):
            keeps = loss.shift_over_scale <= self.mu * (1 + ARITHMETIC_TOLERANCE)
            return ExactJudgement.of(keeps, f"{self}: the pair has mu = {loss.shift_over_scale:.6g} exactly")
        return super().judge_exactly(loss)


@dataclass(frozen=True)
class TradeOffClaim(_ByTradeOff):
    """f-differential privacy: T(alpha) >= f(alpha) for both orders of every pair of neighbors.

    Parameters
    ----------
    function : callable float -> float
        f on [0, 1]: convex, continuous, nonincreasing, 0 <= f(a) <= 1 - a; symmetric or not. The caller promises
        this; it is spot-checked on 3,800 points, from 1e-300 to 1 - 1e-16. Only a `PiecewiseLinear` one can be
        written to a certificate: code cannot.
    name : str
        Shown in messages.
    relation, source
        As for `audit.PrivacyClaim`.

    Raises
    ------
    InvalidArgument
        When `function` is not callable or the spot check finds that it is no trade-off function.
    """

    function: Callable[[float], float] = field(repr=False)
    name: str = "f"

    kind: ClassVar[str] = "trade-off"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise InvalidArgument.of("function", "be callable as alpha -> f(alpha)", self.function)
        _require_trade_off(_GRID, self._values)

    def __str__(self) -> str:
        return f"{self.short} under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim for a narrow column."""
        return f"{self.name}-DP"

    def profile(self, epsilon: float) -> float:
        """Give an upper bound of delta = sup 1 - e^eps a - g(a), g = max(f, f^-1)   (Dong, Roth & Su 2022, prop. 2.12).

        Both orders are claimed, hence g (proposition 2.4). The supremum runs over a polygon below g, so that the error,
        about 1e-5 for smooth f, makes delta larger.
        """
        slope = math.exp(min(nonnegative(epsilon, "epsilon"), 709.0))
        alphas, betas = self._below
        return float(min(1.0, max(0.0, np.max(1.0 - slope * alphas - betas) + _ROUNDING)))

    def function_at(self, alpha: float) -> float:
        return float(self.function(alpha))

    @cached_property
    def _values(self) -> FloatArray:
        return np.array([_number(self.function(float(alpha)), float(alpha)) for alpha in _GRID])

    def parameters(self) -> dict[str, Any]:
        """What is claimed, as plain data: the vertices of a piecewise linear function.

        Raises
        ------
        InvalidArgument
            For any other function.
        """
        if not isinstance(self.function, PiecewiseLinear):
            rule = "be audit.PiecewiseLinear to be recorded in a certificate, which holds data and no code"
            raise InvalidArgument.of("function", rule, self.function)
        return {"vertices": [list(vertex) for vertex in self.function.vertices], "name": self.name}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], relation: Any, source: str) -> TradeOffClaim:
        """Rebuild from `parameters()`."""
        function = PiecewiseLinear(parameters["vertices"])
        return cls(function, parameters["name"], relation=relation, source=source)

    @cached_property
    def _below(self) -> tuple[FloatArray, FloatArray]:
        if isinstance(self.function, PiecewiseLinear):
            return symmetrised(*np.array(self.function.vertices).T)
        return symmetrised(*polygon_below(_GRID, np.minimum.accumulate(self._values)))


def _grid() -> FloatArray:
    """Normal quantiles, dense in the middle, and both ends."""
    z = np.r_[np.arange(-37.0, -8.2, 0.05), np.arange(-8.2, 8.2, 0.005)]
    inner = special.ndtr(z)
    inner = inner[np.r_[True, np.diff(inner) > 0]]
    return np.r_[0.0, inner[inner < 1], 1.0]


def _number(value: Any, alpha: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidArgument.of("function", f"return a finite number at {alpha:g}", value)
    return number


def _require_trade_off(x: FloatArray, y: FloatArray) -> None:
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    chord = y[:-2] + share * (y[2:] - y[:-2])
    rules = {
        "be nonnegative": y < -_CHECK_TOLERANCE,
        "satisfy f(a) <= 1 - a": y > 1 - x + _CHECK_TOLERANCE,
        "be nonincreasing": np.r_[np.diff(y) > _CHECK_TOLERANCE, False],
        "be convex": np.r_[False, y[1:-1] > chord + _CHECK_TOLERANCE, False],
    }
    for rule, wrong in rules.items():
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidArgument(f"`function` must {rule}, got f({x[at]:.6g}) = {y[at]:.6g}")


_GRID = _grid()
