"""Sparse vector, paid below the threshold: Dwork & Roth (2014), Theorems 3.23 to 3.26, mirrored.

The mechanism and its law are `mechanisms.parts.sparse_vector`; the constants of a paper are in
`mechanisms.papers.bassily2018.algorithm1`. The stream of queries is fixed in advance. One epoch, the queries up to and
including a BOTTOM, is exactly (2 / lam, 0)-DP: shifting the threshold noise by one costs 1 / lam, the BOTTOM
2 / (2 lam). Where the threshold noise is never redrawn it is paid once and each BOTTOM costs 1 / lam.
"""

import numpy as np

from audit import AddRemove, PrivacyCheck
from mechanisms.papers.rows import Paper
from mechanisms.parts.sparse_vector import Noise, SparseVector
from mechanisms.queries import column_sums

EPOCH = "Theorem 3.23, mirrored"
THRESHOLD = 2.0  # of the checks


def rows_at(level: np.ndarray, changed: np.ndarray) -> np.ndarray:
    """Three rows of [0, 1]^m whose sums lie `level` above THRESHOLD - 1/2 plus `changed`, the first row."""
    rest = (THRESHOLD + level - 0.5) / 2
    return np.vstack([changed, rest, rest])


def prefix_then_last(prefix: int, lam: float, epochs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """`prefix` queries that fall by one, then one that rises by one, all near the threshold; near the worst."""
    level = np.tile(lam * np.r_[np.full(prefix, -0.15), -0.04], epochs)
    first = np.tile(np.r_[np.ones(prefix), 0.0], epochs)
    return rows_at(level, first), rows_at(level, 1 - first)


_PAPER = Paper("sparse vector", "Dwork & Roth 2014")
_PASS, _PAIR = np.tile(np.r_[np.ones(3), 0.0], 2), prefix_then_last(3, 4.0, epochs=2)
_MIRRORED = (rows_at(np.zeros(8), _PASS), rows_at(np.zeros(8), 1 - _PASS))


def _run(lam: float, epochs: int, **changes: bool) -> SparseVector:
    return SparseVector(column_sums, Noise(lam, THRESHOLD, epochs, **changes))


def _epochs(epsilon: float) -> list[PrivacyCheck]:
    left, right = prefix_then_last(7, 2 / epsilon)
    epoch, both = _run(2 / epsilon, 1), [(left, right), (right, left)]
    return [
        _PAPER.promise(f"one epoch eps={epsilon:g}", EPOCH, epoch, epsilon, both),
        _PAPER.promise(f"one epoch add-remove eps={epsilon:g}", EPOCH, epoch, epsilon, [(left, left[1:])], AddRemove()),
    ]


def _composed(cutoff: int, lam: float) -> PrivacyCheck:
    name, where = f"epochs composed T={cutoff} lam={lam:g}", f"{EPOCH}, and composition of {cutoff + 1} epochs"
    return _PAPER.promise(name, where, _run(lam, cutoff + 1), 2 * (cutoff + 1) / lam, [_MIRRORED])


_ONCE, _LYU = _run(4.0, 2, is_renewed=False), "Lyu, Su & Li 2017, Algorithm 1, mirrored"
_TWICE, _BOTH = f"{EPOCH}, and composition of 2 epochs", [_PAIR, _PAIR[::-1]]
CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in (0.25, 1.0) for check in _epochs(epsilon)),
    *(_composed(cutoff, lam) for cutoff, lam in ((1, 12.0), (2, 17.0))),
    _PAPER.promise("decoy/threshold drawn once eps=0.75", _LYU, _ONCE, 0.75, _BOTH),
    _PAPER.promise("decoy/T + 1 bottoms eps=1", _TWICE, _run(4.0, 2), 1.0, _BOTH),
]
