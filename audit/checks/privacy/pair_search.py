"""Search the neighbors of datasets for the pair that breaks a claim, and shrink it to a minimal one.

Hypothesis generates pairs and climbs towards a larger estimated bound (`hypothesis.target`). Every pair is tried with
the same seeds, so that the search is a deterministic function of the seed. Its outcome is only a suggestion: the pair
is certified on fresh outputs, and the search costs no significance.
"""

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
from audit.checks.allowance import Allowance
from audit.claims import Claim
from audit.claims.relations import neighboring_pairs
from audit.game.events import choose_events
from audit.game.scorers import Training
from audit.game.thresholds import TestDesign, critical_value
from audit.subjects import BadBatch, Block, Outputs, Subject, SubjectFailed

_EXAMPLES = 200  # pairs tried in one climb
_CLIMBS = 3  # as long as none found a violation, another one starts elsewhere
_TRIAL = 400  # outputs per dataset for each pair tried
_SHRINKING = 200  # pairs tried while shrinking
_ATTEMPTS = 10  # pairs generated for each one tried, at most: climbing makes many that are not neighboring
_CLIMBING = (Phase.generate, Phase.target)


class _Enough(BaseException):
    """Ends a climb after the last pair; Hypothesis would take an `Exception` for a failure and repeat it."""


@dataclass
class PairSearch:
    """Keep what the search has seen."""

    mechanism: Any
    claim: Claim
    datasets: Any  # a strategy for datasets among whose neighbors the pair is searched
    allowance: Allowance  # of the certification that follows; its stream seeds the trials, the same for every pair
    samples: int = 0
    best: tuple[Any, Any] | None = None
    best_bound: float = -math.inf
    failure: str | None = None

    def find(self) -> tuple[Any, Any]:
        """Return the pair with the largest estimated bound, shrunk as far as it still shows half of the violation."""
        pairs, claimed = neighboring_pairs(self.claim.relation, self.datasets), self.claim.point.epsilon
        for start in range(_CLIMBS):
            if self.best_bound <= claimed:
                self._climb(pairs, start)
        if self.best is None:
            cause = f": the mechanism {self.failure}" if self.failure else ""
            raise AuditError(f"`datasets` gave no pair on which the mechanism could be tried{cause}")
        if self.best_bound <= claimed:
            return self.best
        threshold, best = claimed + 0.5 * (self.best_bound - claimed), self.best
        try:
            return hypothesis.find(
                pairs,
                lambda pair: self.estimated_bound(pair) > threshold,
                settings=_settings(_SHRINKING, (*_CLIMBING, Phase.shrink)),
                random=random.Random(self.allowance.stream.entropy),
            )
        except hypothesis.errors.NoSuchExample:
            return best

    def estimated_bound(self, pair: tuple[Any, Any]) -> float:
        """Return the epsilon that a small trial on this pair lets expect; -inf when it gives nothing to compare."""
        try:
            left, right = (self._trial(dataset, side) for side, dataset in enumerate(pair))
        except (SubjectFailed, BadBatch) as failure:
            self.failure = str(failure)
            return -math.inf
        critical = critical_value(self.allowance.significance)
        design = TestDesign(self.claim.point.delta, critical, 2 * _TRIAL, 2 * self.allowance.budget)
        events = choose_events(Training(left, right, self.mechanism, pair), design, slow_scorers=())
        found = events.estimated_bound if events is not None else -math.inf
        if found > self.best_bound:
            self.best, self.best_bound = pair, found
        return found

    def _trial(self, dataset: Any, side: int) -> Outputs:
        self.samples += _TRIAL
        block = Block(dataset, _TRIAL, self.allowance.stream.child(side).seed())
        try:
            return Subject(self.mechanism).draw(block)[0]
        except SubjectFailed as failure:
            if failure.kind != "raised":
                raise
            return Subject(self.mechanism, one_by_one=True).draw(block)[0]

    def _climb(self, pairs: Any, start: int) -> None:
        asked = itertools.count()

        @st.composite
        def limited(draw: Any) -> Any:
            try:
                return draw(pairs)
            finally:  # a draw that ends early looks to Hypothesis like a strategy that is not deterministic
                if next(asked) >= _ATTEMPTS * _EXAMPLES:
                    raise _Enough

        @hypothesis.seed(self.allowance.stream.entropy + start)
        @_settings(_EXAMPLES, _CLIMBING)
        @hypothesis.given(limited())
        def climb(pair: tuple[Any, Any]) -> None:
            bound = self.estimated_bound(pair)
            if math.isfinite(bound):
                hypothesis.target(bound, label="estimated bound")

        with contextlib.suppress(_Enough, hypothesis.errors.Unsatisfiable):
            climb()


def _settings(examples: int, phases: tuple[Phase, ...]) -> hypothesis.settings:
    return hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=phases,
    )
