"""The examination at a fixed budget: the stated law, and the guess game on a training and a certifying part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audit.empirical.events import EventPair, Stakes
from audit.empirical.fixed import VIRTUAL, Split, choose_pair, draw_training, play
from audit.empirical.scorers.atoms import atom_keys
from audit.evidence import Evidence, ExactEvidence, GameEvidence
from audit.examination.session import FIT, Session
from audit.sampling import Outputs, SubjectFailed
from audit.sampling.probe import probe_cost
from audit.statement import examine_statement, states_a_law


def examine_at_fixed_budget(session: Session) -> tuple[Evidence, EventPair | None]:
    """Probe, train, compare with the stated law, certify.

    Raises
    ------
    SubjectFailed, BadLength
        When the mechanism gives no outputs.
    """
    split = Split.of(session.budget, len(session.check.pairs), session.samples + probe_cost(session.budget))
    drawn = _train(session, split)
    session.probe()
    exact, failure = _examine(session, drawn)
    game, events = (None, None) if session.check.method == "exact" else _certify(session, split, drawn)
    evidence = Evidence(session.samples, exact, game, dict(sorted(session.oddities.items())), failure)
    return evidence, events


def _examine(session: Session, drawn: list[tuple[Outputs, Outputs]]) -> tuple[tuple[ExactEvidence, ...], str | None]:
    """The stated laws against claim and sampler; a statement that cannot be evaluated bars a PASS."""
    check, stream = session.check, session.stream.child(FIT)
    if check.method == "fixed" or not states_a_law(check.mechanism):
        return (), None
    try:
        return examine_statement(check.mechanism, check.claim, check.pairs, drawn, session.significance, stream), None
    except Exception as error:  # the statement is the subject's code
        return (), f"the law that the mechanism states cannot be evaluated: {type(error).__name__}: {error}"


def _train(session: Session, split: Split) -> list[tuple[Outputs, Outputs]]:
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


def _constant(drawn: list[tuple[Outputs, Outputs]]) -> bool:
    keys = [atom_keys(side) for pair in drawn for side in pair]
    return all(bool(np.all(part == keys[0][0])) for part in keys)


def _certify(
    session: Session, split: Split, drawn: list[tuple[Outputs, Outputs]]
) -> tuple[GameEvidence | None, EventPair | None]:
    check, stream = session.check, session.stream
    runs = min(split.runs, 2 * session.budget - session.samples)
    if runs < 1:
        return None, None
    stakes = Stakes(check.claim.delta, session.significance, 2 * split.training, runs)
    choice = choose_pair(drawn, check.pairs, check.mechanism, stakes, session.scorers)
    if choice is None:
        return None, None
    index, events = choice
    counts, odd = play(session.subject, check.pairs[index], events, runs, stream, session.workers)
    session.samples += counts.runs
    session.note(odd)
    plus, minus = events.describe()
    game = GameEvidence(
        pair=index,
        scorer=events.score.name,
        complete=events.complete,
        plus=plus,
        minus=minus,
        one_sided=events.plus_is_empty or events.minus_is_empty,
        counts=counts,
        coins=(stream.entropy, *stream.child(VIRTUAL).key),
        training=split.training,
        promise=events.promise if np.isfinite(events.promise) else None,
    )
    return game, events
