"""Sparse vector, paid below the threshold: says TOP for free and pays for each BOTTOM.

Dwork & Roth (2014), Theorems 3.23 to 3.26, mirrored: a noisy threshold w + Lap(lam); each query q gets fresh Lap(2
lam); TOP when it lies strictly above the noisy threshold, else BOTTOM and a new noisy threshold. The mechanism and
its law are `mechanisms.parts.sparse_vector`; the constants of a paper are in
`mechanisms.papers.bassily2018.algorithm1`.

Departures from the text: the stream of queries is fixed in advance (adaptive streams are covered by the proof, not
by this code). An output is a row of codes: 1 TOP, 0 BOTTOM, -1 no answer.

An epoch is the run of queries up to and including a BOTTOM. One epoch is exactly (2 / lam, 0)-DP in the worst case:
shifting the threshold noise by one costs 1 / lam, the BOTTOM costs 2 / (2 lam). Where the threshold noise is never
redrawn it is paid once and each BOTTOM costs 1 / lam.
"""

from __future__ import annotations

import numpy as np

from audit import AddRemove, PrivacyCheck, PrivacyClaim, Substitution
from mechanisms.parts.sparse_vector import Noise, SparseVector
from mechanisms.queries import column_sums

EPOCH_SOURCE = "Dwork & Roth 2014, Theorem 3.23, mirrored"
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


def _epoch_checks(epsilon: float) -> list[PrivacyCheck]:
    lam, queries = 2 / epsilon, 8
    left, right = prefix_then_last(queries - 1, lam)
    return [
        PrivacyCheck(
            name=f"sparse vector/one epoch eps={epsilon:g}",
            mechanism=SparseVector(column_sums, Noise(lam, THRESHOLD, 1)),
            claim=PrivacyClaim(epsilon, 0.0, Substitution(), EPOCH_SOURCE),
            pairs=[(left, right), (right, left)],
        ),
        PrivacyCheck(
            name=f"sparse vector/one epoch add-remove eps={epsilon:g}",
            mechanism=SparseVector(column_sums, Noise(lam, THRESHOLD, 1)),
            claim=PrivacyClaim(epsilon, 0.0, AddRemove(), EPOCH_SOURCE),
            pairs=[(left, left[1:])],
        ),
    ]


def _run_check(cutoff: int, lam: float) -> PrivacyCheck:
    first = np.tile(np.r_[np.ones(3), 0.0], 2)
    source = f"{EPOCH_SOURCE}, and composition of {cutoff + 1} epochs"
    return PrivacyCheck(
        name=f"sparse vector/epochs composed T={cutoff} lam={lam:g}",
        mechanism=SparseVector(column_sums, Noise(lam, THRESHOLD, cutoff + 1)),
        claim=PrivacyClaim(2 * (cutoff + 1) / lam, 0.0, Substitution(), source),
        pairs=[(rows_at(np.zeros(8), first), rows_at(np.zeros(8), 1 - first))],
    )


def _decoy_checks() -> list[PrivacyCheck]:
    pair = prefix_then_last(3, 4.0, epochs=2)
    return [
        PrivacyCheck(
            name="decoy/sparse vector threshold drawn once eps=0.75",
            mechanism=SparseVector(column_sums, Noise(4.0, THRESHOLD, 2, is_renewed=False)),
            claim=PrivacyClaim(0.75, 0.0, Substitution(), "Lyu, Su & Li 2017, Algorithm 1, mirrored"),
            pairs=[pair, pair[::-1]],
        ),
        PrivacyCheck(
            name="decoy/sparse vector T + 1 bottoms eps=1",
            mechanism=SparseVector(column_sums, Noise(4.0, THRESHOLD, 2)),
            claim=PrivacyClaim(1.0, 0.0, Substitution(), f"{EPOCH_SOURCE}, and composition of 2 epochs"),
            pairs=[pair, pair[::-1]],
        ),
    ]


CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in (0.25, 1.0) for check in _epoch_checks(epsilon)),
    *(_run_check(cutoff, lam) for cutoff, lam in ((1, 12.0), (2, 17.0))),
    *_decoy_checks(),
]
