"""The events of the guess game: chosen on training outputs by the bound that they promise.

Every scorer proposes scores; for each score all pairs of thresholds compete. What is promised is the bound that
the certifying runs would give if the training frequencies were true, less what the noise of the training counts
may have added: without that penalty the best of many thresholds is the one that chance flatters most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from audit.empirical.scorers import SCORERS, Score, Scorer, Training
from audit.sampling import Outputs

_GRID = 160  # thresholds on each scale: even ranks, and ranks spaced by a factor from either end
_SELECTION_Z = 2.5  # standard errors of the training counts that a candidate is charged


@dataclass(frozen=True)
class EventPair:
    """Guess "left" where score >= upper, "right" where score <= lower, else abstain.

    Parameters
    ----------
    score : Score
        Fitted on training outputs.
    upper, lower : float
        Thresholds, lower < upper; an infinite one makes its event empty.
    promise : float
        The epsilon that the training outputs promise; an estimate, may be negative.
    complete : bool
        Whether some score that competed sees every difference between two laws on outputs of this kind.
    """

    score: Score
    upper: float
    lower: float
    promise: float
    complete: bool = False

    def guess(self, outputs: Outputs) -> np.ndarray:
        """1 for "left", -1 for "right", 0 for no guess; shape (size,)."""
        scores = self.score(outputs)
        plus = (scores >= self.upper) & (not self.plus_is_empty)
        minus = (scores <= self.lower) & (not self.minus_is_empty)
        return plus.astype(np.int8) - minus.astype(np.int8)

    @property
    def plus_is_empty(self) -> bool:
        """True when "left" is never guessed."""
        return math.isnan(self.upper)

    @property
    def minus_is_empty(self) -> bool:
        """True when "right" is never guessed."""
        return math.isnan(self.lower)

    def delta_share(self, delta: float) -> float:
        """The delta that one run may use: half when one event is empty, since only half of the runs can."""
        return delta / 2 if self.plus_is_empty or self.minus_is_empty else delta

    def describe(self) -> tuple[str, str]:
        """Both events in words."""
        plus, minus = self.score.describe(self.upper, self.lower)
        return ("never" if self.plus_is_empty else plus), ("never" if self.minus_is_empty else minus)


@dataclass(frozen=True)
class Stakes:
    """What the promise of an event depends on besides its frequencies."""

    delta: float
    significance: float
    training_runs: int
    certifying_runs: int

    @property
    def kappa(self) -> float:
        """Standard errors charged, times one run's standard deviation: of the test and of the selection."""
        z = float(stats.norm.isf(self.significance))
        return max(z, 0.5) / math.sqrt(self.certifying_runs) + _SELECTION_Z / math.sqrt(self.training_runs)


def choose_events(training: Training, stakes: Stakes) -> EventPair | None:
    """The event pair with the largest promise over all scorers; None when no scorer can read the outputs."""
    offers = [offer for scorer in SCORERS for offer in _offers(scorer, training, stakes)]
    if not offers:
        return None
    best = max(offers, key=lambda offer: offer.promise)
    return replace(best, complete=any(offer.score.complete for offer in offers))


def _offers(scorer: Scorer, training: Training, stakes: Stakes) -> list[EventPair]:
    final = scorer.propose(training)
    if not scorer.learned:
        return [_best_thresholds(s, s(training.left), s(training.right), stakes) for s in final]
    held_out = _held_out_scores(scorer, training, len(final))
    return [_best_thresholds(s, *scores, stakes) for s, scores in zip(final, held_out, strict=False)]


def _held_out_scores(scorer: Scorer, training: Training, expected: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores of the training outputs, each by a score fitted on the other half."""
    halves = [_part(training, start) for start in (0, 1)]
    fitted = [scorer.propose(half) for half in halves]
    if any(len(scores) != expected for scores in fitted):
        return []
    return [
        (
            np.concatenate([b(halves[0].left), a(halves[1].left)]),
            np.concatenate([b(halves[0].right), a(halves[1].right)]),
        )
        for a, b in zip(*fitted, strict=True)
    ]


def _part(training: Training, start: int) -> Training:
    left, right = (outputs[start::2] for outputs in (training.left, training.right))
    return Training(left, right, training.mechanism, training.pair)


def _best_thresholds(score: Score, left: np.ndarray, right: np.ndarray, stakes: Stakes) -> EventPair:
    """Search all pairs of thresholds on a grid of ranks of the pooled scores."""
    grid = _candidate_thresholds(np.concatenate([left, right]))
    if not len(grid):
        return EventPair(score, math.nan, math.nan, -math.inf)
    left_sorted, right_sorted = (np.sort(scores[~np.isnan(scores)]) for scores in (left, right))
    at_least = [1 - np.searchsorted(s, grid, "left") / n for s, n in _sized(left_sorted, right_sorted)]
    at_most = [np.searchsorted(s, grid, "right") / n for s, n in _sized(left_sorted, right_sorted)]
    seen = [len(left_sorted) / max(len(left), 1), len(right_sorted) / max(len(right), 1)]
    # one more candidate on each axis: the empty event
    plus = [np.append(f * w, 0.0)[:, None] for f, w in zip(at_least, seen, strict=True)]
    minus = [np.append(f * w, 0.0)[None, :] for f, w in zip(at_most, seen, strict=True)]
    used = np.add.outer(_used(len(grid)), _used(len(grid)))
    delta = stakes.delta * used / 2
    promise = promised_epsilon((plus[0] + minus[1]) / 2, (plus[1] + minus[0]) / 2, delta, stakes.kappa)
    thresholds = np.append(grid, np.nan)
    overlap = thresholds[None, :] >= thresholds[:, None]  # false for the empty events
    promise[overlap | (used == 0)] = -np.inf
    i, j = np.unravel_index(int(np.argmax(promise)), promise.shape)
    return EventPair(score, float(thresholds[i]), float(thresholds[j]), float(promise[i, j]))


def _sized(*samples: np.ndarray) -> list[tuple[np.ndarray, int]]:
    return [(sample, max(len(sample), 1)) for sample in samples]


def _used(thresholds: int) -> np.ndarray:
    return np.append(np.ones(thresholds), 0.0)


def _candidate_thresholds(scores: np.ndarray) -> np.ndarray:
    values = np.sort(scores[~np.isnan(scores)])
    n = len(values)
    if n == 0:
        return values
    distinct = values[np.r_[True, values[1:] != values[:-1]]]
    if len(distinct) <= 2 * _GRID:
        return distinct
    tails = np.geomspace(1, n, _GRID).astype(int) - 1
    ranks = np.unique(np.concatenate([tails, n - 1 - tails, np.linspace(0, n - 1, _GRID).astype(int)]))
    return np.unique(values[ranks])


def promised_epsilon(
    right_guess: np.ndarray, wrong_guess: np.ndarray, delta: np.ndarray, kappa: float
) -> np.ndarray:
    """An estimate of the bound that a game will give: for ranking only, it certifies nothing.

    Solves C - t W - delta = kappa sqrt(C + t^2 W + t delta) for t = e^epsilon, C and W the probabilities of a
    right and of a wrong guess in one run; W is raised by kappa^2 / 2, which keeps empty counts finite.
    """
    c, w = right_guess, wrong_guess + kappa**2 / 2
    excess = c - delta
    a = w * w - kappa**2 * w
    b = 2 * w * excess + kappa**2 * delta
    k = excess**2 - kappa**2 * c
    root = np.sqrt(np.maximum(b * b - 4 * a * k, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = 2 * k / (b + root)  # the smaller root, in the form that survives a = 0
        promise = np.log(np.maximum(t, 1e-300))
    return np.where(excess > 0, promise, -np.inf)
