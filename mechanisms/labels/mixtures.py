"""Labeled points with K classes: the paper's circle of Gaussians, and two laws with known regression functions.

`Circle` is the synthetic distribution of Zhao et al. (2024, section 5.1), with uniform classes (the text does not
say). `Smooth` and `Peaked` live on the circle [0, 1) of length 1 with X uniform, so that every point is an interior
point and a ball of radius r has probability 2 r: eta_j(x) is proportional to 1 + 0.9 cos(2 pi (x - j / K)), and to
exp(6 cos(2 pi (x - j / K))).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms.labels.encoder import FloatArray


@dataclass(frozen=True)
class Circle:
    """Uniform classes; X given class j is Gaussian around the j-th of K points on the unit circle.

    Parameters
    ----------
    n_classes : int >= 2
    sigma : float > 0
        Deviation of each coordinate.
    """

    n_classes: int
    sigma: float

    @property
    def centers(self) -> FloatArray:
        """The K means, shape (K, 2)."""
        angle = 2 * math.pi * np.arange(self.n_classes) / self.n_classes
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def sample(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.int64]]:
        """Draw n points, shape (n, 2), and their labels."""
        labels = rng.integers(self.n_classes, size=n)
        return self.centers[labels] + self.sigma * rng.normal(size=(n, 2)), labels

    def bayes(self, X: FloatArray) -> NDArray[np.int64]:
        """Predict the class of the nearest center: the Bayes rule."""
        angle = np.arctan2(X[:, 1], X[:, 0]) * self.n_classes / (2 * math.pi)
        return np.asarray(np.round(angle).astype(np.int64) % self.n_classes)


@dataclass(frozen=True)
class Ring(ABC):
    """X uniform on the circle [0, 1); the label's probabilities eta(x) are shifts of one function of x.

    Parameters
    ----------
    n_classes : int >= 2
    """

    n_classes: int

    @abstractmethod
    def weight(self, x: FloatArray) -> FloatArray:
        """Return the probability of class 0 at x, up to a factor."""

    def eta(self, x: FloatArray) -> FloatArray:
        """Return the probabilities of the classes at x, one more axis of length K."""
        weights = self.weight(np.asarray(x)[..., None] - np.arange(self.n_classes) / self.n_classes)
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def lipschitz(self) -> float:
        """Return the largest slope of eta_0, hence of every class, on a grid of 1e5 steps."""
        return float(np.max(np.abs(np.diff(self.eta(np.linspace(0, 1, 100_001))[:, 0]))) * 100_000)


@dataclass(frozen=True)
class Smooth(Ring):
    """Broad classes: eta_j within [0.1, 1.9] / K."""

    def weight(self, x: FloatArray) -> FloatArray:
        """1 + 0.9 cos(2 pi x)."""
        return np.asarray(1 + 0.9 * np.cos(2 * math.pi * x))


@dataclass(frozen=True)
class Peaked(Ring):
    """Narrow classes: eta_j is a bump around j / K."""

    def weight(self, x: FloatArray) -> FloatArray:
        """exp(6 cos(2 pi x))."""
        return np.asarray(np.exp(6 * np.cos(2 * math.pi * x)))
