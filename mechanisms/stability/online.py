"""Online release of exact values: sparse vector over distances to instability, one question at a time.

Implements A_OQR, Algorithm 3 of Bassily, Thakurta & Thakkar (2018), Theorem 3.6: each question has a value and a
distance to instability on the data; the value itself is released when the noisy distance exceeds the noisy threshold,
else BOTTOM, and the threshold noise is renewed. After the last BOTTOM that the calibration allows no question gets an
answer. The analyst may choose each question after having seen the earlier answers.

`Session` plays this with anyone; `Transcripts` fixes the questions beforehand, draws many transcripts at once, and
states their law: codes are the values (>= 0), BOTTOM and NO_ANSWER.

Readings: BOTTOM and NO_ANSWER differ (the time of stopping is in the transcript anyway); the comparison is strict.
`CalibratedRelease` is ours: the same proof, spent to the end (`mechanisms.stability.calibration`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import integer
from mechanisms.quadrature import TAIL, laplace_density, panelled_nodes
from mechanisms.stability.calibration import Calibration, least, optimal, printed, pure
from mechanisms.stability.epochs import below_probability
from mechanisms.stability.instability import BOTTOM, Question, answer

NO_ANSWER = -2
MOST_TRANSCRIPTS = 5000  # of a law

Transcript = tuple[int, ...]
Analyst = Callable[[Transcript], Question | None]
CALIBRATIONS: dict[str, Callable[[float, float, int], Calibration]] = {"pure": pure, "optimal": optimal, "least": least}


class Session:
    """One run: asks the data, releases values or BOTTOM, and stops.

    Parameters
    ----------
    calibration : Calibration
    dataset : any
        What questions are functions of.
    rng : numpy.random.Generator
    """

    def __init__(self, calibration: Calibration, dataset: Any, rng: np.random.Generator) -> None:
        self._calibration, self._dataset, self._rng = calibration, dataset, rng
        self.bottoms = 0
        self._renew()

    @property
    def running(self) -> bool:
        """Return whether questions still get answers."""
        return self.bottoms < self._calibration.epochs

    def ask(self, question: Question) -> int:
        """Release the value of a question, BOTTOM, or NO_ANSWER."""
        value, distance = answer(question, self._dataset)
        if not self.running:
            return NO_ANSWER
        if self.passes(distance):
            return value
        self.pay()
        return BOTTOM

    def passes(self, distance: float) -> bool:
        """Return whether a distance, with fresh noise, exceeds the noisy threshold."""
        return distance + self._rng.laplace(scale=2 * self._calibration.lam) > self._noisy_threshold

    def pay(self, bottoms: int = 1) -> None:
        """Count BOTTOMs and draw a new noisy threshold."""
        self.bottoms += bottoms
        self._renew()

    def _renew(self) -> None:
        self._noisy_threshold = self._calibration.threshold + self._rng.laplace(scale=self._calibration.lam)


@dataclass(frozen=True)
class OnlineQueryRelease:
    """Answers any stream of at most `max_queries` questions; (epsilon, delta)-DP in all (Theorem 3.6).

    Parameters
    ----------
    epsilon : float > 0
    delta : float in (0, 1)
    cutoff : int >= 1
        T; up to T + 1 BOTTOMs are released.
    max_queries : int >= 1
        m; the threshold grows with its logarithm.
    """

    epsilon: float
    delta: float
    cutoff: int
    max_queries: int
    calibration: Calibration = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "calibration", self._calibrated())

    def _calibrated(self) -> Calibration:
        return printed(self.epsilon, self.delta, self.cutoff, self.max_queries)

    def open(self, dataset: Any, rng: np.random.Generator) -> Session:
        """Begin a run on a dataset."""
        return Session(self.calibration, dataset, rng)

    def play(self, analyst: Analyst, dataset: Any, rng: np.random.Generator) -> Transcript:
        """Return the transcript of an analyst, who sees the answers so far and gives a question, or None to end."""
        session = self.open(dataset, rng)
        transcript: Transcript = ()
        while len(transcript) < self.max_queries and (question := analyst(transcript)) is not None:
            transcript += (session.ask(question),)
        return transcript

    def transcripts(self, questions: Callable[[Any], tuple[Any, Any]]) -> Transcripts:
        """Fix the questions beforehand; the mechanism that draws whole transcripts."""
        return Transcripts(questions, self.calibration)


@dataclass(frozen=True)
class CalibratedRelease(OnlineQueryRelease):
    """The same release with the least noise that its proof needs; (epsilon, delta)-DP for any number of questions.

    Parameters
    ----------
    epsilon, delta, cutoff
        As for `OnlineQueryRelease`.
    max_queries : int, optional
        No noise depends on it: an unstable question that fails ends an epoch.
    variant : {"optimal", "pure", "least"}
        Epochs composed optimally, or added up, or the one of both with the smaller threshold.
    """

    max_queries: int = 10**9
    variant: str = "optimal"

    def _calibrated(self) -> Calibration:
        if self.variant not in CALIBRATIONS:
            raise InvalidArgument.of("variant", f"be one of {', '.join(CALIBRATIONS)}", self.variant)
        integer(self.max_queries, "max_queries", at_least=1)
        return CALIBRATIONS[self.variant](self.epsilon, self.delta, self.cutoff)


@dataclass(frozen=True)
class Transcripts:
    """Whole transcripts of questions that are fixed beforehand.

    Parameters
    ----------
    questions : callable
        dataset -> (values, distances), two vectors of shape (m,); values are integers >= 0, distances >= 0 or inf.
    calibration : Calibration
    query_scale : float >= 0, optional
        Scale of the query noise in units of lam; 2 as published.

    Notes
    -----
    The output has shape (size, m): values, BOTTOM, NO_ANSWER.
    """

    questions: Callable[[Any], tuple[Any, Any]]
    calibration: Calibration
    query_scale: float = 2.0

    def answers(self, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return values and levels (d - w) / lam, shape (m,) each."""
        values, distances = (np.asarray(part) for part in self.questions(dataset))
        if values.dtype.kind not in "biu" or values.ndim != 1 or values.shape != distances.shape or np.any(values < 0):
            raise InvalidArgument.of("questions", "answer with m integers >= 0 and m distances", (values, distances))
        if np.any(np.isnan(distances)) or np.any(distances < 0):
            raise InvalidArgument.of("questions", "answer with distances >= 0", distances)
        return values.astype(np.int64), (distances - self.calibration.threshold) / self.calibration.lam

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        values, levels = (np.broadcast_to(part, (size, part.size)) for part in self.answers(dataset))
        return draw_transcripts(values, levels, self.calibration.epochs, rng, self.query_scale)

    def law(self, dataset: Any) -> Finite:
        """Law of one transcript."""
        values, levels = self.answers(dataset)
        most = sum(math.comb(values.size, k) for k in range(min(values.size, self.calibration.epochs) + 1))
        if most > MOST_TRANSCRIPTS:
            raise InvalidArgument.of("questions", f"leave at most {MOST_TRANSCRIPTS} transcripts for the law", most)
        return Finite(dict(self._walk(values, EpochWeights(levels, self.query_scale))))

    def _walk(self, values: np.ndarray, weights: EpochWeights) -> Iterator[tuple[Transcript, float]]:
        """Extend transcripts question by question; `running` holds the mass at each node of the threshold noise."""
        stack: list[tuple[Transcript, np.ndarray, int]] = [((), weights.fresh, 0)]
        while stack:
            prefix, running, bottoms = stack.pop()
            j = len(prefix)
            if j == values.size or bottoms == self.calibration.epochs:
                yield prefix + (NO_ANSWER,) * (values.size - j), float(running.sum())
                continue
            stack.append(((*prefix, int(values[j])), running * weights.above[j], bottoms))
            stack.append(((*prefix, BOTTOM), weights.renewed(running, j), bottoms + 1))


def draw_transcripts(
    values: np.ndarray,
    levels: np.ndarray,
    epochs: int,
    rng: np.random.Generator,
    query_scale: float = 2.0,
    above: np.ufunc = np.greater,
) -> np.ndarray:
    """Draw one transcript for each row of `values` and `levels`, shape (size, m); `above` compares."""
    size, queries = values.shape
    output = np.full((size, queries), NO_ANSWER)
    threshold: Any = rng.laplace(size=size)
    bottoms = np.zeros(size, dtype=int)
    for j in range(queries):
        running = bottoms < epochs
        passes = above(levels[:, j] + rng.laplace(scale=query_scale, size=size), threshold)
        output[running, j] = np.where(passes, values[:, j], BOTTOM)[running]
        bottoms += running & ~passes
        threshold = np.where(passes, threshold, rng.laplace(size=size))
    return output


class EpochWeights:
    """Masses of the threshold noise at quadrature nodes, and the probability of each verdict there.

    Parameters
    ----------
    levels : array, shape (m,)
        (d - w) / lam; may be inf.
    query_scale : float >= 0
    """

    def __init__(self, levels: np.ndarray, query_scale: float = 2.0) -> None:
        nodes, weights = panelled_nodes(np.append(levels[np.isfinite(levels)], 0.0), -TAIL, TAIL, 0.5)
        self.fresh = weights * laplace_density(nodes)
        margins = levels[:, None] - nodes
        self.below = below_probability(margins, query_scale)
        self.above = 1 - self.below if query_scale == 0 else below_probability(-margins, query_scale)

    def renewed(self, running: np.ndarray, j: int) -> np.ndarray:
        """Return the masses after question j fell: all that was running and fell, on a fresh threshold noise."""
        return np.asarray(self.fresh * np.sum(running * self.below[j]))
