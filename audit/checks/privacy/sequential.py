"""The sequential examination: one game on one pair, stopped as soon as the claim is refuted or enough was seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audit.base.errors import InvalidArgument
from audit.checks.privacy.evidence import Evidence, SequentialEvidence
from audit.checks.privacy.judge import allowed_epsilon
from audit.checks.privacy.session import SEQUENTIAL, Session
from audit.game.resolution import steps_to_resolve
from audit.game.scorers.atoms import atom_keys
from audit.game.scorers.likelihood import LikelihoodRatio, stated_log_likelihood
from audit.game.sequential import play_sequentially
from audit.subjects import Block, Outputs


def examine_sequentially(session: Session) -> Evidence:
    """Play the sequential game on the check's pair; probe for dependence between runs afterwards.

    A claim that implies a whole curve is tested at its usual point, fixed before the first output: `claim.point`.

    Raises
    ------
    InvalidArgument
        When the check has several pairs: which of them to play would have to be learned first.
    SubjectFailed, BadLength
        When the mechanism gives no outputs. A batch that raises ends the game: the fixed-budget audit reads
        exceptions as outputs.
    """
    check, claim = session.check, session.check.claim
    epsilon, delta = claim.point
    if len(check.pairs) != 1:
        raise InvalidArgument.of("pairs", "be a single pair for method 'sequential'", len(check.pairs))
    table = Table(session)
    outcome = play_sequentially(
        table.draw,
        epsilon,
        delta,
        session.significance,
        most_steps=session.budget - 1,
        resolution_steps=steps_to_resolve(
            epsilon, allowed_epsilon(claim.point, check.tolerance), delta, session.significance
        ),
        score=table.stated_score(),
    )
    session.samples += 2 * outcome.steps
    session.probe()
    if table.constant:
        session.oddities["constant"] += 1
    return Evidence(
        session.samples,
        sequential=SequentialEvidence(0, table.numeric, outcome),
        oddities=dict(sorted(session.oddities.items())),
        tested=claim.point if claim.is_curve else None,
    )


class Table:
    """Deals outputs to the game, each call from a seed of its own, and remembers what kind they were."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calls = [0, 0]
        self._first_key: np.uint64 | None = None
        self.constant = True
        self.numeric = True

    def draw(self, side: int, size: int) -> Outputs:
        """`size` fresh outputs of one side."""
        session = self._session
        seed = session.stream.child(SEQUENTIAL, side, self._calls[side]).seed()
        self._calls[side] += 1
        outputs, odd = session.subject.draw(Block(session.check.pairs[0][side], size, seed))
        session.note(odd)
        keys = atom_keys(outputs)
        self._first_key = keys[0] if self._first_key is None else self._first_key
        self.constant = self.constant and bool(np.all(keys == self._first_key))
        self.numeric = self.numeric and outputs.is_scalar and outputs.symbols is None
        return outputs

    def stated_score(self) -> Callable[[Outputs], np.ndarray] | None:
        """The log-likelihood ratio that the mechanism states, if it does."""
        check = self._session.check
        stated = stated_log_likelihood(check.mechanism)
        return None if stated is None else LikelihoodRatio(stated, check.pairs[0], complete=False)
