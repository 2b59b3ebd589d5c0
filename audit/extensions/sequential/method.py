"""The method "sequential" of privacy checks: play on one pair until the claim is refuted or resolved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from audit import PrivacyCheck
from audit.api import Allowance, InvalidArgument, Method, PrivacyEvidence
from audit.extensions.sequential.game import MOST_STEPS_PLANNED, play_to_the_end, steps_to_resolve


@dataclass(frozen=True, kw_only=True)
class Sequential(Method):
    """Play the guess game step by step on one pair; `method="sequential"` is short for it."""

    way: ClassVar[str] = "sequential"

    @property
    def words(self) -> str:
        return "sequential guess game"

    def gather(self, check: PrivacyCheck, allowance: Allowance) -> PrivacyEvidence:
        """Return the game on the only pair: which of several to play on would have to be learned first."""
        if (pairs := len(check.pairs)) != 1:
            raise InvalidArgument(f"method='sequential' needs one pair, got {pairs}: give one, or use method='auto'")
        return check.gather_by(allowance, play_to_the_end)

    def plan_budget(self, terms: Any, significance: float) -> int:
        """Return the outputs per dataset that resolve the claim."""
        return 1 + (steps_to_resolve(terms, significance) or MOST_STEPS_PLANNED)
