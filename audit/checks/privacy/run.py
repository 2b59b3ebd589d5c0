"""One check from beginning to end: search for a pair where asked, examine, judge."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audit.base.verdict import Verdict
from audit.checks.privacy.check import PrivacyCheck
from audit.checks.privacy.evidence import Evidence, GameEvidence
from audit.checks.privacy.fixed import examine_at_fixed_budget
from audit.checks.privacy.judge import judge
from audit.checks.privacy.result import PrivacyResult, Witness
from audit.checks.privacy.search import with_found_pair
from audit.checks.privacy.sequential import examine_sequentially
from audit.checks.privacy.session import SEARCH, Session
from audit.game.events import EventPair
from audit.game.scorers import SCORERS, Scorer
from audit.subjects import BadLength, Stream, Subject, SubjectFailed, encode
from audit.subjects.workers import HERE, Place


def run_check(
    check: PrivacyCheck,
    budget: int,
    significance: float,
    stream: Stream,
    place: Place = HERE,
    scorers: Sequence[Scorer] = SCORERS,
) -> PrivacyResult:
    """Run one check in this process; the check's own budget, when it has one, replaces `budget`."""
    started = time.perf_counter()
    budget = check.budget or budget
    searched = 0
    if check.datasets is not None:
        check, searched = with_found_pair(check, budget, significance, stream.child(SEARCH))
    session = Session(Subject(check.mechanism), check, budget, significance, stream, place, scorers)
    witness = None
    try:
        session.open()
        if check.method == "sequential":
            evidence, events = examine_sequentially(session), None
        else:
            evidence, events = examine_at_fixed_budget(session)
    except (SubjectFailed, BadLength) as failure:
        evidence, events = _ended(session, failure), None
    evidence = replace(evidence, samples=evidence.samples + searched)
    judgement = judge(check.claim, evidence, significance, check.tolerance)
    if judgement.verdict is Verdict.FAIL and evidence.game and events:
        witness = _witness(check, evidence.game, events)
    return PrivacyResult(
        check, session.budget, significance, evidence, judgement, time.perf_counter() - started, witness
    )


def _ended(session: Session, failure: Exception) -> Evidence:
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
