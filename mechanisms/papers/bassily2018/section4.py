"""Section 4: private classification and knowledge transfer, at the sizes that the theorems ask for.

`ServiceSize` solves for teachers and cutoff as real numbers, with all logarithms:

    k = 136 log(4 m T / min(delta, beta / 2)) sqrt(T log(2 / delta)) / epsilon,      T = 3 B,
    B = alpha m + sqrt(m log(3 k / beta) / 2)           mistakes of a teacher on m points (Hoeffding),
    alpha = V log(3 k / beta) / n'  or its root          error of a teacher on n' = n / k examples.

Whole runs are drawn on `PieceTask`, [0, V) with a threshold of its own on each unit interval, a class of VC dimension
V. Each trained threshold is the place where a random walk of errors is least; the steps are drawn, then the two
features around that place, so that half a million teachers are drawn at once. Departures: alpha above is one way to
fill in the logarithms that the paper hides, and gamma is added to it. Chunks are of equal size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import GuaranteeCheck, InequalityCheck
from audit.errors import InvalidArgument
from mechanisms.papers.bassily2018.accuracy import online_alpha
from mechanisms.papers.bassily2018.algorithm2 import BOTTOM
from mechanisms.papers.bassily2018.algorithm3 import released
from mechanisms.papers.bassily2018.algorithm5 import coins_for_silence
from mechanisms.papers.bassily2018.noise import optimal, printed, release_probability
from mechanisms.papers.rows import BASSILY, Cases
from mechanisms.parts.sparse_vector import ENDLESS, TOP, Noise, Runs
from mechanisms.parts.thresholds import best_thresholds, wrong_votes

FloatArray = NDArray[np.float64]
_ROWS = 200_000  # thresholds drawn at once, with their walks


@dataclass(frozen=True)
class PieceTask:
    """Uniform features on V pieces, labels by a threshold in the middle of each, flipped with probability gamma."""

    pieces: int  # V
    flip: float = 0.0  # gamma, at most 0.1

    @property
    def window(self) -> int:
        """Steps of the walk on each side; its least value lies beyond with a probability below 1e-12."""
        return math.ceil(-30 / math.log(2 * math.sqrt(self.flip * (1 - self.flip)))) if self.flip else 0

    def teachers(self, count: int, examples: int, rng: np.random.Generator) -> FloatArray:
        """Draw the thresholds of independent teachers with as many examples each, within their pieces, (count, V)."""
        sizes = rng.multinomial(examples, np.full(self.pieces, 1 / self.pieces), size=count).ravel()
        if sizes.min() < 6 * self.window:
            raise InvalidArgument.of("examples", f"leave {6 * self.window} examples to each piece", examples)
        rows = _ROWS if self.window else sizes.size
        found = [self._thresholds(sizes[start : start + rows], rng) for start in range(0, sizes.size, rows)]
        return np.concatenate(found).reshape(count, self.pieces)

    def _thresholds(self, sizes: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw thresholds: where the walk of errors is least first, between the two features around that place."""
        right, left = (np.minimum(width, 0.5) for width in free_widths(sizes, rng))
        found = 0.5 + (right - left) / 2
        passed = least_places(self.flip, self.window, sizes.size, rng)  # features that the threshold has passed
        moved = np.flatnonzero(passed)
        count, beyond = rng.binomial(sizes[moved], 0.5), np.abs(passed[moved])  # features on the side that it moved to
        inner = rng.beta(beyond, count + 1 - beyond)
        outer = inner + (1 - inner) * nearest(count - beyond, rng)
        found[moved] = 0.5 + np.sign(passed[moved]) * (inner + outer) / 4
        return np.asarray(found)

    def error(self, thresholds: FloatArray) -> float:
        """Return the true error of one threshold on each piece."""
        return float(self.flip + (1 - 2 * self.flip) * np.mean(np.abs(thresholds - 0.5)))


def least_places(flip: float, window: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the places where walks of errors are first least, from `window` steps left of 0 to as many right."""
    # On either side a walk starts at 0, and goes down by 1 with probability `flip`, else up.
    steps = np.where(rng.random((2, size, window), dtype=np.float32) < flip, -1, 1).astype(np.int16)
    left, right = np.cumsum(steps, axis=2, dtype=np.int16)
    levels = np.concatenate([left[:, ::-1], np.zeros((size, 1), dtype=np.int16), right], axis=1)
    return np.argmin(levels, axis=1) - window


def free_widths(sizes: NDArray[np.int64], rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw the distances from the middle to the nearest of N uniform numbers on its right, and on its left."""
    # No number lies within distances a and b with probability (1 - a - b)^N, as long as the intervals do not leave the
    # piece. Two parts of a stick, Beta(1, N) and Beta(1, N - 1) of the rest, have that law; the caller cuts them.
    right = nearest(sizes, rng)
    return right, np.where(sizes == 0, 1.0, (1 - right) * nearest(np.maximum(sizes - 1, 0), rng))


def nearest(count: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
    """Draw Beta(1, N), the least of N uniform numbers, as 1 - U^(1/N); 1 for N = 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(-rng.standard_exponential(count.size) / count))


BETA = 0.05


@dataclass(frozen=True)
class ServiceSize:
    """A service for queries whose number is a real number, so that slopes can be taken."""

    records: float  # n
    queries: float  # m
    vc: float = 1.0
    realizable: bool = True  # alpha = V L / n', or its root (gamma = 0 in the agnostic bound)
    epsilon: float = 1.0
    delta: float = 1e-6
    beta: float = BETA
    alpha: float | None = None  # of teachers that get as many examples as it takes: `records` is not used
    flip: float = 0.0  # gamma, by which teachers err more

    def teachers(self, cutoff: float) -> float:
        """Return k for a cutoff."""
        return 4 * online_alpha(self.epsilon, self.delta, self.queries, cutoff, self.beta)

    def noise(self, cutoff: float) -> Noise:
        """Return lam and w of Algorithm 3 at a real cutoff, without an end of the run."""
        lam = math.sqrt(32 * cutoff * math.log(2 / self.delta)) / self.epsilon
        return Noise(lam, 2 * lam * math.log(2 * self.queries / self.delta), ENDLESS)

    def error(self, teachers: float) -> float:
        """Return alpha + gamma."""
        size = self.vc * math.log(3 * teachers / self.beta) * teachers / self.records
        alpha = size if self.realizable else math.sqrt(size)
        return (alpha if self.alpha is None else self.alpha) + self.flip

    def mistakes(self, teachers: float, error: float) -> float:
        """Return B, the mistakes of each teacher on all queries but for probability 2 beta / 3."""
        return error * self.queries + math.sqrt(self.queries * math.log(3 * teachers / self.beta) / 2)

    def cutoff(self) -> float:
        """Return T, the fixed point."""

        def wanted(cutoff: float) -> float:
            teachers = self.teachers(cutoff)
            return 3 * self.mistakes(teachers, self.error(teachers))

        return fixed_point(wanted)

    def rate(self) -> float:
        """Return T / m, the misclassification rate that is guaranteed; void from 1 on."""
        return self.cutoff() / self.queries

    def stable_cutoff(self) -> float:
        """Return the cutoff that thresholds really need: as many queries as fall short of the threshold."""

        # Teachers miss the middle by a Laplace law of scale 1 / (2 n'), so that a query at distance x from it is voted
        # against by a share exp(-2 n' x) / 2, above 1/2 - w / k on an interval of length -log(1 - 2 w / k) / n'.
        def wanted(cutoff: float) -> float:
            teachers = self.teachers(cutoff)
            share = self.noise(cutoff).threshold / teachers
            return -math.log1p(-2 * share) * teachers / self.records * self.queries

        return fixed_point(wanted)

    def service(self, cutoff: float, noise: Noise, part: float = 1.0, examples: int | None = None) -> PieceService:
        """Return the service on pieces at a cutoff, with an odd number of teachers, or a part of them."""
        teachers = int(part * self.teachers(cutoff)) // 2 * 2 + 1
        each = int(self.records // teachers) if examples is None else examples
        return PieceService(PieceTask(int(self.vc), self.flip), teachers, each, noise, int(self.queries))


def fixed_point(wanted: Callable[[float], float]) -> float:
    """Iterate from 1: k grows with the root of T, and B with k at most, so that the steps shrink."""
    value = 1.0
    for _ in range(300):
        value, last = wanted(value), value
        if abs(value - last) <= 1e-13 * value:
            return value
    raise ArithmeticError(f"no fixed point within 300 rounds, at {value:g}")


def student_size(alpha: float, vc: float, beta: float = BETA) -> float:
    """Return m = 4 (V + log(1 / (alpha beta))) / alpha^2, the public points of Algorithm 5 (our constant)."""
    return 4 * (vc + math.log(1 / (alpha * beta))) / alpha**2


def teacher_examples(alpha: float, vc: float, teachers: float, realizable: bool) -> float:
    """Return n' = (V log(1 / alpha) + log(3 k / beta)) / alpha, or / alpha^2 in the agnostic case."""
    return (vc * math.log(1 / alpha) + math.log(3 * teachers / BETA)) / (alpha if realizable else alpha**2)


def transfer_records(alpha: float, vc: float = 1.0, realizable: bool = True) -> float:
    """Return n = k n' of Theorems 4.6 and 4.7: teachers of error alpha, for as many queries as the student needs."""
    size = ServiceSize(1.0, student_size(alpha, vc), vc, alpha=alpha)
    teachers = size.teachers(size.cutoff())
    return teachers * teacher_examples(alpha, vc, teachers, realizable)


@dataclass(frozen=True)
class PieceService:
    """Runs of a voting service on pieces."""

    task: PieceTask
    teachers: int  # k, odd
    examples: int  # n'
    noise: Noise
    queries: int  # m, uniform

    def poll(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, NDArray[np.int64], FloatArray]:
        """Draw teachers and queries; piece, place in it, winner and safe distance of each query, shape (m,)."""
        thresholds = self.task.teachers(self.teachers, self.examples, rng)
        piece, place = np.divmod(self.task.pieces * rng.random(self.queries), 1)
        against = np.zeros(self.queries, dtype=np.int64)
        for number in range(self.task.pieces):
            here = np.flatnonzero(piece == number)
            against[here] = wrong_votes(thresholds[:, number], place[here], 0.5)
        winners = ((place >= 0.5) ^ (2 * against > self.teachers)).astype(np.int64)
        return piece, place, winners, np.maximum(0, np.ceil(np.abs(self.teachers - 2 * against) / 2) - 1)

    def run(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Draw teachers, queries and noise; piece, place in it, and answer of each query."""
        piece, place, winners, distances = self.poll(rng)
        return piece, place, released(Runs(self.noise, 1, rng), winners, distances)[0]

    def wrong(self, rng: np.random.Generator) -> int:
        """Draw a run; the queries that do not get their own label, flipped ones included."""
        _, place, answers = self.run(rng)
        return int(np.sum(answers != ((place >= 0.5) ^ (rng.random(place.size) < self.task.flip))))

    def bottoms(self, rng: np.random.Generator) -> int:
        """Draw a run; its BOTTOMs."""
        return int(np.sum(self.run(rng)[2] == BOTTOM))

    def student_error(self, rng: np.random.Generator) -> float:
        """Draw a student that takes the least empirical error on the answers; its true error."""
        piece, place, answers = self.run(rng)
        labels = self.completed(answers, rng)
        found = [best_thresholds(place[piece == v][None], labels[piece == v][None])[0] for v in range(self.task.pieces)]
        return self.task.error(np.array(found))

    def completed(self, answers: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Fill in the answers that were not released, by coins."""
        return coins_for_silence(answers, rng)

    def doubtful_mass(self, rng: np.random.Generator) -> float:
        """Draw teachers on one piece; the mass of points on which over a third of them differ from the best threshold.

        These lie between the middle and the quantiles 1/3 and 2/3 of the thresholds.
        """
        ordered, third = np.sort(self.task.teachers(self.teachers, self.examples, rng)[:, 0]), self.teachers // 3
        return float(max(0.0, 0.5 - ordered[third]) + max(0.0, ordered[-third - 1] - 0.5))

    def single_query_error(self, rng: np.random.Generator) -> float:
        """Draw teachers on one piece; a bound of the error of one released label, a coin for silence."""
        # Where two thirds agree the label is that of the best threshold; elsewhere all is counted as an error, and so
        # is noise that silences a stable query.
        noise_error = 1 - release_probability(self.noise.threshold - (self.teachers / 6 - 1), self.noise.lam)
        return self.task.flip + (1 - 2 * self.task.flip) * self.doubtful_mass(rng) + noise_error


@dataclass(frozen=True)
class AtMost:
    """Trials: the number drawn of a service is at most `most`."""

    drawn: Callable[[np.random.Generator], float]
    most: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        return np.array([self.drawn(rng) for _ in range(replicates)]) <= self.most


def most_bad_points(teachers: int, mistakes: int, share: Fraction, points: int) -> int:
    """Return the largest number of points on which more than share * k of k teachers err; each errs `mistakes` times.

    Each such point takes floor(share k) + 1 of the k B mistakes, and they can be dealt in turn.
    """
    return min(points, teachers * mistakes // (math.floor(share * teachers) + 1))


_THIRD = Fraction(1, 3)
LAYOUTS = (  # teachers, mistakes of each, share
    (5, 2, _THIRD), (7, 3, _THIRD), (10, 4, _THIRD), (100, 7, _THIRD), (101, 10, Fraction(1, 2)), (999, 1, _THIRD),
    (33, 20, Fraction(2, 5)),
)  # fmt: skip


@BASSILY.states("counting mistakes", "Lemma 4.2")
def counting_cases() -> Cases:
    """Fewer than B / share points have over share * k wrong teachers of k, if each errs B times."""
    return [
        (f"k={k} B={b} share={share}", most_bad_points(k, b, share, 10**9), math.ceil(b / share) - 1)
        for k, b, share in LAYOUTS
    ]


@dataclass(frozen=True)
class SpreadMistakes:
    """Trials on the worst layout: half of the teachers err on each of the first 2 B queries, none on the others."""

    mistakes: int  # B, of each teacher
    cutoff: int  # T; 3 B as printed
    queries: int
    teachers: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        nearly_half = Fraction(self.teachers - 2, 2 * self.teachers)
        bad = most_bad_points(self.teachers, self.mistakes, nearly_half, self.queries)
        distances = np.where(np.arange(self.queries) < bad, 0, (self.teachers - 1) // 2)
        codes = Runs(printed(1.0, 1e-6, self.cutoff, self.queries), replicates, rng).ask(distances)
        return np.asarray(np.sum(codes != TOP, axis=1) <= self.cutoff)


@dataclass(frozen=True)
class Formula:
    """A guaranteed rate, or a number of records, along one of its sizes."""

    value: Callable[[float], float]
    exponent: float  # the stated one
    sizes: tuple[float, ...]  # it is compared with the exponent between each and twice it
    slack: float = 3.0  # it may be missed by slack / ln(size)

    def cases(self) -> Cases:
        """Compare by how much the exponent misses with the slack."""
        found = [(size, math.log2(self.value(2 * size) / self.value(size))) for size in self.sizes]
        return [(f"{n:g}: {e:.3f}", abs(e - self.exponent), self.slack / math.log(n)) for n, e in found]


def guaranteed_rate(axis: str, fixed: ServiceSize, size: float) -> float:
    """Return the guaranteed rate of misclassification along records, queries or vc."""
    changes: dict[str, Any] = {axis: size}
    return replace(fixed, **changes).rate()


def asked_records(axis: str, realizable: bool, size: float) -> float:
    """Return the records of Theorem 4.6, or 4.7, along 1 / alpha or V."""
    return transfer_records(1 / size, 1.0, realizable) if axis == "alpha" else transfer_records(1e-3, size, realizable)


_FAR, _DEEP, _WIDE = (1e12, 1e20, 1e30), (1e4, 1e8, 1e16), (1e3, 1e6, 1e9)
_KNOWN = ServiceSize(1e30, 1e40)
_AGNOSTIC = replace(_KNOWN, realizable=False)
FORMULAS: dict[tuple[str, str], Formula] = {
    ("Theorem 4.3", "n"): Formula(partial(guaranteed_rate, "records", _KNOWN), -2.0, _FAR, 6.0),
    ("Theorem 4.3", "m"): Formula(
        partial(guaranteed_rate, "queries", replace(_KNOWN, records=1e24)), 1.0, (1e34, 1e40, 1e50), 6.0
    ),
    ("Theorem 4.4", "n"): Formula(partial(guaranteed_rate, "records", _AGNOSTIC), -2 / 3, _FAR),
    ("Theorem 4.4", "m"): Formula(partial(guaranteed_rate, "queries", _AGNOSTIC), 1 / 3, (1e26, 1e30, 1e40)),
    ("Theorem 4.4", "V"): Formula(partial(guaranteed_rate, "vc", _AGNOSTIC), 2 / 3, _WIDE),
    ("Theorem 4.6", "1 / alpha"): Formula(partial(asked_records, "alpha", True), 3 / 2, _DEEP),
    ("Theorem 4.6", "V"): Formula(partial(asked_records, "vc", True), 3 / 2, _WIDE),
    ("Theorem 4.7", "1 / alpha"): Formula(partial(asked_records, "alpha", False), 5 / 2, _DEEP),
    ("Theorem 4.7", "V"): Formula(partial(asked_records, "vc", False), 3 / 2, _WIDE),
}
RUNS = 8  # the least share then stands for 220 BOTTOMs or more: an exponent is off by 0.07 at most
CLOSE = 0.15  # of an exponent, relative: logarithms add 0.07 at these sizes, and the runs 0.07


def measured_bottoms(records: float, queries: float) -> tuple[float, float]:
    """Return the mean BOTTOMs of whole runs at the cutoff that thresholds really need, and that cutoff."""
    size = ServiceSize(records, queries)
    cutoff = size.stable_cutoff()
    service = size.service(cutoff, size.noise(cutoff))
    rng = np.random.default_rng([int(records), int(queries)])
    return float(np.mean([service.bottoms(rng) for _ in range(RUNS)])), cutoff


def measured_cases(axis: str) -> Cases:
    """Compare the exponent of the share of BOTTOMs, from a size to four times it, and their number with the cutoff."""
    sizes = {"n": ((2.5e7, 2.5e5), (1e8, 2.5e5)), "m": ((5e7, 1e5), (5e7, 4e5))}[axis]
    found = [measured_bottoms(*size) for size in sizes]
    shares = [bottoms / m for (bottoms, _), (_, m) in zip(found, sizes, strict=True)]
    cases = [(f"exponent in {axis}", math.log(shares[1] / shares[0], 4), {"n": -2.0, "m": 1.0}[axis])]
    levels = zip(sizes, found, strict=True)
    return [*cases, *((f"BOTTOMs at n={n:g} m={m:g}", bottoms, due) for (n, m), (bottoms, due) in levels)]


def answers_at(size: ServiceSize, part: float = 1.0, examples: int | None = None) -> AtMost:
    """Return the trials of Corollary 4.1, Theorem 4.3 or 4.4: all queries but T get their label, from a part of k."""
    cutoff = math.ceil(size.cutoff())
    noise = printed(size.epsilon, size.delta, cutoff, int(size.queries), quiet=True)
    return AtMost(size.service(size.cutoff(), noise, part, examples).wrong, cutoff)


def students_at(alpha: float, vc: int, flip: float = 0.0) -> AtMost:
    """Return the trials of Theorem 4.6, or 4.7 where labels are flipped, at the size that it asks for (epsilon = 8)."""
    size = ServiceSize(1.0, math.ceil(student_size(alpha, vc)), vc, epsilon=8.0, alpha=alpha, flip=flip)
    cutoff = size.cutoff()
    noise = printed(size.epsilon, size.delta, math.ceil(cutoff), int(size.queries))
    examples = math.ceil(teacher_examples(alpha, vc, size.teachers(cutoff), flip == 0))
    return AtMost(size.service(cutoff, noise, examples=examples).student_error, 7 * flip + 15 * alpha)


def small_service(alpha: float, flip: float, teachers: int, examples: int, noise: Noise) -> PieceService:
    """Return a service with as many public points as the student needs for alpha, and far fewer teachers."""
    return PieceService(PieceTask(1, flip), teachers, examples, noise, math.ceil(student_size(alpha, 1.0)))


SMALL = {alpha: small_service(alpha, 0.0, 4001, round(12.5 / alpha), optimal(1.0, 1e-6, 5)) for alpha in (0.05, 0.02)}
FLIPPED = small_service(0.02, 0.05, 2001, 250, optimal(4.0, 1e-6, 40))
DOUBTFUL = small_service(0.02, 0.1, 1001, 500, optimal(4.0, 1e-6, 5))

REALIZABLE = [ServiceSize(1e10, 1000, vc, epsilon=8.0) for vc in (1, 8)]
AGNOSTIC = [ServiceSize(1e11, 1000, vc, realizable=False, epsilon=8.0, flip=g) for vc, g in ((1, 0.05), (2, 0.02))]

SERVICES: dict[str, Callable[..., Any]] = {
    "realizable": answers_at(ServiceSize(1.0, 1000, epsilon=4.0, alpha=0.01), examples=1000),
    "a tenth of the labels flipped": answers_at(
        ServiceSize(1.0, 1000, epsilon=50.0, delta=1e-2, alpha=0.12, flip=0.1), examples=400
    ),
    "mistakes spread out": SpreadMistakes(10, 30, 2000, 200_001),
}
STUDENTS: list[tuple[str, Callable[..., Any], float]] = [  # name, trials, beta
    ("single queries, alpha=0.05", AtMost(SMALL[0.05].single_query_error, 7 * 0.05), 2 * BETA),
    ("single queries, alpha=0.02", AtMost(SMALL[0.02].single_query_error, 7 * 0.02), 2 * BETA),
    ("single queries, gamma=0.1", AtMost(DOUBTFUL.single_query_error, 3 * 0.1 + 7 * 0.02), 2 * BETA),
    ("student, alpha=0.05", AtMost(SMALL[0.05].student_error, 15 * 0.05), 3 * BETA),
    ("student, gamma=0.05", AtMost(FLIPPED.student_error, 7 * 0.05 + 15 * 0.02), 3 * BETA),
    ("student, alpha=0.02, without the factor", AtMost(SMALL[0.02].student_error, 0.02), 3 * BETA),
]


def guarantee(name: str, trials: Callable[..., Any], beta: float, **settings: Any) -> GuaranteeCheck:
    """Return the check of a guarantee whose place and sentence are in `statements.toml`."""
    return BASSILY.guarantee(name, "", "", trials, beta, **{"budget": 256, **settings})


def formula_check(name: str, theorem: str, formula: Formula, said: str = "") -> InequalityCheck:
    """Return a check that the exponent of a formula comes near the stated one."""
    statement = f"With all logarithms the exponent comes near {formula.exponent:.4g} like 1 / ln(size){said}."
    return BASSILY.state(name, theorem, statement, formula.cases)


CHECKS: list[GuaranteeCheck | InequalityCheck] = [
    *BASSILY.rows(__name__),
    *(guarantee(f"service answers all, {name}", trials, BETA, slack=0.05) for name, trials in SERVICES.items()),
    *(
        guarantee(f"pieces, {name} V={size.vc:g}", answers_at(size), BETA, slack=0.15)
        for name, sizes in (("realizable", REALIZABLE), ("agnostic", AGNOSTIC))
        for size in sizes
    ),
    *(
        guarantee(f"pieces, student {name}", students_at(*setting), 3 * BETA, slack=0.15)
        for name, setting in (
            ("V=1 alpha=0.02", (0.02, 1)),
            ("V=2 alpha=0.03", (0.03, 2)),
            ("V=1 alpha=0.025 gamma=0.01", (0.025, 1, 0.01)),
        )
    ),
    *(guarantee(*row, slack=0.05) for row in STUDENTS),
    *(formula_check(f"rate of {theorem} in {axis}", theorem, each) for (theorem, axis), each in FORMULAS.items()),
    *(
        BASSILY.quote(f"rate self-consistent, {axis}", partial(measured_cases, axis), "==", tolerance=CLOSE)
        for axis in ("n", "m")
    ),
]
