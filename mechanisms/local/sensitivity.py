"""Sensitivity of the array to one record, enumerated over points on, between and beside the grid lines.

Two facts carry Theorem 2.1 of Berrett & Butucea (2019): between 1 and 2^d cells hold a point, and so two records differ
in at most 2^(d+1) bits. Both are exact, and both are reached.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from audit import InequalityCheck
from mechanisms.local.binary_array import SOURCE, LocalBinaryArrayMechanism, Record
from mechanisms.local.grid import Grid

Cases = list[tuple[str, float, float]]

BANDWIDTHS = (0.1, 0.2, 0.25, 0.3, 0.4)
_PLACES = (0.0, 0.1, 0.2, 0.25, 0.4, 0.5, 0.7000000000000001, 0.8, 0.9, 1.0)


def axis_points(bandwidth: float) -> np.ndarray:
    """Grid points, their neighbors in floating point, mid-cells, and decimals that rounding puts beside the grid."""
    on = np.arange(0, int(1 / bandwidth) + 1) * bandwidth
    beside = np.r_[np.nextafter(on, 2), np.nextafter(on, -1), on + bandwidth / 2, _PLACES]
    return np.unique(np.clip(np.r_[on, beside], 0.0, 1.0))


def hit_cases(dim: int, least: bool) -> Cases:
    """Compare the largest number of cells that hold a point with 2^d, or the smallest with 1, on a wide window."""
    cases: Cases = []
    for bandwidth in BANDWIDTHS:
        axis = axis_points(bandwidth)
        if dim == 3:
            axis = axis[:: max(1, len(axis) // 12)]
        points = np.array(list(product(axis, repeat=dim)))
        hits = Grid(dim, bandwidth, -1.0, 2.0).hits(points).sum(axis=1)
        number, bound = (hits.min(), 1) if least else (hits.max(), 2**dim)
        cases.append((f"d={dim} h={bandwidth:g}", float(number), float(bound)))
    return cases


def loss_cases(kind: str) -> Cases:
    """Compare the largest exact loss over pairs of records with the theorem's, per user.

    `kind` is "any" (epsilon), "flip" (epsilon / 2, half 2), "negative" (0: both labels 0, half 2) or "hidden" (0: a
    flip in half 1).
    """
    share = {"any": 1.0, "flip": 0.5, "negative": 0.0, "hidden": 0.0}[kind]
    cases: Cases = []
    for dim, epsilon in product((1, 2, 3), (0.5, 1.0, 4.0)):
        array = LocalBinaryArrayMechanism(dim, epsilon, 0.4, half=1 if kind == "hidden" else 2)
        worst = max(array.exact_epsilon(*pair) for pair in _pairs(kind, dim))
        cases.append((f"d={dim} eps={epsilon:g}", worst, share * epsilon))
    return cases


def _pairs(kind: str, dim: int) -> list[tuple[Record, Record]]:
    spots = [tuple(spot) for spot in product((0.0, 0.2, 0.4, 0.9), repeat=dim)]
    if kind in ("flip", "hidden"):
        return [((spot, 1), (spot, 0)) for spot in spots]
    labels = (0,) if kind == "negative" else (0, 1)
    records: list[Record] = [(spot, label) for spot in spots for label in labels]
    start: list[Record] = [(spots[index], label) for index in (0, len(spots) // 3, len(spots) - 1) for label in labels]
    return [(a, b) for a in start for b in records]


CHECKS: list[InequalityCheck] = [
    *(
        InequalityCheck(
            name=f"local/{'at least one cell holds' if least else '2^d cells hold'} a point d={dim}",
            source=SOURCE + ", proof",
            statement=f"The {'smallest' if least else 'largest'} number of cells that hold a point, enumerated.",
            values=partial(hit_cases, dim, least),
            sense="==",
            tolerance=1e-12,
        )
        for dim in (1, 2, 3)
        for least in (False, True)
    ),
    *(
        InequalityCheck(
            name=f"local/exact loss, {kind} pair",
            source=SOURCE,
            statement=statement,
            values=partial(loss_cases, kind),
            sense="==",
            tolerance=1e-9,
        )
        for kind, statement in {
            "any": "The largest loss between two records is exactly eps.",
            "flip": "A label flip costs exactly eps / 2.",
            "negative": "Two records labelled 0 cannot be told apart in half 2.",
            "hidden": "Half 1 says nothing about labels.",
        }.items()
    ),
]
