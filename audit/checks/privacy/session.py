"""Keep what the stages of one privacy check share, and look for what prevents a verdict."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from audit.base.errors import InvalidArgument
from audit.checks.allowance import Allowance
from audit.checks.privacy.plan import MOST_BUDGET, needed, within_time
from audit.checks.privacy.way import PrivacyTerms
from audit.game.drawing import Request, Stage
from audit.game.exchangeability import compare_calls
from audit.game.scorers import SCORERS, Scorer
from audit.subjects import Calls, Outputs, Side, Subject
from audit.subjects.subject import identical, probe_length, states_a_law

PROBE, FIT, SEARCH, SEQUENTIAL, ASIDE, LONG = range(8, 14)  # children of a check's stream, beside those of the game


@dataclass
class Session:
    """Hold the state that the stages of one privacy check share: what is audited, and what was seen so far."""

    subject: Subject
    terms: PrivacyTerms
    pairs: Sequence[tuple[Any, Any]]
    method: str
    allowance: Allowance
    scorers: Sequence[Scorer] = SCORERS
    samples: int = 0
    width: int = 1  # numbers in one output
    anomalies: Counter[str] = field(default_factory=Counter)
    need: tuple[float, ...] = ()  # what would resolve the claim, where the time limit is too short

    @property
    def is_stated(self) -> bool:
        """Return whether a stated law decides, and the game beside it does not."""
        return self.method != "fixed" and states_a_law(self.subject.mechanism)

    @property
    def audits_floats(self) -> bool:
        """Return whether scores of the bits of floating-point numbers compete."""
        return len(self.scorers) > len(SCORERS)

    def note(self, found: Counter[str]) -> None:
        for kind, count in found.items():
            shared = kind == "mutated its dataset" and self.subject.calls_share_a_copy
            self.anomalies[kind + " between calls" if shared else kind] += count

    def noted(self) -> dict[str, int]:
        return dict(sorted(self.anomalies.items()))

    def open(self) -> None:
        """Refuse what cannot be examined, before the budget is spent."""
        budget, pairs = self.allowance.budget, len(self.pairs)
        if budget < 2 * pairs:
            raise InvalidArgument.of("budget", f"be at least {2 * pairs}, 2 outputs for each of {pairs} pairs", budget)
        if self.method == "exact" and not states_a_law(self.subject.mechanism):
            stating = "give the mechanism `law(dataset)` or `privacy_loss(left, right)`"
            raise InvalidArgument(f"method='exact' needs a stated law: {stating}, or use method='auto'")
        if self.method == "sequential" and pairs != 1:  # which of them to test would have to be learned first
            raise InvalidArgument(f"method='sequential' needs one pair, got {pairs}: give one, or use method='auto'")
        self.width = probe_length(self.subject, self.pairs[0][0], self.allowance.stream.child(PROBE, 0))
        self.samples += 2
        if self.allowance.enough is None and self.method in ("auto", "fixed"):
            due, _ = needed(self.terms, self.allowance.significance, pairs)
            self.need = (float(due),) if budget < due < MOST_BUDGET else ()
        if self.allowance.seconds is not None:
            timing = self.allowance.stream.child(PROBE, 3)
            self.allowance, drawn, self.need = within_time(self.subject, self.pairs, self.allowance, timing)
            self.samples += drawn if self.need else 0  # evidence depends on the time only where it does not suffice

    def probe(self, drawn: Sequence[Sequence[Outputs]]) -> None:
        """Look for dependence among calls of one size, given for each dataset."""
        found = compare_calls(drawn, self.allowance.stream.child(PROBE, 1).rng())
        self.anomalies.update(dict.fromkeys(found, 1))

    def repeat(self, first: Outputs, side: Side) -> Stage[None]:
        """Make the first call on a side again, with the same seed; a subject of its own randomness is not asked."""
        if self.subject.own_randomness or self.samples + side.size > 2 * self.allowance.budget:
            return
        again: list[Outputs] = []
        yield Request(self.subject, Calls([replace(side, total=side.size)]), lambda calls: calls, again.extend)
        self.samples += side.size
        if not identical(first, again[0]):
            self.anomalies["own randomness"] = 1
