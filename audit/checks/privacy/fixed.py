"""The examination at a fixed budget: the stated law, and the guess game on a training and a certifying part."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from audit.checks.privacy.aim import Aim, take_aim
from audit.checks.privacy.evidence import Evidence, ExactEvidence, GameEvidence
from audit.checks.privacy.loss_curve import trace_curve
from audit.checks.privacy.session import FIT, Session
from audit.checks.privacy.statement import examine_statement, states_a_law
from audit.claims import Point
from audit.game.events import EventPair
from audit.game.fixed_budget import MORE, VIRTUAL, Split, draw_training, play
from audit.game.scorers.atoms import atom_keys
from audit.subjects import Outputs, SubjectFailed, concatenate
from audit.subjects.probe import probe_cost


class Trained(NamedTuple):
    """What training leaves for the certifying runs; no aim when there is nothing to aim at."""

    drawn: list[tuple[Outputs, Outputs]]
    split: Split
    aim: Aim | None


def examine_at_fixed_budget(session: Session) -> tuple[Evidence, EventPair | None]:
    """Probe, train, compare with the stated law, certify.

    Raises
    ------
    SubjectFailed, BadLength
        When the mechanism gives no outputs.
    """
    drawn, split, aim = train(session)
    claim = session.check.claim
    point = claim.point if aim is None else aim.point
    exact, failure = _examine(session, drawn, point)
    game = None if aim is None else _certify(session, split, aim)
    odd = dict(sorted(session.oddities.items()))
    curve = trace_curve(session.check.mechanism, point, session.check.pairs, exact)
    evidence = Evidence(session.samples, exact, game, odd, failure, None, point if claim.is_curve else None, curve)
    return evidence, None if aim is None else aim.events


def train(session: Session) -> Trained:
    """Draw training outputs, probe, and aim; again with more outputs as long as chance decided on the aim.

    Raises
    ------
    SubjectFailed, BadLength
        When the mechanism gives no outputs.
    """
    spent = session.samples + probe_cost(session.budget)
    split = Split.of(session.budget, len(session.check.pairs), spent, session.width)
    drawn = _draw(session, split)
    session.probe()
    aim = None if session.check.method == "exact" else take_aim(session, drawn, split)
    stage = MORE
    while aim is not None and aim.events.needs_more > 1 and split.more:
        before, split = split, split.with_more(aim.events.needs_more)
        drawn, stage = _draw_more(session, split.training - before.training, drawn, stage), stage + 1
        aim = take_aim(session, drawn, split)
    return Trained(drawn, split, aim)


def _examine(
    session: Session, drawn: list[tuple[Outputs, Outputs]], point: Point
) -> tuple[tuple[ExactEvidence, ...], str | None]:
    """The stated laws against claim and sampler; a statement that cannot be evaluated bars a PASS."""
    check, stream = session.check, session.stream.child(FIT)
    if check.method == "fixed" or not states_a_law(check.mechanism):
        return (), None
    try:
        return (
            examine_statement(check.mechanism, check.claim, point, check.pairs, drawn, session.significance, stream),
            None,
        )
    except Exception as error:  # the statement is the subject's code
        return (), f"the law that the mechanism states cannot be evaluated: {type(error).__name__}: {error}"


def _draw(session: Session, split: Split) -> list[tuple[Outputs, Outputs]]:
    """Draw training outputs; when a whole batch raises, start again with one output a call."""
    size = split.training
    if session.check.method == "exact":  # nothing is certified by a game: all outputs test the sampler
        size += split.runs // (2 * len(session.check.pairs))
    stream, pairs = session.stream, session.check.pairs
    try:
        drawn, odd = draw_training(session.subject, pairs, size, stream)
    except SubjectFailed as failure:
        if failure.kind != "raised":
            raise
        session.subject = replace(session.subject, one_by_one=True)
        drawn, odd = draw_training(session.subject, pairs, size, stream)
    session.samples += 2 * size * len(pairs)
    session.note(odd)
    if odd["raised"] == 2 * size * len(pairs) and _constant(drawn):
        symbols = drawn[0][0].symbols
        raise SubjectFailed("raised", f"{symbols.table[0] if symbols else 'raised'}, in every run")
    if _constant(drawn):
        session.oddities["constant"] += 1
    return drawn


def _draw_more(
    session: Session, size: int, drawn: list[tuple[Outputs, Outputs]], stage: int
) -> list[tuple[Outputs, Outputs]]:
    more, odd = draw_training(session.subject, session.check.pairs, size, session.stream, stage)
    session.samples += 2 * size * len(more)
    session.note(odd)
    return [
        (concatenate([left, more_left]), concatenate([right, more_right]))
        for (left, right), (more_left, more_right) in zip(drawn, more, strict=True)
    ]


def _constant(drawn: list[tuple[Outputs, Outputs]]) -> bool:
    keys = [atom_keys(side) for pair in drawn for side in pair]
    return all(bool(np.all(part == keys[0][0])) for part in keys)


def _certify(session: Session, split: Split, aim: Aim) -> GameEvidence:
    stream, events = session.stream, aim.events
    pair = session.check.pairs[aim.pair]
    counts, odd = play(session.subject, pair, events, aim.runs, stream, session.place)
    session.samples += counts.runs
    session.note(odd)
    plus, minus = events.describe()
    return GameEvidence(
        pair=aim.pair,
        scorer=events.score.name,
        complete=events.complete,
        plus=plus,
        minus=minus,
        one_sided=events.plus_is_empty or events.minus_is_empty,
        counts=counts,
        coins=(stream.entropy, *stream.child(VIRTUAL).key),
        training=split.training,
        promise=events.estimated_bound if np.isfinite(events.estimated_bound) else None,
    )
