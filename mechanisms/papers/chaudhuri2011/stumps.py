"""Decision stumps: one feature of many, one threshold, either side; a class whose cover grows like d / r (ours)."""

import math
from dataclasses import dataclass

import numpy as np

from audit import Labeled
from audit.validate import positive
from mechanisms.papers.chaudhuri2011.thresholds import FloatArray, IntArray, count_wrong, signed_labels
from mechanisms.parts.records import require_features
from mechanisms.queries import admit, held


@dataclass(frozen=True)
class StumpClass:
    """Stumps on the unit cube of R^d, as rows (feature, threshold, side)."""

    dim: int  # d

    def __post_init__(self) -> None:
        admit(self, dim=held)

    @property
    def doubling_dim(self) -> float:
        """An upper bound, log2(4 d): a ball lies in 2 d intervals of thresholds, each of which two half balls cover."""
        return math.log2(4 * self.dim)

    def margin(self, hypotheses: FloatArray, X: FloatArray) -> FloatArray:
        """Return s (x_j - t), shape (hypotheses, points)."""
        feature, threshold, side = np.atleast_2d(hypotheses).T
        return np.asarray(side[:, None] * (self._rows(X).T[feature.astype(int)] - threshold[:, None]))

    def predict(self, hypotheses: FloatArray, X: FloatArray) -> IntArray:
        """Return the label of each point under each hypothesis, shape (hypotheses, points)."""
        return np.where(self.margin(hypotheses, X) >= 0, 1, -1)

    def mistakes(self, hypotheses: FloatArray, dataset: Labeled) -> IntArray:
        """Count the mistakes of each hypothesis, shape (hypotheses,); one example moves each count by at most 1."""
        X, y = self._rows(dataset.X), signed_labels(dataset.y)
        stumps = np.atleast_2d(np.asarray(hypotheses, dtype=float))
        found = np.zeros(len(stumps), dtype=np.int64)
        for feature in np.unique(stumps[:, 0]).astype(int):
            for side in (1.0, -1.0):
                here = (stumps[:, 0] == feature) & (stumps[:, 2] == side)
                found[here] = count_wrong(side * stumps[here, 1], side * X[:, feature], y)
        return found

    def cover_size(self, radius: float) -> int:
        """Number of hypotheses in `packing_cover`."""
        return 2 * self.dim * max(1, math.ceil(1 / (2 * positive(radius, "radius")) - 1e-9))

    def packing_cover(self, radius: float) -> FloatArray:
        """Return a cover in the uniform metric: evenly spaced thresholds of every feature, both sides."""
        steps = self.cover_size(radius) // (2 * self.dim)
        places = (np.arange(steps) + 0.5) / steps
        parts = np.meshgrid(np.arange(self.dim), places, (1.0, -1.0), indexing="ij")
        return np.stack([part.ravel() for part in parts], axis=1)

    def _rows(self, X: object) -> FloatArray:
        return require_features(X, self.dim)
