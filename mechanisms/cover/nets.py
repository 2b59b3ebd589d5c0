"""Nets of separators in any dimension: an s-packing that is an s-cover, as in Lemma 13, certified by its hull.

The farthest point of the sphere from a finite set whose convex hull holds the origin is the pole of a facet, at the
facet's circumradius (`mechanisms.cover.separators`). So a set that leaves a hole says where: from the 2 n ends of the
axes on, poles of facets wider than s are added, the widest first and none within s of another, until no facet is wider
than s. Every added point is farther than s from all before it, and at the end nothing is: the two properties come from
the construction, and `covering_radius` computes the second one again.

The number of facets grows fast with n, so that nets end at `LARGEST_NET` points.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from audit.errors import InvalidArgument

FloatArray = NDArray[np.float64]
LARGEST_NET = 20_000
_ROUNDING = 1e-12


@lru_cache(maxsize=32)
def polar_net(dim: int, radius: float) -> FloatArray:
    """Return an s-packing of the sphere of R^n that is an s-cover, in rho = angle / pi.

    Raises
    ------
    InvalidArgument
        When the net would have more than `LARGEST_NET` points.
    """
    points = np.vstack([np.eye(dim), -np.eye(dim)])
    if radius >= 0.5:
        return points[[0, dim]] if radius < 1 else points[:1]
    closest = math.cos(math.pi * radius)
    while True:
        holes = _holes(points, closest)
        if not len(holes):
            return points
        points = np.vstack([points, apart(holes, closest - _ROUNDING, LARGEST_NET + 1 - len(points))])
        if len(points) > LARGEST_NET:
            rule = f"leave a net of at most {LARGEST_NET} points in dimension {dim}"
            raise InvalidArgument.of("radius", rule, radius)


def _holes(points: FloatArray, closest: float) -> FloatArray:
    """Return the poles of the facets that are wider than s, the widest first."""
    facets = ConvexHull(points).equations
    wide = facets[-facets[:, -1] < closest - _ROUNDING]
    return np.asarray(wide[np.argsort(-wide[:, -1], kind="stable"), :-1])


def apart(candidates: FloatArray, closest: float, most: float = math.inf) -> FloatArray:
    """Return unit vectors in their order, but none whose cosine with an earlier one is `closest` or more."""
    left, chosen = candidates, list[FloatArray]()
    while len(left) and len(chosen) < most:
        chosen.append(left[0].copy())  # a view would keep all that was left alive
        left = left[left @ left[0] < closest]
    return np.array(chosen)
