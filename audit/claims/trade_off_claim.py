"""Claims by a trade-off function: Gaussian differential privacy, and f-DP for any f.

T(P, Q)(alpha) is the least type-II error of a test of P against Q whose type-I error is alpha. f-DP says T >= f for
both orders of every pair of neighbors (Dong, Roth & Su 2022, Gaussian Differential Privacy, definition 2.2).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import special

from audit.base.arguments import closed_probability, nonnegative
from audit.base.errors import InvalidArgument
from audit.claims.convex import FloatArray, SupportingLines, polygon_below, symmetrized
from audit.claims.curve_claim import CurveClaim, ExactJudgment, exceeds, require_loss
from audit.laws import ARITHMETIC_TOLERANCE, DIRECTIONS, Direction, GaussianLoss, PrivacyLoss

_ROUNDING = 2e-15
_FUNCTION_TOLERANCE = 1e-11  # of the spot check of a function that is code
_VERTEX_TOLERANCE = 1e-12
_REFINEMENTS = 24


class _ByTradeOff(CurveClaim):
    """A claim T >= f, f convex and decreasing."""

    @abstractmethod
    def function_at(self, alpha: float) -> float:
        """Return f(alpha)."""

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare the trade-off function of the pair with the claimed one.

        Every epsilon gives a line below T: T(alpha) >= 1 - delta(t) - e^t alpha for t = +-epsilon. f is convex. If f
        lies below the envelope of these lines at its vertices, it does so everywhere: the claim is kept, up to 1e-9 in
        the type-II error. A lower bound of delta above the claim's profile shows that the claim is broken.
        """
        lines = SupportingLines(require_loss(loss))
        if broken := self._violation(lines):
            return broken
        short = math.inf
        for _ in range(_REFINEMENTS):
            gaps, between = lines.vertices(self.function_at)
            short = float(gaps.max())
            if short <= ARITHMETIC_TOLERANCE and self._infinite_losses_fit(loss):
                return ExactJudgment(True, f"{self}: the trade-off function of the pair lies above the claimed one")
            if not lines.refine(between[gaps > ARITHMETIC_TOLERANCE]):
                break
        return self._violation(lines) or ExactJudgment(
            None, f"{self}: undecided, the bound of the pair's type-II error lies {short:.2g} below the claimed one"
        )

    def _infinite_losses_fit(self, loss: PrivacyLoss) -> bool:
        """Return whether outputs that one side never makes are as rare as f(0) says: no tolerance sees them."""
        mass = max(loss.mass_at_infinity(side) for side in DIRECTIONS)
        return mass <= 1 - self.function_at(0.0) + _ROUNDING

    def _violation(self, lines: SupportingLines) -> ExactJudgment | None:
        """Return the epsilon where a lower bound of delta exceeds the claim's profile most; None if none does."""
        found: list[tuple[float, float, Direction, float]] = []
        for epsilon, direction in lines.points():
            claimed = self.profile(epsilon)
            seen = lines.loss.delta_lower_bound(epsilon, direction)
            if exceeds(seen, claimed):
                found.append((seen - claimed, epsilon, direction, seen))
        if not found:
            return None
        _, epsilon, direction, seen = max(found)
        return ExactJudgment(
            False,
            f"{self}: delta({epsilon:.6g}) >= {seen:.6g}, the claim implies {self.profile(epsilon):.6g}",
            epsilon,
            direction,
        )


@dataclass(frozen=True)
class GaussianClaim(_ByTradeOff):
    """mu-Gaussian differential privacy: T(alpha) >= Phi(Phi^-1(1 - alpha) - mu).

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

    mu: float

    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "mu", nonnegative(self.mu, "mu"))

    def __str__(self) -> str:
        return f"{self.mu:g}-Gaussian DP under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim as it fits a narrow column."""
        return f"{self.mu:g}-GDP"

    def profile(self, epsilon: float) -> float:
        """Return delta = Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu).

        It is the least such delta (Dong, Roth & Su 2022, corollary 2.13).
        """
        return GaussianLoss(self.mu).delta(epsilon)

    def function_at(self, alpha: float) -> float:
        return float(special.ndtr(-special.ndtri(alpha) - self.mu))

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare mu with mu for Gaussian noise, else the trade-off function of the pair with the claimed one."""
        if isinstance(loss, GaussianLoss):
            keeps = loss.shift_over_scale <= self.mu * (1 + ARITHMETIC_TOLERANCE)
            return ExactJudgment(keeps, f"{self}: the pair has mu = {loss.shift_over_scale:.6g} exactly")
        return super().judge_exactly(loss)


@dataclass(frozen=True)
class PiecewiseLinear:
    """A piecewise linear trade-off function f on [0, 1]: plain data, which a certificate can hold.

    Parameters
    ----------
    vertices : sequence of (alpha, beta)
        alpha strictly increases from 0 to 1; beta = f(alpha) is convex, nonincreasing to 0, at most 1 - alpha. For
        randomized response with epsilon: (0, 1), (q, q), (1, 0), q = 1 / (1 + e^epsilon).

    Raises
    ------
    InvalidArgument
        If the vertices are not those of a trade-off function.

    References
    ----------
    Dong, Roth & Su 2022, proposition 2.2: which functions are trade-off functions.

    Examples
    --------
    >>> from audit import PiecewiseLinear
    >>> f = PiecewiseLinear([(0.0, 1.0), (0.25, 0.25), (1.0, 0.0)])
    >>> f(0.625)
    0.125
    """

    vertices: tuple[tuple[float, float], ...]

    def __init__(self, vertices: Iterable[tuple[float, float]]) -> None:
        try:
            listed = tuple((a, b) for a, b in vertices)
        except (TypeError, ValueError):
            raise InvalidArgument.of("vertices", "be a sequence of (alpha, beta)", vertices) from None
        checked = tuple(
            (closed_probability(a, "vertices[..][0]"), closed_probability(b, "vertices[..][1]")) for a, b in listed
        )
        if len(checked) < 2 or checked[0][0] != 0 or checked[-1] != (1.0, 0.0):
            raise InvalidArgument.of("vertices", "lead from (0, f(0)) to (1, 0)", checked)
        alphas, betas = np.array(checked).T
        if np.any(np.diff(alphas) <= 0):
            raise InvalidArgument.of("vertices", "have strictly increasing alphas", checked)
        _require_trade_off(alphas, betas, "vertices", _VERTEX_TOLERANCE)
        object.__setattr__(self, "vertices", checked)

    def __call__(self, alpha: float) -> float:
        """Return f(alpha)."""
        alphas, betas = zip(*self.vertices, strict=True)
        return float(np.interp(alpha, alphas, betas))


@dataclass(frozen=True)
class TradeOffClaim(_ByTradeOff):
    """f-differential privacy: T(alpha) >= f(alpha) for both orders of every pair of neighbors.

    Parameters
    ----------
    function : callable float -> float
        f on [0, 1]: convex, continuous, nonincreasing, 0 <= f(a) <= 1 - a; symmetric or not. The caller guarantees
        this; 3,800 points, from 1e-300 to 1 - 1e-16, are checked. Only a `PiecewiseLinear` function can be written to
        a certificate: code cannot.
    name : str, default "f"
        Shown in messages.
    relation, source
        As for `audit.PrivacyClaim`; keywords only.

    Raises
    ------
    InvalidArgument
        If `function` is not callable, or a checked point shows that it is not a trade-off function.

    References
    ----------
    Dong, Roth & Su 2022, definition 2.3.

    Examples
    --------
    >>> from audit import PiecewiseLinear, TradeOffClaim
    >>> claim = TradeOffClaim(PiecewiseLinear([(0.0, 1.0), (0.25, 0.25), (1.0, 0.0)]), "response")
    >>> print(claim)
    response-DP under substitution
    >>> round(claim.profile(0.0), 6)
    0.5
    """

    function: Callable[[float], float] = field(repr=False)
    name: str = "f"

    kind: ClassVar[str] = "trade-off"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise InvalidArgument.of("function", "be callable as alpha -> f(alpha)", self.function)
        _require_trade_off(_grid(), self._values, "function", _FUNCTION_TOLERANCE)

    def __str__(self) -> str:
        return f"{self.short} under {self.relation.name}"

    @property
    def short(self) -> str:
        """The claim as it fits a narrow column."""
        return f"{self.name}-DP"

    def profile(self, epsilon: float) -> float:
        """Return an upper bound of delta = sup 1 - e^epsilon a - g(a), g = max(f, f^-1).

        Both orders are claimed, hence g (Dong, Roth & Su 2022, propositions 2.4 and 2.12). The supremum runs over a
        polygon below g. The error, about 1e-5 for smooth f, makes delta larger.
        """
        slope = math.exp(min(nonnegative(epsilon, "epsilon"), 709.0))
        alphas, betas = self._below
        return float(min(1.0, max(0.0, np.max(1.0 - slope * alphas - betas) + _ROUNDING)))

    def function_at(self, alpha: float) -> float:
        return float(self.function(alpha))

    def parameters(self) -> dict[str, Any]:
        """Return the vertices of a piecewise linear function, and the name.

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
    def from_parameters(cls, parameters: Mapping[str, Any], relation: Any, source: str) -> TradeOffClaim:
        """Rebuild the claim from `parameters()`."""
        function = PiecewiseLinear(parameters["vertices"])
        return cls(function, parameters["name"], relation=relation, source=source)

    @cached_property
    def _values(self) -> FloatArray:
        return np.array([_number(self.function(float(alpha)), float(alpha)) for alpha in _grid()])

    @cached_property
    def _below(self) -> tuple[FloatArray, FloatArray]:
        if isinstance(self.function, PiecewiseLinear):
            return symmetrized(*np.array(self.function.vertices).T)
        return symmetrized(*polygon_below(_grid(), np.minimum.accumulate(self._values)))


@cache
def _grid() -> FloatArray:
    """Return normal quantiles, dense in the middle, and both ends."""
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


def _require_trade_off(x: FloatArray, y: FloatArray, argument: str, tolerance: float) -> None:
    share = (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    chord = y[:-2] + share * (y[2:] - y[:-2])
    rules = {
        "be nonnegative": y < -tolerance,
        "satisfy f(alpha) <= 1 - alpha": y > 1 - x + tolerance,
        "be nonincreasing": np.r_[np.diff(y) > tolerance, False],
        "be convex": np.r_[False, y[1:-1] > chord + tolerance, False],
    }
    for rule, wrong in rules.items():
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidArgument(f"`{argument}` must {rule}, got f({x[at]:.6g}) = {y[at]:.6g}")
