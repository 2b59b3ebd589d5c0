"""One run over very many queries, in O(queries): noise at once, then from BOTTOM to BOTTOM.

Algorithm 3 of Bassily, Thakurta & Thakkar (2018) over given distances, equal in distribution to
`mechanisms.stability.online.draw_transcripts`, which is vectorized over runs; and `ThresholdService`, a whole run of
their section 4.1 (teachers, votes, release) on `ThresholdTask`, whose cost does not grow with the examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.validate import integer
from mechanisms.stability.calibration import Calibration
from mechanisms.stability.thresholds import ThresholdTask, wrong_votes

_FIRST_WINDOW = 256


def released_queries(distances: Any, calibration: Calibration, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Play one run; say which queries got their value, and how many were asked before the run ended.

    Parameters
    ----------
    distances : array, shape (m,)
        Distances to instability, >= 0 or inf, in the order of the queries.

    Returns
    -------
    released : array of bool, shape (m,)
        Queries before `asked` that are not released got BOTTOM.
    asked : int
        Later queries have no answer.
    """
    levels = (np.asarray(distances, dtype=float) - calibration.threshold) / calibration.lam
    noisy = levels + rng.laplace(scale=2, size=levels.size)
    released = np.ones(noisy.size, dtype=bool)
    start = 0
    for _ in range(calibration.epochs):
        start = _first_at_most(noisy, start, rng.laplace())
        if start == noisy.size:
            return released, start
        released[start] = False
        start += 1
    released[start:] = False
    return released, start


def _first_at_most(values: np.ndarray, start: int, level: float) -> int:
    """Return the first index from `start` on whose value is at most `level`, looking at windows that double."""
    window = _FIRST_WINDOW
    while start < values.size:
        below = values[start : start + window] <= level
        first = int(below.argmax())
        if below[first]:
            return start + first
        start, window = start + below.size, 2 * window
    return values.size


@dataclass(frozen=True)
class RunCounts:
    """Counts of the outcomes of a run's queries; the four counts add up to the number of queries.

    Parameters
    ----------
    right, wrong : int
        Released values that are, or are not, the label of their query.
    bottoms : int
    unanswered : int
        Queries after the run had ended.
    """

    right: int
    wrong: int
    bottoms: int
    unanswered: int


@dataclass(frozen=True)
class ThresholdService:
    """Runs of a voting service on a threshold task.

    Parameters
    ----------
    task : ThresholdTask
    records : int >= 1
        n.
    n_teachers : int >= 1, odd
        k; with `flip` = 0 every record draws its chunk, so that sizes are multinomial, otherwise all have n // k.
    calibration : Calibration
    queries : int >= 1
        m, uniform on [0, 1].
    """

    task: ThresholdTask
    records: int
    n_teachers: int
    calibration: Calibration
    queries: int

    def __post_init__(self) -> None:
        integer(self.records, "records", at_least=1)
        integer(self.n_teachers, "n_teachers", at_least=1)
        integer(self.queries, "queries", at_least=1)

    def thresholds(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw the teachers, shape (k,)."""
        k = self.n_teachers
        even = self.task.flip > 0
        sizes = np.full(k, self.records // k) if even else rng.multinomial(self.records, np.full(k, 1 / k))
        return self.task.teachers(sizes, rng)

    def poll(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw teachers and queries; give the queries, the winners, and the safe distances, shape (m,) each."""
        thresholds, features = self.thresholds(rng), rng.random(self.queries)
        against = wrong_votes(thresholds, features, self.task.theta)
        winners = (features >= self.task.theta) ^ (2 * against > self.n_teachers)
        distances = np.maximum(0, np.ceil(np.abs(self.n_teachers - 2 * against) / 2) - 1)
        return features, winners.astype(np.int64), distances

    def run(self, rng: np.random.Generator) -> RunCounts:
        """Draw teachers, queries and noise, and count."""
        features, winners, distances = self.poll(rng)
        released, asked = released_queries(distances, self.calibration, rng)
        wrong = int(np.sum(released & (winners != self.task.labels(features, rng))))
        right = int(released.sum()) - wrong
        return RunCounts(right, wrong, asked - right - wrong, self.queries - asked)
