"""A least favorable family: small balls whose labels lean one way or the other, at random.

Implements the construction behind the lower bound of Berrett & Butucea (2019), Theorem 2.5, with its open constants
fixed: the bump is u(t) = clip(2 - 8 t, 0, 1), C_phi = 8^-beta, C_1 = C_3 = 1, and the sites are
((2 j_1 + 1) / (4 q), ...), j in {0, ..., q - 1}^d. (The text lets j run to q, which puts sites outside [0, 1/2]^d.)

Its theorem, with the constants that the proof gives: the excess risk of EVERY epsilon-locally private rule from N
users, interactive ones too, averaged over the signs of the balls, is at least

    (1/2) m w L C_phi q^-beta (1 - sqrt(D)),    D = 2 N (e^epsilon - 1)^2 w^2 (L C_phi q^-beta)^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from audit.errors import InvalidArgument
from audit.validate import integer, nonnegative, positive
from mechanisms.local.binary_array import noise_scale
from mechanisms.local.cells import CellTable

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class LeastFavorableFamily:
    """2^m distributions on the unit cube, one for each vector of signs of m balls.

    With probability m w the point is uniform in one of the balls of radius 1 / (8 q), ball i having
    eta = (1 + sign_i * bump) / 2; else it is uniform on [1/2, 1]^d, where eta = 1/2.

    Parameters
    ----------
    dim : int >= 1
    smoothness : float in (0, 1]
        Hölder exponent beta.
    margin_exponent : float >= 0
        gamma; beta * gamma <= d.
    lipschitz, margin_constant : float > 0
        L and C0.
    users : float >= 1
        N: all users, of both halves.
    epsilon : float > 0
    """

    dim: int
    smoothness: float
    margin_exponent: float
    lipschitz: float
    margin_constant: float
    users: float
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        integer(self.dim, "dim", at_least=1)
        if not 0 < positive(self.smoothness, "smoothness") <= 1:
            raise InvalidArgument.of("smoothness", "lie in (0, 1]", self.smoothness)
        if self.smoothness * nonnegative(self.margin_exponent, "margin_exponent") > self.dim:
            rule = f"be at most {self.dim / self.smoothness:g}"
            raise InvalidArgument.of("margin_exponent", rule, self.margin_exponent)
        for name in ("lipschitz", "margin_constant", "users", "epsilon"):
            positive(getattr(self, name), name)
        if self.bump > 1:
            raise InvalidArgument.of("lipschitz", "keep the bump L 8^-beta q^-beta at most 1", self.lipschitz)

    @property
    def sites_per_axis(self) -> int:
        """q = ceil((N epsilon^2)^(1 / (2 beta + 2 d)))."""
        raw = (self.users * self.epsilon**2) ** (1 / (2 * self.smoothness + 2 * self.dim))
        return max(1, math.ceil(raw * (1 - 1e-12)))  # an exact power must not be pushed up by rounding

    @property
    def bump(self) -> float:
        """L C_phi q^-beta: |2 eta - 1| on the balls."""
        return self.lipschitz * (8 * self.sites_per_axis) ** -self.smoothness

    @property
    def balls(self) -> int:
        """m = floor(q^(d - beta gamma))."""
        raw = self.sites_per_axis ** (self.dim - self.smoothness * self.margin_exponent)
        return max(1, math.floor(raw * (1 + 1e-12)))

    @property
    def weight(self) -> float:
        """w, the mass of one ball: the largest c q^-d with m w <= min(1, C0 (bump / 2)^gamma) for every q."""
        slope = self.lipschitz * 8**-self.smoothness / 2
        return min(1.0, self.margin_constant * slope**self.margin_exponent) * self.sites_per_axis**-self.dim

    @property
    def coin_flip_excess(self) -> float:
        """Excess of guessing: m w bump / 2."""
        return self.balls * self.weight * self.bump / 2

    @property
    def information(self) -> float:
        """D, the bound on what N private releases say about one sign."""
        return 2 * self.users * math.expm1(self.epsilon) ** 2 * (self.weight * self.bump) ** 2

    @property
    def lower_bound(self) -> float:
        """The least average excess of any locally private rule."""
        return self.coin_flip_excess * max(0.0, 1 - math.sqrt(self.information))

    @property
    def site_points(self) -> FloatArray:
        """Centers of the m balls that are used, shape (m, dim): the first m sites in row-major order."""
        index = np.unravel_index(np.arange(self.balls), (self.sites_per_axis,) * self.dim)
        return (2 * np.stack(index, axis=1) + 1) / (4 * self.sites_per_axis)

    @property
    def radius(self) -> float:
        """1 / (8 q), the radius of the balls."""
        return 1 / (8 * self.sites_per_axis)

    def margin(self, points: FloatArray, signs: FloatArray) -> FloatArray:
        """Return 2 eta - 1 on [0, 1]^d for given signs of the balls, rings and their surroundings included."""
        gaps = np.linalg.norm(points[:, None, :] - self.site_points, axis=2) * self.sites_per_axis
        return np.asarray((self.bump * np.clip(2 - 8 * gaps, 0, 1) * signs).sum(axis=1))

    def draw(self, size: int, signs: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.int64]]:
        """Draw records one by one: points of shape (size, dim), and labels 0 or 1."""
        ball = rng.choice(self.balls + 1, size=size, p=self._chances())
        step = rng.normal(size=(size, self.dim))
        step *= self.radius * rng.random((size, 1)) ** (1 / self.dim) / np.linalg.norm(step, axis=1, keepdims=True)
        inside = ball < self.balls
        near = self.site_points[np.minimum(ball, self.balls - 1)] + step
        points = np.where(inside[:, None], near, 0.5 + rng.random((size, self.dim)) / 2)
        lean = np.append(signs, 0.0)[ball] * self.bump
        return points, (rng.random(size) < (1 + lean) / 2).astype(np.int64)

    def private_excess(self, scale_factor: float = 1.0) -> float:
        """Return the average excess of the private classifier with h = 1 / (4 q), one cell around each ball.

        Half of the users are in each half. The grid is the kindest to the classifier: every ball lies in the inner
        cube of its own cell.
        """
        half, weight = self.users / 2, np.array([self.weight])
        zero, times = np.zeros(1), np.array([float(self.balls)])
        # signs + and - equally likely: each in turn, half the time
        lean = self.weight * self.bump
        plus = CellTable(self.dim, weight, weight * self.bump, zero, np.array([lean]), times / 2)
        minus = CellTable(self.dim, weight, -weight * self.bump, np.array([lean]), zero, times / 2)
        return sum(part.expected_excess(half, self.epsilon, scale_factor) for part in (plus, minus))

    def draw_private_excess(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw the excess of the private classifier, shape (replicates,), each with fresh signs."""
        half, shape = int(self.users) // 2, (replicates, self.balls)
        signs = rng.choice([-1.0, 1.0], size=shape)
        counts = [rng.multinomial(half, self._chances(), size=replicates)[:, :-1] for _ in (1, 2)]
        ones = rng.binomial(counts[1], (1 + signs * self.bump) / 2)
        scale = noise_scale(self.dim, self.epsilon)
        noise = [scale * (rng.gamma(half, size=shape) - rng.gamma(half, size=shape)) for _ in (1, 2)]
        statistic = ones + noise[1] - (counts[0] + noise[0]) / 2
        return self._excess_of((statistic >= 0) != (signs > 0))

    def majority_excess(self) -> float:
        """Return the average excess of the majority vote on every ball, which is not private; by the normal law."""
        deviation = math.sqrt(self.weight - (self.weight * self.bump) ** 2)
        wrong = special.ndtr(-math.sqrt(self.users) * self.weight * self.bump / deviation)
        return float(2 * self.coin_flip_excess * wrong)

    def draw_majority_excess(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw the excess of the majority vote, shape (replicates,), each with fresh signs."""
        signs = rng.choice([-1.0, 1.0], size=(replicates, self.balls))
        counts = rng.multinomial(int(self.users), self._chances(), size=replicates)[:, :-1]
        ones = rng.binomial(counts, (1 + signs * self.bump) / 2)
        return self._excess_of((2 * ones >= counts) != (signs > 0))

    def _chances(self) -> FloatArray:
        rest = max(0.0, 1 - self.balls * self.weight)
        chances = np.append(np.full(self.balls, self.weight), rest)
        return np.asarray(chances / chances.sum())

    def _excess_of(self, wrong: NDArray[np.bool_]) -> FloatArray:
        return np.asarray(self.weight * self.bump * wrong.sum(axis=1))


def ball_volume(dim: int) -> float:
    """Return V_d, the volume of the Euclidean unit ball."""
    return float(math.pi ** (dim / 2) / special.gamma(dim / 2 + 1))


def line_family(users: float, epsilon: float = 1.0) -> LeastFavorableFamily:
    """Return the family for d = 1, beta = 1, gamma = 0, L = 1, C0 = 1."""
    return LeastFavorableFamily(1, 1.0, 0.0, 1.0, 1.0, users, epsilon)


def plane_family(users: float, epsilon: float = 1.0) -> LeastFavorableFamily:
    """Return the family for d = 2, beta = 1, gamma = 1, L = 1, C0 = 4."""
    return LeastFavorableFamily(2, 1.0, 1.0, 1.0, 4.0, users, epsilon)
