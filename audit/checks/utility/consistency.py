"""Consistency: the risk comes within a tolerance of the Bayes risk at the largest size, and keeps stated bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from audit.base.arguments import nonnegative, real
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.running import checked
from audit.checks.utility.curve import ROUNDING, CurveCheck, CurveEvidence, losses_or_evaluator
from audit.checks.utility.simulation import Support, call_number
from audit.checks.utility.theorem import Interval, UtilityJudgment, UtilityResult


@dataclass(frozen=True)
class ConsistencyTerms:
    """What the judge needs of the claim."""

    bayes_risk: float
    tolerance: float
    monotone: bool


@dataclass(frozen=True, kw_only=True)
class ConsistencyCheck(CurveCheck):
    """The risk tends to the Bayes risk.

    FAIL when the mean risk at the largest size is certainly above bayes_risk + tolerance, when it is certainly above a
    stated bound at some size, or, for a risk declared monotone, when it certainly grows from one size to the next.
    PASS when it is certainly at most bayes_risk + tolerance at the largest size and at most bound + tolerance at every
    size. A risk certainly below the Bayes risk is INCONCLUSIVE: then one of the two is computed wrongly.

    Parameters
    ----------
    losses, evaluator, sizes, support
        Risks, not excess risks; see `CurveCheck`.
    bayes_risk : float >= 0
        The limit.
    tolerance : float >= 0
        What may be left of the excess at the largest size.
    finite_bounds : callable, optional
        `(n) -> float`: a proved upper bound of the mean risk at every n.
    monotone : bool
        Whether the mean risk is claimed not to grow with n.

    Other parameters are those of `UtilityCheck`.
    """

    bayes_risk: float = 0.0
    tolerance: float = 0.0
    finite_bounds: Callable[[int], float] | None = None
    monotone: bool = False

    kind: ClassVar[str] = "consistency"
    terms_type: ClassVar[type[Any]] = ConsistencyTerms

    def _validate(self) -> None:
        super()._validate()
        object.__setattr__(self, "bayes_risk", real(self.bayes_risk, "bayes_risk"))
        object.__setattr__(self, "tolerance", nonnegative(self.tolerance, "tolerance"))
        if self.finite_bounds is not None and not callable(self.finite_bounds):
            raise InvalidArgument.of("finite_bounds", "be callable as (n)", self.finite_bounds)

    @property
    def summary(self) -> str:
        """The claim in a few symbols."""
        return f"risk -> {self.bayes_risk:.4g}, within {self.tolerance:.4g} at n = {self.sizes[-1]:.6g}"

    def terms(self) -> ConsistencyTerms:
        """The numbers of the claim."""
        return ConsistencyTerms(self.bayes_risk, self.tolerance, self.monotone)

    def reference(self, size: int) -> float | None:
        """The stated bound at `size`."""
        if self.finite_bounds is None:
            return None
        return call_number(self.finite_bounds, size, what=f"finite_bounds({size})")

    @staticmethod
    def decide(terms: ConsistencyTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
        """Judge the evidence."""
        intervals = evidence.intervals(significance)
        upper = intervals[-1][1]
        size = evidence.sizes[-1]
        found = tuple(
            Interval(f"risk at n = {n}", *bounds) for n, bounds in zip(evidence.sizes, intervals, strict=True)
        )
        goal = terms.bayes_risk + terms.tolerance
        broken = _broken(terms, evidence, intervals, goal)
        if broken:
            return UtilityJudgment(Verdict.FAIL, evidence.basis, f"{broken}{_trust(evidence, significance)}", found)
        if any(_exceeds(terms.bayes_risk, high) for _, high in intervals):
            reason = "the risk lies below the Bayes risk that the check states: one of the two is wrong"
            return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)
        if _exceeds(upper, goal):
            reason = f"not refuted, but the risk at n = {size} may be {upper:.4g}, above {goal:.4g}: raise the budget"
            return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)
        loose = [
            f"n = {point.size}: risk up to {high:.4g}, bound {point.reference:.4g}"
            for point, (_, high) in zip(evidence.points, intervals, strict=True)
            if point.reference is not None and _exceeds(high, point.reference + terms.tolerance)
        ]
        if loose:
            reason = f"not refuted, but a stated bound is not confirmed within {terms.tolerance:g}: {loose[0]}"
            return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)
        reason = f"the risk at n = {size} is at most {upper:.4g}, within {terms.tolerance:g} of {terms.bayes_risk:g}"
        return UtilityJudgment(Verdict.PASS, evidence.basis, f"{reason} ({evidence.how(significance)})", found)


def _broken(
    terms: ConsistencyTerms, evidence: CurveEvidence, intervals: list[tuple[float, float]], goal: float
) -> str | None:
    """What refutes the claim, or None."""
    lower = intervals[-1][0]
    if _exceeds(lower, goal):
        return f"the risk at n = {evidence.sizes[-1]} is at least {lower:.4g}, above {goal:.4g}"
    for point, (low, _) in zip(evidence.points, intervals, strict=True):
        if point.reference is not None and _exceeds(low, point.reference):
            return f"the risk at n = {point.size} is at least {low:.4g}, above its bound {point.reference:.4g}"
    if terms.monotone:
        for index, ((_, high), (low, _)) in enumerate(pairwise(intervals)):
            if _exceeds(low, high):
                before, after = evidence.sizes[index], evidence.sizes[index + 1]
                return f"the risk grows from at most {high:.4g} at n = {before} to at least {low:.4g} at n = {after}"
    return None


def _exceeds(a: float, b: float) -> bool:
    """Whether a > b by more than the rounding of an evaluator."""
    return a > b + ROUNDING * abs(b)


def _trust(evidence: CurveEvidence, significance: float) -> str:
    if evidence.uses == "evaluator":
        return " (by an evaluator, without noise)"
    return f" (error probability {significance:.2g})"


@losses_or_evaluator
def check_consistency(
    losses: Callable[..., Any] | None,
    sizes: Sequence[int],
    bayes_risk: float = 0.0,
    tolerance: float = 0.0,
    *,
    evaluator: Callable[[int], float] | None = None,
    compared_at: Sequence[int] = (),
    support: Support | Callable[[int], Support] = (0.0, 1.0),
    finite_bounds: Callable[[int], float] | None = None,
    monotone: bool = False,
    source: str = "",
    statement: str = "",
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
) -> UtilityResult:
    """Check that the risk comes within `tolerance` of the Bayes risk at the largest size.

    Parameters
    ----------
    losses : callable or None
        None, or left out, when an `evaluator` takes its place.
    sizes, bayes_risk, tolerance, evaluator, compared_at, support, finite_bounds, monotone, source, statement, expected
        See `audit.ConsistencyCheck`.
    budget : int >= 2
        Losses drawn in all, over all sizes.
    name, significance, seed, timeout
        As for `audit.check_inequality`.

    Returns
    -------
    UtilityResult

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    result: UtilityResult = checked(ConsistencyCheck, locals())
    return result
