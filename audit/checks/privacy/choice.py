"""Draw training outputs, and choose what the certifying runs test: a pair, its events, and a point of the claim.

For every pair, some outputs are drawn to choose events. The pair with the largest estimated bound is certified on fresh
outputs. Nothing that the choice saw is used again, so the one test at the end carries the whole significance. A claim
that implies a whole curve of (epsilon, delta) is refuted at any point of it, so the point with the largest excess in
standard errors is tested.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from audit.checks.privacy.session import ASIDE, Session
from audit.claims import Point
from audit.game import fixed_budget
from audit.game.drawing import Stage, carry_out
from audit.game.events import EventPair, choose_events_for_each
from audit.game.fixed_budget import LEFT, MORE, TRAINING, Split, draw_calls, joined, set_aside
from audit.game.scanned import Scanned, scan
from audit.game.scorers import Training
from audit.game.scorers.cells import atom_keys
from audit.game.thresholds import TestDesign, critical_value
from audit.game.tuning import CHANCE_SCAN, LONG_SHARE, LONG_SHARE_STATED, SCAN_SHARE
from audit.subjects import BLOCK, Outputs, Side, SubjectFailed, concatenate


@dataclass(frozen=True)
class Choice:
    """Name what the certifying runs test: a pair, its events, and the (epsilon, delta) to refute."""

    pair: int
    events: EventPair
    point: Point
    runs: int  # certifying runs, both datasets together
    interval: Scanned | None = None  # the interval event that is certified beside them

    @property
    def shared(self) -> list[tuple[EventPair, float]]:
        """The events to certify, and the share of the significance of each."""
        if self.interval is None:
            return [(self.events, 1.0)]
        return [(self.events, 1 - SCAN_SHARE), (self.interval.events, SCAN_SHARE)]


class Trained(NamedTuple):
    drawn: Sequence[tuple[Outputs, Outputs]]  # to train on
    aside: fixed_budget.Drawn  # early certifying calls
    split: Split
    choice: Choice | None  # None when there is nothing to test


def train(session: Session) -> Trained:
    """Draw training outputs, probe, and choose."""
    return carry_out(trained(session))


def trained(session: Session) -> Stage[Trained]:
    """Choose; again with more outputs as long as chance decided on the choice."""
    budget, pairs, stream = session.allowance.budget, session.pairs, session.allowance.stream
    largest = max(point.epsilon for point in session.terms.claim.points)
    split = Split.of(budget, len(pairs), session.width, largest, session.is_stated)
    drawn, aside = yield from _draw(session, split)
    if session.method == "exact":
        return Trained(drawn, aside, split, None)
    choice, stage = _choose(session, drawn, split), MORE
    while choice is not None and choice.events.needs_more > 1 and split.more:
        before, split = split, split.with_more(choice.events.needs_more)
        calls = (split.training - before.training) // split.call
        more, found = yield from draw_calls(session.subject, pairs, calls, split.call, stream.child(stage))
        session.samples += 2 * calls * split.call * len(pairs)
        session.note(found)
        drawn = [
            (concatenate([left, more_left]), concatenate([right, more_right]))
            for (left, right), (more_left, more_right) in zip(drawn, joined(more), strict=True)
        ]
        stage += 1
        choice = _choose(session, drawn, split)
    return Trained(drawn, aside, split, choice)


def _draw(session: Session, split: Split) -> Stage[tuple[list[tuple[Outputs, Outputs]], fixed_budget.Drawn]]:
    """Draw training calls, and those set aside; when a whole batch raises, start again with one output per call."""
    pairs, stream = session.pairs, session.allowance.stream.child(TRAINING)
    is_exact = session.method == "exact"  # nothing is certified by a game: all outputs test the sampler
    whole = max(1, (session.allowance.budget - 1) // (len(pairs) * split.call) - 1)
    calls = whole if is_exact else split.training // split.call + split.early
    try:
        drawn, found = yield from draw_calls(session.subject, pairs, calls, split.call, stream)
    except SubjectFailed as failure:
        if failure.kind != "raised":
            raise
        drawn = []
    if not drawn:  # outside of `except`, since exceptions raised there would carry the first one as their context
        session.subject = replace(session.subject, one_by_one=True)
        drawn, found = yield from draw_calls(session.subject, pairs, calls, split.call, stream)
    size = calls * split.call
    session.samples += 2 * size * len(pairs)
    session.note(found)
    first = atom_keys(drawn[0][LEFT][0])[0]
    if all(bool(np.all(atom_keys(call) == first)) for pair in drawn for side in pair for call in side):
        if found["raised"] == 2 * size * len(pairs):
            symbols = drawn[0][0][0].symbols
            raise SubjectFailed("raised", f"{symbols.table[0] if symbols else 'raised'}, in every run")
        session.anomalies["constant"] += 1
    yield from session.repeat(drawn[0][LEFT][0], Side(pairs[0][LEFT], size, stream.child(0, LEFT), split.call))
    session.probe([side for pair in drawn for side in pair])
    kept, aside = set_aside(drawn, 0 if is_exact else split.early, session.allowance.stream.child(ASIDE))
    return joined(kept), aside


def _choose(session: Session, drawn: Sequence[tuple[Outputs, Outputs]], split: Split) -> Choice | None:
    """Choose pair, events and point; None when there is nothing left to draw or no scorer reads the outputs."""
    claim = session.terms.claim
    early, room = 2 * split.early * split.call, 2 * (split.call - 1)  # the last call of either side has to be whole
    runs = 2 * session.allowance.budget - session.samples + early - room - long_call(session)
    if runs < 1:
        return None
    runs = min(runs, session.allowance.enough or runs)
    critical = critical_value(session.allowance.significance * (1 - SCAN_SHARE))
    more = bool(split.more) and len(drawn) == 1 and not claim.is_curve  # else another candidate may be the best
    designs = [TestDesign(at.delta, critical, 2 * split.training, runs, at.epsilon, more) for at in claim.points]
    choices: list[tuple[float, Choice]] = []
    for index, (outputs, pair) in enumerate(zip(drawn, session.pairs, strict=True)):
        training = Training(*outputs, session.subject.mechanism, pair)
        chosen = choose_events_for_each(training, designs, session.scorers)  # scores are fitted once
        for point, design, events in zip(claim.points, designs, chosen, strict=True):
            if events is not None:
                excess = _excess(events, point, design, outputs) if claim.is_curve else 0.0
                interval = scan(training, design, events.reading)
                choices.append((excess, Choice(index, events, point, runs, interval)))
    excess, best = max(choices, key=itemgetter(0), default=(0.0, None))
    if excess > 0:
        return best
    usual = [choice for _, choice in choices if choice.point == claim.point]
    by_bound = max(usual, key=lambda choice: choice.events.estimated_bound, default=None)
    by_interval = max(usual, key=_evidence_of_interval, default=None)
    if by_bound is None or by_interval is None or by_bound.events.estimated_bound > claim.point.epsilon:
        return by_bound
    return by_interval if _evidence_of_interval(by_interval) > CHANCE_SCAN else by_bound


def _evidence_of_interval(choice: Choice) -> float:
    return -math.inf if choice.interval is None else choice.interval.evidence


def _excess(events: EventPair, point: Point, design: TestDesign, outputs: tuple[Outputs, Outputs]) -> float:
    """Return the standard errors of one run by which C - e^epsilon W - delta exceeds 0 at the point.

    The estimated bound t solves C - t W - delta = kappa sqrt(V(t)) and has paid for training noise: it stands for C,
    which the outputs that trained the events may flatter. W only sets the scale.
    """
    if not math.isfinite(events.estimated_bound):
        return -math.inf
    kappa = design.standard_errors(penalty=1.0)
    left, right = (events.guess(side) for side in outputs)
    wrong_share = (np.mean(left == -1) + np.mean(right == 1)) / 2 + kappa**2 / 2
    right_share = (np.mean(left == 1) + np.mean(right == -1)) / 2
    estimated, claimed = math.exp(events.estimated_bound), math.exp(point.epsilon)

    def deviation(ratio: float) -> float:
        return math.sqrt(right_share + ratio**2 * wrong_share + ratio * events.delta_share(point.delta))

    return float((kappa * deviation(estimated) + (estimated - claimed) * wrong_share) / deviation(claimed))


def long_call(session: Session) -> int:
    """Return the size of the call that shows how a mechanism behaves in large ones; 0 for a small budget."""
    share = LONG_SHARE_STATED if session.is_stated else LONG_SHARE
    return BLOCK if session.allowance.budget >= share * BLOCK else 0
