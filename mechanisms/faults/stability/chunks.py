"""Chunks that share records, or move when one record does: one record changes many votes.

The splits by position are searched, not shown: a Hypothesis strategy for small datasets, neighbors under add/remove,
and the pair that breaks the claim is found and shrunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit import AddRemove, PrivacyCheck, PrivacyClaim, Verdict
from mechanisms.faults.stability.noise import REFERENCE, fault_check
from mechanisms.stability.aggregate import ChunkedVotes, VoteTable
from mechanisms.stability.calibration import Calibration, pure
from mechanisms.stability.chunks import by_position
from mechanisms.stability.epochs import EPOCH, PREFIXES, StoppingTimes
from mechanisms.stability.online import Transcripts, draw_transcripts
from mechanisms.stability.votes import SOURCE, safe_distance

TEACHERS = 7
SMALL = Calibration(0.5, float(np.log(2 / 0.3)), 1)  # one BOTTOM: (4, 0.1)-DP when one record changes one vote


@dataclass(frozen=True)
class OverlappingChunks:
    """Distances of votes when chunk i holds the records i, ..., i + shares - 1: each record is in `shares` chunks.

    Records are rows of bits, a teacher votes 1 on a query when one of its records has the bit. True privacy: a record
    moves distances by `shares`, an epoch is (2 shares / lam, 0)-DP: 6 for 3 shares at lam = 1, claimed 2. A run at the
    printed noise for (1, 1e-6), T = 10, has epsilon between 1.25 and 3.23 for 10 shares; 5 are open, 0.59 to 1.62.
    """

    shares: int

    def __call__(self, records: Any) -> np.ndarray:
        bits = np.asarray(records)
        ones = np.any([np.roll(bits, -shift, axis=0) for shift in range(self.shares)], axis=0).sum(axis=0)
        return safe_distance(np.stack([len(bits) - ones, ones], axis=1))

    def pair(self, centers: np.ndarray, falls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return two datasets whose distances are `shares` apart around `centers`; the first record differs."""
        small = np.rint(centers - self.shares / 2).astype(int)
        records = 2 * int(small.max()) + 4 * self.shares + 1
        ones = small + (records + 1) // 2
        row = np.arange(records)[:, None]
        rest = (row >= self.shares) & (row < 1 + ones)  # 1 + ones - shares records reach `ones` chunks
        left, right = (np.where(row == 0, first, rest).astype(np.int8) for first in (falls, ~falls))
        return left, right


@dataclass(frozen=True)
class BootstrapChunks:
    """Each teacher learns from a bootstrap sample of all records.

    True privacy: none to speak of (delta above 0.9 for every epsilon): one record is in 63 % of the samples, and here
    changes 65 of 101 votes. Claimed (4, 0.1).
    """

    teachers: int
    calibration: Calibration

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        bits = np.asarray(dataset)
        shape = (self.teachers, len(bits))
        ones = np.array([bits[rng.integers(len(bits), size=shape)].any(axis=1).sum() for _ in range(size)])
        values, distances = VoteTable()(np.arange(self.teachers)[:, None] < ones)
        return draw_transcripts(
            values[:, None], (distances[:, None] - self.calibration.threshold) / self.calibration.lam, 1, rng
        )


@dataclass(frozen=True)
class PositionSplit(Transcripts):
    """Consecutive chunks of (nearly) equal size, under add/remove.

    True privacy: none to speak of: an insertion shifts all chunks, and all votes can change. Claimed (4, 0.1); delta at
    every epsilon is the probability that a unanimous vote gets its answer: 0.80 for the seven teachers of the check.
    """


@dataclass(frozen=True)
class RoundRobin(Transcripts):
    """Record i goes to chunk i mod k, under add/remove.

    True privacy: none to speak of; every chunk loses half of its records to the next one when a record is inserted in
    the middle. Claimed (4, 0.1); delta is 0.80 as for consecutive chunks.
    """


@dataclass(frozen=True)
class SortThenSplit(Transcripts):
    """Records are sorted by their feature, then cut into consecutive chunks, under add/remove.

    True privacy: none to speak of; the sorted order shifts as the given one does. Claimed (4, 0.1), delta is 0.80.
    """


@dataclass(frozen=True)
class SharedStatistics:
    """Features are standardized with mean and deviation of all records before the teachers see them.

    A teacher, trained on one record, votes 1 when the query lies within one deviation of it. True privacy: none (delta
    near 1 for every epsilon): one outlier makes the deviation large and turns all votes. Claimed (4, 0.1).
    """

    query: float

    def __call__(self, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        values = np.asarray(dataset, dtype=float)
        near = np.abs(values - self.query) < values.std()
        return VoteTable()(near[:, None].astype(int))


def first_label(records: list[Any]) -> int:
    """Vote of a teacher that knows the label of its first record; 0 without records."""
    return int(records[0][1]) if records else 0


def labels_agree(records: list[Any]) -> int:
    """Vote of a teacher that says whether all of its labels are equal."""
    return int(len({label for _, label in records}) <= 1)


def round_robin(dataset: Any, chunks: int) -> np.ndarray:
    """Return chunk i mod k to record i."""
    return np.arange(len(dataset)) % chunks


def by_rank(dataset: Any, chunks: int) -> np.ndarray:
    """Return the chunks of records in the order of their features."""
    ranks = np.argsort(np.argsort([feature for feature, _ in dataset], kind="stable"), kind="stable")
    return by_position(dataset, chunks)[ranks.astype(int)] if len(dataset) else ranks


DATASETS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=TEACHERS, max_size=20)


def _searched(name: str, kind: type[Transcripts], teacher: Any, assignment: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/stability {name}, searched",
        mechanism=kind(ChunkedVotes(teacher, TEACHERS, assignment), SMALL),
        claim=PrivacyClaim(4.0, 0.1, AddRemove(), f"claimed after {SOURCE}"),
        datasets=DATASETS,
        expected=Verdict.FAIL,
        budget=20_000,
        method="fixed",
    )


def _overlaps() -> list[PrivacyCheck]:
    three, ten = OverlappingChunks(3), OverlappingChunks(10)
    last = np.r_[np.ones(10, dtype=bool), False]
    one = StoppingTimes(three, 20.0, 1.0)
    run = StoppingTimes(ten, REFERENCE.threshold, REFERENCE.lam, REFERENCE.epochs)
    prefix, level, rising = PREFIXES[5]
    centers = REFERENCE.threshold + REFERENCE.lam * np.r_[np.full(prefix, level), rising]
    falling = np.r_[np.ones(prefix, dtype=bool), False]
    return [
        fault_check(
            "overlapping chunks s=3, one epoch lam=1",
            one,
            (2.0, 0.0),
            [three.pair(np.full(11, 20.5), last)],
            EPOCH,
            method="fixed",
        ),
        fault_check(
            "overlapping chunks s=10, printed",
            run,
            (1.0, 1e-6),
            [ten.pair(centers, falling)],
            budget=2_000,
            method="exact",
        ),
    ]


def _spread(outlier: float) -> np.ndarray:
    return np.r_[np.linspace(1.0, 2.0, 40), outlier]


CHECKS: list[PrivacyCheck] = [
    *_overlaps(),
    fault_check(
        "bootstrap chunks",
        BootstrapChunks(101, pure(4.0, 0.1, 1)),
        (4.0, 0.1),
        [(np.zeros(20, dtype=int), (np.arange(20) == 0).astype(int))],
        SOURCE,
        budget=2_000,
    ),
    _searched("consecutive chunks", PositionSplit, first_label, by_position),
    _searched("round robin", RoundRobin, labels_agree, round_robin),
    _searched("sort then split", SortThenSplit, first_label, by_rank),
    fault_check(
        "shared statistics",
        Transcripts(SharedStatistics(4.0), pure(4.0, 0.1, 1)),
        (4.0, 0.1),
        [(_spread(1.5), _spread(1000.0))],
        SOURCE,
        budget=2_000,
        method="fixed",
    ),
]
