"""The result of a check: evidence, judgement, and the witness when the claim was refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.checks.contract import Outcome
from audit.checks.privacy.check import PrivacyCheck
from audit.checks.privacy.evidence import Evidence
from audit.checks.privacy.judge import Judgement, is_dependent
from audit.checks.record import judgement_record
from audit.claims import Point, claim_record
from audit.game.delta_bound import delta_lower_bound
from audit.game.guesses import GameCounts
from audit.subjects.describe import describe_mechanism, show

_WITNESS_LENGTH = 4000  # a certificate keeps a witness as code that can be pasted up to this many characters


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
class PrivacyResult(Outcome):
    """The outcome of one privacy check; see `audit.checks.privacy.judge.Judgement` for the numbers."""

    check: PrivacyCheck
    budget: int
    significance: float
    evidence: Evidence
    judgement: Judgement
    seconds: float
    witness: Witness | None = None

    @property
    def epsilon_lower_bound(self) -> float:
        """Certified lower bound of epsilon at the tested delta, which is the claim's if it has one; 0.0 if none."""
        return self.judgement.epsilon_lower_bound

    @property
    def delta_lower_bound(self) -> float:
        """Certified lower bound of delta at the tested epsilon, by the game at a fixed budget; 0.0 if none.

        Exceeds the true delta with probability at most `significance`, the same that serves `epsilon_lower_bound`.
        """
        game = self.evidence.game
        if game is None or is_dependent(self.evidence):
            return 0.0
        return delta_lower_bound(
            game.counts, self.tested.epsilon, self.significance, game.coin_seed(), one_sided=game.one_sided
        )

    @property
    def exact_epsilon(self) -> float | None:
        """Epsilon at the tested delta by the stated laws (upper bound, worst pair), or None."""
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
    def tested(self) -> Point:
        """The (epsilon, delta) that was tested: the claim's own, or a point of the curve that it implies."""
        return self.evidence.tested or self.check.claim.point

    def record(self) -> dict[str, Any]:
        """Plain data without durations: the same evidence gives the same record, wherever it was gathered."""
        check = self.check
        return {
            "name": check.name,
            "kind": check.kind,
            "mechanism": describe_mechanism(check.mechanism),
            "expected": check.expected.value,
            "claim": claim_record(check.claim),
            "settings": {
                "method": check.method,
                "budget": self.budget,
                "significance": self.significance,
                "tolerance": check.tolerance,
            },
            "pairs": [{"left": show(left), "right": show(right)} for left, right in check.pairs],
            "witness": self._witness_record(),
            "evidence": self.evidence.to_dict(),
            **judgement_record(self.judgement),
        }

    def _witness_record(self) -> dict[str, Any] | None:
        if self.witness is None or self.evidence.game is None:
            return None
        left, right = (show(side, _WITNESS_LENGTH) for side in self.witness.pair)
        return {
            "pair": self.evidence.game.pair,
            "left": left,
            "right": right,
            "direction": self.witness.direction,
            "event": self.witness.text,
        }
