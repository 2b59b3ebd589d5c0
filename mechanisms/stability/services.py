"""Checks of the releases as they are served: fixed questions, votes, and records in chunks.

Theorem 3.6 and Corollary 3.10 of Bassily, Thakurta & Thakkar (2018), the printed noise and ours. Where the law of a
transcript can be stated it is composed exactly, and the sampler is tested against it; where records draw their chunks
anew in every run the transcripts are audited from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from audit import AddRemove, PrivacyCheck, PrivacyClaim, Substitution
from mechanisms.stability.aggregate import ChunkedVotes, ReassignedTranscripts, VoteTable
from mechanisms.stability.calibration import Calibration, pure
from mechanisms.stability.chunks import by_hash
from mechanisms.stability.epochs import LEVELS, PREFIXES, RUN
from mechanisms.stability.online import CalibratedRelease, OnlineQueryRelease
from mechanisms.stability.vote_pairs import Pair, attack_pair, unstable_pair
from mechanisms.stability.votes import SOURCE

Record = tuple[int, int]


class MeanLabelTeacher:
    """Votes by the mean of its labels; 0 for no records and on a tie."""

    def __call__(self, records: list[Record]) -> int:
        return int(2 * sum(label for _, label in records) > len(records))

    def of_runs(self, dataset: list[Record], assigned: Sequence[np.ndarray], chunks: int) -> np.ndarray:
        """Return the votes of all chunks in some runs, counted at once; shape (chunks, runs)."""
        cells = (np.array(assigned) + chunks * np.arange(len(assigned))[:, None]).ravel()
        labels = np.tile([float(label) for _, label in dataset], len(assigned))
        size = chunks * len(assigned)
        ones, records = np.bincount(cells, labels, size), np.bincount(cells, minlength=size)
        return (2 * ones > records).astype(int).reshape(-1, chunks).T


def records(ones: int, size: int) -> list[Record]:
    """Return distinct records, the first `ones` of them labeled 1."""
    return [(i, int(i < ones)) for i in range(size)]


def vote_pairs(calibration: Calibration) -> list[Pair]:
    """Return the pairs on which a release of votes is audited: near the threshold, and unstable."""
    prefix, level, last = PREFIXES[5]
    levels, falls = np.tile(np.r_[np.full(prefix, level), last], 2), np.tile(np.r_[np.ones(prefix), 0.0], 2)
    return [
        attack_pair(calibration.threshold, calibration.lam, levels, falls),
        attack_pair(calibration.threshold, calibration.lam, LEVELS[:12], np.tile([1.0, 0.0], 6)),
        unstable_pair(12),
    ]


def _votes(name: str, release: OnlineQueryRelease, distance: str = "safe") -> PrivacyCheck:
    return PrivacyCheck(
        name=f"stability/votes {name}",
        mechanism=release.transcripts(VoteTable(distance=distance)),
        claim=PrivacyClaim(release.epsilon, release.delta, Substitution(), RUN),
        pairs=vote_pairs(release.calibration),
        budget=20_000,
    )


def _chunks(name: str, mechanism: Any, epsilon: float, pairs: Any, **settings: Any) -> PrivacyCheck:
    claim = PrivacyClaim(epsilon, 1e-6, AddRemove(), SOURCE)
    return PrivacyCheck(name=f"stability/{name}", mechanism=mechanism, claim=claim, pairs=pairs, **settings)


_SMALL = pure(2.0, 1e-6, 1)
_KEYED = partial(by_hash, key=b"drawn once")
_PAIRS = [(records(n, 120), records(n, 120)[1:]) for n in (28, 31, 120)]

CHECKS: list[PrivacyCheck] = [
    *(_votes(f"printed noise T={cutoff}", OnlineQueryRelease(1.0, 1e-6, cutoff, 1000)) for cutoff in (1, 2)),
    _votes("printed noise eps=4 delta=0.01", OnlineQueryRelease(4.0, 1e-2, 1, 12)),
    _votes("printed noise, exact distance", OnlineQueryRelease(1.0, 1e-6, 1, 1000), "exact"),
    *(_votes(f"calibrated, optimal T={cutoff}", CalibratedRelease(1.0, 1e-6, cutoff)) for cutoff in (1, 2)),
    _votes("calibrated, pure T=1", CalibratedRelease(1.0, 1e-6, 1, variant="pure")),
    _chunks(
        "chunks by hash, add-remove",
        CalibratedRelease(4.0, 1e-6, 1, variant="pure").transcripts(ChunkedVotes(MeanLabelTeacher(), 61, _KEYED)),
        4.0,
        _PAIRS,
        budget=20_000,
    ),
    _chunks(
        "chunks drawn anew, add-remove",
        ReassignedTranscripts(MeanLabelTeacher(), 121, _SMALL),
        2.0,
        [(records(400, 400), records(400, 400)[1:])],
        budget=20_000,
        tolerance=2.0,
    ),
]
