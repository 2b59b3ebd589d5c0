"""Minimax lower bounds of the risk: a learner that is more accurate than any private learner can be is not private."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from audit.base.arguments import nonnegative
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.base import checked
from audit.checks.utility.loss_draws import Support, call_number
from audit.checks.utility.risk_curve import ROUNDING, CurveCheck, CurveEvidence, losses_or_evaluator
from audit.checks.utility.theorem import Interval, UtilityJudgment, UtilityResult, undecided


@dataclass(frozen=True)
class LowerBoundTerms:
    """The numbers of the claim."""

    slack: float


@dataclass(frozen=True, kw_only=True)
class LowerBoundCheck(CurveCheck):
    """The claim that the risk keeps a proved minimax lower bound for private learners.

    The bound is one of the risk, not of epsilon: `epsilon_lower_bound` of a privacy check is another thing. FAIL if the
    mean risk is certainly below the bound at some size: the learner is not private in the sense of the theorem. PASS if
    it is certainly at least (1 - slack) bound at every size.

    Parameters
    ----------
    losses, evaluator, compared_at, sizes, support
        The risk that the theorem bounds: the largest over a family of distributions, or the average over a prior on the
        family. The risk on a single, easy distribution may lie below the bound without any fault. See `CurveCheck`.
    bound : callable
        `(n) -> float`: the proved lower bound of the risk.
    slack : float in [0, 1)
        How far below the bound, relative to it, a PASS may leave the risk.

    Other parameters are those of `UtilityCheck`.

    References
    ----------
    Duchi, Jordan and Wainwright (2018), Minimax optimal procedures for locally private estimation, section 2.

    Examples
    --------
    >>> from audit import LowerBoundCheck, run
    >>> check = LowerBoundCheck(name="mean", evaluator=lambda n: 2 / n, sizes=[10, 100], bound=lambda n: 1 / n)
    >>> print(run([check], workers=0).verdict)
    PASS
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
        """Return the numbers of the claim."""
        return LowerBoundTerms(self.slack)

    def reference(self, size: int) -> float | None:
        """Return the bound at `size`."""
        return call_number(self.bound, size, what=f"bound({size})")

    @staticmethod
    def decide(terms: LowerBoundTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
        """Return the judgment of the curve."""
        references = [point.reference or 0.0 for point in evidence.points]
        rows = list(zip(evidence.sizes, evidence.intervals(significance), references, strict=True))
        found = tuple(Interval(f"risk at n = {size} (bound {bound:.4g})", *ends) for size, ends, bound in rows)
        how = evidence.how(significance)
        for size, (_, upper), bound in rows:
            if upper < bound * (1 - ROUNDING):
                error = "" if evidence.uses == "evaluator" else f", error probability {significance:.2g}"
                reason = f"the risk at n = {size} is at most {upper:.4g}, below {bound:.4g}, which every private "
                reason += f"learner has: it is not private ({how}{error})"
                return UtilityJudgment(Verdict.FAIL, evidence.basis, reason, found)
        for size, (lower, _), bound in rows:
            if lower < bound * (1 - terms.slack - ROUNDING):
                risk = f"the risk at n = {size} may be {lower:.4g}, below {bound:.4g} by more than {terms.slack:.0%}"
                return undecided(f"not refuted, but {risk}: raise the budget", found)
        reason = f"the risk keeps the bound at all {len(rows)} sizes, within {terms.slack:.0%} ({how})"
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
    """Check that the risk of a learner keeps a proved minimax lower bound for private learners.

    This is not a lower bound of epsilon: see `audit.packing_epsilon_lower_bound` for one from the success rate.

    Parameters
    ----------
    losses : callable or None
        None, or left out, if an `evaluator` takes its place.
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

    References
    ----------
    See `audit.LowerBoundCheck`.

    Examples
    --------
    >>> from audit import check_lower_bound
    >>> result = check_lower_bound(evaluator=lambda n: 0.5 / n, sizes=[10, 100], bound=lambda n: 1 / n)
    >>> print(result.verdict)  # half the risk that every private learner has
    FAIL
    """
    result: UtilityResult = checked(LowerBoundCheck, locals())
    return result
