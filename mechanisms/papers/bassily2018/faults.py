"""The algorithms broken, one line each: a field of the noise or a replaced part; `statements.toml` says what is left.

The reference point is the printed noise at (1, 1e-6), T = 10, m = 1000. Faults that do not exceed the claim there are
convicted on one epoch at lam = 1, which is (2, 0)-DP when right. For splits by position Hypothesis finds and shrinks
the pair that breaks the claim.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from audit import AddRemove
from mechanisms.laplace import LaplaceMechanism
from mechanisms.papers.bassily2018 import algorithm1, section4
from mechanisms.papers.bassily2018.accuracy import printed_k, teacher_failure
from mechanisms.papers.bassily2018.algorithm2 import BOTTOM, DistanceToInstability, Majority, labels
from mechanisms.papers.bassily2018.algorithm3 import Transcripts, phase_cases, released
from mechanisms.papers.bassily2018.algorithm5 import coins_for_silence
from mechanisms.papers.bassily2018.algorithm6 import SoftTranscripts
from mechanisms.papers.bassily2018.algorithm8 import histograms
from mechanisms.papers.bassily2018.noise import optimal, printed, printed_soft, pure
from mechanisms.papers.bassily2018.section5 import FEW
from mechanisms.papers.rows import BASSILY, Cases, Concealed, Fault
from mechanisms.parts.sparse_vector import ENDLESS, Noise, Runs
from mechanisms.parts.vote import VoteTable, attack_pair, safe_distance, unstable_pair
from mechanisms.queries import vector_answer

REFERENCE, ONE_EPOCH = printed(1.0, 1e-6, 10, 1000), Noise(1.0, 20.0, 1)
HEADLINE, SMALL_CLAIM = (1.0, 1e-6), (4.0, 0.1)
TEACHERS = 7
SINGLE = Noise(0.5, math.log(2 / 0.3), 1)  # one BOTTOM: (4, 0.1)-DP when one record changes one vote
SEEN: dict[str, Any] = {"budget": 50_000, "method": "fixed"}
BY_LAW: dict[str, Any] = {"budget": 5_000, "method": "exact"}
OF_EPOCH: dict[str, Any] = {"claimed": (2.0, 0.0), "method": "fixed"}


def fault(name: str, mechanism: Any, pair: Any = algorithm1.SIDES, claimed: Any = HEADLINE, **settings: Any) -> Fault:
    """Return a fault and the check that convicts it; `pair` is None where it is searched."""
    settings = {"budget": 20_000, **settings}
    pairs = [] if pair is None else [pair]
    return BASSILY.fault(name, BASSILY.truths[name], "", mechanism, claimed, pairs, **settings)


@dataclass(frozen=True)
class Released:
    """Outputs made of (values, distances, transcripts) of a run, whatever is done with them."""

    questions: Callable[[Any], tuple[Any, Any]]
    noise: Noise
    shown: Callable[..., Any]

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        values, distances = self.questions(dataset)
        transcripts = released(Runs(self.noise, size, rng), values, distances)
        return np.asarray(self.shown(dataset, values, transcripts, rng))


# Algorithm 1: too little noise, no cutoff, more than the flags


@dataclass(frozen=True)
class ValueOnStop:
    """Releases the noisy answer at which an epoch stops, as 1000 times its index, plus it."""

    queries: algorithm1.Levels
    noise: Noise

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers, noise = vector_answer(self.queries, dataset), self.noise
        threshold = noise.threshold + rng.laplace(scale=noise.lam, size=(size, 1))
        noisy = answers + rng.laplace(scale=noise.query_scale * noise.lam, size=(size, answers.size))
        falls = noisy <= threshold
        stop = falls.argmax(axis=1)
        value = np.take_along_axis(noisy, stop[:, None], axis=1)[:, 0]
        return np.where(falls.any(axis=1), 1000.0 * stop + value, -1000.0)


_LATE = algorithm1.around(ONE_EPOCH, np.r_[np.full(10, 0.5), 0.0], np.r_[np.full(10, 0.5), -0.5])
_HIGH = algorithm1.around(ONE_EPOCH, np.r_[np.full(20, 1.0), 0.0], np.r_[np.full(20, 0.5), -0.5])
_SWAPPED = algorithm1.Levels((2919.0, 2918.0), (2918.0, 2919.0))
_SAME = Concealed(algorithm1.StoppingTimes(_SWAPPED, replace(REFERENCE, epochs=1, is_fresh=False)))
_BARE = algorithm1.StoppingTimes(_SWAPPED, replace(REFERENCE, epochs=1, query_scale=0.0))
_UNLIMITED = printed(1.0, 1e-6, 1, 1000)
_ENDLESS = algorithm1.StoppingTimes(
    algorithm1.around(_UNLIMITED, algorithm1.LEVELS, algorithm1.MOVES), replace(_UNLIMITED, epochs=150)
)
_VALUES = LaplaceMechanism(algorithm1.Levels((5000.0,) * 1000, (5001.0,) * 1000), 2 * _UNLIMITED.lam, 1.0)
_RUNS = [
    fault(
        "query noise too small lam=1", algorithm1.StoppingTimes(_LATE, replace(ONE_EPOCH, query_scale=1.0)), **OF_EPOCH
    ),
    fault("no query noise, printed", _BARE, **SEEN),
    fault("no query noise, by its law", _BARE, **BY_LAW),
    fault("one query noise, printed", _SAME, **SEEN),
    fault("cutoff off, 150 epochs", _ENDLESS, **BY_LAW | {"budget": 1_000}),
    fault("value on top m=1000", _VALUES, **BY_LAW | {"budget": 400}),
    fault("value on bottom lam=1", ValueOnStop(_HIGH, ONE_EPOCH), **OF_EPOCH | {"method": "auto", "budget": 200_000}),
]

# Lyu, Su & Li (2017), figure 1, Algorithms 3 to 6: paid above the threshold, claimed (1, 0)

_FIVE_EACH = algorithm1.Levels((0.0,) * 10, (*[1.0] * 5, *[-1.0] * 5))
_TEN_ZEROS = algorithm1.Levels((*[0.0] * 10, -1.0), (*[-1.0] * 10, 0.0))
_TWO = algorithm1.Levels((0.0, 1.0), (1.0, 0.0))


def keep_threshold(epochs: int, query_scale: float, lam: float = 2.0) -> Noise:
    """Return noise whose threshold is drawn once."""
    return Noise(lam, 0.0, epochs, query_scale, is_renewed=False)


_LYU = [
    fault(f"{name} eps=1", mechanism, claimed=(1.0, 0.0), budget=200_000)
    for name, mechanism in (
        ("releases the tested answer", ValueOnStop(_TEN_ZEROS, Noise(2.0, 0.0, 1, query_scale=1.0))),
        ("noise for one query c=2", algorithm1.paid_above(algorithm1.rising(10, 2), keep_threshold(2, 1 / 3, 4.0))),
        ("exact answers, no cutoff", Concealed(algorithm1.paid_above(_TWO, keep_threshold(ENDLESS, 0.0)))),
        ("noise for one query, no cutoff", Concealed(algorithm1.paid_above(_FIVE_EACH, keep_threshold(ENDLESS, 1.0)))),
    )
]

# Algorithm 2: the release of one value, claimed (1, 1e-6)


def gap_of_labels(dataset: Any) -> tuple[int, float]:
    """Return the majority of labels 0 and 1, and the gap between their counts."""
    ones = int(np.count_nonzero(np.asarray(dataset)))
    return int(2 * ones > len(dataset)), float(abs(2 * ones - len(dataset)))


_UNSTABLE, _APART = (labels(21), labels(20)), (labels(35), labels(34))
_GAP = (labels(21, 40), labels(20, 40))
_DISTANCES = [
    fault(f"distance to instability, {name}", DistanceToInstability(question, 1.0, 1e-6, scale=scale), pair, **settings)
    for name, question, scale, pair, settings in (
        ("no noise", Majority(), 0.0, _APART, SEEN | {"budget": 2_000}),
        ("noise scale doubled", Majority(), 2.0, _UNSTABLE, BY_LAW),
        ("off by one", Majority(less=0), 1.0, _UNSTABLE, BY_LAW),
        ("literal gap, unstable", gap_of_labels, 1.0, _GAP, BY_LAW),
        ("literal gap, stable", gap_of_labels, 1.0, (labels(26), labels(27)), SEEN),
    )
]

# Algorithm 3: thresholds that are too low, on eleven queries whose winner one teacher decides

_LAM, _LOG, _TEN = REFERENCE.lam, math.log(2 * 1000 / 1e-6), math.log(10)
_TRUE = Released(VoteTable(), REFERENCE, lambda data, values, codes, rng: np.where(codes == BOTTOM, values, codes))
_THRESHOLDS = [
    fault(name, Transcripts(VoteTable(), replace(REFERENCE, **changes)), unstable_pair(11), **settings)
    for name, changes, settings in (
        ("threshold zero", {"threshold": 0.0}, SEEN | {"budget": 5_000}),
        ("threshold without m", {"threshold": 2 * _LAM * math.log(2 / 1e-6)}, BY_LAW),
        ("threshold without delta", {"threshold": 2 * _LAM * math.log(2 * 1000)}, SEEN),
        ("half the threshold", {"threshold": _LAM * _LOG}, BY_LAW),
        ("decimal logarithm", {"lam": _LAM / _TEN**0.5, "threshold": 2 * _LAM * _LOG / _TEN**1.5}, BY_LAW),
    )
]
_BOTTOMS = [fault("value instead of bottom", _TRUE, unstable_pair(11), budget=2_000)]

# Algorithm 4: the literal gap at the noise that is really needed; records in several chunks

_RAISED, (_level, _move) = replace(ONE_EPOCH, threshold=20.5), algorithm1.prefix_levels(5)
_GAPS = attack_pair(_RAISED.threshold + _RAISED.lam * _level, _move > 0, gaps=True)
_GAPPED = [
    *(
        fault(
            f"gap, calibrated T={cutoff}, stopping times",
            algorithm1.prefix_attack(optimal(1.0, 1e-6, cutoff), lipschitz=2.0, shape=shape),
            **BY_LAW,
        )
        for cutoff, shape in ((1, 1), (2, 4), (5, 5))
    ),
    fault("gap, one epoch lam=1", Transcripts(VoteTable(distance="gap"), _RAISED), _GAPS, **OF_EPOCH),
]


@dataclass(frozen=True)
class OverlappingChunks:
    """Distances of votes when chunk i holds the records i, ..., i + shares - 1, rows of bits."""

    shares: int  # chunks of each record; a teacher votes 1 on a query when one of its records has the bit

    def __call__(self, records: Any) -> np.ndarray:
        bits = np.asarray(records)
        ones = np.any([np.roll(bits, -shift, axis=0) for shift in range(self.shares)], axis=0).sum(axis=0)
        return safe_distance(np.stack([len(bits) - ones, ones], axis=1))

    def pair(self, centers: np.ndarray, falls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return two datasets whose distances are `shares` apart around `centers`; the first record differs."""
        small = np.rint(centers - self.shares / 2).astype(int)
        records = 2 * int(small.max()) + 4 * self.shares + 1
        row = np.arange(records)[:, None]
        rest = (row >= self.shares) & (row < 1 + small + (records + 1) // 2)
        left, right = (np.where(row == 0, first, rest).astype(np.int8) for first in (falls, ~falls))
        return left, right


@dataclass(frozen=True)
class ChunkedVotes:
    """Questions to records in chunks: votes of the teachers trained on them."""

    teacher: Callable[[list[Any]], int]
    assignment: Callable[[Any, int], np.ndarray]

    def __call__(self, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        chunks: list[list[Any]] = [[] for _ in range(TEACHERS)]
        for chunk, record in zip(self.assignment(dataset, TEACHERS).tolist(), dataset, strict=True):
            chunks[chunk].append(record)
        return VoteTable()(np.array([[self.teacher(records)] for records in chunks]))


def first_label(records: list[Any]) -> int:
    """Vote of a teacher that knows the label of its first record; 0 without records."""
    return int(records[0][1]) if records else 0


def by_position(dataset: Any, chunks: int) -> np.ndarray:
    """Return consecutive chunks whose sizes differ by at most one."""
    return np.arange(len(dataset)) * chunks // max(len(dataset), 1)


def near_the_mean(dataset: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vote 1 where 4 lies within one deviation of a record: features are standardized by all records first."""
    values = np.asarray(dataset, dtype=float)
    return VoteTable()((np.abs(values - 4.0) < values.std())[:, None].astype(int))


_THREE, _TEN_CHUNKS = OverlappingChunks(3), OverlappingChunks(10)
_NEAR = _TEN_CHUNKS.pair(REFERENCE.threshold + REFERENCE.lam * _level, _move > 0)
_LAST = _THREE.pair(np.full(11, 20.5), np.r_[np.ones(10, dtype=bool), False])
_SPLIT: dict[str, Any] = {"claimed": SMALL_CLAIM, "budget": 2_000}
_SHARED = Transcripts(near_the_mean, pure(*SMALL_CLAIM, 1))
_OUTLIER = tuple(np.r_[np.linspace(1.0, 2.0, 40), outlier] for outlier in (1.5, 1000.0))
_LISTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=TEACHERS, max_size=20)
_CHUNKS = [
    fault("overlapping chunks s=3, one epoch lam=1", algorithm1.StoppingTimes(_THREE, ONE_EPOCH), _LAST, **OF_EPOCH),
    fault(
        "overlapping chunks s=10, printed",
        algorithm1.StoppingTimes(_TEN_CHUNKS, REFERENCE),
        _NEAR,
        **BY_LAW | {"budget": 2_000},
    ),
    fault("shared statistics", _SHARED, _OUTLIER, method="fixed", **_SPLIT | {"budget": 20_000}),
    fault(
        "consecutive chunks, searched",
        Transcripts(ChunkedVotes(first_label, by_position), SINGLE),
        None,
        relation=AddRemove(),
        datasets=_LISTS,
        method="fixed",
        **_SPLIT | {"budget": 20_000},
    ),
]

# Algorithm 5: private labels, and then the private data once more


def tuned_student(dataset: Any, values: Any, transcripts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the student's labels, and whether the constant 0 errs less on the private labels."""
    constant_is_better = int(2 * np.sum(dataset) < len(dataset))
    return np.hstack([coins_for_silence(transcripts, rng), np.full((len(transcripts), 1), constant_is_better)])


_TUNED = Released(VoteTable(), REFERENCE, tuned_student)
_EQUAL = tuple(np.repeat([[0], [1]], [k, 40 - k], axis=0) for k in (20, 21))
_FILLED = Released(VoteTable(), REFERENCE, lambda data, values, codes, rng: np.where(codes < 0, values, codes))
_STUDENTS = [
    fault("true label for bottom", _FILLED, unstable_pair(4), budget=2_000),
    fault("student tuned on private data", _TUNED, _EQUAL, budget=2_000),
]

# Algorithm 8: the randomness that the two partitions may not share

SOFT = printed_soft(1.0, 1e-6, 1, 1000)
_SCORES = SoftTranscripts(4, SOFT)


def equal_distances(threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables of one query with distances (d, d) and (d - 1, d + 1) of the two partitions, d near w."""
    # Bins of width 1/4: scores 0.45 lie in the fullest bins of both, 0.3 in that of the first only, 0.55 in that of the
    # second only; the first teacher goes from 0.3 to 0.55.
    left = np.r_[0.3, np.full(2 * round(threshold), 0.45), np.full(10, 0.3), np.full(11, 0.55)][:, None]
    right = left.copy()
    right[0] = 0.55
    return left, right


def _table(first: float) -> np.ndarray:
    return np.r_[first, np.full(2000, 0.30), np.full(2000, 0.35)][:, None]


def center_bins(scores: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Start the partition at the median score of the teachers, so that their scores fall into the middle of a bin."""
    median = np.median(scores, axis=0)
    codes = _SCORES(np.clip(np.asarray(scores) - median + 0.375, 0, 1), size, rng)
    return np.where(codes >= 0, codes / 8 - 0.375 + median, codes)


def show_bins(scores: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release with each answer which bins of the first partition are empty."""
    seen = (histograms(scores, 4)[0] > 0).ravel()
    return np.hstack([_SCORES(scores, size, rng), np.broadcast_to(seen, (size, seen.size))])


_TWICE = Concealed(SoftTranscripts(4, replace(SOFT, is_renewed=False, is_fresh=False)))
_EVEN = equal_distances(SOFT.threshold)
_SOFT = [
    fault("soft labels, same noise twice", _TWICE, _EVEN, budget=100_000),
    fault("soft labels, bins from the data", center_bins, (_table(0.30), _table(0.35)), budget=2_000),
    fault("soft labels, other bins shown", show_bins, (_table(0.30), _table(0.9)), budget=2_000),
]

# Utility: services that keep their privacy and break the theorems' promises


def quarter_cases() -> Cases:
    """Compare the failure probability with beta: all of 99 queries get the right label, one is unstable."""
    k = printed_k(1.0) // 8 * 2 + 1
    return [(f"k={k}", teacher_failure(printed(1.0, 1e-2, 1, 100), k, 99), 0.05)]


class ZeroForSilence(section4.PieceService):
    """The label 0 stands in for BOTTOM and no answer, where a coin should."""

    def completed(self, answers: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Fill in zeros."""
        return np.maximum(answers, 0)


_ZEROS = section4.AtMost(ZeroForSilence(**vars(section4.SMALL[0.02])).student_error, 0.3)
_NARROW = partial(replace(FEW, learners=replace(FEW.learners, size=100)).near, 0.075)
_TENTH = section4.answers_at(section4.AGNOSTIC[1], 0.1)
UTILITY: list[Any] = [
    BASSILY.quote("fault/a quarter of the teachers", quarter_cases),
    *(
        section4.guarantee(f"fault/{name}", trials, beta)
        for name, trials, beta in (
            ("cutoff B", section4.SpreadMistakes(10, 10, 2000, 200_001), 0.05),
            ("pieces, a tenth of the teachers", _TENTH, 0.05),
            ("bins below 4 t", _NARROW, 0.05),
            ("zero for silence", _ZEROS, 0.15),
        )
    ),
    BASSILY.quote("fault/Lemma 3.7, without its assumption", partial(phase_cases, assumed=False)),
    *(
        section4.formula_check(
            f"fault/rate of {theorem} in {axis}, {exponent:g}",
            theorem,
            replace(section4.FORMULAS[theorem, axis], exponent=exponent),
            "; false",
        )
        for theorem, axis, exponent in (
            ("Theorem 4.4", "n", -1.0),
            ("Theorem 4.6", "1 / alpha", 1.0),
            ("Theorem 4.7", "1 / alpha", 2.0),
        )
    ),
]
FAULTS: list[Fault] = [
    *(*_RUNS, *_LYU, *_DISTANCES, *_THRESHOLDS, *_BOTTOMS, *_GAPPED, *_CHUNKS, *_STUDENTS, *_SOFT),
]
CHECKS: list[Any] = [*(each.check for each in FAULTS), *UTILITY]
