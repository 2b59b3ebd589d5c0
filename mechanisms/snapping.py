"""Laplace noise that survives floating point: Mironov's snapping mechanism, and noise on a public grid.

Mironov (2012), section 5.2: clamp(round(clamp(answer) + S lambda ln U)), S a fair sign, U uniform on (0, 1) in full
double precision, rounded to multiples of Lambda, the smallest power of two at or above lambda, and clamped to [-B, B].
Theorem 1: for sensitivity 1 and lambda < B < 2^46 lambda it is (1/lambda + 2^-49 B/lambda)-DP. Departure: the logarithm
is taken in long double and rounded, not correctly rounded: off by one last place in about one case in 2^10.
`GridLaplace` rounds the answer to a grid, adds geometric noise of whole steps (Ghosh, Roughgarden & Sundararajan 2009),
and every sum is exact in double precision.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit import PrivacyCheck
from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import positive
from mechanisms.geometric import TruncatedGeometric
from mechanisms.papers.rows import Paper
from mechanisms.quadrature import laplace_cdf
from mechanisms.queries import BoundedMean, admit, count, count_positive, held, numeric_answer, require_query, scale

WHERE = "Theorem 1"
GRID = "Ghosh, Roughgarden & Sundararajan 2009, on multiples of the grid step; clamping is post-processing"
EPSILONS = (0.5, 1.0)
_CORRECTION = 2.0**-49
_WIDEST = 2.0**46


@dataclass(frozen=True)
class SnappedLaplace:
    """Answer plus Laplace noise, snapped to a grid and clamped to [-bound, bound]; (epsilon, 0)-DP."""

    query: Any  # dataset -> number; sensitivity 1
    epsilon: float  # > 0, correction included: the scale solves (1 + 2^-49 bound) / scale = epsilon
    bound: float  # B; scale < B < 2^46 scale

    def __post_init__(self) -> None:
        admit(self, query=require_query, epsilon=positive, bound=scale)
        if not self.scale < self.bound < _WIDEST * self.scale:
            raise InvalidArgument.of("bound", f"lie strictly between {self.scale:g} and 2^46 times that", self.bound)

    @property
    def scale(self) -> float:
        """The scale lambda of the noise, rounded up."""
        return math.nextafter((1 + _CORRECTION * self.bound) / self.epsilon, math.inf)

    @property
    def grid(self) -> float:
        """Lambda: the smallest power of two at or above the scale."""
        fraction, exponent = math.frexp(self.scale)
        return math.ldexp(1.0, exponent - 1 if fraction == 0.5 else exponent)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        noisy = self._clamped_answer(dataset) + self.scale * _signed_logarithms(size, rng)
        return np.clip(_round_half_up(noisy / self.grid) * self.grid, -self.bound, self.bound)

    def law(self, dataset: Any) -> Finite:
        """Law of one output over the reals: Laplace masses of the grid cells, the tails on the two bounds."""
        answer, half = self._clamped_answer(dataset), self.grid / 2
        most = math.ceil(self.bound / self.grid) - 1  # largest multiple strictly inside
        inside = self.grid * np.arange(-held(most, "bound / grid", at_least=0), most + 1)
        edges = np.append(inside - half, inside[-1] + half)
        upto = laplace_cdf((edges - answer) / self.scale)
        beyond = laplace_cdf((answer - edges) / self.scale)
        masses = np.where(edges[:-1] > answer, beyond[:-1] - beyond[1:], upto[1:] - upto[:-1])
        table: dict[Hashable, float] = dict(zip(inside.tolist(), masses.tolist(), strict=True))
        table[-self.bound], table[self.bound] = float(upto[0]), float(beyond[-1])
        return Finite(table)

    def _clamped_answer(self, dataset: Any) -> float:
        answer = numeric_answer(self.query, dataset)
        if answer.ndim:
            raise InvalidArgument("`query` must answer with a single number")
        return float(np.clip(answer, -self.bound, self.bound))


@dataclass(frozen=True)
class GridLaplace:
    """Answer rounded to a grid, plus two-sided geometric noise in grid steps, clamped; (epsilon, 0)-DP."""

    query: Any  # dataset -> number
    sensitivity: float  # > 0: largest change of the answer; one grid step is added for the rounding
    epsilon: float  # > 0; kept, not attained unless the answers lie on the grid
    places: int  # >= 0: the grid is the multiples of 2^-places
    steps: int  # >= 1: the release is clamped to so many grid steps on either side of zero

    def __post_init__(self) -> None:
        places = partial(count, at_least=0, at_most=500)
        admit(self, query=require_query, sensitivity=scale, epsilon=positive, places=places, steps=count)

    @property
    def _geometric(self) -> TruncatedGeometric:
        """The geometric mechanism on the number of grid steps above the least release; rounding costs one step more."""
        sensitivity = math.ceil(math.ldexp(self.sensitivity, self.places)) + 1
        return TruncatedGeometric(self._steps_of, sensitivity, self.epsilon, 2 * self.steps)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.ldexp((self._geometric(dataset, size, rng) - self.steps).astype(float), -self.places)

    def law(self, dataset: Any) -> Finite:
        """Law of one output."""
        table = self._geometric.law(dataset).pmf
        return Finite({math.ldexp(z - self.steps, -self.places): table.get(z, 0.0) for z in range(2 * self.steps + 1)})

    def _steps_of(self, dataset: Any) -> int:
        answer = numeric_answer(self.query, dataset)
        if answer.ndim:
            raise InvalidArgument("`query` must answer with a single number")
        return int(np.clip(np.rint(np.ldexp(answer, self.places)), -self.steps, self.steps)) + self.steps


def _signed_logarithms(size: int, rng: np.random.Generator) -> np.ndarray:
    """S ln U: U has a geometric exponent and 52 uniform bits behind the leading one, as Mironov's U*."""
    significand = 1.0 + np.ldexp(rng.integers(0, 2**52, size).astype(float), -52)
    uniform = np.ldexp(significand, -rng.geometric(0.5, size))
    logarithm = np.log(uniform.astype(np.longdouble)).astype(float)
    return np.where(rng.integers(0, 2, size) == 1, logarithm, -logarithm)


def _round_half_up(values: np.ndarray) -> np.ndarray:
    """Nearest whole numbers, ties towards +infinity, as in the text."""
    down = np.floor(values)
    return down + (values - down >= 0.5)


_PAPER, _MEAN = Paper("snapping", "Mironov 2012"), BoundedMean(0.0, 1.0)
_MOVED = [(np.r_[0.0, np.full(15, 0.3)], np.r_[1.0, np.full(15, 0.3)])]


def one_flip(records: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return two changes of one record: of all ones, and of all zeros."""
    ones, zeros = np.ones(records), np.zeros(records)
    return [(ones, np.r_[0.0, ones[1:]]), (zeros, np.r_[1.0, zeros[1:]])]


def _checks(epsilon: float) -> list[PrivacyCheck]:
    snapped = SnappedLaplace(count_positive, epsilon, 40.0)
    on_grid = GridLaplace(_MEAN, _MEAN.sensitivity(16), epsilon, 6, 64)
    return [
        _PAPER.promise(f"count eps={epsilon:g}", WHERE, snapped, epsilon, one_flip(6)),
        _PAPER.promise(f"mean on a grid eps={epsilon:g}", GRID, on_grid, epsilon, _MOVED),
    ]


_BITS: dict[str, Any] = {"method": "fixed", "floats": "audit", "budget": 40_000, "tolerance": 1.0}
_SNAPPED, _ON_GRID = SnappedLaplace(count_positive, 1.0, 40.0), GridLaplace(count_positive, 1.0, 1.0, 6, 2**12)
_NARROW = SnappedLaplace(count_positive, 0.5, 3.0)
CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _checks(epsilon)),
    _PAPER.promise("count, its bits eps=1", WHERE, _SNAPPED, 1.0, one_flip(5)[1:], **_BITS),
    _PAPER.promise("count on a grid, its bits eps=1", GRID, _ON_GRID, 1.0, one_flip(5)[1:], **_BITS),
    _PAPER.promise("decoy/to a bound that holds most of the mass eps=0.5", WHERE, _NARROW, 0.5, one_flip(3)),
]
