"""Claims by a trade-off function: Gaussian differential privacy, and f-DP for any f.

T(P, Q)(alpha) is the least type-II error of a test of P against Q whose type-I error is alpha. f-DP says T >= f for
both orders of every pair of neighbors (Dong, Roth & Su 2022, Gaussian Differential Privacy, definition 2.2). Functions
known at points are bounded by polygons below them: linear functions attain their extremes at the vertices.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy import special

from audit.claims.privacy import CurveClaim, ExactJudgment, exceeds, require_loss
from audit.errors import InvalidArgument
from audit.laws import ARITHMETIC_TOLERANCE, DIRECTIONS, Direction, GaussianLoss, PrivacyLoss
from audit.laws.privacy_loss import FloatArray
from audit.validate import Finite, Limits, Probability, closed_probability, nonnegative

_ROUNDING = 2e-15
_TOLERANCE = 1e-11  # of the check that a function is a trade-off function
_REFINEMENTS = 24
_FIRST, _MOST = 65, 12_000  # supporting lines in each direction before refinement, and in all
_LARGEST = 700.0
_NEGLIGIBLE = 1e-11


class _ByTradeOff(CurveClaim):
    """A claim T >= f, f convex and decreasing."""

    @abstractmethod
    def function_at(self, alpha: float) -> float:
        """Return f(alpha)."""

    def judge_exactly(self, loss: PrivacyLoss) -> ExactJudgment:
        """Compare the claimed trade-off function with an envelope of lines below that of the pair, at its vertices."""
        lines = _SupportingLines(require_loss(loss))
        if broken := self._violation(lines):
            return broken
        # no tolerance sees outputs that one side never makes: they must be as rare as f(0) says
        infinite = max(loss.mass_at_infinity(side) for side in DIRECTIONS)
        fits = infinite <= 1 - self.function_at(0.0) + _ROUNDING
        short = math.inf
        for _ in range(_REFINEMENTS):
            gaps, between = lines.vertices(self.function_at)
            short = float(gaps.max())
            if short <= ARITHMETIC_TOLERANCE and fits:
                return ExactJudgment(True, f"{self}: the trade-off function of the pair lies above the claimed one")
            if not lines.refine(between[gaps > ARITHMETIC_TOLERANCE]):
                break
        return self._violation(lines) or ExactJudgment(
            None, f"{self}: undecided, the bound of the pair's type-II error lies {short:.2g} below the claimed one"
        )

    def _violation(self, lines: _SupportingLines) -> ExactJudgment | None:
        """Return the epsilon where a lower bound of delta exceeds the claim's profile most; None if none does."""
        seen = {line: lines.loss.delta_lower_bound(*line) for line in map(_sided, lines.delta)}
        broken = [line for line, delta in seen.items() if exceeds(delta, self.profile(line[0]))]
        if not broken:
            return None
        epsilon, direction = worst = max(broken, key=lambda line: seen[line] - self.profile(line[0]))
        detail = f"{self}: delta({epsilon:.6g}) >= {seen[worst]:.6g}, the claim implies {self.profile(epsilon):.6g}"
        return ExactJudgment(False, detail, epsilon, direction)


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

    mu: Finite

    kind: ClassVar[str] = "gaussian"
    unit: ClassVar[str] = "mu"
    long_form: ClassVar[str] = "{0.mu:g}-Gaussian DP"
    short_form: ClassVar[str] = "{0.mu:g}-GDP"
    admissible: ClassVar = {"mu": nonnegative}

    def profile(self, epsilon: float) -> float:
        """Return the least delta that the claim implies at `epsilon` (Dong, Roth & Su 2022, corollary 2.13)."""
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
        _require_trade_off(alphas, betas, "vertices")
        object.__setattr__(self, "vertices", checked)

    def __call__(self, alpha: float) -> float:
        """Return f(alpha)."""
        return float(np.interp(alpha, *np.array(self.vertices).T))


@dataclass(frozen=True)
class TradeOffClaim(_ByTradeOff):
    """f-differential privacy: T(alpha) >= f(alpha) for both orders of every pair of neighbors.

    Parameters
    ----------
    function : PiecewiseLinear
        f on [0, 1], symmetric or not. For a smooth f give a polygon below it, which is kept as well.
    name : str, default "f"
        Shown in messages.
    relation, source
        As for `audit.PrivacyClaim`; keywords only.

    Raises
    ------
    InvalidArgument
        If `function` is not `PiecewiseLinear`.

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

    function: PiecewiseLinear = field(repr=False)
    name: str = "f"

    kind: ClassVar[str] = "trade-off"
    long_form: ClassVar[str] = "{0.name}-DP"
    short_form: ClassVar[str] = "{0.name}-DP"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.function, PiecewiseLinear):
            raise InvalidArgument.of("function", "be audit.PiecewiseLinear: a claim is data, no code", self.function)

    def profile(self, epsilon: float) -> float:
        """Return delta = sup 1 - e^epsilon a - g(a), g = max(f, f^-1).

        Both orders are claimed, hence g (Dong, Roth & Su 2022, propositions 2.4 and 2.12).
        """
        slope = math.exp(min(nonnegative(epsilon, "epsilon"), 709.0))
        alphas, betas = self._symmetric
        return float(min(1.0, max(0.0, np.max(1.0 - slope * alphas - betas) + _ROUNDING)))

    def function_at(self, alpha: float) -> float:
        return self.function(alpha)

    @classmethod
    def parameter_types(cls) -> dict[str, Any]:
        vertices = Annotated[tuple[tuple[Probability, Probability], ...], Limits(shortest=2)]
        return {"vertices": vertices, "name": str}

    def parameters(self) -> dict[str, Any]:
        """Return the vertices and the name."""
        return {"vertices": [list(vertex) for vertex in self.function.vertices], "name": self.name}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any], relation: Any, source: str) -> TradeOffClaim:
        return cls(PiecewiseLinear(parameters["vertices"]), parameters["name"], relation=relation, source=source)

    @cached_property
    def _symmetric(self) -> tuple[FloatArray, FloatArray]:
        return symmetrized(*np.array(self.function.vertices).T)


def _require_trade_off(x: FloatArray, y: FloatArray, argument: str) -> None:
    with np.errstate(invalid="ignore"):
        chord = y[:-2] + (x[1:-1] - x[:-2]) / (x[2:] - x[:-2]) * (y[2:] - y[:-2])
        rules = {
            "be finite": ~np.isfinite(y),
            "be nonnegative": y < -_TOLERANCE,
            "satisfy f(alpha) <= 1 - alpha": y > 1 - x + _TOLERANCE,
            "be nonincreasing": np.r_[np.diff(y) > _TOLERANCE, False],
            "be convex": np.r_[False, y[1:-1] > chord + _TOLERANCE, False],
        }
    for rule, wrong in rules.items():
        if wrong.any():
            at = int(np.argmax(wrong))
            raise InvalidArgument(f"`{argument}` must {rule}, got f({x[at]:.6g}) = {y[at]:.6g}")


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
    return _larger(points, values, np.zeros(points.shape))


def symmetrized(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the vertices of the larger of a decreasing polygon and its reflection at the diagonal."""
    order = np.lexsort((x, y))  # the least x of each y
    reflected, first = np.unique(y[order], return_index=True)
    grid = np.unique(np.r_[x, reflected])
    return _larger(grid, np.interp(grid, x, y), np.interp(grid, reflected, x[order][first], right=0.0))


def _larger(x: FloatArray, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the vertices of the larger of two polygons on one grid: those where they cross are new."""
    gap = first - second
    crossing = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    share = gap[crossing] / (gap[crossing] - gap[crossing + 1])
    new, values = (a[crossing] + share * (a[crossing + 1] - a[crossing]) for a in (x, first))
    return np.insert(x, crossing + 1, new), np.insert(np.maximum(first, second), crossing + 1, values)


def _upper_envelope(slopes: FloatArray, intercepts: FloatArray) -> list[int]:
    """Return the indices of the lines intercept - slope x, slopes decreasing, on top at some x >= 0, left to right."""

    def meet(i: int, j: int) -> float:
        return float((intercepts[i] - intercepts[j]) / (slopes[i] - slopes[j]))

    chain: list[int] = []
    for j in range(len(slopes)):
        while chain and intercepts[j] >= intercepts[chain[-1]]:
            chain.pop()  # flatter and higher at 0: the steeper line is never on top
        while len(chain) > 1 and meet(chain[-2], j) <= meet(*chain[-2:]):
            chain.pop()
        chain.append(j)
    return chain


class _SupportingLines:
    """Lines below T(left, right), 1 - delta(t) - e^t alpha, for a growing set of real t.

    At t = -epsilon, delta is 1 - e^t + e^t times the divergence of left from right at epsilon.
    """

    def __init__(self, loss: PrivacyLoss) -> None:
        self.loss = loss
        self.delta: dict[float, float] = {}  # by t: at epsilon = |t|
        steps = np.linspace(0.0, 1.0, _FIRST)
        self.refine(np.r_[_reach(loss, "right") * steps, -_reach(loss, "left") * steps[1:]])

    def refine(self, thresholds: FloatArray) -> bool:
        """Add lines; return False if none is new or there are too many."""
        new = [t for t in map(float, thresholds) if t not in self.delta]
        if not new or len(self.delta) + len(new) > _MOST:
            return False
        self.delta |= {t: self.loss.delta(*_sided(t)) for t in new}
        return True

    def vertices(self, function: Callable[[float], float]) -> tuple[FloatArray, FloatArray]:
        """Return function - envelope at the envelope's vertices for both orders, and a threshold to sharpen each."""
        t = np.array(sorted(self.delta, reverse=True))
        delta = np.minimum([self.delta[float(x)] for x in t], 1.0)
        slopes = np.exp(t)
        intercepts = np.where(t >= 0, 1 - delta, slopes * (1 - delta))
        kept = _upper_envelope(slopes, intercepts)
        t, k, c = t[kept], slopes[kept], intercepts[kept]
        alphas = np.clip(np.r_[0.0, (c[:-1] - c[1:]) / (k[:-1] - k[1:]), c[-1] / k[-1]], 0.0, 1.0)
        heights = np.maximum(np.r_[c[0], c[:-1] - k[:-1] * alphas[1:-1], 0.0], 0.0)
        between = np.r_[t[0] + 1.0, (t[:-1] + t[1:]) / 2, t[-1] - 1.0]
        # T(right, left) is the inverse of T(left, right), hence the reflected vertices
        vertical = np.array([function(float(alpha)) for alpha in alphas]) - heights
        horizontal = np.array([function(float(height)) for height in heights]) - alphas
        return np.maximum(vertical, horizontal), np.clip(between, -_LARGEST, _LARGEST)


def _sided(t: float) -> tuple[float, Direction]:
    """Return the epsilon and the direction of a line."""
    return abs(t), "right" if t >= 0 else "left"


def _reach(loss: PrivacyLoss, direction: Direction) -> float:
    """Return an epsilon, at most the largest loss, beyond which delta is negligible."""
    largest = loss.max_loss(direction)
    reach = max(1.0, loss.epsilon(min(1.0, _NEGLIGIBLE + loss.mass_at_infinity(direction)), direction))
    return min(largest if largest <= 2 * reach else reach, _LARGEST)
