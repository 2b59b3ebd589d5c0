"""Concept classes that can be enumerated on a finite sample: one representative for each dichotomy.

A concept is a row of parameters; `representatives(U)` depends on the sample U alone, and holds exactly one concept for
each way in which the class can label U. Sauer's lemma: there are at most (e |U| / VC)^VC of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

FloatArray = np.ndarray


class ConceptClass(ABC):
    """A class of {0, 1}-valued functions on R^dim with a known Vapnik-Chervonenkis dimension."""

    dim: int
    vc_dim: int

    @abstractmethod
    def candidates(self, sample: FloatArray) -> FloatArray:
        """Return concepts that realize every dichotomy of the sample, perhaps several times."""

    @abstractmethod
    def labels(self, concepts: FloatArray, points: FloatArray) -> np.ndarray:
        """Return the label of each point under each concept, shape (concepts, points)."""

    def representatives(self, sample: FloatArray) -> FloatArray:
        """Return one concept for each dichotomy of a sample of shape (n, dim)."""
        concepts = self.candidates(sample)
        _, first = np.unique(self.labels(concepts, sample), axis=0, return_index=True)
        return concepts[np.sort(first)]


@dataclass(frozen=True)
class Thresholds(ConceptClass):
    """1[x >= t], t in the line or +infinity; VC dimension 1."""

    dim = 1
    vc_dim = 1

    def candidates(self, sample: FloatArray) -> FloatArray:
        """Return the sample's values and +infinity."""
        return np.r_[np.unique(sample[:, 0]), np.inf][:, None]

    def representatives(self, sample: FloatArray) -> FloatArray:
        """Return the candidates: their dichotomies differ."""
        return self.candidates(sample)

    def labels(self, concepts: FloatArray, points: FloatArray) -> np.ndarray:
        """Compare with the threshold."""
        return points[None, :, 0] >= concepts[:, :1]


@dataclass(frozen=True)
class Intervals(ConceptClass):
    """1[a <= x <= b], or nothing; VC dimension 2."""

    dim = 1
    vc_dim = 2

    def candidates(self, sample: FloatArray) -> FloatArray:
        """Return every interval between two values of the sample, and the empty one."""
        values = np.unique(sample[:, 0])
        first, last = np.triu_indices(values.size)
        return np.vstack([np.stack([values[first], values[last]], axis=1), [[np.inf, -np.inf]]])

    def labels(self, concepts: FloatArray, points: FloatArray) -> np.ndarray:
        """Compare with both ends."""
        x = points[None, :, 0]
        return (x >= concepts[:, :1]) & (x <= concepts[:, 1:])


@dataclass(frozen=True)
class Quadrants(ConceptClass):
    """1[x1 <= a and x2 <= b] in the plane; VC dimension 2."""

    dim = 2
    vc_dim = 2

    def candidates(self, sample: FloatArray) -> FloatArray:
        """Return every corner at two coordinates of the sample, and the empty quadrant."""
        first, second = (np.unique(sample[:, axis]) for axis in (0, 1))
        corners = np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)
        return np.vstack([corners, [[-np.inf, -np.inf]]])

    def labels(self, concepts: FloatArray, points: FloatArray) -> np.ndarray:
        """Compare both coordinates."""
        return np.all(points[None, :, :] <= concepts[:, None, :], axis=2)


@dataclass(frozen=True)
class Singletons(ConceptClass):
    """1[x = a], or nothing; VC dimension 1."""

    dim = 1
    vc_dim = 1

    def candidates(self, sample: FloatArray) -> FloatArray:
        """Return the sample's values, and the concept that is 0 on all of it (parameter +infinity)."""
        return np.r_[np.unique(sample[:, 0]), np.inf][:, None]

    def labels(self, concepts: FloatArray, points: FloatArray) -> np.ndarray:
        """Test for equality."""
        return points[None, :, 0] == concepts[:, :1]
