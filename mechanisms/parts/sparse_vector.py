"""Sparse vector, paid below the threshold: many runs at once, and the law of their transcripts.

A threshold w is hidden by Laplace noise of scale lam. Each query gets fresh Laplace noise of scale 2 lam and the answer
TOP where it then lies strictly above the noisy threshold, else BOTTOM. A BOTTOM is paid for and ends an epoch: a new
noisy threshold is drawn; after the last one no query gets an answer. Paid above the threshold, as textbooks have it, is
this one on negated queries. `Runs` is the only sampler; `Masses` computes the law by quadrature between the kinks.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.errors import InvalidArgument
from audit.laws import Finite
from audit.validate import nonnegative, positive, real
from mechanisms.quadrature import TAIL, laplace_cdf, laplace_density, panelled_nodes
from mechanisms.queries import admit, count, require_query, vector_answer

TOP, BOTTOM, NO_ANSWER = 1, 0, -1
ENDLESS = 10**12  # BOTTOMs: no cutoff
MOST_TRANSCRIPTS = 5000  # of a law
_BLOCK = 2**13  # answers drawn at once

Transcript = tuple[int, ...]


@dataclass(frozen=True)
class Noise:
    """Scales, threshold and length of a run."""

    lam: float  # scale of the noise of the threshold
    threshold: float  # w, finite
    epochs: int  # BOTTOMs after which no query is answered
    query_scale: float = 2.0  # of the noise of each query, in units of lam: 2 as published, 0 for none
    is_renewed: bool = True  # a new noisy threshold after each BOTTOM
    is_fresh: bool = True  # new noise for each query: one draw for all queries of a run leaves nothing private

    def __post_init__(self) -> None:
        admit(self, lam=positive, threshold=real, epochs=count, query_scale=nonnegative)
        if not math.isfinite(self.threshold):
            raise InvalidArgument.of("threshold", "be finite", self.threshold)

    def levels(self, answers: Any) -> np.ndarray:
        """Return (q - w) / lam."""
        return np.asarray((np.asarray(answers, dtype=float) - self.threshold) / self.lam)


class Runs:
    """Some independent runs of sparse vector: each holds its noisy threshold, and how many BOTTOMs it has paid."""

    def __init__(self, noise: Noise, size: int, rng: np.random.Generator) -> None:
        self.noise, self._rng = noise, rng
        self.paid = np.zeros(size, dtype=np.int64)
        self._thresholds = self._fresh(size)
        self._kept = None if noise.is_fresh else self._query_noise((size, 1))

    @property
    def is_running(self) -> np.ndarray:
        """Return which runs still answer, shape (size,)."""
        return self.paid < self.noise.epochs

    def ask(self, answers: Any, rows: Any = None) -> np.ndarray:
        """Ask queries in turn; TOP, BOTTOM or NO_ANSWER for each, shape (rows, m).

        Exact answers have shape (m,), the same for all runs, or (rows, m); `rows` are the runs that are asked, or all.
        """
        asked = np.arange(self.paid.size)[slice(None) if rows is None else rows]
        table = np.broadcast_to(answers, (asked.size, np.shape(answers)[-1]))
        width = max(1, _BLOCK // max(1, asked.size))
        starts = range(0, max(1, table.shape[1]), width)
        return np.concatenate([self._block(asked, table[:, at : at + width]) for at in starts], axis=1)

    def ask_one(self, answer: float) -> int:
        """Ask the first run a query, with a draw as in `ask` and none of its arrays: a hundred times as fast."""
        if self.paid[0] >= self.noise.epochs:
            return NO_ANSWER
        kept, scale = self._kept, self.noise.query_scale * self.noise.lam
        noise = self._rng.laplace(scale=scale) if kept is None else kept[0, 0]
        if answer + noise > self._thresholds[0]:
            return TOP
        self.paid[0] += 1
        if self.noise.is_renewed:
            self._thresholds[0] = self.noise.threshold + self._rng.laplace(scale=self.noise.lam)
        return BOTTOM

    def _block(self, rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Go from BOTTOM to BOTTOM: `left` are the runs that may have another one, `start` where they go on."""
        noisy = answers + (self._query_noise(answers.shape) if self._kept is None else self._kept[rows])
        codes, columns = np.full(answers.shape, TOP, dtype=np.int8), np.arange(answers.shape[1])
        codes[~self.is_running[rows]] = NO_ANSWER
        left, start = np.flatnonzero(self.is_running[rows]), np.zeros(rows.size, dtype=np.int64)
        while left.size and columns.size:
            at = min(start[left].min(), columns.size - 1)
            falls = noisy[left, at:] <= self._thresholds[rows[left], None]
            falls &= columns[at:] >= start[left, None]
            found = falls.any(axis=1)
            left, first = left[found], falls.argmax(axis=1)[found] + at
            codes[left, first] = BOTTOM
            self._pay(rows[left])
            start[left] = first + 1
            over = ~self.is_running[rows[left]]
            ended = codes[left[over]]
            ended[columns > first[over, None]] = NO_ANSWER
            codes[left[over]] = ended
            left = left[~over]
        return codes

    def _query_noise(self, shape: tuple[int, ...]) -> np.ndarray:
        return self._rng.laplace(scale=self.noise.query_scale * self.noise.lam, size=shape)

    def _pay(self, rows: np.ndarray) -> None:
        self.paid[rows] += 1
        if self.noise.is_renewed:
            self._thresholds[rows] = self._fresh(rows.size)

    def _fresh(self, size: int) -> np.ndarray:
        return self.noise.threshold + self._rng.laplace(scale=self.noise.lam, size=size)


class Masses:
    """Masses of the noise of a threshold at quadrature nodes, and the probability of each answer; some may be inf."""

    def __init__(self, noise: Noise, answers: Any) -> None:
        levels, scale = noise.levels(answers), noise.query_scale
        nodes, weights = panelled_nodes(np.append(levels[np.isfinite(levels)], 0.0), -TAIL, TAIL, 0.5)
        self.noise, self.fresh = noise, weights * laplace_density(nodes)
        margins = levels[:, None] - nodes
        if scale == 0:
            self._below = (margins <= 0).astype(float)
            self._above = 1 - self._below
        else:
            self._below, self._above = laplace_cdf(-margins / scale), laplace_cdf(margins / scale)

    def top(self, running: np.ndarray, j: int) -> np.ndarray:
        """Return the masses after query j passed."""
        return np.asarray(running * self._above[j])

    def bottom(self, running: np.ndarray, j: int) -> np.ndarray:
        """Return the masses after query j fell: all that fell, on a fresh threshold where it is renewed."""
        fell = running * self._below[j]
        return np.asarray(self.fresh * fell.sum() if self.noise.is_renewed else fell)


Branch = tuple[int, np.ndarray, int]  # the answer, the masses after it, and its cost


def walk(
    fresh: np.ndarray, branches: Callable[[int, np.ndarray], list[Branch]], queries: int, epochs: int, silence: int
) -> Iterator[tuple[Transcript, float]]:
    """Extend transcripts query by query, `silence` after the last paid BOTTOM; yield each with its probability."""
    stack: list[tuple[Transcript, np.ndarray, int]] = [((), fresh, 0)]
    while stack:
        prefix, running, paid = stack.pop()
        if len(prefix) == queries or paid >= epochs:
            yield prefix + (silence,) * (queries - len(prefix)), float(running.sum())
            continue
        stack += [((*prefix, code), kept, paid + cost) for code, kept, cost in branches(len(prefix), running)]


def transcript_law(noise: Noise, answers: Any, codes: Callable[[int], Transcript] | None = None) -> Finite:
    """Return the law of a transcript; `codes` are (TOP, BOTTOM, NO_ANSWER) of each query unless given."""
    masses, queries = Masses(noise, answers), len(answers)
    most = sum(math.comb(queries, k) for k in range(min(queries, noise.epochs) + 1))
    if most > MOST_TRANSCRIPTS:
        raise InvalidArgument.of("queries", f"leave at most {MOST_TRANSCRIPTS} transcripts for the law", most)
    coded = codes or (lambda j: (TOP, BOTTOM, NO_ANSWER))

    def branches(j: int, running: np.ndarray) -> list[Branch]:
        top, bottom, _ = coded(j)
        return [(top, masses.top(running, j), 0), (bottom, masses.bottom(running, j), 1)]

    return Finite(dict(walk(masses.fresh, branches, queries, noise.epochs, coded(0)[2])))


def epoch_masses(noise: Noise, answers: Any) -> list[float]:
    """Return P(an epoch stops at query j) for each j, and P(it is still running at the end)."""
    masses, stopped = Masses(noise, answers), []
    running = masses.fresh
    for j in range(len(answers)):
        stopped.append(float(masses.bottom(running, j).sum()))
        running = masses.top(running, j)
    return [*stopped, float(running.sum())]


@dataclass(frozen=True)
class SparseVector:
    """Transcript of TOP, BOTTOM and NO_ANSWER over a fixed list of queries; each epoch is (2 / lam, 0)-DP."""

    queries: Callable[[Any], Any]  # dataset -> answers of shape (m,), each of sensitivity 1
    noise: Noise

    def __post_init__(self) -> None:
        require_query(self.queries, "queries")

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return Runs(self.noise, size, rng).ask(vector_answer(self.queries, dataset))

    def law(self, dataset: Any) -> Finite:
        """Law of one transcript."""
        return transcript_law(self.noise, vector_answer(self.queries, dataset))
