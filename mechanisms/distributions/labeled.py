"""Labeled distributions with exact integrals over half-open boxes: features with a response, atoms, products.

Everything that a partitioning rule can do depends on a distribution through three numbers per cell: its mass, the
integral of eta, and the integral of |2 eta - 1|. A `Distribution` gives them in closed form.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from audit import Labeled
from audit.validate import integer
from mechanisms.distributions.features import FloatArray, Marginal, Response

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
