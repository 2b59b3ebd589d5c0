"""Linear separators through the origin: section 4.3 of Chaudhuri & Hsu (2011), with covers on circle and sphere.

h_w(x) = +1 if w . x >= 0, else -1, |w| = 1; under the uniform distribution on the sphere rho = angle / pi. The net on
the sphere thins out Fibonacci points; the covering radius is computed from the hull, so that a net is an s-cover
because a certified t-cover was thinned out at s - t. Departures: it is an (s - t)-packing, t = 0.0044; there are no
nets for n > 3.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import ConvexHull
from scipy.special import betainc

from audit import Labeled
from audit.errors import InvalidArgument
from audit.validate import integer, positive
from mechanisms.papers.chaudhuri2011.thresholds import FloatArray, IntArray, signed_labels
from mechanisms.parts.records import require_features

FIBONACCI = 40_000  # points to thin out
_PRODUCTS = 2**18  # counted at a time, so that they stay in the cache
_GOLDEN = math.pi * (3 - math.sqrt(5))


@dataclass(frozen=True)
class LinearSeparatorClass:
    """Half-spaces through the origin of R^n, by their unit normals; VC dimension n."""

    dim: int  # n, at least 2; covers for n = 2 and 3 only

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", integer(self.dim, "dim", at_least=2))

    @property
    def doubling_dim(self) -> float:
        """Doubling dimension under the uniform distribution: 1 on the circle, log2 7 on the sphere (small balls)."""
        return 1.0 if self.dim == 2 else math.log2(7)

    def predict(self, hypotheses: FloatArray, X: FloatArray) -> IntArray:
        """Return the label of each point under each hypothesis, shape (hypotheses, points)."""
        return np.where(np.asarray(hypotheses) @ self._rows(X).T >= 0, 1, -1)

    def mistakes(self, hypotheses: FloatArray, dataset: Labeled) -> IntArray:
        """Count the mistakes of each hypothesis, shape (hypotheses,); one example moves each count by at most 1."""
        X, rows, positive = self._rows(dataset.X), np.asarray(hypotheses), signed_labels(dataset.y) == 1
        parts = np.array_split(rows, 1 + rows.size * len(X) // _PRODUCTS)
        return np.concatenate([np.count_nonzero((part @ X.T >= 0) != positive, axis=1) for part in parts])

    def reference_disagreement(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return rho under the uniform distribution on the sphere: the angle as a part of pi."""
        return np.asarray(np.arccos(np.clip(np.asarray(first) @ np.asarray(second).T, -1, 1)) / math.pi)

    def sample_disagreement(self, first: FloatArray, second: FloatArray, X: FloatArray) -> FloatArray:
        """Return rho on a sample for rows of hypotheses, shape (first, second)."""
        labels = [self.predict(np.atleast_2d(w), X) for w in (first, second)]
        return np.asarray(np.mean(labels[0][:, None, :] != labels[1][None, :, :], axis=2))

    def cover_size(self, radius: float) -> int:
        """Number of hypotheses in `packing_cover`."""
        return max(1, math.ceil(1 / radius)) if self.dim == 2 else len(self.packing_cover(radius))

    def packing_cover(self, radius: float) -> FloatArray:
        """Return a cover of the class in the uniform metric: ceil(1 / s) equal angles (n = 2), or a net."""
        if self.dim == 2:
            angles = 2 * math.pi * np.arange(self.cover_size(positive(radius, "radius"))) / self.cover_size(radius)
            return np.stack([np.cos(angles), np.sin(angles)], axis=1)
        if self.dim != 3:
            raise InvalidArgument.of("dim", "be 2 or 3: there is no net beyond the sphere", self.dim)
        return sphere_net(positive(radius, "radius"))

    def sample_packing_cover(self, X: FloatArray, radius: float) -> FloatArray:
        """Return an s-packing that is an s-cover in the sample metric: all dichotomies, thinned greedily (n = 2)."""
        if self.dim != 2:
            raise InvalidArgument.of("dim", "be 2: dichotomies are listed on the circle only", self.dim)
        rows = self._rows(X)
        angles = np.arctan2(rows[:, 1], rows[:, 0])
        turns = np.unique(np.r_[angles + math.pi / 2, angles - math.pi / 2] % (2 * math.pi))
        middles = (turns + np.r_[turns[1:], turns[0] + 2 * math.pi]) / 2
        hypotheses = np.stack([np.cos(middles), np.sin(middles)], axis=1)
        chosen: list[int] = []
        for index in range(len(hypotheses)):
            gaps = self.sample_disagreement(hypotheses[index], hypotheses[chosen], rows) if chosen else np.ones(1)
            if np.min(gaps) > radius * (1 + 1e-12):
                chosen.append(index)
        return hypotheses[chosen]

    def _rows(self, X: object) -> FloatArray:
        return require_features(X, self.dim)


def fibonacci_sphere(size: int) -> FloatArray:
    """Return points that spiral evenly over the unit sphere, shape (size, 3)."""
    heights = 1 - (2 * np.arange(size) + 1) / size
    around = _GOLDEN * np.arange(size)
    flat = np.sqrt(1 - heights**2)
    return np.stack([flat * np.cos(around), flat * np.sin(around), heights], axis=1)


def covering_radius(points: FloatArray) -> float:
    """Return the covering radius of points on the sphere in rho = angle / pi: exact up to rounding, from the hull."""
    offsets = -ConvexHull(points).equations[:, -1]  # outward unit normals: distance of each facet from the origin
    if offsets.min() <= 0:
        raise InvalidArgument("`points` must not lie in a hemisphere")
    return float(np.arccos(offsets.min()) / math.pi)


@lru_cache(maxsize=1)
def _fine_cover() -> tuple[FloatArray, float]:
    points = fibonacci_sphere(FIBONACCI)
    return points, covering_radius(points)


@lru_cache(maxsize=32)
def sphere_net(radius: float) -> FloatArray:
    """Return an s-cover of the sphere: Fibonacci points, a t-cover, thinned out greedily at s - t, well above t."""
    points, fine = _fine_cover()
    if radius <= 2 * fine:
        raise InvalidArgument.of("radius", f"be more than {2 * fine:.4f} on the sphere", radius)
    left, chosen, closest = points, list[FloatArray](), math.cos(math.pi * (radius - fine))
    while len(left):
        chosen.append(left[0].copy())  # a view would keep all that was left alive
        left = left[left @ left[0] < closest]
    return np.array(chosen)


def cap_mass(dim: int, radius: float) -> float:
    """Uniform mass of a ball of radius r in rho on the sphere of R^n: the cap of angle pi r."""
    angle = math.pi * min(radius, 1.0)
    half = 0.5 * float(betainc((dim - 1) / 2, 0.5, math.sin(angle) ** 2))
    return half if angle <= math.pi / 2 else 1 - half


def band_mass(dim: int, width: float) -> float:
    """Uniform mass of the band |u . x| <= width on the sphere of R^n."""
    return float(betainc(0.5, (dim - 1) / 2, width**2))
