"""Look early at what is slow to call: a short sequential game on each pair, before the guess game at a fixed budget.

A gross violation shows in a hundredth of the outputs that a PASS needs. The look costs a true claim a few outputs and
no power, since its error probability comes out of the confirmation and not out of the significance. With significance
s, confirmation c and e = `EARLY_SHARE`: the wealth against a true claim ever reaches 1 / level with probability at
most level (Ville's inequality), whenever one stops. So a game at the level e c / pairs on each pair refutes a true
claim with probability at most e c, and is final. What follows is suspected with probability at most s, as without the
look, and each of its `LOOKS` at fresh outputs has the level (1 - e) c / (s LOOKS). Together, by the union bound,

    P(FAIL) <= pairs (e c / pairs) + s LOOKS (1 - e) c / (s LOOKS) = c,

whatever the outputs of the look decide on, since the games that follow it draw outputs of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import ClassVar

from audit.evidence.base import Case, Finding, Way
from audit.evidence.betting import ask_new_processes, play_on, probe_afterwards
from audit.evidence.session import EARLY, Session
from audit.execution.deadline import clock
from audit.mechanism.call import SubjectFailed
from audit.outputs.encode import BadLength
from audit.statistics.betting import SequentialOutcome, time_uniform_lower_bound
from audit.validate import OpenProbability

EARLY_SHARE = 0.5  # of the confirmation
_MOST_STEPS, _OF_BUDGET = 6_000, 8  # pairs of outputs over all pairs of datasets; at most the budget over this
_FEWEST_STEPS = 200  # on each pair of datasets
_FEWEST_IN_ALL = 30  # with fewer, nothing is refuted at such a level, whatever they show
_OF_TIME, _MANY_STEPS = 0.5, 100  # of the time that is left, where the game that follows cannot resolve the claim


@dataclass(frozen=True)
class EarlyLook(Way):
    """Hold the sequential game that came before a guess game, of those on all pairs the one with the most wealth."""

    pair: int
    level: OpenProbability  # at which it refutes the claim, once and for all
    outcome: SequentialOutcome

    way: ClassVar[str] = "early look"
    spends: ClassVar[str] = "early look"

    @property
    def refutes(self) -> bool:
        """True if the wealth against the claim ever reached the inverse of the level."""
        return self.outcome.log_wealth >= -math.log(self.level)

    def finding(self, case: Case) -> Finding:
        """Return FAIL where the wealth ever reached the inverse of the level, with the bound of epsilon at that."""
        if case.evidence.is_dependent or not self.refutes:
            return Finding()
        lower = time_uniform_lower_bound(self.outcome, self.level)
        found = f"an early look refuted it after {self.outcome.steps} pairs of outputs"
        return Finding(case.refuted(lower, found), lower_bound=lower)


def look_early(session: Session) -> tuple[EarlyLook, Session] | None:
    """Return the look and what it saw; None where fresh outputs would not confirm a refutation."""
    allowance, pairs = session.allowance, len(session.pairs)
    steps, fewest = min(_MOST_STEPS, allowance.budget // _OF_BUDGET) // pairs, _FEWEST_STEPS
    if session.is_short:  # the game that follows cannot resolve the claim
        left = clock().left / session.cost / 2
        steps, fewest = int(min(_MOST_STEPS, _OF_TIME * left, max(_MANY_STEPS, left / 5))) // pairs, _FEWEST_IN_ALL
    if allowance.confirmation is None or steps < fewest:
        return None
    level, best = EARLY_SHARE * allowance.confirmation / pairs, None
    own = replace(session, samples=0, anomalies=Counter())
    try:
        for pair in range(pairs):
            stream = allowance.stream.child(EARLY, pair)
            outcome, source = play_on(own, pair, stream, level, steps)
            best = max(best, EarlyLook(pair, level, outcome), key=_wealth) if best else EarlyLook(pair, level, outcome)
            if best.refutes:
                ask_new_processes(own, source)
                probe_afterwards(own, pair, outcome.steps)
                break
    except (SubjectFailed, BadLength):  # it will fail again in training, where it is recorded
        return None
    return (best, own) if best else None


def _wealth(look: EarlyLook) -> float:
    return look.outcome.log_wealth
