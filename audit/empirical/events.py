"""The events of the guess game: scorers compete on training outputs, and so do ways to pick thresholds.

Every scorer proposes scores. For each score thresholds are picked on one half of the training outputs and judged on
the other, several times with a different charge for chance: what a careless choice gains in promise it loses on the
half that did not see it. A score that fresh outputs bear out may instead say itself where to cut. The best way on the
best score then picks thresholds on all training outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from audit.empirical.calibration import Line
from audit.empirical.scorers import LAST_RESORT, SCORERS, Score, Scorer, Training
from audit.empirical.thresholds import Sides, Stakes, Thresholds, best_thresholds
from audit.sampling import Outputs

CHARGES = (2.0, 3.0)  # standard errors by which candidate thresholds may be charged
_TRIAL = 25_000  # outputs a side on which slow scorers show whether they are worth the time
_JUDGED = 2.0  # standard errors by which the best of several scores, each judged on fresh outputs, flatters itself
_JUDGED_LEARNED = 3.0  # and when the score is learned too: at equal promise the simpler one is the safer choice
_FEW_VALUES = 6  # of a score that is simple although it is learned: it is the counts themselves


@dataclass(frozen=True)
class EventPair:
    """Guess "left" where score >= upper, "right" where score <= lower, else abstain.

    Parameters
    ----------
    score : Score
        Fitted on training outputs.
    thresholds : Thresholds
        A NaN makes its event empty.
    promise : float
        The epsilon that the training outputs promise; an estimate, may be negative.
    complete : bool
        Whether some score that competed sees every difference between two laws on outputs of this kind.
    """

    score: Score
    thresholds: Thresholds
    promise: float
    complete: bool = False

    def guess(self, outputs: Outputs) -> np.ndarray:
        """1 for "left", -1 for "right", 0 for no guess; shape (size,)."""
        scores = self.score(outputs)
        guesses = (scores >= self.thresholds.upper).view(np.int8)
        guesses -= (scores <= self.thresholds.lower).view(np.int8)
        return guesses

    @property
    def plus_is_empty(self) -> bool:
        """True when "left" is never guessed."""
        return math.isnan(self.thresholds.upper)

    @property
    def minus_is_empty(self) -> bool:
        """True when "right" is never guessed."""
        return math.isnan(self.thresholds.lower)

    def delta_share(self, delta: float) -> float:
        """The delta that one run may use: half when one event is empty, since only half of the runs can."""
        return delta * self.thresholds.used / 2

    def describe(self) -> tuple[str, str]:
        """Both events in words."""
        plus, minus = self.score.describe(self.thresholds.upper, self.thresholds.lower)
        return ("never" if self.plus_is_empty else plus), ("never" if self.minus_is_empty else minus)


@dataclass(frozen=True)
class Contender:
    """A score, and the scores of either half of the training outputs.

    Parameters
    ----------
    score : Score
        Fitted on all training outputs.
    halves : pair of Sides
        Sorted. When the score is learned, each half is scored by a fit on the other half.
    whole : array or None
        Scores of all training outputs by `score` itself, sorted, for a learned score; None when `halves` are them.
    """

    score: Score
    halves: tuple[Sides, Sides]
    whole: np.ndarray | None

    def offer(self, stakes: Stakes) -> tuple[Thresholds, float]:
        """The thresholds picked in the way that did best on fresh halves, and what that way promises."""
        if self.score.calibrated:  # it says itself where to cut: nothing is compared on the counts
            thresholds = best_thresholds(self._pooled, stakes, 0.0, stated=True)
            return thresholds, _promise(stakes, [thresholds.frequencies(self._pooled)], thresholds.used, 0.0)
        promise, thresholds = max(self._ways(stakes), key=lambda way: way[0])
        if self.whole is not None:
            thresholds = thresholds.moved(_ordered(self._pooled), self.whole)
        return thresholds, promise

    def _ways(self, stakes: Stakes) -> Iterator[tuple[float, Thresholds]]:
        """Promises and thresholds: by the line that makes the score honest, and by counts at the best charge."""
        line = None if self._is_coarse else Line.through(self._pooled)
        if line is not None:
            thresholds, promise = line.best_thresholds(self._pooled, stakes)
            yield promise, thresholds
        promise, charge = max((self._promise_when_charged(stakes, charge), charge) for charge in CHARGES)
        yield promise, best_thresholds(self._pooled, stakes, charge)

    @cached_property
    def _is_coarse(self) -> bool:
        """Whether the score takes few values: it is then no richer than they are, and no line shows which are best."""
        side = self.halves[0][0]
        return 1 + int(np.count_nonzero(side[1:] != side[:-1])) <= _FEW_VALUES

    @property
    def _pooled(self) -> Sides:
        first, second = self.halves
        return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])

    def _promise_when_charged(self, stakes: Stakes, charge: float) -> float:
        """The promise of thresholds picked, at this charge, on the half that does not judge them."""
        half = replace(stakes, training_runs=max(1, stakes.training_runs // 2))
        seen, used = [], 0
        for picking, judging in (self.halves, self.halves[::-1]):
            thresholds = best_thresholds(picking, half, charge)
            if self.whole is not None:
                thresholds = thresholds.moved(_ordered(picking), _ordered(judging))
            seen.append(thresholds.frequencies(judging))
            used = max(used, thresholds.used)
        return _promise(stakes, seen, used, self._charge_for_choice)

    @property
    def _charge_for_choice(self) -> float:
        return _JUDGED if self.whole is None or self._is_coarse else _JUDGED_LEARNED


class Offer(NamedTuple):
    """What a score and its thresholds promise."""

    promise: float
    score: Score
    thresholds: Thresholds


def choose_events(
    training: Training,
    stakes: Stakes,
    scorers: Sequence[Scorer] = SCORERS,
    last_resort: Sequence[Scorer] = LAST_RESORT,
) -> EventPair | None:
    """The event pair with the largest promise over all scorers; None when no scorer can read the outputs.

    The scorers of last resort are slow. They are not asked when another score sees everything or the mechanism states
    its likelihood ratio. Else each is tried on a few outputs, and competes when that trial promises more than the
    others do, or when it would see everything and the others promise no refutation.
    """
    return choose_events_for_each(training, [stakes], scorers, last_resort)[0]


def choose_events_for_each(
    training: Training,
    stakes: Sequence[Stakes],
    scorers: Sequence[Scorer] = SCORERS,
    last_resort: Sequence[Scorer] = LAST_RESORT,
) -> list[EventPair | None]:
    """`choose_events` at several stakes, with the scores fitted once."""
    offers = _offers(_competing(scorers, training), stakes)
    if not any(offer.score.complete or offer.score.calibrated for offer in offers[0]):
        found, step = [_largest(at) for at in offers], max(1, len(training.left) // _TRIAL)
        for scorer in last_resort:
            trial = _offers(_competing([scorer], _part(training, 0, step)), stakes)
            if any(_worth_trying(*case) for case in zip(trial, found, stakes, strict=True)):
                if step > 1:
                    trial = _offers(_competing([scorer], training), stakes)
                offers = [at + more for at, more in zip(offers, trial, strict=True)]
    return [_best(at) for at in offers]


def _worth_trying(trial: Sequence[Offer], found: float, stakes: Stakes) -> bool:
    sees_more = any(offer.score.complete for offer in trial)
    return _largest(trial) > found or (sees_more and found <= stakes.epsilon)


def _best(offers: Sequence[Offer]) -> EventPair | None:
    if not offers:
        return None
    best = max(offers, key=lambda offer: offer.promise)
    complete = any(offer.score.complete for offer in offers)
    return EventPair(best.score, best.thresholds, best.promise, complete)


def _offers(competing: Sequence[Contender], stakes: Sequence[Stakes]) -> list[list[Offer]]:
    """For each of the stakes what every contender promises."""
    return [
        [
            Offer(promise, contender.score, thresholds)
            for contender in competing
            for thresholds, promise in [contender.offer(at)]
        ]
        for at in stakes
    ]


def _largest(offers: Sequence[Offer]) -> float:
    return max((offer.promise for offer in offers), default=-math.inf)


def _competing(scorers: Sequence[Scorer], training: Training) -> list[Contender]:
    return [contender for scorer in scorers for contender in contenders(scorer, training)]


def contenders(scorer: Scorer, training: Training) -> list[Contender]:
    """Fit a scorer: on all training outputs, and on either half to score the other."""
    final = scorer.propose(training)
    halves = _part(training, 0, 2), _part(training, 1, 2)
    if not scorer.learned:
        return [Contender(s, (_scores(s, halves[0]), _scores(s, halves[1])), None) for s in final]
    if not final or min(len(training.left), len(training.right)) < 4:
        return []
    fitted = [scorer.propose(half) for half in halves]
    if any(len(scores) != len(final) for scores in fitted):
        return []
    return [
        Contender(s, (_scores(b, halves[0]), _scores(a, halves[1])), _ordered(_scores(s, training)))
        for s, a, b in zip(final, *fitted, strict=True)
    ]


def _part(training: Training, start: int, step: int) -> Training:
    left, right = (outputs[start::step] for outputs in (training.left, training.right))
    return Training(left, right, training.mechanism, training.pair)


def _scores(score: Score, training: Training) -> Sides:
    """Sorted, since only their order is looked at, many times."""
    return np.sort(score(training.left)), np.sort(score(training.right))


def _ordered(sides: Sides) -> np.ndarray:
    pooled = np.sort(np.concatenate(sides), kind="stable")  # quick where the sides are sorted
    return pooled[~np.isnan(pooled)]


def _promise(stakes: Stakes, seen: Sequence[tuple[float, float]], used: int, charge: float) -> float:
    """What frequencies of right and wrong guesses promise that took no part in the choice of thresholds."""
    right, wrong = np.mean(seen, axis=0)
    return float(stakes.promise(np.array(right), np.array(wrong), np.array(used), charge))
