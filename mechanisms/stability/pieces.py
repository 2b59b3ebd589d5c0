"""Theorems 4.3, 4.4, 4.6 and 4.7 at the sizes that their formulas ask for, with a VC dimension to vary.

Bassily, Thakurta & Thakkar (2018). The class has V pieces: [0, V) with a threshold of its own on each unit interval,
VC dimension V. Least empirical error falls apart into V thresholds, so that a teacher is 2 V distances
of `free_widths`, and half a million teachers are drawn at once. With a share of labels flipped, the least error
is that of a random walk with drift, which no teacher follows for more than a few examples to either side: the place of
its least value is drawn by its law, and then the two features around it, whatever the number of examples.

Departures: `mechanisms.stability.sizes` says how logarithms are filled in; gamma is added to the error of teachers.
Where teachers miss theta decides, so that `PieceTask.teachers` is tested against training on drawn examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import GuaranteeCheck
from audit.errors import InvalidArgument
from mechanisms.stability.calibration import Calibration
from mechanisms.stability.instability import BOTTOM
from mechanisms.stability.long_runs import released_queries
from mechanisms.stability.privacy_theorems import PAPER, quietly_printed
from mechanisms.stability.sizes import FixedError, ServiceSize, student_size
from mechanisms.stability.thresholds import best_thresholds, free_widths, nearest, wrong_votes
from mechanisms.stability.transfer import coins_for_silence

FloatArray = NDArray[np.float64]
BETA = 0.05
_ROWS = 200_000  # teachers drawn at once


@dataclass(frozen=True)
class PieceTask:
    """Uniform features on V pieces, labels by a threshold in the middle of each, flipped with probability `flip`.

    Parameters
    ----------
    pieces : int >= 1
        V.
    flip : float in [0, 0.1]
        gamma.
    """

    pieces: int
    flip: float = 0.0

    @property
    def window(self) -> int:
        """Steps of the walk on each side; its least value lies beyond with a probability below 1e-12."""
        return math.ceil(-30 / math.log(2 * math.sqrt(self.flip * (1 - self.flip))))

    def teachers(self, count: int, examples: int, rng: np.random.Generator) -> FloatArray:
        """Draw the thresholds of independent teachers with as many examples each, within their pieces, (count, V)."""
        if self.flip == 0:
            return self._clean(count, examples, rng)
        sizes = rng.multinomial(examples, np.full(self.pieces, 1 / self.pieces), size=count).ravel()
        if sizes.min() < 6 * self.window:
            raise InvalidArgument.of("examples", f"leave {6 * self.window} examples to each piece", examples)
        found = [self._noisy(sizes[start : start + _ROWS], rng) for start in range(0, sizes.size, _ROWS)]
        return np.concatenate(found).reshape(count, self.pieces)

    def _clean(self, count: int, examples: int, rng: np.random.Generator) -> FloatArray:
        """Draw thresholds half-way between the two features around the middle of each piece."""
        least = 2 * self.pieces - 1
        if examples < least:
            raise InvalidArgument.of("examples", f"be at least {least} for {self.pieces} pieces", examples)
        widths = free_widths(np.full(count, examples), 2 * self.pieces, rng)
        right, left = (np.minimum(self.pieces * np.column_stack(widths[side::2]), 0.5) for side in (0, 1))
        return np.asarray(0.5 + (right - left) / 2)

    def _noisy(self, sizes: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Draw thresholds: where the walk of errors is least first, between the two features around that place."""
        right, left = (np.minimum(width, 0.5) for width in free_widths(sizes, 2, rng))
        found = 0.5 + (right - left) / 2
        edges = least_places(self.flip, self.window).cumsum()[:-1]  # rounding leaves no place beyond
        passed = np.searchsorted(edges, rng.random(sizes.size)) - self.window  # features that the threshold has passed
        moved = np.flatnonzero(passed)
        count, beyond = rng.binomial(sizes[moved], 0.5), np.abs(passed[moved])  # features on the side that it moved to
        inner = rng.beta(beyond, count + 1 - beyond)
        outer = inner + (1 - inner) * nearest(count - beyond, rng)
        found[moved] = 0.5 + np.sign(passed[moved]) * (inner + outer) / 4
        return np.asarray(found)

    def error(self, thresholds: FloatArray) -> float:
        """Return the true error of one threshold on each piece."""
        return float(self.flip + (1 - 2 * self.flip) * np.mean(np.abs(thresholds - 0.5)))


@cache
def least_places(flip: float, window: int) -> FloatArray:
    """Return the law of the place where the walk of errors is first least, from `window` steps left to as many right.

    On either side the walk starts at 0, and goes down by 1 with probability `flip`, else up. The first of the least
    places is the last one on the left. So the least value is -m on the left, and the right side never falls below it;
    or the left side stays above 0, and the right side never falls below; or -m is reached on the right, where its first
    place counts, and the left side stays above it.
    """
    kept = [_above(-m, flip, window) for m in range(window + 1)]  # by floor, step and level
    stays = kept[0].sum(axis=1)  # at 0 or above, by the number of steps
    rises = np.append(1.0, (1 - flip) * stays[:-1])  # above 0
    found = np.zeros(2 * window + 1)
    found[window] = rises[window] * stays[window]
    steps = np.arange(1, window + 1)
    for m in range(window + 1):
        last = kept[m][steps, window - m] * rises[window - steps]
        found[window - steps] += last * kept[m][window].sum()
        if m > 0:
            first = flip * kept[m - 1][steps - 1, window - m + 1] * stays[window - steps]
            found[window + steps] += first * kept[m - 1][window].sum()
    return found


def _above(floor: int, flip: float, window: int) -> FloatArray:
    """Return the probabilities of step and level, -window to window, of a walk that has not gone below the floor."""
    found = np.zeros((window + 1, 2 * window + 1))
    found[0, window] = 1.0
    for step in range(window):
        found[step + 1, :-1] += flip * found[step, 1:]
        found[step + 1, 1:] += (1 - flip) * found[step, :-1]
        found[step + 1, : window + floor] = 0.0
    return found


@dataclass(frozen=True)
class PieceService:
    """Runs of a voting service on pieces.

    Parameters
    ----------
    task : PieceTask
    teachers, examples : int
        k, odd, and n'.
    noise : Calibration
    queries : int
        m, uniform.
    """

    task: PieceTask
    teachers: int
    examples: int
    noise: Calibration
    queries: int

    def run(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], FloatArray, NDArray[np.int64]]:
        """Draw teachers, queries and noise; give piece, place in it, and released label of each query, or BOTTOM."""
        thresholds = self.task.teachers(self.teachers, self.examples, rng)
        piece, place = rng.integers(self.task.pieces, size=self.queries), rng.random(self.queries)
        against = np.zeros(self.queries, dtype=np.int64)
        for number in range(self.task.pieces):
            here = piece == number
            against[here] = wrong_votes(thresholds[:, number], place[here], 0.5)
        winners = ((place >= 0.5) ^ (2 * against > self.teachers)).astype(np.int64)
        distances = np.maximum(0, np.ceil(np.abs(self.teachers - 2 * against) / 2) - 1)
        released, _ = released_queries(distances, self.noise, rng)
        return piece, place, np.where(released, winners, BOTTOM)

    def student_error(self, rng: np.random.Generator) -> float:
        """Draw a student that takes the least empirical error on the answers, coins for silence; its true error."""
        piece, place, answers = self.run(rng)
        labels = coins_for_silence(answers, rng)
        found = [best_thresholds(place[piece == v][None], labels[piece == v][None])[0] for v in range(self.task.pieces)]
        return self.task.error(np.array(found))


@dataclass(frozen=True)
class PieceStudents:
    """Trials: a student errs by `most` at most."""

    service: PieceService
    most: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        return np.array([self.service.student_error(rng) for _ in range(replicates)]) <= self.most


@dataclass(frozen=True)
class PieceAnswers:
    """Trials: all queries but `cutoff` of them get their own label, flipped ones included."""

    service: PieceService
    cutoff: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        return np.array([self._wrong(rng) <= self.cutoff for _ in range(replicates)])

    def _wrong(self, rng: np.random.Generator) -> int:
        _, place, answers = self.service.run(rng)
        labels = (place >= 0.5) ^ (rng.random(place.size) < self.service.task.flip)
        return int(np.sum(answers != labels))


@dataclass(frozen=True)
class FlippedSize(ServiceSize):
    """A service whose teachers err by gamma more; `flip` is gamma."""

    flip: float = 0.0

    def error(self, teachers: float) -> float:
        """Return alpha + gamma."""
        return super().error(teachers) + self.flip


def answers_at(size: FlippedSize, part: float = 1.0) -> PieceAnswers:
    """Return the trials of Theorem 4.3, or 4.4, at a size; `part` of the teachers that it asks for."""
    cutoff = math.ceil(size.cutoff())
    teachers = int(part * size.teachers(size.cutoff())) // 2 * 2 + 1
    task, noise = (
        PieceTask(int(size.vc), size.flip),
        quietly_printed(size.epsilon, size.delta, cutoff, int(size.queries)),
    )
    return PieceAnswers(PieceService(task, teachers, int(size.records // teachers), noise, int(size.queries)), cutoff)


def students_at(alpha: float, vc: int, flip: float = 0.0) -> PieceStudents:
    """Return the trials of Theorem 4.6, or 4.7 where labels are flipped, at the size that it asks for (epsilon = 1)."""
    points = math.ceil(student_size(alpha, vc, BETA))
    size = FixedError(1.0, points, vc, alpha=alpha + flip)
    cutoff = math.ceil(size.cutoff())
    teachers = int(size.teachers(size.cutoff())) // 2 * 2 + 1
    examples = math.ceil((vc * math.log(1 / alpha) + math.log(3 * teachers / BETA)) / (alpha**2 if flip else alpha))
    noise = quietly_printed(size.epsilon, size.delta, cutoff, points)
    service = PieceService(PieceTask(vc, flip), teachers, examples, noise, points)
    return PieceStudents(service, 7 * flip + 15 * alpha)


def answers_check(name: str, theorem: str, trials: PieceAnswers, **settings: Any) -> GuaranteeCheck:
    """Return a check that all but T queries are classified correctly, with probability 0.95."""
    said = ", with a tenth of the teachers; false" if settings else ""
    return GuaranteeCheck(
        name=name,
        source=f"{PAPER}, {theorem}",
        statement=f"All but T = {trials.cutoff} of {trials.service.queries} queries are classified correctly{said}.",
        trials=trials,
        beta=BETA,
        slack=0.15,
        budget=100,
        **settings,
    )


def _students_check(name: str, theorem: str, trials: PieceStudents) -> GuaranteeCheck:
    service = trials.service
    return GuaranteeCheck(
        name=f"stability/pieces, {name}",
        source=f"{PAPER}, {theorem}",
        statement=f"With {service.teachers:.3g} teachers of {service.examples} it errs by at most {trials.most:g}.",
        trials=trials,
        beta=3 * BETA,
        slack=0.15,
        budget=60,
    )


REALIZABLE = [FlippedSize(1e10, 1000, vc, epsilon=4.0) for vc in (1, 8)]
AGNOSTIC = [
    FlippedSize(1e11, 1000, vc, realizable=False, epsilon=4.0, flip=flip) for vc, flip in ((1, 0.05), (2, 0.02))
]

CHECKS: list[GuaranteeCheck] = [
    *(
        answers_check(f"stability/pieces, realizable V={size.vc:g}", "Theorem 4.3", answers_at(size))
        for size in REALIZABLE
    ),
    *(answers_check(f"stability/pieces, agnostic V={size.vc:g}", "Theorem 4.4", answers_at(size)) for size in AGNOSTIC),
    _students_check("student V=1 alpha=0.02", "Theorem 4.6", students_at(0.02, 1)),
    _students_check("student V=2 alpha=0.03", "Theorem 4.6", students_at(0.03, 2)),
    _students_check("student V=1 alpha=0.025 gamma=0.01", "Theorem 4.7", students_at(0.025, 1, 0.01)),
]
