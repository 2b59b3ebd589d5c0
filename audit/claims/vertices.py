"""A piecewise linear trade-off function: plain data, so that a certificate can hold it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from audit.base.arguments import closed_probability
from audit.base.errors import InvalidArgument

_ROUNDING = 1e-12


@dataclass(frozen=True)
class PiecewiseLinear:
    """f on [0, 1] by its vertices, straight lines between them.

    Parameters
    ----------
    vertices : sequence of (alpha, beta)
        alpha strictly increasing from 0 to 1, beta = f(alpha) nonincreasing to 0, below 1 - alpha and convex. For
        randomised response with epsilon: (0, 1), (q, q), (1, 0), q = 1 / (1 + e^epsilon).

    Raises
    ------
    InvalidArgument
        When the vertices are not those of a trade-off function.
    """

    vertices: tuple[tuple[float, float], ...]

    def __init__(self, vertices: Iterable[tuple[float, float]]) -> None:
        try:
            listed = tuple((a, b) for a, b in vertices)
        except (TypeError, ValueError):
            raise InvalidArgument.of("vertices", "be a sequence of (alpha, beta)", vertices) from None
        checked = tuple(
            (closed_probability(a, "vertices[..][0]"), closed_probability(b, "vertices[..][1]")) for a, b in listed
        )
        object.__setattr__(self, "vertices", checked)
        _require_trade_off(checked)

    def __call__(self, alpha: float) -> float:
        """Give f(alpha)."""
        alphas, betas = zip(*self.vertices, strict=True)
        return float(np.interp(alpha, alphas, betas))


def _require_trade_off(vertices: tuple[tuple[float, float], ...]) -> None:
    if len(vertices) < 2 or vertices[0][0] != 0 or vertices[-1] != (1.0, 0.0):
        raise InvalidArgument.of("vertices", "lead from (0, f(0)) to (1, 0)", vertices)
    if any(b <= a for (a, _), (b, _) in pairwise(vertices)):
        raise InvalidArgument.of("vertices", "have strictly increasing alphas", vertices)
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in pairwise(vertices)]
    if any(beta > 1 - alpha + _ROUNDING for alpha, beta in vertices):
        raise InvalidArgument.of("vertices", "satisfy f(alpha) <= 1 - alpha", vertices)
    if any(slope > _ROUNDING for slope in slopes):
        raise InvalidArgument.of("vertices", "be nonincreasing", vertices)
    if any(second < first - _ROUNDING * (1 + abs(first)) for first, second in pairwise(slopes)):
        raise InvalidArgument.of("vertices", "be convex", vertices)
