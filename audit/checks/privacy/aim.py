"""What the certifying runs of a fixed-budget examination aim at: a pair, its events, and a point of the claim.

All of it is chosen on training outputs. An (epsilon, delta) claim has one point. A claim that implies a whole curve of
them is refuted at any one, so the point with the largest excess in standard errors is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from audit.checks.privacy.session import Session
from audit.claims import Point
from audit.game.events import EventPair, choose_events_for_each
from audit.game.fixed_budget import Split, choose_pair
from audit.game.scorers import Training
from audit.game.thresholds import TestDesign
from audit.subjects import Outputs

Drawn = Sequence[tuple[Outputs, Outputs]]


@dataclass(frozen=True)
class Aim:
    """What the certifying runs test.

    Parameters
    ----------
    pair : int
        Index of the pair.
    events : EventPair
        The guesses.
    point : Point
        The (epsilon, delta) to refute.
    runs : int
        Certifying runs, both sides together.
    excess : float
        By how many standard errors of one run the training outputs exceed the point; an estimate.
    """

    pair: int
    events: EventPair
    point: Point
    runs: int
    excess: float = math.nan


def take_aim(session: Session, drawn: Drawn, split: Split) -> Aim | None:
    """Choose pair, events and point; None when there is nothing left to draw or no scorer reads the outputs."""
    check, runs = session.check, min(split.runs, 2 * session.budget - session.samples)
    if runs < 1:
        return None
    if not check.claim.is_curve:
        design = _design(session, split, runs, check.claim.point)
        choice = choose_pair(drawn, check.pairs, check.mechanism, design, session.scorers)
        return None if choice is None else Aim(*choice, check.claim.point, runs)
    aims = list(_candidates(session, drawn, split, runs))
    best = max(aims, key=lambda aim: aim.excess, default=None)
    if best is not None and best.excess > 0:
        return best
    usual = [aim for aim in aims if aim.point == check.claim.point]
    return max(usual, key=lambda aim: aim.events.estimated_bound, default=None)


def _design(session: Session, split: Split, runs: int, point: Point) -> TestDesign:
    alone = len(session.check.pairs) == 1 and not session.check.claim.is_curve  # else another offer may be the best
    more = alone and bool(split.more)
    return TestDesign(point.delta, session.significance, 2 * split.training, runs, point.epsilon, more)


def _candidates(session: Session, drawn: Drawn, split: Split, runs: int) -> Iterator[Aim]:
    """For every pair, with scores fitted once, the best events at every point of the claim."""
    check = session.check
    for index, ((left, right), pair) in enumerate(zip(drawn, check.pairs, strict=True)):
        training = Training(left, right, check.mechanism, pair)
        design = [_design(session, split, runs, point) for point in check.claim.points]
        chosen = choose_events_for_each(training, design, session.scorers)
        for point, at, events in zip(check.claim.points, design, chosen, strict=True):
            if events is not None:
                yield Aim(index, events, point, runs, _excess(events, point, at, (left, right)))


def _excess(events: EventPair, point: Point, design: TestDesign, outputs: tuple[Outputs, Outputs]) -> float:
    """Standard errors of one run by which C - e^epsilon W - delta exceeds 0 at the point.

    The promised t solves C - t W - delta = kappa sqrt(V(t)) and has been charged for training noise: it stands for C,
    which the outputs that trained the events may flatter. W only sets the scale.
    """
    if not math.isfinite(events.estimated_bound):
        return -math.inf
    kappa = design.standard_errors(penalty=1.0)
    guesses = [events.guess(side) for side in outputs]
    wrong = (np.mean(guesses[0] == -1) + np.mean(guesses[1] == 1)) / 2 + kappa**2 / 2
    right = (np.mean(guesses[0] == 1) + np.mean(guesses[1] == -1)) / 2
    share = events.delta_share(point.delta)

    def deviation(ratio: float) -> float:
        return math.sqrt(right + ratio**2 * wrong + ratio * share)

    promised, claimed = math.exp(events.estimated_bound), math.exp(point.epsilon)
    return float((kappa * deviation(promised) + (promised - claimed) * wrong) / deviation(claimed))
