"""Check a privacy claim by canaries: evidence of one training run about records that fair coins included."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from audit import GaussianClaim, PrivacyClaim, Result, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    Evidence,
    Interval,
    InvalidArgument,
    Judgment,
    StatedCheck,
    bounds,
    claims,
    conclude,
    defaults,
    document_from,
    leave_open,
    run_alone,
    validate,
)
from audit.extensions.training.canaries.guesses import read_scores, right_guesses, why_unfair
from audit.extensions.training.canaries.one_run import (
    DELTAS,
    STRUCTURES,
    Structure,
    epsilon_lower_bound,
    find_smallest_leak,
    is_refuted,
    mu_lower_bound,
    plan_guesses,
    pvalue,
    tail_at_a_point,
)

DEFAULT_DELTA = 1e-5  # at which epsilon is bounded for a claim that names no delta
_TURNED = 1e-3  # p-value at which scores are taken for losses
_FACTOR, _STEP = 2.0, 0.5  # a PASS needs that a leak of twice the claim, or the claim and 0.5, would have shown


@dataclass(frozen=True)
class Guessed:
    """The guesses at one cut, with their share of the significance."""

    guesses: int
    right: int  # the fewest, over all ways to break ties
    share: validate.Probability


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
    is_final: bool = True  # no fresh run can confirm given scores

    def least_confirmation(self, record: Mapping[str, Any]) -> float:
        """Return the error probability of events that the delta of a claim allows; 0 for a claim without delta."""
        return DELTAS * float(json.loads(record["claim"]["terms"]["claim"]).get("delta", 0.0))


@dataclass(frozen=True)
class Judged:
    """The guesses of one run, held against a claim at a significance."""

    claim: claims.Claim
    delta: float
    structure: Any
    evidence: CanaryEvidence
    significance: float

    def judgment(self) -> Judgment:
        """Return the judgment: a true claim FAILs with probability <= significance."""
        found = self.list_bounds()
        if refuting := [look for look in self.evidence.guessed if self.refutes(look)]:
            broken = min(map(self.why_broken, refuting))[1]
            return conclude("outputs", found, broken=broken, why_open=None, kept="")
        claimed, name = self._claimed
        least = max(_FACTOR * claimed, claimed + _STEP)
        seen = self._find_smallest_leak(least)
        why_open = self.why_open(found[-1].lower, seen, least)
        return conclude(
            "outputs", found, broken=None, why_open=why_open, kept=self.explain(found, f"{name} = {seen:.3g}")
        )

    def refutes(self, look: Guessed) -> bool:
        level = look.share * self.significance
        return is_refuted(self.claim, look.right, look.guesses, self.evidence.canaries, level, self.structure)

    def why_broken(self, look: Guessed) -> tuple[float, str]:
        """Return how improbable a look is, and the reason that it gives."""
        chance = pvalue(self.claim, look.right, look.guesses, self.evidence.canaries, self.structure) / look.share
        shared = "" if look.share == 1 else " for all cuts together"
        if isinstance(self.claim, PrivacyClaim) and self.claim.delta > 0:
            shared += f", of which {self.claim.delta:g} is its own delta"
        allowed = f"{self.claim} allows this with probability at most {chance:.2g}{shared}{self._declared}"
        return chance, f"{self._count_guesses(look)}: {allowed}"

    @property
    def _declared(self) -> str:
        return "; canaries are declared to act independently" if self.structure == "independent" else ""

    def list_bounds(self) -> tuple[Interval, ...]:
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
            return f"{self.evidence.canaries} canaries are too few: even right guesses alone cannot refute {self.claim}"
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
            return "not refuted, but the scores predict the coins no better than chance"
        return None

    def explain(self, found: tuple[Interval, ...], seen: str) -> str:
        look = max(self.evidence.guessed, key=self._bound)
        bound = f"{found[-1].quantity} is at least {found[-1].lower:.3g}"
        would = f"the best scores would have shown {seen} with power 0.8"
        return f"not refuted: {self._count_guesses(look)}, {bound}; {would}{self._declared}"

    def _count_guesses(self, look: Guessed) -> str:
        return f"{look.right} of {look.guesses} guesses about {self.evidence.canaries} canaries are right"

    @property
    def _claimed(self) -> tuple[float, str]:
        if isinstance(self.claim, GaussianClaim):
            return self.claim.mu, "mu"
        return _epsilon_at(self.claim, self.delta), "epsilon"

    def _find_smallest_leak(self, enough: float) -> float:
        """Return the smallest leak that some look detects; looks after the first one if that is not enough."""
        seen = math.inf
        for look in self.evidence.guessed:
            level = look.share * self.significance
            counts = look.guesses, self.evidence.canaries
            seen = min(seen, find_smallest_leak(self.claim, *counts, level, self.structure))
            if seen <= enough:
                break
        return seen


def _epsilon_at(claim: claims.Claim, delta: float) -> float:
    """Return the epsilon that a claim implies at a delta, just below; 0.0 where it implies any."""
    return bounds.invert_test(lambda epsilon: claim.profile(epsilon) > delta)


@dataclass(frozen=True, repr=False, eq=False)
class CanaryResult(Result):
    """The outcome of a check by canaries; see `audit.Result`.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import AddRemove, PrivacyClaim, check_canaries
    >>> result = check_canaries(np.ones(100), np.zeros(100), PrivacyClaim(1.0, relation=AddRemove()))
    >>> print(result.verdict, round(result.epsilon_lower_bound, 2))
    FAIL 3.98
    """

    evidence: CanaryEvidence

    def _bounds(self, start: str) -> list[float]:
        return [part.lower for part in self.bounds if part.quantity.startswith(start)] or [0.0]

    @property
    def epsilon_lower_bound(self) -> float:
        """Lower bound of epsilon at the check's delta; for a Gaussian claim, of the epsilon that its mu implies.

        It exceeds the truth with probability `significance` at most, whatever is claimed.
        """
        return max(self._bounds("epsilon"))

    @property
    def confirmed_epsilon_lower_bound(self) -> float:
        """The same at the error probability of a FAIL from one run: `confirmation`, or twice the claim's delta."""
        if not self.evidence.guessed or self.evidence.failure:
            return 0.0
        terms, level = self.check.terms(), self.confirmation or self.significance
        claim = claims.claim_of(json.loads(terms.claim))
        return Judged(claim, terms.delta, terms.structure, self.evidence, level).list_bounds()[-1].lower

    @property
    def mu_lower_bound(self) -> float:
        """Lower bound of mu at `significance` where the claim is Gaussian; 0.0 otherwise."""
        return max(self._bounds("mu"))


@dataclass(frozen=True, kw_only=True)
class CanaryCheck(StatedCheck):
    """A privacy claim about a training run, tested by canaries: records that fair coins include or leave out.

    A claim limits how many guesses of the coins are right. A single run cannot be drawn again, so it is judged FAIL
    only at the confirmation level, 1e-6 unless given. A claim with delta lets a mechanism reveal everything with that
    probability: one run then refutes it at twice delta, if that is larger, and the certificate says so.

    Parameters
    ----------
    claim : claim
        The claim; one coin must be one step of its relation. Any kind of claim; a Gaussian one gains most.
    scores_in, scores_out : array-like, shape (included,) and (left out,)
        A score of each canary, larger for "was included"; a function of the outputs of the run, the same for all; no
        NaN.
    guesses : int >= 1, optional
        How many coins are guessed: "included" for the highest scores, "left out" for as many of the lowest ones. Fixed
        before anyone sees scores. Scores that tie at a cut count as wrong as far as possible. None plans three numbers
        from the number of canaries, and shares the significance among them.
    delta : float in [0, 1], optional
        The delta at which epsilon is bounded: the claim's, or 1e-5 for a claim without one.
    structure : "any" or "independent"
        "independent" declares that canaries act independently of each other: the output about one depends on its
        own coin alone. Bounds are wrong where that is wrong; the verdict repeats the declaration.
    budget
        Nothing is drawn.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Steinke, Nasr & Jagielski (2023), Privacy auditing with one (1) training run. Mahloujifar, Melis & Chaudhuri (2025),
    Auditing f-differential privacy in one run.
    """

    claim: claims.Claim = field()  # required, though a utility check states its claim by a property of this name
    scores_in: Any
    scores_out: Any
    guesses: int | None = None
    delta: float | None = None
    structure: Structure = "any"

    kind: ClassVar[str] = "canaries"
    noun: ClassVar[str] = "the training run"
    unit: ClassVar[str] = "training runs"
    callables: ClassVar = {}
    terms_type: ClassVar[type[Any]] = CanaryTerms
    evidence_type: ClassVar[type[Evidence]] = CanaryEvidence
    result_type: ClassVar[type[Result]] = CanaryResult

    def _validate(self) -> None:
        claims.require_claim(self.claim)
        if not self.source:
            object.__setattr__(self, "source", self.claim.source)
        scores = read_scores(self.scores_in, self.scores_out)
        if self.guesses is not None:
            right_guesses(*scores, self.guesses)  # refuses impossible numbers of guesses
        if self.structure not in STRUCTURES:
            raise InvalidArgument.of("structure", f"be one of {', '.join(STRUCTURES)}", self.structure)
        self._convert(delta=validate.closed_probability)

    @property
    def subject(self) -> Any:
        return read_scores

    @property
    def usual_name(self) -> str:
        return "canaries"

    @property
    def uses(self) -> str:
        return "guesses about canaries"

    @property
    def summary(self) -> str:
        declared = ", canaries declared independent" if self.structure == "independent" else ""
        return f"{self.claim.short} {self.claim.relation.name}, by canaries{declared}"

    def plan(self, allowance: Allowance) -> tuple[Self, Allowance]:
        """Return the check with an allowance that leaves room for the events that a claim's delta allows."""
        check, planned = super().plan(allowance)
        if isinstance(self.claim, PrivacyClaim) and planned.confirmation is not None:
            planned = replace(planned, confirmation=max(planned.confirmation, DELTAS * self.claim.delta))
        return check, planned

    def terms(self) -> CanaryTerms:
        delta = self.delta
        if delta is None:
            delta = self.claim.delta if isinstance(self.claim, PrivacyClaim) else DEFAULT_DELTA
        return CanaryTerms(json.dumps(claims.claim_record(self.claim), sort_keys=True), delta, self.structure)

    def gather(self, allowance: Allowance) -> CanaryEvidence:
        """Guess the coins of the given scores."""
        included, left_out = map(np.sort, read_scores(self.scores_in, self.scores_out))
        canaries = len(included) + len(left_out)
        planned = (
            [(self.guesses, 1.0)]
            if self.guesses is not None
            else plan_guesses(self.claim, canaries, allowance.significance, self.structure)
        )
        guessed = tuple(Guessed(count, right_guesses(included, left_out, count), share) for count, share in planned)
        return CanaryEvidence(
            1,
            canaries,
            len(included),
            guessed,
            uses=self.uses,
            turned=right_guesses(-included, -left_out, guessed[0].guesses),
            digest=hashlib.sha256(b"".join(part.astype("<f8").tobytes() for part in (included, left_out))).hexdigest(),
        )

    @staticmethod
    def decide(terms: CanaryTerms, evidence: CanaryEvidence, significance: float) -> Judgment:
        """Return the judgment: a true claim FAILs with probability <= significance."""
        if not evidence.guessed:
            return leave_open("no coin was guessed")
        if said := why_unfair(evidence.included, evidence.canaries):
            return leave_open(f"{said}; include each canary by a fair coin of its own")
        claim = claims.claim_of(json.loads(terms.claim))
        return Judged(claim, terms.delta, terms.structure, evidence, significance).judgment()


@document_from(CanaryCheck)
def check_canaries(
    scores_in: Any,
    scores_out: Any,
    claim: claims.Claim,
    *,
    guesses: int | None = None,
    delta: float | None = None,
    structure: Structure = "any",
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = 2, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> CanaryResult:  # fmt: skip
    """Test a privacy claim by the scores of canaries in one training run.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import AddRemove, GaussianClaim, check_canaries
    >>> rng = np.random.default_rng(0)
    >>> included, left_out = rng.normal(1.0, 1.0, 5_000), rng.normal(0.0, 1.0, 5_000)
    >>> result = check_canaries(included, left_out, GaussianClaim(1.0, relation=AddRemove()))
    >>> print(result.verdict, round(result.mu_lower_bound, 2))
    PASS 0.7
    """
    return run_alone(
        CanaryCheck(
            name=name or UNNAMED, scores_in=scores_in, scores_out=scores_out, claim=claim, guesses=guesses,
            delta=delta, structure=structure, source=source, statement=statement, expected=expected,
            timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
