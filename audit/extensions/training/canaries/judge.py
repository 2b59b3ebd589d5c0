"""Judge a privacy claim by the evidence of canaries: a pure function, called live and by a replay."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from audit.api import (
    Claim,
    Evidence,
    GaussianClaim,
    Interval,
    Judgment,
    PrivacyClaim,
    Probability,
    conclude,
    largest_refuted,
)
from audit.extensions.training.canaries.one_run import (
    epsilon_lower_bound,
    is_refuted,
    mu_lower_bound,
    pvalue,
    smallest_detected,
    tail_at_a_point,
)

_ROUNDING = 1e-9  # of shares that add up to 1
_TURNED = 1e-3  # p-value at which scores are taken for losses
_FACTOR, _STEP = 2.0, 0.5  # a PASS needs that a leak of twice the claim, or the claim and 0.5, would have shown


@dataclass(frozen=True)
class Guessed:
    """The guesses at one cut, with their share of the significance."""

    guesses: int
    right: int  # the fewest, over all ways to break ties
    share: Probability


@dataclass(frozen=True)
class CanaryTerms:
    claim: str  # as JSON
    delta: float
    structure: str


@dataclass(frozen=True)
class CanaryEvidence(Evidence):
    """The evidence of one run; `samples` counts training runs."""

    canaries: int = 0
    included: int = 0
    guessed: tuple[Guessed, ...] = ()
    turned: int = 0  # right guesses at the first cut if smaller scores meant included
    digest: str = ""  # SHA-256 of the scores as doubles, each part sorted
    is_final: bool = False  # given scores, which no fresh run can confirm


@dataclass(frozen=True)
class Judged:
    """The guesses of one run, held against a claim at a significance."""

    claim: Claim
    delta: float
    structure: Any
    evidence: CanaryEvidence
    significance: float

    def judgment(self) -> Judgment:
        """Return the judgment: a true claim FAILs with probability <= significance."""
        found = self.found()
        if refuting := [look for look in self.evidence.guessed if self.refutes(look)]:
            broken = min(map(self.why_broken, refuting))[1]
            return conclude("outputs", found, broken=broken, why_open=None, kept="")
        claimed, name = self._claimed
        least = max(_FACTOR * claimed, claimed + _STEP)
        seen = self._detected(least)
        why_open = self.why_open(found[-1].lower, seen, least)
        return conclude("outputs", found, broken=None, why_open=why_open, kept=self.kept(found, f"{name} = {seen:.3g}"))

    def refutes(self, look: Guessed) -> bool:
        level = look.share * self.significance
        return is_refuted(self.claim, look.right, look.guesses, self.evidence.canaries, level, self.structure)

    def why_broken(self, look: Guessed) -> tuple[float, str]:
        """Return how improbable a look is, and the reason that it gives."""
        chance = pvalue(self.claim, look.right, look.guesses, self.evidence.canaries, self.structure) / look.share
        told = f"{look.right} of {look.guesses} guesses about {self.evidence.canaries} canaries are right"
        shared = "" if look.share == 1 else " for all cuts together"
        if isinstance(self.claim, PrivacyClaim) and self.claim.delta > 0:
            shared += f", of which {self.claim.delta:g} is its own delta"
        return chance, f"{told}: {self.claim} allows this with probability at most {chance:.2g}{shared}{self._declared}"

    @property
    def _declared(self) -> str:
        return "; canaries are declared to act independently" if self.structure == "independent" else ""

    def found(self) -> tuple[Interval, ...]:
        """Return lower bounds of mu, for a Gaussian claim, and of epsilon, with their error probability."""
        error = f"error probability {self.significance:.3g}"
        best = max(map(self._bound, self.evidence.guessed), default=0.0)
        if not isinstance(self.claim, GaussianClaim):
            return (Interval(f"epsilon at delta {self.delta:g}, {error}", best, math.inf),)
        implied = _epsilon_at(GaussianClaim(best, relation=self.claim.relation), self.delta)
        of_this = f"epsilon of this mu at delta {self.delta:g}, {error}"
        return Interval(f"mu, {error}", best, math.inf), Interval(of_this, implied, math.inf)

    def _bound(self, look: Guessed) -> float:
        """Return the lower bound by one look: of mu for a Gaussian claim, else of epsilon."""
        level, counts = look.share * self.significance, (look.right, look.guesses, self.evidence.canaries)
        if isinstance(self.claim, GaussianClaim):
            return mu_lower_bound(*counts, level, self.structure)
        return epsilon_lower_bound(*counts, self.delta, level, self.structure)

    def why_open(self, epsilon: float, seen: float, least: float) -> str | None:
        """Return the reason against a PASS, or None."""
        claimed, name = self._claimed
        if math.isinf(seen):
            return f"{self.evidence.canaries} canaries are too few: not even right guesses alone refute {self.claim}"
        if seen > least:
            return (
                f"not refuted, but too coarse: of a claimed {name} of {claimed:.3g}, the best guesses about "
                f"{self.evidence.canaries} canaries refute only {seen:.3g} with power 0.8, and a PASS needs {least:.3g}"
            )
        if epsilon == 0:
            look, canaries = self.evidence.guessed[0], self.evidence.canaries
            if tail_at_a_point(self.evidence.turned, look.guesses, canaries, 0.0, 0.0) <= _TURNED:
                told = f"{self.evidence.turned} of {look.guesses} guesses are right with the sign turned"
                return f"not refuted, but {told}: for losses type check_canaries(-scores_in, -scores_out, claim)"
            return "not refuted, but the scores say no more about the coins than chance does: nothing was seen"
        return None

    def kept(self, found: tuple[Interval, ...], seen: str) -> str:
        look = max(self.evidence.guessed, key=self._bound)
        bound = f"{found[-1].quantity} is at least {found[-1].lower:.3g}"
        told = f"{look.right} of {look.guesses} guesses about {self.evidence.canaries} canaries are right"
        would = f"{seen} would have been seen with power 0.8 by the best scores"
        return f"not refuted: {told}, {bound}; {would}{self._declared}"

    @property
    def _claimed(self) -> tuple[float, str]:
        if isinstance(self.claim, GaussianClaim):
            return self.claim.mu, "mu"
        return _epsilon_at(self.claim, self.delta), "epsilon"

    def _detected(self, enough: float) -> float:
        """Return the smallest leak that some look detects; looks after the first one if that is not enough."""
        seen = math.inf
        for look in self.evidence.guessed:
            level = look.share * self.significance
            counts = look.guesses, self.evidence.canaries
            seen = min(seen, smallest_detected(self.claim, *counts, level, self.structure))
            if seen <= enough:
                break
        return seen


def _epsilon_at(claim: Claim, delta: float) -> float:
    """Return the epsilon that a claim implies at a delta, just below; 0.0 where it implies any."""
    return largest_refuted(lambda epsilon: claim.profile(epsilon) > delta)
