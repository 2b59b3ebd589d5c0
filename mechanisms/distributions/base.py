"""Labeled distributions with exact integrals over half-open boxes.

Everything that a partitioning rule can do depends on a distribution through three numbers per cell: its mass, the
integral of eta, and the integral of |2 eta - 1|. A `Distribution` gives them in closed form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from audit import Labeled
from audit.validate import integer

FloatArray = np.ndarray


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
