"""Distributions with exact Bayes risks and exact cell integrals, to measure learners against.

Laws of a real feature without atoms, whose rank u = F(x) is uniform, so that a margin 2 eta - 1 written in ranks has
closed integrals; labeled distributions with exact integrals over half-open boxes; and a zoo of them, with exact Bayes
risks: smooth and discontinuous eta, atoms, singular features, fat and thin Cantor sets, several dimensions, heavy
tails, and eta = 1/2. Every function of the zoo builds its distribution anew; `ZOO` lists those on the unit cube.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from audit import Labeled
from audit.errors import InvalidArgument
from audit.validate import integer

FloatArray = np.ndarray
OfRanks = Callable[[FloatArray], FloatArray]


def _no_density(x: ArrayLike) -> FloatArray:
    raise InvalidArgument("the law has no density")


@dataclass(frozen=True)
class Marginal:
    """A law on the line without atoms."""

    cdf: Callable[[ArrayLike], FloatArray]
    quantile: Callable[[FloatArray], FloatArray]  # a feature with distribution function u, 0 <= u < 1
    density: Callable[[ArrayLike], FloatArray] = _no_density

    def mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return P(a <= X < b)."""
        return np.maximum(self.cdf(b) - self.cdf(a), 0.0)


def take_known(law: Any) -> Marginal:
    """Return a law of `scipy.stats`, frozen; the quantile at 0 counts as that at 2^-54."""
    return Marginal(law.cdf, lambda u: np.asarray(law.ppf(np.maximum(u, 2.0**-54))), law.pdf)


def _cantor_function(x: ArrayLike) -> FloatArray:
    """Return the Cantor function, from 40 ternary digits: the error is below 2^-40 of the value's last digit."""
    rest = np.clip(np.asarray(x, dtype=float), 0.0, 1.0).copy()
    value, weight, open_ = np.zeros(rest.shape), 0.5, np.ones(rest.shape, dtype=bool)
    whole = rest >= 1
    for _ in range(40):
        rest = rest * 3
        digit = np.minimum(np.floor(rest), 2)
        rest = rest - digit
        value = value + np.where(open_ & (digit >= 1), weight, 0.0)
        open_ &= digit != 1
        weight /= 2
    return np.where(whole, 1.0, value)


def _cantor_quantile(u: FloatArray) -> FloatArray:
    """Write the binary digits of u as ternary digits 0 and 2."""
    rest, x = np.array(u, dtype=float), np.zeros(np.shape(u))
    for k in range(1, 41):
        rest = rest * 2
        bit = np.floor(rest)
        rest = rest - bit
        x = x + 2 * bit / 3.0**k
    return x


UNIFORM = Marginal(  # on [0, 1)
    lambda x: np.clip(np.asarray(x, dtype=float), 0.0, 1.0),
    lambda u: u,
    lambda x: np.where((np.asarray(x) >= 0) & (np.asarray(x) < 1), 1.0, 0.0),
)
CAUCHY = take_known(stats.cauchy())
# X = sum of 2 b_k / 3^k with fair bits b_k: no density, no atoms
CANTOR = Marginal(_cantor_function, _cantor_quantile)

DENSITIES: dict[str, Marginal] = {
    "uniform": UNIFORM,
    "normal": take_known(stats.norm()),
    "cauchy": CAUCHY,
    "exponential": take_known(stats.expon()),
    "square root": take_known(stats.beta(0.5, 1)),  # 1 / (2 sqrt(x)) on (0, 1), unbounded at 0
    "pareto": take_known(stats.pareto(0.5)),  # x^(-3/2) / 2 on [1, inf): no mean
}


@dataclass(frozen=True)
class Response:
    """A margin as a function of the rank u in [0, 1]."""

    at: OfRanks  # the margin at u, in [-1, 1]
    signed: OfRanks  # its integral over [0, u]
    absolute: OfRanks  # that of |margin|


def make_steps(edges: ArrayLike, margins: ArrayLike) -> Response:
    """Return a constant margin between successive edges, increasing and inside (0, 1); each on [edge, next edge).

    There is one margin more than edges: before the first, between edges, and after the last.
    """
    inner, sizes = np.array(edges, dtype=float), np.array(margins, dtype=float)
    ends = np.r_[0.0, inner, 1.0]
    parts = sizes * np.diff(ends)
    signed, absolute = (np.r_[0.0, np.cumsum(each)] for each in (parts, np.abs(parts)))
    return Response(
        at=lambda u: sizes[np.searchsorted(inner, u, side="right")],
        signed=lambda u: np.interp(u, ends, signed),
        absolute=lambda u: np.interp(u, ends, absolute),
    )


def make_sine(amplitude: float, phase: float = 0.0) -> Response:
    """Return the margin amplitude * sin(2 pi (u - phase))."""

    def integral(t: FloatArray | float) -> FloatArray:
        return -np.cos(2 * math.pi * np.asarray(t)) / (2 * math.pi)

    def half_periods(t: FloatArray) -> FloatArray:
        """Count half periods, 1 / pi each, and add the part of the last one."""
        whole = np.floor(2 * t)
        return np.asarray((whole + (1 - np.cos(2 * math.pi * t - math.pi * whole)) / 2) / math.pi)

    return Response(
        at=lambda u: amplitude * np.sin(2 * math.pi * (u - phase)),
        signed=lambda u: amplitude * (integral(u - phase) - integral(-phase)),
        absolute=lambda u: abs(amplitude) * (half_periods(u - phase) - half_periods(np.asarray(-phase))),
    )


def make_power(c: float, s: float) -> Response:
    """Return the margin 2 c sign(u - 1/2) |u - 1/2|^s: eta = 1/2 + c sign(u - 1/2) |u - 1/2|^s; c = s = 1 is the rank.

    c <= 2^(s - 1), so that eta stays in [0, 1].
    """
    k = s + 1
    return Response(
        at=lambda u: 2 * c * np.sign(u - 0.5) * np.abs(u - 0.5) ** s,
        signed=lambda u: 2 * c * (np.abs(u - 0.5) ** k - 0.5**k) / k,
        absolute=lambda u: 2 * c * (np.sign(u - 0.5) * np.abs(u - 0.5) ** k + 0.5**k) / k,
    )


NO_MARGIN = make_steps([], [0.0])  # eta = 1/2: nothing to learn


EXPONENT = 1.5


class Distribution(ABC):
    """Law of (X, Y), X in R^dim, Y in {0, 1}, with margin(x) = 2 P(Y = 1 | X = x) - 1.

    Boxes are [a, b) = {x : a <= x < b in every coordinate}. For dim = 1, `a` and `b` broadcast to any shape; for
    dim > 1 their last axis has length dim, and the result has the other axes. Infinite ends are allowed.
    """

    @property
    def dim(self) -> int:
        """Dimension of X; for dim = 1 features have shape (n,)."""
        return 1

    @property
    @abstractmethod
    def bayes_risk(self) -> float:
        """Risk of the rule 1[eta > 1/2]: (1 - E|2 eta(X) - 1|) / 2."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw features and the margin at each of them."""

    @abstractmethod
    def margin(self, x: ArrayLike) -> FloatArray:
        """Return 2 eta(x) - 1."""

    @abstractmethod
    def integrals_over(self, a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return P(X in [a, b)), and the integrals of 2 eta - 1 and of |2 eta - 1| over [a, b)."""

    def mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return P(X in [a, b))."""
        return self.integrals_over(a, b)[0]

    def signed_mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return the integral of 2 eta - 1 over [a, b)."""
        return self.integrals_over(a, b)[1]

    def absolute_mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return the integral of |2 eta - 1| over [a, b)."""
        return self.integrals_over(a, b)[2]

    def sample(self, n: int, rng: np.random.Generator) -> Labeled:
        """Draw n labeled records; features of shape (n,) for dim = 1 and (n, dim) else."""
        features, margins = self.draw(integer(n, "n", at_least=0), rng)
        return Labeled(features, (rng.random(len(margins)) < (1 + margins) / 2).astype(np.int8))

    def positive_mass(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return the integral of eta over [a, b)."""
        return np.maximum(self.mass(a, b) + self.signed_mass(a, b), 0.0) / 2

    def cost_of_one(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return the excess risk of predicting 1 on [a, b): the integral of (1 - 2 eta)^+."""
        return np.maximum(self.absolute_mass(a, b) - self.signed_mass(a, b), 0.0) / 2

    def cost_of_zero(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Return the excess risk of predicting 0 on [a, b): the integral of (2 eta - 1)^+."""
        return np.maximum(self.absolute_mass(a, b) + self.signed_mass(a, b), 0.0) / 2


class Cumulative(Distribution):
    """A distribution on the line, by its integrals over (-inf, x)."""

    @abstractmethod
    def integrals(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return P(X < x), and the integrals of 2 eta - 1 and of |2 eta - 1| over X < x."""

    @property
    def bayes_risk(self) -> float:
        """Risk of the rule 1[eta > 1/2], from the total integral of |2 eta - 1|."""
        return (1 - float(self.integrals(np.array([np.inf]))[2][0])) / 2

    def integrals_over(self, a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the differences of the integrals at both ends."""
        low, high = (self.integrals(np.asarray(end, dtype=float)) for end in (a, b))
        mass, signed, absolute = (second - first for first, second in zip(low, high, strict=True))
        return np.maximum(mass, 0.0), signed, np.maximum(absolute, 0.0)


@dataclass(frozen=True, eq=False)
class Line(Cumulative):
    """A feature without atoms, and a margin that depends on its rank."""

    feature: Marginal
    response: Response

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw ranks; feature and margin follow from them."""
        u = rng.random(n)
        return self.feature.quantile(u), self.response.at(u)

    def margin(self, x: ArrayLike) -> FloatArray:
        """Return 2 eta - 1 at features x."""
        return self.response.at(self.feature.cdf(x))

    def integrals(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the three integrals below x."""
        u = self.feature.cdf(x)
        return u, self.response.signed(u), self.response.absolute(u)


@dataclass(frozen=True, eq=False)
class Atomic(Cumulative):
    """Finitely many points on the line: locations differ; masses are positive and sum to 1 within 1e-9."""

    locations: Any
    masses: Any
    margins: Any

    def __post_init__(self) -> None:
        order = np.argsort(self.locations)
        for name in ("locations", "masses", "margins"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=float)[order])

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw points by their masses."""
        chosen = rng.choice(self.masses.size, size=n, p=self.masses / self.masses.sum())
        return self.locations[chosen], self.margins[chosen]

    def margin(self, x: ArrayLike) -> FloatArray:
        """Return 2 eta - 1 at the points, 0 elsewhere."""
        at = np.asarray(x, dtype=float)
        index = np.minimum(np.searchsorted(self.locations, at), self.locations.size - 1)
        return np.where(self.locations[index] == at, self.margins[index], 0.0)

    def integrals(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sum over the points below x, x itself left out."""
        columns = (self.masses, self.masses * self.margins, self.masses * np.abs(self.margins))
        index = np.searchsorted(self.locations, x, side="left")
        first, second, third = (np.r_[0.0, np.cumsum(column)][index] for column in columns)
        return first, second, third


@dataclass(frozen=True, eq=False)
class Product(Distribution):
    """Independent features; the margin is the product of their margins."""

    factors: tuple[Line, ...]  # at least two, one a coordinate

    @property
    def dim(self) -> int:
        """Number of factors."""
        return len(self.factors)

    @property
    def bayes_risk(self) -> float:
        """Risk of the Bayes rule: E|2 eta - 1| is a product."""
        return (1 - math.prod(1 - 2 * factor.bayes_risk for factor in self.factors)) / 2

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw the coordinates one after the other."""
        drawn = [factor.draw(n, rng) for factor in self.factors]
        return np.stack([x for x, _ in drawn], axis=1), reduce(mul, [margin for _, margin in drawn])

    def margin(self, x: ArrayLike) -> FloatArray:
        """Multiply the margins of the coordinates."""
        at = np.asarray(x, dtype=float)
        return reduce(mul, [factor.margin(at[..., k]) for k, factor in enumerate(self.factors)])

    def integrals_over(self, a: ArrayLike, b: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Multiply the integrals of the sides; sides that many boxes share are integrated once."""
        low, high = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        each = [_side(factor, low[..., k], high[..., k]) for k, factor in enumerate(self.factors)]
        mass, signed, absolute = (reduce(mul, parts) for parts in zip(*each, strict=True))
        return mass, signed, absolute


def _side(factor: Line, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    ends, index = np.unique(np.stack(np.broadcast_arrays(low, high)), return_inverse=True)
    index = index.reshape(2, *np.broadcast_shapes(low.shape, high.shape))
    mass, signed, absolute = (values[index[1]] - values[index[0]] for values in factor.integrals(ends))
    return np.maximum(mass, 0.0), signed, np.maximum(absolute, 0.0)


@dataclass(frozen=True)
class ZipfByThirds(Cumulative):
    """The integers but 0, P(k) = |k|^-1.5 / (2 zeta(1.5)); eta = 0.8 where 3 divides k and 0.3 elsewhere.

    Infinitely many atoms; cell masses are exact.
    """

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw the size by the Zipf law and the sign by a coin."""
        size = rng.zipf(EXPONENT, n).astype(float)
        features = np.where(rng.random(n) < 0.5, -size, size)
        return features, self.margin(features)

    def margin(self, x: ArrayLike) -> FloatArray:
        """Return 0.6 on multiples of 3 and -0.4 elsewhere."""
        return np.where(np.asarray(x, dtype=float) % 3 == 0, 0.6, -0.4)

    def integrals(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the integrals over the integers below x, by Hurwitz zeta functions."""
        least = np.ceil(np.asarray(x, dtype=float))  # integers k < x are those k <= least - 1
        every, thirds = self._below(least, 1.0), self._below(np.ceil(least / 3), 3.0)
        others = every - thirds
        return every, 0.6 * thirds - 0.4 * others, 0.6 * thirds + 0.4 * others

    def _below(self, least: FloatArray, step: float) -> FloatArray:
        """Mass of the non-zero multiples step * k with k < least."""
        total = 2 * special.zeta(EXPONENT)
        scale = step**-EXPONENT / total
        far = special.zeta(EXPONENT, np.minimum(np.where(least > 0, least, 1 - least), 1e300))
        return scale * np.where(least > 0, total - far, far)


PARITY_REACH = 2**16


def smooth() -> Line:
    """X uniform, eta = 1/2 + 0.4 sin(2 pi x); Bayes risk 1/2 - 0.8 / pi."""
    return Line(UNIFORM, make_sine(0.8))


def step() -> Line:
    """X uniform, eta = 0.9 on [0, 1/pi) and 0.2 after; Bayes risk 0.168169."""
    return Line(UNIFORM, make_steps([1 / math.pi], [0.8, -0.6]))


def atoms() -> Atomic:
    """Mass 2^-k at the fractional part of k (sqrt(5) - 1) / 2, eta = 0.8 for odd k and 0.3 for even k."""
    k = np.arange(1, 41)
    masses = 2.0**-k
    masses[-1] *= 2
    locations = np.mod(k * (math.sqrt(5) - 1) / 2, 1.0)
    return Atomic(locations, masses, np.where(k % 2 == 1, 0.6, -0.4))


def cantor_parity(digits: int = 6) -> Line:
    """X of the Cantor law, eta = 0.9 or 0.1 by the parity of the number of 2s among the first ternary digits."""
    ranks = np.arange(2**digits)
    parity = np.array([int(rank).bit_count() % 2 for rank in ranks])
    return Line(CANTOR, make_steps(ranks[1:] / 2**digits, np.where(parity == 0, 0.8, -0.8)))


def fat_cantor(level: int = 16) -> Line:
    """X uniform, eta the indicator of a Smith-Volterra-Cantor set of measure 1/2 + 2^-(level + 1); Bayes risk 0."""
    starts, length = np.zeros(1), 1.0
    for k in range(1, level + 1):
        shorter = (length - 4.0**-k) / 2
        starts = np.sort(np.r_[starts, starts + length - shorter])
        length = shorter
    edges = np.stack([starts, starts + length], axis=1).ravel()[1:-1]
    return Line(UNIFORM, make_steps(edges, np.where(np.arange(edges.size + 1) % 2 == 0, 1.0, -1.0)))


def sign_steps(edges: np.ndarray, size: float = 1.0) -> Response:
    """Margin +size, -size, +size ... between successive edges."""
    return make_steps(edges, np.where(np.arange(len(edges) + 1) % 2 == 0, size, -size))


def checkerboard(squares: int = 7) -> Product:
    """Uniform on the unit square, eta = 0.9 or 0.1 on a board of squares x squares; Bayes risk 0.1."""
    edges = np.arange(1, squares) / squares
    return _uniform_product(sign_steps(edges, 0.8), sign_steps(edges))


def octants() -> Product:
    """Uniform on the unit cube, 2 eta - 1 = 0.8 times the signs of x_k - 1/e; Bayes risk 0.1."""
    edge = np.array([math.exp(-1)])
    return _uniform_product(*(make_steps(edge, [-size, size]) for size in (0.8, 1.0, 1.0)))


def cantor_times_uniform() -> Product:
    """X1 Cantor, X2 uniform, 2 eta - 1 = 0.7 sign(F(x1) - 1/2) times a square wave of half-period 1 / 3.3 in x2."""
    first = Line(CANTOR, make_steps([0.5], [-0.7, 0.7]))
    return Product((first, Line(UNIFORM, sign_steps(np.arange(1, 4) / 3.3))))


def quadrants() -> Product:
    """Uniform on the unit square, 2 eta - 1 = 0.8 times the signs of x_k - 1/e; Bayes risk 0.1."""
    edge = np.array([math.exp(-1)])
    return _uniform_product(make_steps(edge, [-0.8, 0.8]), make_steps(edge, [-1.0, 1.0]))


def shifted_sine_product() -> Product:
    """Uniform on the unit square, 2 eta - 1 = 0.8 sin(2 pi (x1 - 0.13)) sin(2 pi (x2 - 0.29)): zeros off any grid."""
    return _uniform_product(make_sine(0.8, 0.13), make_sine(1.0, 0.29))


def cauchy_parity() -> Line:
    """X Cauchy, eta = 0.9 on even unit intervals and 0.2 on odd ones; Bayes risk 0.15.

    The parity stops at |x| = 2^16, where 1e-5 of the mass lies beyond: eta = 0.2 to the left and 0.9 to the right.
    """
    cuts = np.arange(-PARITY_REACH, PARITY_REACH + 1)
    inner = np.where(cuts[:-1] % 2 == 0, 0.8, -0.6)
    return Line(CAUCHY, make_steps(CAUCHY.cdf(cuts), np.r_[-0.6, inner, 0.8]))


def _uniform_product(*responses: Response) -> Product:
    return Product(tuple(Line(UNIFORM, response) for response in responses))


ZOO: dict[str, Callable[[], Distribution]] = {  # with the Bayes risk of those that have no function
    "smooth": smooth,
    "step": step,
    "atoms": atoms,
    "cantor-rank": lambda: Line(CANTOR, make_power(1.0, 1.0)),  # eta the Cantor function: 1/4
    "cantor-parity": cantor_parity,
    "pure-noise": lambda: Line(UNIFORM, NO_MARGIN),  # nothing to learn: 1/2
    "fat-cantor": fat_cantor,
    "flat-margin": lambda: Line(UNIFORM, make_power(2.0, 2.0)),  # eta = 1/2 + 2 sign(x - 1/2) |x - 1/2|^2: 1/3
    # a jump at 1 / e: 0.15
    "sqrt-density": lambda: Line(DENSITIES["square root"], make_steps([math.exp(-0.5)], [0.7, -0.7])),
    "checkerboard": checkerboard,
    "sine-product": lambda: _uniform_product(make_sine(0.9), make_sine(1.0)),  # 0.317622
    "octants": octants,
    "cantor-uniform": cantor_times_uniform,
}
