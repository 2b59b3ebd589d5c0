"""Lower bounds: a learner that is more accurate than any private learner can be is not private."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from audit.base.arguments import nonnegative
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.running import checked
from audit.checks.utility.curve import ROUNDING, CurveCheck, CurveEvidence, losses_or_evaluator
from audit.checks.utility.simulation import Support, call_number
from audit.checks.utility.theorem import Interval, UtilityJudgment, UtilityResult


@dataclass(frozen=True)
class LowerBoundTerms:
    """What the judge needs of the claim."""

    slack: float


@dataclass(frozen=True, kw_only=True)
class LowerBoundCheck(CurveCheck):
    """The risk keeps a proved minimax lower bound for private learners.

    FAIL when the mean risk is certainly below the bound at some size: then the learner is not private in the sense of
    the theorem. PASS when it is certainly at least (1 - slack) bound at every size.

    Parameters
    ----------
    losses, evaluator, sizes, support
        The risk that the theorem bounds, which is the largest over a family of distributions, or the average over
        a prior on it. The risk on a single, easy distribution may lie below the bound without any fault.
    bound : callable
        `(n) -> float`: the proved lower bound.
    slack : float in [0, 1)
        Relative: how far below the bound a PASS may leave the risk unexcluded.

    Other parameters are those of `UtilityCheck`.
    """

    bound: Callable[[int], float]
    slack: float = 0.1

    kind: ClassVar[str] = "lower-bound"
    terms_type: ClassVar[type[Any]] = LowerBoundTerms

    def _validate(self) -> None:
        super()._validate()
        if not callable(self.bound):
            raise InvalidArgument.of("bound", "be callable as (n)", self.bound)
        object.__setattr__(self, "slack", nonnegative(self.slack, "slack"))
        if self.slack >= 1:
            raise InvalidArgument.of("slack", "be less than 1", self.slack)

    @property
    def summary(self) -> str:
        """The claim in a few symbols."""
        return "risk >= the private lower bound"

    def terms(self) -> LowerBoundTerms:
        """The numbers of the claim."""
        return LowerBoundTerms(self.slack)

    def reference(self, size: int) -> float | None:
        """The bound at `size`."""
        return call_number(self.bound, size, what=f"bound({size})")

    @staticmethod
    def decide(terms: LowerBoundTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
        """Judge the evidence."""
        intervals = evidence.intervals(significance)
        bounds = [point.reference or 0.0 for point in evidence.points]
        rows = list(zip(evidence.sizes, intervals, bounds, strict=True))
        found = tuple(Interval(f"risk at n = {size} (bound {bound:.4g})", *span) for size, span, bound in rows)
        error = "" if evidence.uses == "evaluator" else f", error probability {significance:.2g}"
        for size, (_, upper), bound in rows:
            if upper < bound * (1 - ROUNDING):
                reason = f"the risk at n = {size} is at most {upper:.4g}, below {bound:.4g}, which every private "
                reason += f"learner has: it is not private ({evidence.how(significance)}{error})"
                return UtilityJudgment(Verdict.FAIL, evidence.basis, reason, found)
        for size, (lower, _), bound in rows:
            if lower < bound * (1 - terms.slack - ROUNDING):
                reason = f"not refuted, but the risk at n = {size} may be {lower:.4g}, below {bound:.4g} by more than "
                reason += f"{terms.slack:.0%}: raise the budget"
                return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)
        reason = f"the risk keeps the bound at all {len(rows)} sizes, within {terms.slack:.0%} "
        reason += f"({evidence.how(significance)})"
        return UtilityJudgment(Verdict.PASS, evidence.basis, reason, found)


@losses_or_evaluator
def check_lower_bound(
    losses: Callable[..., Any] | None,
    sizes: Sequence[int],
    bound: Callable[[int], float],
    *,
    slack: float = 0.1,
    evaluator: Callable[[int], float] | None = None,
    compared_at: Sequence[int] = (),
    support: Support | Callable[[int], Support] = (0.0, 1.0),
    source: str = "",
    statement: str = "",
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
) -> UtilityResult:
    """Check that the risk keeps a proved lower bound for private learners.

    Parameters
    ----------
    losses : callable or None
        None, or left out, when an `evaluator` takes its place.
    sizes, bound, slack, evaluator, compared_at, support, source, statement, expected
        See `audit.LowerBoundCheck`.
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
    result: UtilityResult = checked(LowerBoundCheck, locals())
    return result
