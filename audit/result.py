"""The result of a check: evidence, judgement, and the witness when the claim was refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.checks import PrivacyCheck
from audit.describe import describe_mechanism, show
from audit.empirical.game import GameCounts
from audit.evidence import Evidence
from audit.judge import Judgement
from audit.record import judgement_record
from audit.verdict import Verdict


@dataclass(frozen=True)
class Witness:
    """An event, a pair and a direction that break a claim.

    Parameters
    ----------
    pair : tuple of (left, right)
        The two datasets.
    direction : {"left", "right"}
        The side whose outputs the event catches more often than the claim allows.
    event : callable
        `outputs -> bool array`: the outputs on which the auditor guesses that side.
    text : str
        The event in words.
    counts : GameCounts
        What came of the certifying runs.
    """

    pair: tuple[Any, Any]
    direction: str
    event: Callable[[Any], np.ndarray]
    text: str
    counts: GameCounts


@dataclass(frozen=True)
class PrivacyResult:
    """The outcome of one privacy check; see `audit.judge.Judgement` for the numbers."""

    check: PrivacyCheck
    budget: int
    significance: float
    evidence: Evidence
    judgement: Judgement
    seconds: float
    witness: Witness | None = None

    @property
    def name(self) -> str:
        """Name of the check."""
        return self.check.name

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCONCLUSIVE."""
        return self.judgement.verdict

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        return self.judgement.reason

    @property
    def epsilon_lower_bound(self) -> float:
        """Certified lower bound of epsilon at the claim's delta; 0.0 if none."""
        return self.judgement.epsilon_lower_bound

    @property
    def exact_epsilon(self) -> float | None:
        """Epsilon at the claim's delta by the stated laws (upper bound, worst pair), or None."""
        return self.judgement.exact_epsilon

    @property
    def resolution(self) -> float:
        """Smallest epsilon that would have been refuted with power 0.8."""
        return self.judgement.resolution

    @property
    def blind_spot(self) -> float:
        """Events rarer than this were not examined."""
        return self.judgement.blind_spot

    @property
    def samples(self) -> int:
        """Outputs drawn, both sides and all stages together."""
        return self.evidence.samples

    @property
    def met(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict is self.check.expected

    def record(self) -> dict[str, Any]:
        """Plain data without durations: the same evidence gives the same record, wherever it was gathered."""
        check, claim = self.check, self.check.claim
        return {
            "name": check.name,
            "kind": "privacy",
            "mechanism": describe_mechanism(check.mechanism),
            "expected": check.expected.value,
            "claim": {
                "epsilon": claim.epsilon,
                "delta": claim.delta,
                "relation": claim.relation.name,
                "source": claim.source,
            },
            "settings": {
                "method": check.method,
                "budget": self.budget,
                "significance": self.significance,
                "tolerance": check.tolerance,
            },
            "pairs": [{"left": show(left), "right": show(right)} for left, right in check.pairs],
            "evidence": self.evidence.to_dict(),
            **judgement_record(self.judgement),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in a certificate, with the duration."""
        return {**self.record(), "seconds": self.seconds}
