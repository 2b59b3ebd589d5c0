"""Labeled distributions: a feature with a response, atoms, mixtures, products, and a law on the integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from audit.errors import InvalidArgument
from mechanisms.distributions.base import Cumulative, Distribution, FloatArray
from mechanisms.distributions.marginals import Marginal
from mechanisms.distributions.responses import Response

EXPONENT = 1.5


@dataclass(frozen=True, eq=False)
class Line(Cumulative):
    """A feature without atoms, and a margin that depends on its rank.

    Parameters
    ----------
    feature : Marginal
    response : Response
    """

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
    """Finitely many points on the line.

    Parameters
    ----------
    locations, masses, margins : arrays, shape (k,)
        Locations differ; masses are positive and sum to 1 within 1e-9.
    """

    locations: Any
    masses: Any
    margins: Any

    def __post_init__(self) -> None:
        columns = [np.array(getattr(self, name), dtype=float) for name in ("locations", "masses", "margins")]
        order = np.argsort(columns[0])
        for name, column in zip(("locations", "masses", "margins"), columns, strict=True):
            object.__setattr__(self, name, column[order])

    @cached_property
    def _sums(self) -> FloatArray:
        columns = np.stack([self.masses, self.masses * self.margins, self.masses * np.abs(self.margins)])
        return np.hstack([np.zeros((3, 1)), np.cumsum(columns, axis=1)])

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
        first, second, third = self._sums[:, np.searchsorted(self.locations, x, side="left")]
        return first, second, third


@dataclass(frozen=True, eq=False)
class Mixture(Cumulative):
    """A mixture of distributions on the line whose features live on disjoint sets.

    Parameters
    ----------
    weights : tuple of float > 0, summing to 1
    parts : tuple of Cumulative
        Mutually singular: only then is the integral of |2 eta - 1| the sum of the parts'.
    """

    weights: tuple[float, ...]
    parts: tuple[Cumulative, ...]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw how many come from each part, and shuffle."""
        counts = rng.multinomial(n, self.weights)
        drawn = [part.draw(int(k), rng) for k, part in zip(counts, self.parts, strict=True)]
        order = rng.permutation(n)
        features, margins = (np.concatenate([part[i] for part in drawn])[order] for i in (0, 1))
        return features, margins

    def margin(self, x: ArrayLike) -> FloatArray:
        """Refuse: a floating-point number does not show the part that a feature belongs to."""
        raise InvalidArgument("the margin of a mixture of singular parts is not a function of a double")

    def integrals(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the weighted sums of the parts' integrals."""
        each = [part.integrals(x) for part in self.parts]
        first, second, third = (sum(w * part[i] for w, part in zip(self.weights, each, strict=True)) for i in range(3))
        return np.asarray(first), np.asarray(second), np.asarray(third)


@dataclass(frozen=True, eq=False)
class Product(Distribution):
    """Independent features; the margin is the product of their margins.

    Parameters
    ----------
    factors : tuple of at least two Line
        One a coordinate.
    """

    factors: tuple[Line, ...]

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
