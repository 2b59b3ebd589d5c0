"""Neighbor search: find the pair of datasets that breaks a claim, and shrink it to a minimal one.

Hypothesis generates pairs and climbs towards a larger promised bound (`hypothesis.target`). Every pair is tried with
the same seeds, so that the search is a deterministic function of the seed. What it finds is only a suggestion: the
pair is certified on fresh outputs, and the search costs no significance.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import random
from dataclasses import dataclass
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from audit.base.errors import AuditError
from audit.checks.base import Allowance
from audit.claims import Claim
from audit.claims.neighbors import neighboring_pairs
from audit.game.events import choose_events
from audit.game.scorers import Training
from audit.game.thresholds import TestDesign
from audit.subjects import BadBatch, Block, Outputs, Subject, SubjectFailed

EXAMPLES = 200  # pairs tried in one climb
CLIMBS = 3  # as long as none found a violation, another one starts elsewhere
TRIAL = 400  # outputs a side for each pair tried
_SHRINKING = 200  # pairs tried while shrinking
_ATTEMPTS = 10  # pairs generated for each one tried, at most: climbing makes many that are not neighboring
_CLIMBING = (Phase.generate, Phase.target)
LEFT, RIGHT = 0, 1


class _Enough(BaseException):
    """Ends a climb after the last pair; Hypothesis would take an `Exception` for a failure and repeat it."""


@dataclass
class Search:
    """What the search has seen.

    Parameters
    ----------
    mechanism : callable
    claim : Claim
    datasets : SearchStrategy
        Datasets among whose neighbors the pair is searched.
    allowance : Allowance
        Of the certification that follows; its stream seeds the trials, which are the same for every pair.
    """

    mechanism: Any
    claim: Claim
    datasets: Any
    allowance: Allowance
    samples: int = 0
    best: tuple[Any, Any] | None = None
    best_promise: float = -math.inf
    failure: str | None = None

    def promise(self, pair: tuple[Any, Any]) -> float:
        """The epsilon that a small trial on this pair promises; -inf when it gives nothing to compare."""
        try:
            left, right = (self._trial(pair[side], side) for side in (LEFT, RIGHT))
        except (SubjectFailed, BadBatch) as failure:
            self.failure = str(failure)
            return -math.inf
        design = TestDesign(self.claim.point.delta, self.allowance.significance, 2 * TRIAL, 2 * self.allowance.budget)
        events = choose_events(Training(left, right, self.mechanism, pair), design, slow_scorers=())
        found = events.estimated_bound if events is not None else -math.inf
        if found > self.best_promise:
            self.best, self.best_promise = pair, found
        return found

    def _trial(self, dataset: Any, side: int) -> Outputs:
        self.samples += TRIAL
        block = Block(dataset, TRIAL, self.allowance.stream.child(side).seed())
        try:
            return Subject(self.mechanism).draw(block)[0]
        except SubjectFailed as failure:
            if failure.kind != "raised":
                raise
            return Subject(self.mechanism, one_by_one=True).draw(block)[0]


def find_pair(search: Search, examples: int = EXAMPLES) -> tuple[Any, Any]:
    """The most promising pair, shrunk as far as it still promises half of the violation.

    Raises
    ------
    AuditError
        When the strategy gave no pair on which the mechanism gives outputs.
    """
    pairs, claimed = neighboring_pairs(search.claim.relation, search.datasets), search.claim.point
    for start in range(CLIMBS):
        if search.best_promise <= claimed.epsilon:
            _climb(search, pairs, examples, start)
    if search.best is None:
        cause = f": the mechanism {search.failure}" if search.failure else ""
        raise AuditError(f"`datasets` gave no pair on which the mechanism could be tried{cause}")
    if search.best_promise <= claimed.epsilon:
        return search.best
    return _shrink(search, pairs, claimed.epsilon + 0.5 * (search.best_promise - claimed.epsilon))


def found_pair(mechanism: Any, claim: Claim, datasets: Any, allowance: Allowance) -> tuple[tuple[Any, Any], int]:
    """Return the pair that a search found, and the number of outputs that it drew."""
    search = Search(mechanism, claim, datasets, allowance)
    return find_pair(search), search.samples


def _climb(search: Search, pairs: Any, examples: int, start: int) -> None:
    def try_pair(pair: tuple[Any, Any]) -> None:
        promise = search.promise(pair)
        if math.isfinite(promise):
            hypothesis.target(promise, label="promised epsilon")

    wrapped = hypothesis.given(_limited(pairs, _ATTEMPTS * examples))(try_pair)
    wrapped = hypothesis.seed(search.allowance.stream.entropy + start)(_quietly(examples, _CLIMBING)(wrapped))
    with contextlib.suppress(_Enough, hypothesis.errors.Unsatisfiable):
        wrapped()


def _limited(pairs: Any, attempts: int) -> Any:
    """Return the same strategy, which raises `_Enough` once it was asked as often as this.

    It raises after the draw: a draw that ends early looks to Hypothesis like a strategy that is not deterministic.
    """
    asked = itertools.count()

    @st.composite
    def limited(draw: Any) -> tuple[Any, Any]:
        try:
            pair: tuple[Any, Any] = draw(pairs)
        finally:
            if next(asked) >= attempts:
                raise _Enough
        return pair

    return limited()


def _shrink(search: Search, pairs: Any, threshold: float) -> tuple[Any, Any]:
    try:
        found: tuple[Any, Any] = hypothesis.find(
            pairs,
            lambda pair: search.promise(pair) > threshold,
            settings=_quietly(_SHRINKING, (*_CLIMBING, Phase.shrink)),
            random=random.Random(search.allowance.stream.entropy),
        )
    except hypothesis.errors.NoSuchExample:
        assert search.best is not None
        return search.best
    return found


def _quietly(examples: int, phases: tuple[Phase, ...]) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=phases,
    )
