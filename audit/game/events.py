"""The events of the guess game: scorers compete on training outputs, and the score that promises most is used."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from audit.game.contenders import Contender, Fits
from audit.game.folds import Folds, thinned
from audit.game.scorers import LAST_RESORT, SCORERS, Score, Scorer, Training
from audit.game.thresholds import Stakes, Thresholds
from audit.subjects import Outputs

_TRIAL = 25_000  # outputs a side on which slow scorers show whether they are worth the time
_UNSURE = 0.06  # standard error of a log-ratio of guesses, relative to what they promise


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
    wants : float
        How many times as many training outputs would choose events that refute the claim and owe nothing to chance;
        0 when it does not seem refutable, or when nothing was chosen by counts.
    """

    score: Score
    thresholds: Thresholds
    promise: float
    complete: bool = False
    wants: float = 0.0

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


class Offer(NamedTuple):
    """What a score and its thresholds promise."""

    promise: float
    contender: Contender
    thresholds: Thresholds

    def wants(self, stakes: Stakes) -> float:
        """How many times the guesses that it rests on it takes to say that it is this good; see `EventPair`."""
        if self.contender.calibrated or not self.promise > stakes.epsilon:
            return 0.0
        seen = self.contender.both
        guesses = sum(self.thresholds.frequencies(seen)) * seen.total
        return (2 / (_UNSURE * self.promise)) ** 2 / (guesses + 1)


def choose_events(
    training: Training,
    stakes: Stakes,
    scorers: Sequence[Scorer] = SCORERS,
    last_resort: Sequence[Scorer] = LAST_RESORT,
) -> EventPair | None:
    """The event pair with the largest promise over all scorers; None when no scorer can read the outputs.

    The scorers of last resort are slow. They are not asked when another score sees everything or the mechanism states
    its likelihood ratio, nor while more outputs will train if chance decides. Else each is tried on a few outputs, and
    competes when that trial promises more than the others do, or when it would see everything and the others promise
    no refutation.
    """
    return choose_events_for_each(training, [stakes], scorers, last_resort)[0]


def choose_events_for_each(
    training: Training,
    stakes: Sequence[Stakes],
    scorers: Sequence[Scorer] = SCORERS,
    last_resort: Sequence[Scorer] = LAST_RESORT,
) -> list[EventPair | None]:
    """`choose_events` at several stakes, with the scores fitted once."""
    folds = Folds.of(training)
    offers = _offers(_competing(scorers, folds), stakes)
    if _needs_last_resort(offers[0], stakes[0]):
        found, step = [_largest(at) for at in offers], max(1, len(training.left) // _TRIAL)
        for scorer in last_resort:
            trial = _offers(_competing([scorer], Folds.of(thinned(training, step)) if step > 1 else folds), stakes)
            if any(_worth_trying(*case) for case in zip(trial, found, stakes, strict=True)):
                if step > 1:
                    trial = _offers(_competing([scorer], folds), stakes)
                offers = [at + more for at, more in zip(offers, trial, strict=True)]
    return [_best(*at) for at in zip(offers, stakes, strict=True)]


def _needs_last_resort(offers: Sequence[Offer], stakes: Stakes) -> bool:
    if any(offer.contender.complete or offer.contender.calibrated for offer in offers):
        return False
    return not (stakes.more and offers and max(offers, key=attrgetter("promise")).wants(stakes) > 1)


def _worth_trying(trial: Sequence[Offer], found: float, stakes: Stakes) -> bool:
    sees_more = any(offer.contender.complete for offer in trial)
    return _largest(trial) > found or (sees_more and found <= stakes.epsilon)


def _best(offers: Sequence[Offer], stakes: Stakes) -> EventPair | None:
    for offer in sorted(offers, key=attrgetter("promise"), reverse=True):
        promise, contender, thresholds = offer
        if contender.score is not None:
            complete, placed = any(other.contender.complete for other in offers), contender.placed(thresholds)
            return EventPair(contender.score, placed, promise, complete, offer.wants(stakes))
    return None


def _offers(competing: Iterable[Contender], stakes: Sequence[Stakes]) -> list[list[Offer]]:
    """For each of the stakes what every contender promises."""
    offers: list[list[Offer]] = [[] for _ in stakes]
    for contender in competing:
        for at, found in zip(stakes, offers, strict=True):
            thresholds, promise = contender.offer(at)
            found.append(Offer(promise, contender, thresholds))
        contender.forget()
    return offers


def _largest(offers: Sequence[Offer]) -> float:
    return max((offer.promise for offer in offers), default=-math.inf)


def _competing(scorers: Sequence[Scorer], folds: Folds) -> Iterator[Contender]:
    return (contender for scorer in scorers for contender in Fits(scorer, folds).contenders())
