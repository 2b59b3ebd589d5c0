"""Gather evidence by the sequential game on one pair, stopped as soon as the claim is refuted or enough was seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audit.base.errors import InvalidArgument
from audit.checks.privacy.evidence import PrivacyEvidence, SequentialEvidence
from audit.checks.privacy.gather import SEQUENTIAL, Session
from audit.checks.privacy.judge import allowed_epsilon
from audit.game.resolution import steps_to_resolve
from audit.game.scorers.atoms import atom_keys
from audit.game.scorers.likelihood import LikelihoodRatio, stated_log_likelihood
from audit.game.sequential import play_sequentially
from audit.subjects import Block, Outputs


def gather_sequentially(session: Session) -> PrivacyEvidence:
    """Play the sequential game on the check's pair; probe for dependence between runs afterwards.

    A claim that implies a whole curve is tested at its usual point, fixed before the first output: `claim.point`.

    Raises
    ------
    InvalidArgument
        If the check has several pairs: which of them to play would have to be learned first.
    SubjectFailed, BadLength
        If the mechanism gives no outputs. A batch that raises ends the game: the fixed-budget game reads
        exceptions as outputs.
    """
    claim, significance = session.claim, session.allowance.significance
    epsilon, delta = claim.point
    if len(session.pairs) != 1:
        raise InvalidArgument.of("pairs", "be a single pair for method 'sequential'", len(session.pairs))
    dealer = Dealer(session)
    goal = allowed_epsilon(claim.point, session.tolerance)
    outcome = play_sequentially(
        dealer.draw,
        epsilon,
        delta,
        significance,
        most_steps=session.budget - 1,
        resolution_steps=steps_to_resolve(epsilon, goal, delta, significance),
        score=dealer.stated_score(),
    )
    session.samples += 2 * outcome.steps
    session.probe()
    if dealer.constant:
        session.anomalies["constant"] += 1
    return PrivacyEvidence(
        session.samples,
        anomalies=session.noted(),
        sequential=SequentialEvidence(0, dealer.numeric, outcome),
        tested=claim.point if claim.is_curve else None,
    )


class Dealer:
    """Draw outputs for the game, each call from a seed of its own, and remember what kind they were."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls = [0, 0]
        self._first_key: np.uint64 | None = None
        self.constant = True
        self.numeric = True

    def draw(self, side: int, size: int) -> Outputs:
        """Draw `size` fresh outputs of one side."""
        session = self._session
        seed = session.stream.child(SEQUENTIAL, side, self._calls[side]).seed()
        self._calls[side] += 1
        outputs, odd = session.subject.draw(Block(session.pairs[0][side], size, seed))
        session.note(odd)
        keys = atom_keys(outputs)
        self._first_key = keys[0] if self._first_key is None else self._first_key
        self.constant = self.constant and bool(np.all(keys == self._first_key))
        self.numeric = self.numeric and outputs.is_scalar and outputs.symbols is None
        return outputs

    def stated_score(self) -> Callable[[Outputs], np.ndarray] | None:
        """Return the log-likelihood ratio that the mechanism states, if it does."""
        stated = stated_log_likelihood(self._session.mechanism)
        return None if stated is None else LikelihoodRatio(stated, self._session.pairs[0], complete=False)
