"""Variants that look broken and are not: each keeps the claim of Theorem 3.6 (or 3.2, 5.4).

Proofs by composition are exact checks; samplers with a law are audited on the pair that comes nearest. Two faults stand
among them whose claim the printed constants save: `gap at eps = 1` and `distance off by one in the online release`. No
sound test of (eps, delta) can flag those; one epoch does (`mechanisms.faults.stability.distances`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit import InequalityCheck, PrivacyCheck, PrivacyClaim, Substitution
from mechanisms.stability.aggregate import ChunkedVotes, VoteTable
from mechanisms.stability.bounds import composed_epsilon, proved_epsilon, unstable_delta
from mechanisms.stability.calibration import Calibration, optimal, printed, printed_soft
from mechanisms.stability.chunks import by_position
from mechanisms.stability.epochs import LEVELS, SIDES, long_attack
from mechanisms.stability.instability import BOTTOM, DistanceToInstability, Majority, answer, labels
from mechanisms.stability.instability import SOURCE as SINGLE
from mechanisms.stability.online import NO_ANSWER, Transcripts, draw_transcripts
from mechanisms.stability.privacy_theorems import PAPER
from mechanisms.stability.vote_pairs import attack_pair, unstable_pair
from mechanisms.stability.votes import count_votes, gap

DELTA, QUERIES = 1e-6, 1000
RUN = f"{PAPER}, Theorem 3.6"
CUTOFFS = (1, 2, 5, 10, 20, 50, 100, 460)

Cases = list[tuple[str, float, float]]


@dataclass(frozen=True)
class ThresholdDrawnOnce(Transcripts):
    """The threshold noise is drawn once for the whole run.

    True privacy: less than with renewal: ((T + 2) / lam, 0) and what unstable values cost. At T = 10 at most 0.176
    against 0.321.
    """

    law = None  # type: ignore[assignment]  # the law above is that of renewal

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        values, levels = self.answers(dataset)
        passes = levels + rng.laplace(scale=self.query_scale, size=(size, values.size)) > rng.laplace(size=(size, 1))
        before: Any = np.cumsum(~passes, axis=1) - ~passes
        return np.where(before >= self.calibration.epochs, NO_ANSWER, np.where(passes, values, BOTTOM))


@dataclass(frozen=True)
class AtLeast(Transcripts):
    """Compares with >= in place of >.

    True privacy: the same, noise has no atoms.
    """

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        values, levels = (np.broadcast_to(part, (size, part.size)) for part in self.answers(dataset))
        return draw_transcripts(values, levels, self.calibration.epochs, rng, above=np.greater_equal)


@dataclass(frozen=True)
class TiesByDataOrder(VoteTable):
    """Ties go to the label that the first teacher voted for.

    True privacy: as for any tie rule: tied votes have the safe distance 0. It is wrong with the distance "exact".
    """

    def __call__(self, votes: Any) -> tuple[np.ndarray, np.ndarray]:
        winners, distances = super().__call__(votes)
        return np.where(gap(count_votes(votes, self.labels)) == 0, np.asarray(votes)[0], winners), distances


@dataclass(frozen=True)
class ShowsNoisyDistance(DistanceToInstability):
    """Releases the noisy distance with the value: the sum of it and 1000 (value + 1) where the value gets out.

    True privacy: (epsilon, delta / 2) as without: the noisy distance is an (epsilon, 0)-DP release, and the value is
    post-processing of it where both sides have one value.
    """

    law = None  # type: ignore[assignment]  # outputs carry a number

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        value, distance = answer(self.question, dataset)
        noisy = distance + rng.laplace(scale=self.scale, size=size)
        return noisy + np.where(noisy > self.threshold, 1000.0 * (value + 1), 0.0)


@dataclass(frozen=True)
class CoinForBottom(Transcripts):
    """A fair coin stands in for BOTTOM and for no answer (Algorithm 5).

    True privacy: at most that of the transcripts, of which it is post-processing.
    """

    law = None  # type: ignore[assignment]  # coins are added

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        released = super().__call__(dataset, size, rng)
        return np.where(released < 0, rng.integers(2, size=released.shape), released)


def _printed() -> Iterator[tuple[int, Calibration]]:
    return ((cutoff, printed(1.0, DELTA, cutoff, QUERIES)) for cutoff in CUTOFFS)


def one_more_bottom() -> Cases:
    """c <= T: T + 1 BOTTOMs at a noise for T, in sparse vector alone."""
    steps = ((cutoff, 2 / math.sqrt(32 * cutoff * math.log(1 / DELTA))) for cutoff in CUTOFFS)
    return [(f"T={cutoff}", composed_epsilon(DELTA, step, cutoff + 1), 1.0) for cutoff, step in steps]


def threshold_once() -> Cases:
    """Threshold noise drawn once: (T + 2) / lam, all of delta for unstable values."""
    return [(f"T={cutoff}", (cutoff + 2) / run.lam, 1.0) for cutoff, run in _printed()]


def threshold_without_queries() -> Cases:
    """w = 2 lam log(2 (T + 1) / delta): unstable values cost delta / 3, since each ends an epoch."""
    cases = []
    for cutoff, run in _printed():
        threshold = 2 * run.lam * math.log(2 * (cutoff + 1) / DELTA)
        cases.append((f"T={cutoff}", unstable_delta(threshold, run.lam, cutoff + 1), DELTA / 3))
    return cases


def logarithm_of_delta() -> Cases:
    """log(1 / delta) in place of log(2 / delta) in lam."""
    cases = []
    for cutoff in CUTOFFS:
        lam = math.sqrt(32 * cutoff * math.log(1 / DELTA))
        threshold = 2 * lam * math.log(2 * QUERIES / DELTA)
        cases.append((f"T={cutoff}", proved_epsilon(DELTA, lam, threshold, cutoff + 1, QUERIES), 1.0))
    return cases


def soft_noise_not_doubled() -> Cases:
    """Soft labels with lam for T in place of 2 T."""
    cases = []
    for cutoff in CUTOFFS:
        soft = printed_soft(1.0, DELTA, cutoff, QUERIES)
        lam = soft.lam / math.sqrt(2)
        threshold = 2 * lam * math.log(4 * QUERIES / DELTA)
        cases.append((f"T={cutoff}", proved_epsilon(DELTA, lam, threshold, 2 * cutoff + 2), 1.0))
    return cases


def soft_counter_by_one() -> Cases:
    """Soft labels whose counter grows by 1 for BOTTOM as well: up to 4 T + 2 BOTTOMs."""
    soft = ((cutoff, printed_soft(1.0, DELTA, cutoff, QUERIES)) for cutoff in CUTOFFS)
    return [(f"T={t}", proved_epsilon(DELTA, run.lam, run.threshold, 4 * t + 2), 1.0) for t, run in soft]


def gap_at_one() -> Cases:
    """The literal gap with the printed lam at (1, 1e-6)."""
    return [
        (f"T={t}", proved_epsilon(DELTA, run.lam, run.threshold, t + 1, QUERIES, lipschitz=2, largest=2), 1.0)
        for t, run in _printed()
    ]


def off_by_one_online() -> Cases:
    """The distance off by one, in the online release: 1 at an unstable query."""
    return [
        (f"T={t}", proved_epsilon(DELTA, run.lam, run.threshold, t + 1, QUERIES, largest=1), 1.0)
        for t, run in _printed()
    ]


PROOFS = {
    "T + 1 bottoms": one_more_bottom,
    "threshold drawn once": threshold_once,
    "threshold with T + 1 for m": threshold_without_queries,
    "log(1/delta) for log(2/delta)": logarithm_of_delta,
    "soft labels, noise not doubled": soft_noise_not_doubled,
    "soft labels, counter by one": soft_counter_by_one,
    "gap at eps=1": gap_at_one,
    "distance off by one in the online release": off_by_one_online,
}


def _proof(name: str, values: Any) -> InequalityCheck:
    statement = (values.__doc__ or "").strip().rstrip(".") + f": within the claim at (1, 1e-6), T up to {CUTOFFS[-1]}."
    return InequalityCheck(
        name=f"decoy/stability proof, {name}", source=RUN, statement=statement, values=values, tolerance=1e-6
    )


def _check(name: str, mechanism: Any, claimed: tuple[float, float], pairs: Any, **settings: Any) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"decoy/stability {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(*claimed, Substitution(), SINGLE if "distance" in name else RUN),
        pairs=pairs,
        **{"budget": 20_000, **settings},
    )


def _runs() -> list[PrivacyCheck]:
    run, ours = printed(1.0, DELTA, 1, QUERIES), optimal(1.0, DELTA, 1)
    levels, falls = LEVELS[2:12], np.tile([True, False], 5)
    near, sure = attack_pair(ours.threshold, ours.lam, levels, falls), unstable_pair(10)
    few = attack_pair(ours.threshold, ours.lam, levels[:3], falls[:3])
    gaps = attack_pair(run.threshold, run.lam, levels, falls, gaps=True)
    lenient: dict[str, Any] = {"budget": 60_000, "tolerance": 1.2}
    tied = np.repeat([[0], [1]], 20, axis=0)
    decided = np.vstack([[[1]], tied[1:]])
    return [
        _check("threshold drawn once", ThresholdDrawnOnce(VoteTable(), ours), (1.0, DELTA), [near, sure], **lenient),
        _check("compares with >=", AtLeast(VoteTable(), ours), (1.0, DELTA), [near, sure]),
        _check("coin for bottom", CoinForBottom(VoteTable(), ours), (1.0, DELTA), [few, unstable_pair(3)], **lenient),
        _check("gap with the printed noise", Transcripts(VoteTable(distance="gap"), run), (1.0, DELTA), [gaps, sure]),
        _check("gap with the printed noise, long run", long_attack(run, 2.0), (1.0, DELTA), [SIDES]),
        _check("ties by data order", Transcripts(TiesByDataOrder(), ours), (1.0, DELTA), [(tied, decided)]),
        _check(
            "consecutive chunks under substitution",
            Transcripts(ChunkedVotes(mean_label, 41, by_position), replace(ours, epochs=2)),
            (1.0, DELTA),
            [(list(labels(42, 82)), list(labels(41, 82)))],
        ),
        _check(
            "distance to instability shows its noisy distance",
            ShowsNoisyDistance(Majority(), 1.0, 1e-2),
            (1.0, 1e-2),
            [(labels(26), labels(27))],
            **lenient,
        ),
    ]


def mean_label(records: list[int]) -> int:
    """Vote of a teacher that knows the mean of its labels, a half counting as 0."""
    return int(2 * sum(records) > len(records))


CHECKS: list[PrivacyCheck | InequalityCheck] = [*(_proof(name, values) for name, values in PROOFS.items()), *_runs()]
