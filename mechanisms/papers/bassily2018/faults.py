"""The algorithms broken, one line each: a field of the noise or a replaced part, with its real privacy beside it.

The reference point is the printed noise at (1, 1e-6), T = 10, m = 1000: lam = 68.14, w = 2918.5. Faults that do not
exceed the claim there, since the printed constants leave room, are convicted on one epoch at lam = 1, which is (2,
0)-DP when right. "p at every epsilon" is the probability of an output that only one side can give.

Faults of splits by position are searched, not shown: a Hypothesis strategy for small datasets, neighbors under
add/remove, and Hypothesis finds and shrinks the pair that breaks the claim.
"""

from __future__ import annotations

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
from mechanisms.papers.bassily2018.accuracy import printed_k, teacher_failure
from mechanisms.papers.bassily2018.algorithm1 import (
    EPOCH,
    LEVELS,
    MOVES,
    RUN,
    SIDES,
    Levels,
    StoppingTimes,
    around,
    paid_above,
    prefix_attack,
    prefix_levels,
    rising,
)
from mechanisms.papers.bassily2018.algorithm2 import BOTTOM, DistanceToInstability, Majority, labels
from mechanisms.papers.bassily2018.algorithm3 import Transcripts, majorities, phase_cases, released
from mechanisms.papers.bassily2018.algorithm5 import coins_for_silence
from mechanisms.papers.bassily2018.algorithm6 import SoftTranscripts
from mechanisms.papers.bassily2018.algorithm8 import histograms
from mechanisms.papers.bassily2018.noise import optimal, printed, printed_soft, pure
from mechanisms.papers.bassily2018.section4 import (
    AGNOSTIC,
    FORMULAS,
    SMALL,
    AtMost,
    PieceService,
    SpreadMistakes,
    answers_at,
    formula_check,
    guarantee,
)
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
OF_EPOCH: dict[str, Any] = {"where": EPOCH, "claimed": (2.0, 0.0), "method": "fixed"}
FAULTS: list[Fault] = []
_mechanism: Any


def fault(name: str, truth: str, mechanism: Any, pair: Any = SIDES, where: str = RUN, **settings: Any) -> None:
    """List a fault, its true privacy, and the check that convicts it; `pair` is None where it is searched."""
    settings = {"budget": 20_000, "pairs": [] if pair is None else [pair], "claimed": HEADLINE, **settings}
    FAULTS.append(
        BASSILY.fault(name, truth, where, mechanism, settings.pop("claimed"), settings.pop("pairs"), **settings)
    )


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

    queries: Levels
    noise: Noise

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers, noise = vector_answer(self.queries, dataset), self.noise
        threshold = noise.threshold + rng.laplace(scale=noise.lam, size=(size, 1))
        noisy = answers + rng.laplace(scale=noise.query_scale * noise.lam, size=(size, answers.size))
        falls = noisy <= threshold
        stop = falls.argmax(axis=1)
        value = np.take_along_axis(noisy, stop[:, None], axis=1)[:, 0]
        return np.where(falls.any(axis=1), 1000.0 * stop + value, -1000.0)


_LATE = around(ONE_EPOCH, np.r_[np.full(10, 0.5), 0.0], np.r_[np.full(10, 0.5), -0.5])
_SWAPPED = Levels((2919.0, 2918.0), (2918.0, 2919.0))
_SAME = Concealed(StoppingTimes(_SWAPPED, replace(REFERENCE, epochs=1, is_fresh=False)))
_BARE = StoppingTimes(_SWAPPED, replace(REFERENCE, epochs=1, query_scale=0.0))
_UNLIMITED = printed(1.0, 1e-6, 1, 1000)
_ENDLESS = StoppingTimes(around(_UNLIMITED, LEVELS, MOVES), replace(_UNLIMITED, epochs=150))
_VALUES = LaplaceMechanism(Levels((5000.0,) * 1000, (5001.0,) * 1000), 2 * _UNLIMITED.lam, 1.0)
fault(
    "query noise too small lam=1",
    "(3 / lam, 0) an epoch: 2.77 here; hidden at the reference point, .483 at most",
    StoppingTimes(_LATE, replace(ONE_EPOCH, query_scale=1.0)),
    **OF_EPOCH,
)
fault("no query noise, printed", "(1 - e^(-1 / lam)) / 2 = .0073 at every epsilon", _BARE, **SEEN)
fault("no query noise, by its law", "(1 - e^(-1 / lam)) / 2 = .0073 at every epsilon", _BARE, **BY_LAW)
fault("one query noise, printed", "1 / (6 lam) = .0024 at every epsilon", _SAME, **SEEN)
fault(
    "cutoff off, 150 epochs",
    "Gaussian in the limit, 1.42: mu^2 = .339 / lam^2 a BOTTOM",
    _ENDLESS,
    **BY_LAW | {"budget": 1_000},
)
fault("value on top m=1000", "Gaussian in the limit: 3.43 at delta = 1e-6", _VALUES, **BY_LAW | {"budget": 400})
fault(
    "value on bottom lam=1",
    "no epsilon: the loss reaches (m - 1) / (2 lam); a high value tells of a high threshold",
    ValueOnStop(_LATE, ONE_EPOCH),
    **OF_EPOCH | {"method": "auto", "budget": 200_000},
)

# Lyu, Su & Li (2017), figure 1, Algorithms 3 to 6: paid above the threshold, claimed (1, 0)

_LYU: dict[str, Any] = {"claimed": (1.0, 0.0), "where": "Lyu, Su & Li 2017, figure 1", "budget": 200_000}
_FIVE_EACH = Levels((0.0,) * 10, (*[1.0] * 5, *[-1.0] * 5))
_TEN_ZEROS = Levels((*[0.0] * 10, -1.0), (*[-1.0] * 10, 0.0))
_TWO = Levels((0.0, 1.0), (1.0, 0.0))


def kept(epochs: int, query_scale: float, lam: float = 2.0) -> Noise:
    """Return noise whose threshold is drawn once."""
    return Noise(lam, 0.0, epochs, query_scale, is_renewed=False)


for _name, _truth, _mechanism in (
    (
        "releases the tested answer",
        "no epsilon, the loss reaches (m - 1) / 2; delta(1) = .0208",
        ValueOnStop(_TEN_ZEROS, Noise(2.0, 0.0, 1, query_scale=1.0)),
    ),
    ("noise for one query c=2", "((1 + 6 c) / 4, 0): 3.25 for c = 2", paid_above(rising(10, 2), kept(2, 1 / 3, 4.0))),
    ("exact answers, no cutoff", "(1 - e^(-1/2)) / 2 = .197 at every epsilon", paid_above(_TWO, kept(ENDLESS, 0.0))),
    (
        "noise for one query, no cutoff",
        "4.49 for ten queries; no epsilon for many",
        paid_above(_FIVE_EACH, kept(ENDLESS, 1.0)),
    ),
):
    fault(f"{_name} eps=1", _truth, _mechanism, **_LYU)

# Algorithm 2: the release of one value, claimed (1, 1e-6)


def gap_of_labels(dataset: Any) -> tuple[int, float]:
    """Return the majority of labels 0 and 1, and the gap between their counts."""
    ones = int(np.count_nonzero(np.asarray(dataset)))
    return int(2 * ones > len(dataset)), float(abs(2 * ones - len(dataset)))


_DOUBLED: dict[str, Any] = {"scale": 2.0}
for _name, _truth, _pair, _question, _changes, _settings in (
    ("no noise", "1 at every epsilon", (labels(35), labels(34)), Majority(), {"scale": 0.0}, SEEN | {"budget": 2_000}),
    (
        "noise scale doubled",
        "sqrt(1e-6) / 2, 500 times the claim",
        (labels(21), labels(20)),
        Majority(),
        _DOUBLED,
        BY_LAW,
    ),
    ("off by one", "e / 2 e-6, 1.36 times the claim", (labels(21), labels(20)), Majority(less=0), {}, BY_LAW),
    ("literal gap, unstable", "(2, e^2 / 2 e-6)", (labels(21, 40), labels(20, 40)), gap_of_labels, {}, BY_LAW),
    ("literal gap, stable", "(2, e^2 / 2 e-6)", (labels(26), labels(27)), gap_of_labels, {}, SEEN),
):
    _mechanism = DistanceToInstability(_question, 1.0, 1e-6, **_changes)
    fault(f"distance to instability, {_name}", _truth, _mechanism, _pair, "Theorem 3.2", **_settings)

# Algorithm 3: thresholds that are too low, on eleven queries whose winner one teacher decides

_LAM, _LOG, _TEN = REFERENCE.lam, math.log(2 * 1000 / 1e-6), math.log(10)
for _name, _truth, _changes, _settings in (
    ("threshold zero", "1 - 2^-11 = .9995", {"threshold": 0.0}, SEEN | {"budget": 5_000}),
    ("threshold without m", "3.67 times the claim", {"threshold": 2 * _LAM * math.log(2 / 1e-6)}, BY_LAW),
    ("threshold without delta", ".0037", {"threshold": 2 * _LAM * math.log(2 * 1000)}, SEEN),
    ("half the threshold", "1.64e-4, 164 times the claim", {"threshold": _LAM * _LOG}, BY_LAW),
    (
        "decimal logarithm",
        "6.7e-4, 670 times the claim; .488 at most for the other queries",
        {"lam": _LAM / _TEN**0.5, "threshold": 2 * _LAM * _LOG / _TEN**1.5},
        BY_LAW,
    ),
):
    _mechanism = Transcripts(VoteTable(), replace(REFERENCE, **_changes))
    fault(_name, f"{_truth} at every epsilon", _mechanism, unstable_pair(11), **_settings)
_TRUE = Released(VoteTable(), REFERENCE, lambda data, values, codes, rng: np.where(codes == BOTTOM, values, codes))
fault("value instead of bottom", "1 at every epsilon on any unstable query", _TRUE, unstable_pair(11), budget=2_000)

# Algorithm 4: the literal gap at the noise that is really needed; records in several chunks

_RAISED, (_level, _move) = replace(ONE_EPOCH, threshold=20.5), prefix_levels(5)
_GAPS = attack_pair(_RAISED.threshold + _RAISED.lam * _level, _move > 0, gaps=True)
for _cutoff, _shape, _shown in ((1, 1, 1.96), (2, 4, 1.73), (5, 5, 1.10)):
    _attack = prefix_attack(optimal(1.0, 1e-6, _cutoff), lipschitz=2.0, shape=_shape)
    fault(f"gap, calibrated T={_cutoff}, stopping times", f"(4 / lam, 0) an epoch: {_shown}", _attack, **BY_LAW)
fault("gap, one epoch lam=1", "(4, 0)", Transcripts(VoteTable(distance="gap"), _RAISED), _GAPS, **OF_EPOCH)


@dataclass(frozen=True)
class OverlappingChunks:
    """Distances of votes when chunk i holds the records i, ..., i + shares - 1: each record is in `shares` chunks.

    Records are rows of bits, a teacher votes 1 on a query when one of its records has the bit.
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
        row = np.arange(records)[:, None]
        rest = (row >= self.shares) & (row < 1 + small + (records + 1) // 2)
        left, right = (np.where(row == 0, first, rest).astype(np.int8) for first in (falls, ~falls))
        return left, right


@dataclass(frozen=True)
class BootstrapChunks:
    """Each teacher learns from a bootstrap sample of all records."""

    teachers: int
    noise: Noise

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        bits = np.asarray(dataset)
        shape = (self.teachers, len(bits))
        ones = np.array([bits[rng.integers(len(bits), size=shape)].any(axis=1).sum() for _ in range(size)])
        values, distances = VoteTable()((np.arange(self.teachers)[:, None] < ones).astype(int))
        return released(Runs(self.noise, size, rng), values[:, None], distances[:, None])


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


def labels_agree(records: list[Any]) -> int:
    """Vote of a teacher that tells whether all of its labels are equal."""
    return int(len({label for _, label in records}) <= 1)


def by_position(dataset: Any, chunks: int) -> np.ndarray:
    """Return consecutive chunks whose sizes differ by at most one."""
    return np.arange(len(dataset)) * chunks // max(len(dataset), 1)


def round_robin(dataset: Any, chunks: int) -> np.ndarray:
    """Return chunk i mod k to record i."""
    return np.arange(len(dataset)) % chunks


def by_rank(dataset: Any, chunks: int) -> np.ndarray:
    """Return the chunks of records in the order of their features."""
    ranks = np.argsort(np.argsort([feature for feature, _ in dataset], kind="stable"), kind="stable")
    return by_position(dataset, chunks)[ranks.astype(int)] if len(dataset) else ranks


def near_the_mean(dataset: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vote 1 where 4 lies within one deviation of a record: features are standardized by all records first."""
    values = np.asarray(dataset, dtype=float)
    return VoteTable()((np.abs(values - 4.0) < values.std())[:, None].astype(int))


_THREE, _TEN_CHUNKS = OverlappingChunks(3), OverlappingChunks(10)
_NEAR = _TEN_CHUNKS.pair(REFERENCE.threshold + REFERENCE.lam * _level, _move > 0)
_LAST = _THREE.pair(np.full(11, 20.5), np.r_[np.ones(10, dtype=bool), False])
_SPLIT: dict[str, Any] = {"where": "Corollary 3.10", "claimed": SMALL_CLAIM, "budget": 2_000}
_BOOTSTRAP, _SHARED = BootstrapChunks(101, pure(*SMALL_CLAIM, 1)), Transcripts(near_the_mean, pure(*SMALL_CLAIM, 1))
_OUTLIER = tuple(np.r_[np.linspace(1.0, 2.0, 40), outlier] for outlier in (1.5, 1000.0))
fault(
    "overlapping chunks s=3, one epoch lam=1",
    "(2 s / lam, 0) an epoch: 6",
    StoppingTimes(_THREE, ONE_EPOCH),
    _LAST,
    **OF_EPOCH,
)
fault(
    "overlapping chunks s=10, printed",
    "between 1.25 and 3.23; 5 chunks are open, .59 to 1.62",
    StoppingTimes(_TEN_CHUNKS, REFERENCE),
    _NEAR,
    **BY_LAW | {"budget": 2_000},
)
fault(
    "bootstrap chunks",
    "delta above .9: one record is in 63 % of the samples, and changes 65 of 101 votes",
    _BOOTSTRAP,
    (np.zeros(20, int), np.eye(1, 20, dtype=int)[0]),
    **_SPLIT,
)
fault("shared statistics", "delta near 1: one outlier turns all votes", _SHARED, _OUTLIER, method="fixed", **_SPLIT)
for _name, _teacher, _assignment in (
    ("consecutive chunks", first_label, by_position),
    ("round robin", labels_agree, round_robin),
    ("sort then split", first_label, by_rank),
):
    fault(
        f"{_name}, searched",
        "delta = .80: an insertion shifts all chunks, a unanimous vote turns around",
        Transcripts(ChunkedVotes(_teacher, _assignment), SINGLE),
        None,
        relation=AddRemove(),
        datasets=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=TEACHERS, max_size=20),
        method="fixed",
        **_SPLIT | {"budget": 20_000},
    )

# Algorithm 5: private labels, and then the private data once more


def tuned_student(dataset: Any, values: Any, transcripts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the student's labels, and whether the constant 0 errs less on the private labels."""
    constant_is_better = int(2 * np.sum(dataset) < len(dataset))
    return np.hstack([coins_for_silence(transcripts, rng), np.full((len(transcripts), 1), constant_is_better)])


_TUNED, _SAID = Released(VoteTable(), REFERENCE, tuned_student), "1 at every epsilon once a student shows its labels"
_EQUAL = tuple(np.repeat([[0], [1]], [k, 40 - k], axis=0) for k in (20, 21))
_FILLED = Released(VoteTable(), REFERENCE, lambda data, values, codes, rng: np.where(codes < 0, values, codes))
fault("true label for bottom", _SAID, _FILLED, unstable_pair(4), "Algorithm 5", budget=2_000)
fault("student tuned on private data", "1 where both err equally often", _TUNED, _EQUAL, "Algorithm 5", budget=2_000)

# Algorithm 8: the randomness that the two partitions may not share

SOFT = printed_soft(1.0, 1e-6, 1, 1000)
_SCORES = SoftTranscripts(4, SOFT)


def equal_distances(threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two tables of one query with distances (d, d) and (d - 1, d + 1) of the two partitions, d near w.

    Bins of width 1/4: scores 0.45 lie in the fullest bins of both, 0.3 in that of the first only, 0.55 in that of the
    second only; the first teacher goes from 0.3 to 0.55.
    """
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
for _name, _truth, _mechanism, _pair, _budget in (
    ("same noise twice", ".0109: where both distances are equal the second test never passes", _TWICE, _EVEN, 100_000),
    ("bins from the data", "delta near 1: the median shows", center_bins, (_table(0.30), _table(0.35)), 2_000),
    ("other bins shown", "1: a teacher alone in its bin shows", show_bins, (_table(0.30), _table(0.9)), 2_000),
):
    fault(f"soft labels, {_name}", _truth, _mechanism, _pair, "Theorem 5.4", budget=_budget)

# Utility: services that keep their privacy and break the theorems' promises


def quarter_cases() -> Cases:
    """Compare the failure probability with beta: all of 99 queries get the right label, one is unstable."""
    k = printed_k(1.0) // 8 * 2 + 1
    return [(f"k={k}", teacher_failure(printed(1.0, 1e-2, 1, 100), k, 99), 0.05)]


class ZeroForSilence(PieceService):
    """The label 0 stands in for BOTTOM and no answer, where a coin should."""

    def completed(self, answers: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Fill in zeros."""
        return np.maximum(answers, 0)


def margins(marks: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return values that carry their distances: two more for each vote to spare."""
    values, distances = majorities(marks)
    return values + 2 * distances.astype(int), distances


_ZEROS = AtMost(ZeroForSilence(**vars(SMALL[0.02])).student_error, 0.3)
_SHIFTED = partial(replace(FEW, only_shifted=True).near, 0.075)
_NARROW = partial(replace(FEW, learners=replace(FEW.learners, size=100)).near, 0.075)
_TENTH = answers_at(AGNOSTIC[1], 0.1)
_EXACTLY = "A quarter of the printed k answers all queries with probability 0.95. This is false."
_CARRIED = "A value may carry its distance; false: it changes where the majority does not."
UTILITY: list[Any] = [
    BASSILY.state("fault/a quarter of the teachers", "Theorem 3.11", _EXACTLY, quarter_cases),
    *(
        guarantee(f"fault/{name}", theorem, f"{statement} This is false.", trials, beta)
        for name, theorem, statement, trials, beta in (
            ("cutoff B", "Corollary 4.1", "T = B is enough.", SpreadMistakes(10, 10, 2000, 200_001), 0.05),
            ("pieces, a tenth of the teachers", "Theorem 4.4", "A tenth of the teachers is enough.", _TENTH, 0.05),
            ("shifted bins only", "Theorem 5.14", "The shifted partition is enough.", _SHIFTED, 0.05),
            ("bins below 4 t", "Theorem 5.14", "Bins may be narrower than 4 t.", _NARROW, 0.05),
            ("zero for silence", "Theorem 4.6", "Zeros serve as well as coins.", _ZEROS, 0.15),
        )
    ),
    *(
        BASSILY.state(f"fault/Lemma 3.7, {name}", "Lemma 3.7", statement, values)
        for name, statement, values in (
            ("values with their distances", _CARRIED, partial(phase_cases, margins)),
            (
                "without its assumption",
                "The second phases agree on unstable data; false.",
                partial(phase_cases, assumed=False),
            ),
        )
    ),
    *(
        formula_check(
            f"fault/rate of {theorem} in {axis}, {exponent:g}",
            theorem,
            replace(FORMULAS[theorem, axis], exponent=exponent),
            "; false",
        )
        for theorem, axis, exponent in (
            ("Theorem 4.4", "n", -1.0),
            ("Theorem 4.6", "1 / alpha", 1.0),
            ("Theorem 4.7", "1 / alpha", 2.0),
        )
    ),
]
CHECKS: list[Any] = [*(each.check for each in FAULTS), *UTILITY]
