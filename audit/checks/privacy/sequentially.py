"""Gather the evidence of a sequential privacy check: play the game on its pair, and probe for dependence afterwards."""

import numpy as np

from audit.checks.privacy.gather import PROBE, SEQUENTIAL, Session
from audit.checks.privacy.judge import PrivacyEvidence, SequentialEvidence
from audit.game.drawing import Stage, carry_out
from audit.game.fixed_budget import LEFT, draw_calls
from audit.game.resolution import steps_to_resolve
from audit.game.scorers.base import LikelihoodRatio, stated_log_likelihood
from audit.game.scorers.cells import atom_keys
from audit.game.sequential import play_sequentially
from audit.game.tuning import TRAINING_CALLS
from audit.subjects import Block, Outputs, Side

PROBED, PROBED_SHARE = 16, 640  # most outputs of a call of the probe; one for this many of the budget


def gather_sequentially(session: Session) -> PrivacyEvidence:
    """Play the sequential game on the check's pair; probe for dependence between runs afterwards."""
    claim, allowance = session.terms.claim, session.allowance
    (epsilon, delta), goal = claim.point, session.terms.allowed_epsilon(claim.point)
    source = _Source(session)
    stated = stated_log_likelihood(session.subject.mechanism)
    outcome = play_sequentially(
        source.draw,
        epsilon,
        delta,
        allowance.significance,
        most_steps=allowance.budget - 1,
        resolution_steps=steps_to_resolve(epsilon, goal, delta, allowance.significance),
        score=None if stated is None else LikelihoodRatio(stated, session.pairs[0]),
    )
    session.samples += 2 * outcome.steps
    carry_out(_probe_afterwards(session))
    if source.is_constant:
        session.anomalies["constant"] += 1
    sequential = SequentialEvidence(0, source.is_numeric, outcome)
    tested = claim.point if claim.is_curve else None
    anomalies, need = session.noted(), session.need
    return PrivacyEvidence(session.samples, anomalies=anomalies, sequential=sequential, tested=tested, need=need)


def _probe_afterwards(session: Session) -> Stage[None]:
    """Draw calls of a sequential game's pair for the probe, where the budget can spare them."""
    stream, size = session.allowance.stream.child(PROBE, 2), min(PROBED, session.allowance.budget // PROBED_SHARE)
    if size < 1:
        return
    drawn, _ = yield from draw_calls(session.subject, session.pairs, TRAINING_CALLS, size, stream)
    session.samples += 2 * TRAINING_CALLS * size
    side = Side(session.pairs[0][LEFT], size, stream.child(0, LEFT), size)
    yield from session.repeat(drawn[0][LEFT][0], side)
    session.probe(drawn[0])


class _Source:
    """Draw outputs for the sequential game, each call from a seed of its own, and remember what kind they were."""

    def __init__(self, session: Session) -> None:
        self._session, self._calls = session, [0, 0]
        self._first_key: np.uint64 | None = None
        self.is_constant = self.is_numeric = True

    def draw(self, side: int, size: int) -> Outputs:
        session = self._session
        seed = session.allowance.stream.child(SEQUENTIAL, side, self._calls[side]).seed()
        self._calls[side] += 1
        outputs, found = session.subject.draw(Block(session.pairs[0][side], size, seed))
        session.note(found)
        keys = atom_keys(outputs)
        self._first_key = keys[0] if self._first_key is None else self._first_key
        self.is_constant = self.is_constant and bool(np.all(keys == self._first_key))
        self.is_numeric = self.is_numeric and outputs.is_scalar and outputs.symbols is None
        return outputs
