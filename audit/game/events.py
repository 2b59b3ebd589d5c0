"""Choose the events of the guess game: scorers compete on training outputs for the largest estimated bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from audit.game import tuning
from audit.game.candidates import Candidate, Fits, Folds
from audit.game.scorers import SCORERS, SLOW_SCORERS, Score, Scorer, Training
from audit.game.thresholds import TestDesign, Thresholds
from audit.subjects import Outputs


@dataclass(frozen=True)
class EventPair:
    """Guess "left" where score >= upper, "right" where score <= lower, else abstain."""

    score: Score  # fitted on training outputs
    thresholds: Thresholds  # a NaN makes its event empty
    estimated_bound: float  # of epsilon, from the training outputs; certifies nothing, may be negative
    # Whether some score that competed sees every difference between two laws on outputs of this kind
    complete: bool = False
    # How many times as many training outputs would choose events that refute the claim and owe nothing to chance;
    # 0 when it does not seem refutable, or when nothing was chosen by counts
    needs_more: float = 0.0

    def guess(self, outputs: Outputs) -> np.ndarray:
        """Return 1 for "left", -1 for "right", 0 for no guess; shape (size,)."""
        scores = self.score(outputs)
        guesses = (scores >= self.thresholds.upper).view(np.int8)
        guesses -= (scores <= self.thresholds.lower).view(np.int8)
        return guesses

    @property
    def plus_is_empty(self) -> bool:
        """Return whether "left" is never guessed."""
        return math.isnan(self.thresholds.upper)

    @property
    def minus_is_empty(self) -> bool:
        """Return whether "right" is never guessed."""
        return math.isnan(self.thresholds.lower)

    def delta_share(self, delta: float) -> float:
        """Return the delta that one run may use: half when one event is empty, since only half of the runs can."""
        return delta * self.thresholds.used / 2

    def describe(self) -> tuple[str, str]:
        """Return both events in words."""
        plus, minus = self.score.describe(self.thresholds.upper, self.thresholds.lower)
        return ("never" if self.plus_is_empty else plus), ("never" if self.minus_is_empty else minus)


class Proposal(NamedTuple):
    """A score, its thresholds, and their estimated bound."""

    estimated_bound: float
    candidate: Candidate
    thresholds: Thresholds

    def needs_more(self, design: TestDesign) -> float:
        """Return how many times its guesses are needed to show that it is this good; see `EventPair`."""
        if self.candidate.calibrated or not self.estimated_bound > design.epsilon:
            return 0.0
        seen = self.candidate.both
        guesses = sum(self.thresholds.frequencies(seen)) * seen.total
        return (2 / (tuning.UNSURE * self.estimated_bound)) ** 2 / (guesses + 1)


def choose_events(
    training: Training,
    design: TestDesign,
    scorers: Sequence[Scorer] = SCORERS,
    slow_scorers: Sequence[Scorer] = SLOW_SCORERS,
) -> EventPair | None:
    """Return the event pair with the largest estimated bound over all scorers; None when no scorer reads the outputs.

    Slow scorers are not asked when another score sees everything or the mechanism states its likelihood ratio, nor
    while more outputs will train if chance decides. Otherwise each is tried on a few outputs. It competes when its
    estimate on them exceeds all others, or when it would see everything and the others expect no refutation.
    """
    return choose_events_for_each(training, [design], scorers, slow_scorers)[0]


def choose_events_for_each(
    training: Training,
    designs: Sequence[TestDesign],
    scorers: Sequence[Scorer] = SCORERS,
    slow_scorers: Sequence[Scorer] = SLOW_SCORERS,
) -> list[EventPair | None]:
    """Return what `choose_events` would for several test designs, with the scores fitted once."""
    folds = Folds.of(training)
    proposals = _proposals(_competing(scorers, folds), designs)
    if _needs_slow_scorers(proposals[0], designs[0]):
        found, step = [_largest(at) for at in proposals], max(1, len(training.left) // tuning.TRIAL)
        for scorer in slow_scorers:
            trial = _proposals(_competing([scorer], Folds.of(training.every(step)) if step > 1 else folds), designs)
            if any(_may_improve(*case) for case in zip(trial, found, designs, strict=True)):
                if step > 1:
                    trial = _proposals(_competing([scorer], folds), designs)
                proposals = [at + more for at, more in zip(proposals, trial, strict=True)]
    return [_best(*at) for at in zip(proposals, designs, strict=True)]


def _needs_slow_scorers(proposals: Sequence[Proposal], design: TestDesign) -> bool:
    if any(proposal.candidate.complete or proposal.candidate.calibrated for proposal in proposals):
        return False
    return not (design.more and proposals and max(proposals, key=attrgetter("estimated_bound")).needs_more(design) > 1)


def _may_improve(trial: Sequence[Proposal], found: float, design: TestDesign) -> bool:
    sees_more = any(proposal.candidate.complete for proposal in trial)
    return _largest(trial) > found or (sees_more and found <= design.epsilon)


def _best(proposals: Sequence[Proposal], design: TestDesign) -> EventPair | None:
    for proposal in sorted(proposals, key=attrgetter("estimated_bound"), reverse=True):
        bound, candidate, thresholds = proposal
        if candidate.score is not None:
            complete, placed = any(other.candidate.complete for other in proposals), candidate.placed(thresholds)
            return EventPair(candidate.score, placed, bound, complete, proposal.needs_more(design))
    return None


def _proposals(competing: Iterable[Candidate], designs: Sequence[TestDesign]) -> list[list[Proposal]]:
    """Return, for each test design, the proposal of every candidate."""
    proposals: list[list[Proposal]] = [[] for _ in designs]
    for candidate in competing:
        for design, found in zip(designs, proposals, strict=True):
            thresholds, bound = candidate.proposal(design)
            found.append(Proposal(bound, candidate, thresholds))
        candidate.discard()
    return proposals


def _largest(proposals: Sequence[Proposal]) -> float:
    return max((proposal.estimated_bound for proposal in proposals), default=-math.inf)


def _competing(scorers: Sequence[Scorer], folds: Folds) -> Iterator[Candidate]:
    return (candidate for scorer in scorers for candidate in Fits(scorer, folds).candidates())
