"""What the stages of one examination share, and the probe that opens it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from audit.base.errors import InvalidArgument
from audit.checks.privacy.check import PrivacyCheck
from audit.checks.privacy.statement import states_a_law
from audit.game.scorers import Scorer
from audit.subjects import Stream, Subject
from audit.subjects.probe import probe_cost, probe_independence, probe_length
from audit.subjects.workers import Place

PROBE, FIT, SEARCH, SEQUENTIAL = 8, 9, 10, 11  # children of a check's stream, beside those of the fixed-budget audit


@dataclass
class Session:
    """What the stages of one audit share."""

    subject: Subject
    check: PrivacyCheck
    budget: int
    significance: float
    stream: Stream
    place: Place
    scorers: Sequence[Scorer]
    samples: int = 0
    width: int = 1

    def __post_init__(self) -> None:
        self.oddities: Counter[str] = Counter()

    def note(self, odd: Counter[str]) -> None:
        """Add what was odd about some outputs."""
        for kind, count in odd.items():
            shared = kind == "mutated its dataset" and self.subject.calls_share_a_copy
            self.oddities[kind + " between calls" if shared else kind] += count

    def open(self) -> None:
        """Refuse what cannot be examined, before the budget is spent.

        Raises
        ------
        InvalidArgument
            For a budget that does not reach for every pair, or an exact audit without a stated law.
        WrongLength
            When a first small call does not return as many outputs as it was asked for.
        """
        check = self.check
        if self.budget < 2 * len(check.pairs):
            raise InvalidArgument.of("budget", f"be at least 2 for each of {len(check.pairs)} pairs", self.budget)
        if check.method == "exact" and not states_a_law(check.mechanism):
            raise InvalidArgument.of("method", "not be 'exact' for a mechanism without law or privacy_loss", "exact")
        self.width = probe_length(self.subject, check.pairs[0][0], self.stream.child(PROBE, 0))
        self.samples += 2

    def probe(self) -> None:
        """Look for dependence between runs, where the budget can spare the outputs."""
        if probe_cost(self.budget) == 0:
            return
        found, drawn = probe_independence(self.subject, self.check.pairs[0][0], self.stream.child(PROBE, 1))
        self.samples += drawn
        self.oddities.update(found)
