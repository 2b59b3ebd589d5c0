"""The examination of one check: probe, train, compare with the stated law, certify; then judge."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit.checks import PrivacyCheck
from audit.empirical.events import EventPair, Stakes
from audit.empirical.fixed import VIRTUAL, Split, choose_pair, draw_training, play
from audit.empirical.scorers import SCORERS, Scorer
from audit.empirical.scorers.atoms import atom_keys
from audit.errors import InvalidArgument
from audit.evidence import Evidence, ExactEvidence, GameEvidence
from audit.judge import judge
from audit.result import PrivacyResult, Witness
from audit.sampling import BadLength, Outputs, Stream, Subject, SubjectFailed, encode
from audit.sampling.probe import probe_cost, probe_independence, probe_length
from audit.search import with_found_pair
from audit.statement import examine_statement, states_a_law
from audit.verdict import Verdict

PROBE, FIT, SEARCH = 8, 9, 10  # children of a check's stream, beside those of the fixed-budget audit


@dataclass
class _Session:
    """What the stages of one audit share."""

    subject: Subject
    check: PrivacyCheck
    budget: int
    significance: float
    stream: Stream
    workers: int
    scorers: Sequence[Scorer]
    samples: int = 0

    def __post_init__(self) -> None:
        self.oddities: Counter[str] = Counter()

    def note(self, odd: Counter[str]) -> None:
        for kind, count in odd.items():
            shared = kind == "mutated its dataset" and self.subject.calls_share_a_copy
            self.oddities[kind + " between calls" if shared else kind] += count


def run_check(
    check: PrivacyCheck,
    budget: int,
    significance: float,
    stream: Stream,
    workers: int = 1,
    scorers: Sequence[Scorer] = SCORERS,
) -> PrivacyResult:
    """Run one check in this process; the check's own budget, when it has one, replaces `budget`."""
    started = time.perf_counter()
    budget = check.budget or budget
    searched = 0
    if check.datasets is not None:
        check, searched = with_found_pair(check, budget, significance, stream.child(SEARCH))
    session = _Session(Subject(check.mechanism), check, budget, significance, stream, workers, scorers)
    witness = None
    try:
        evidence, events = _gather(session)
    except (SubjectFailed, BadLength) as failure:
        evidence, events = _ended(session, failure), None
    evidence = replace(evidence, samples=evidence.samples + searched)
    judgement = judge(check.claim, evidence, significance, check.tolerance)
    if judgement.verdict is Verdict.FAIL and evidence.game and events:
        witness = _witness(check, evidence.game, events)
    return PrivacyResult(
        check, session.budget, significance, evidence, judgement, time.perf_counter() - started, witness
    )


def _gather(session: _Session) -> tuple[Evidence, EventPair | None]:
    """All stages in their order; raises SubjectFailed or BadLength when the mechanism gives no outputs."""
    check = session.check
    if session.budget < 2 * len(check.pairs):
        raise InvalidArgument.of("budget", f"be at least 2 for each of {len(check.pairs)} pairs", session.budget)
    if check.method == "exact" and not states_a_law(check.mechanism):
        raise InvalidArgument.of("method", "not be 'exact' for a mechanism without law or privacy_loss", "exact")
    probe_length(session.subject, check.pairs[0][0], session.stream.child(PROBE, 0))
    session.samples += 2
    split = Split.of(session.budget, len(check.pairs), session.samples + probe_cost(session.budget))
    drawn = _train(session, split)
    _probe(session)
    exact, failure = _examine(session, drawn)
    game, events = (None, None) if check.method == "exact" else _certify(session, split, drawn)
    evidence = Evidence(session.samples, exact, game, dict(sorted(session.oddities.items())), failure)
    return evidence, events


def _examine(session: _Session, drawn: list[tuple[Outputs, Outputs]]) -> tuple[tuple[ExactEvidence, ...], str | None]:
    """The stated laws against claim and sampler; a statement that cannot be evaluated bars a PASS."""
    check, stream = session.check, session.stream.child(FIT)
    if check.method == "fixed" or not states_a_law(check.mechanism):
        return (), None
    try:
        return examine_statement(check.mechanism, check.claim, check.pairs, drawn, session.significance, stream), None
    except Exception as error:  # the statement is the subject's code
        return (), f"the law that the mechanism states cannot be evaluated: {type(error).__name__}: {error}"


def _train(session: _Session, split: Split) -> list[tuple[Outputs, Outputs]]:
    """Draw training outputs; when a whole batch raises, start again with one output a call."""
    size = session.budget // len(session.check.pairs) if session.check.method == "exact" else split.training
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


def _probe(session: _Session) -> None:
    if probe_cost(session.budget) == 0:
        return
    found, drawn = probe_independence(session.subject, session.check.pairs[0][0], session.stream.child(PROBE, 1))
    session.samples += drawn
    session.oddities.update(found)


def _certify(
    session: _Session, split: Split, drawn: list[tuple[Outputs, Outputs]]
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


def _ended(session: _Session, failure: Exception) -> Evidence:
    return Evidence(
        session.samples, oddities=dict(sorted(session.oddities.items())), failure=f"the mechanism {failure}"
    )


def _witness(check: PrivacyCheck, game: GameEvidence, events: EventPair) -> Witness:
    counts = game.counts
    left_leads = counts.left_plus - counts.right_plus >= counts.right_minus - counts.left_minus
    sign = 1 if left_leads else -1

    def event(outputs: Any) -> np.ndarray:
        """Whether each output makes the auditor guess the witness's side."""
        return np.asarray(events.guess(encode(outputs, len(outputs))) == sign)

    text = game.plus if left_leads else game.minus
    return Witness(check.pairs[game.pair], "left" if left_leads else "right", event, text, counts)
