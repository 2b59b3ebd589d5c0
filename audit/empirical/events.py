"""The events of the guess game: chosen on training outputs by the bound that they promise.

Every scorer proposes scores; for each score all pairs of thresholds compete. What is promised is the bound that
the certifying runs would give if the training frequencies were true, less what the noise of the training counts
may have added: without that penalty the best of many thresholds is the one that chance flatters most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from audit.empirical.scorers import LAST_RESORT, SCORERS, Score, Scorer, Training
from audit.sampling import Outputs

_GRID = (24, 160)  # fewest and most thresholds on each scale: even ranks, and ranks spaced from either end
_SINGLE_Z = 1.0  # standard errors of the training counts that a candidate is charged which did not look at them
_MOST_Z = 3.0  # and the best of very many: thresholds are nested, so that their noise is shared


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

    def kappa(self, selection_z: float) -> float:
        """Standard errors charged, times one run's standard deviation: of the test and of the selection."""
        z = max(float(stats.norm.isf(self.significance)), 0.5)
        return z / math.sqrt(self.certifying_runs) + selection_z / math.sqrt(self.training_runs)


def choose_events(
    training: Training,
    stakes: Stakes,
    scorers: Sequence[Scorer] = SCORERS,
    last_resort: Sequence[Scorer] = LAST_RESORT,
) -> EventPair | None:
    """The event pair with the largest promise over all scorers; None when no scorer can read the outputs.

    The scorers of last resort are slow; they compete when none of the others sees everything, and when the mechanism
    does not state its likelihood ratio.
    """
    offers = [offer for scorer in scorers for offer in _offers(scorer, training, stakes)]
    if not any(offer.score.complete or offer.score.calibrated for offer in offers):
        offers += [offer for scorer in last_resort for offer in _offers(scorer, training, stakes)]
    if not offers:
        return None
    best = max(offers, key=lambda offer: offer.promise)
    return replace(best, complete=any(offer.score.complete for offer in offers))


def _offers(scorer: Scorer, training: Training, stakes: Stakes) -> list[EventPair]:
    final = scorer.propose(training)
    if not scorer.learned:
        return [_best_thresholds(s, s(training.left), s(training.right), stakes) for s in final]
    held_out = _held_out_scores(scorer, training, len(final))
    return [
        _transferred(_best_thresholds(s, *scores, stakes), np.concatenate(scores), training)
        for s, scores in zip(final, held_out, strict=False)
    ]


def _transferred(chosen: EventPair, held_out: np.ndarray, training: Training) -> EventPair:
    """Move thresholds from held-out scores to the final score, keeping the share of outputs on their far side.

    A score fitted on half of the outputs is noisier, so that the same threshold would cut off another share.
    """
    final = np.sort(np.concatenate([chosen.score(training.left), chosen.score(training.right)]))
    final = final[~np.isnan(final)]
    held_out = held_out[~np.isnan(held_out)]
    above, below = float(np.mean(held_out >= chosen.upper)), float(np.mean(held_out <= chosen.lower))
    upper = chosen.upper if chosen.plus_is_empty else _cut(final, above)
    lower = chosen.lower if chosen.minus_is_empty else -_cut(-final[::-1], below)
    return chosen if upper <= lower else replace(chosen, upper=upper, lower=lower)


def _cut(ordered: np.ndarray, share: float) -> float:
    """The value at or above which the share of `ordered` comes closest to `share`; ties are not divided."""
    wanted = (1 - share) * len(ordered)
    value = ordered[min(len(ordered) - 1, round(wanted))]
    first, beyond = (int(np.searchsorted(ordered, value, side)) for side in ("left", "right"))
    exclude = beyond < len(ordered) and beyond - wanted < wanted - first
    return float(ordered[beyond] if exclude else value)


def _held_out_scores(scorer: Scorer, training: Training, expected: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores of the training outputs, each by a score fitted on the other half."""
    if min(len(training.left), len(training.right)) < 4:
        return []
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


@dataclass(frozen=True)
class _Tails:
    """Probabilities of {score >= threshold} and {score <= threshold} on each side, over a grid of thresholds.

    Each array has one more entry at its end, for the empty event.
    """

    grid: np.ndarray
    at_least: tuple[np.ndarray, np.ndarray]
    at_most: tuple[np.ndarray, np.ndarray]

    @classmethod
    def counted(cls, grid: np.ndarray, samples: tuple[np.ndarray, np.ndarray], sizes: tuple[int, int]) -> _Tails:
        """Frequencies in samples of either side; `sizes` count the abstentions too."""
        ordered = [np.sort(sample) for sample in samples]
        least = [(len(x) - np.searchsorted(x, grid, "left")) / max(n, 1) for x, n in zip(ordered, sizes, strict=True)]
        most = [np.searchsorted(x, grid, "right") / max(n, 1) for x, n in zip(ordered, sizes, strict=True)]
        return cls(grid, _with_empty(least), _with_empty(most))

    @classmethod
    def stated(cls, grid: np.ndarray, ratios: np.ndarray, total: int) -> _Tails:
        """What log-likelihood ratios say themselves: each output came from the left with probability expit(ratio)."""
        ordered = np.sort(ratios)
        weights = [2 * special.expit(ordered) / total, 2 * special.expit(-ordered) / total]
        sums = [np.concatenate([[0.0], np.cumsum(w)]) for w in weights]
        below, upto = (np.searchsorted(ordered, grid, side) for side in ("left", "right"))
        return cls(grid, _with_empty([s[-1] - s[below] for s in sums]), _with_empty([s[upto] for s in sums]))

    def promises(self, stakes: Stakes, selection_z: float) -> np.ndarray:
        """What every pair of thresholds promises: rows for S+, columns for S-; -inf where they overlap."""
        nonempty = np.append(np.ones(len(self.grid)), 0.0)
        used = np.add.outer(nonempty, nonempty)
        right_guess = np.add.outer(self.at_least[0], self.at_most[1]) / 2
        wrong_guess = np.add.outer(self.at_least[1], self.at_most[0]) / 2
        promise = promised_epsilon(right_guess, wrong_guess, stakes.delta * used / 2, stakes.kappa(selection_z))
        thresholds = np.append(self.grid, np.nan)
        overlap = np.less_equal.outer(thresholds, thresholds)  # false for the empty events
        return np.where(overlap | (used == 0), -np.inf, promise)


def _best_thresholds(score: Score, left: np.ndarray, right: np.ndarray, stakes: Stakes) -> EventPair:
    """Search all pairs of thresholds on a grid of ranks of the pooled scores.

    A score that is the log-likelihood ratio itself says how often a guess is right, so that only its promise is
    left to the training counts; any other score is charged for the many candidates that were compared.
    """
    seen = left[~np.isnan(left)], right[~np.isnan(right)]
    pooled = np.concatenate(seen)
    grid = _candidate_thresholds(pooled)
    if not len(grid):
        return EventPair(score, math.nan, math.nan, -math.inf)
    counted = _Tails.counted(grid, seen, (len(left), len(right)))
    if score.calibrated:
        i, j = _argmax(_Tails.stated(grid, pooled, len(left) + len(right)).promises(stakes, 0.0))
        promise = counted.promises(stakes, _SINGLE_Z)
    else:
        promise = counted.promises(stakes, selection_z(len(grid)))
        i, j = _argmax(promise)
    thresholds = np.append(grid, np.nan)
    return EventPair(score, float(thresholds[i]), float(thresholds[j]), float(promise[i, j]))


def selection_z(thresholds: int) -> float:
    """Standard errors that the best of so many thresholds is charged: about the largest of as many normals."""
    return min(_MOST_Z, max(_SINGLE_Z, math.sqrt(2 * math.log(max(thresholds, 2)))))


def _argmax(values: np.ndarray) -> tuple[int, int]:
    i, j = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(i), int(j)


def _with_empty(sides: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Both sides' probabilities, and zero for the empty event."""
    return np.append(sides[0], 0.0), np.append(sides[1], 0.0)


def _candidate_thresholds(scores: np.ndarray) -> np.ndarray:
    values = np.sort(scores)
    n = len(values)
    if n == 0:
        return values
    size = int(np.clip(math.sqrt(n), *_GRID))
    distinct = values[np.r_[True, values[1:] != values[:-1]]]
    if len(distinct) <= 2 * size:
        return distinct
    tails = np.geomspace(1, n, size).astype(int) - 1
    ranks = np.unique(np.concatenate([tails, n - 1 - tails, np.linspace(0, n - 1, size).astype(int)]))
    return np.unique(values[ranks])


def promised_epsilon(right_guess: np.ndarray, wrong_guess: np.ndarray, delta: np.ndarray, kappa: float) -> np.ndarray:
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
