"""Show by which event the outputs of a refuted pair differ, where a game without events refuted the claim.

The event is chosen on half of some further outputs, and counted on the other half. No verdict rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from audit.events.candidates import EventPair, choose_events
from audit.events.thresholds import TestDesign, critical_value
from audit.evidence.base import Way
from audit.evidence.fixed_budget import LEFT, RIGHT, carry_out, draw_calls, joined
from audit.evidence.session import SEQUENTIAL, Session
from audit.execution.deadline import TimedOut
from audit.mechanism.call import SubjectFailed
from audit.outputs.encode import BadLength
from audit.scorers import Training
from audit.statistics.guess_game import GameCounts
from audit.validate import Number

_MOST = 1_000  # further outputs on each dataset
_SLOW = 0.005  # seconds for an output, above which there are fewer
_FEWEST, _PER_STEP = 60, 4
_CALLS = 5  # for each half
_MANY = 400  # runs that the event is chosen for, however few there are


@dataclass(frozen=True)
class Example(Way):
    """Hold an event that tells a refuted pair apart, and how often it came on either dataset."""

    pair: int
    plus: str  # the event that is likelier on the left dataset, in words
    minus: str
    counts: GameCounts
    outputs: Number  # on each dataset: half of them chose the events, half are counted
    events: EventPair | None = field(default=None, compare=False, repr=False, metadata={"recorded": False})

    way: ClassVar[str] = "example"


def find_example(session: Session, pair: int, steps: int) -> Example | None:
    """Draw some outputs more, and return an event that tells them apart; None where there is no time for them."""
    most = max(_FEWEST, _PER_STEP * steps) if session.pace > _SLOW else _MOST
    size = int(min(_MOST, most, session.affordable() / 2)) // (2 * _CALLS)
    if not size:
        return None
    stream, pairs = session.allowance.stream.child(SEQUENTIAL, pair), [session.pairs[pair]]
    try:
        calls, found = carry_out(draw_calls(session.subject, pairs, 2 * _CALLS, size, stream))
    except (SubjectFailed, BadLength, TimedOut):
        return None
    session.note(found)
    drawn = 2 * _CALLS * size
    session.samples += 2 * drawn
    ((train_left, train_right),) = joined([(calls[0][LEFT][:_CALLS], calls[0][RIGHT][:_CALLS])])
    ((left, right),) = joined([(calls[0][LEFT][_CALLS:], calls[0][RIGHT][_CALLS:])])
    (epsilon, delta), critical = session.terms.claim.point, critical_value(session.allowance.significance)
    design = TestDesign(delta, critical, _MANY, _MANY, epsilon)
    training = Training(train_left, train_right, session.subject.mechanism, pairs[0])
    events = choose_events(training, design, session.scorers)
    if events is None:
        return None
    guesses = [events.guess(outputs) for outputs in (left, right)]
    counts = GameCounts(*(int(np.sum(guess == sign)) for guess in guesses for sign in (1, -1, 0)))
    if not counts.correct + counts.wrong:
        return None
    return Example(pair, *events.describe(), counts, drawn, events)
