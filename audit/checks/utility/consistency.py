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
from audit.checks.base import checked
from audit.checks.utility.loss_draws import Support, call_number
from audit.checks.utility.risk_curve import CurveCheck, CurveEvidence, exceeds, losses_or_evaluator
from audit.checks.utility.theorem import Interval, UtilityJudgment, UtilityResult, undecided

Bounds = list[tuple[float, float]]


@dataclass(frozen=True)
class ConsistencyTerms:
    """The numbers of the claim."""

    bayes_risk: float
    tolerance: float
    monotone: bool


@dataclass(frozen=True, kw_only=True)
class ConsistencyCheck(CurveCheck):
    """The claim that the risk tends to the Bayes risk.

    FAIL if the mean risk at the largest size is certainly above bayes_risk + tolerance, if it is certainly above a
    stated bound at some size, or, for a risk declared monotone, if it certainly grows from one size to the next.
    PASS if it is certainly at most bayes_risk + tolerance at the largest size and at most bound + tolerance at every
    size. A risk certainly below the Bayes risk is INCONCLUSIVE: one of the two is computed wrongly.

    Parameters
    ----------
    losses, evaluator, compared_at, sizes, support
        Risks, not excess risks; see `CurveCheck`.
    bayes_risk : float
        The limit.
    tolerance : float >= 0
        The excess that may be left at the largest size.
    finite_bounds : callable, optional
        `(n) -> float`: a proved upper bound of the mean risk at every n.
    monotone : bool
        Whether the mean risk is claimed not to grow with n.

    Other parameters are those of `UtilityCheck`.

    References
    ----------
    Devroye, Gyorfi and Lugosi (1996), A probabilistic theory of pattern recognition, definition 6.1.

    Examples
    --------
    >>> from audit import ConsistencyCheck, run
    >>> def coin(n, replicates, rng):
    ...     return rng.random(replicates) < 0.2 + n**-0.5
    >>> check = ConsistencyCheck(name="coin", losses=coin, sizes=[100, 10_000], bayes_risk=0.2, tolerance=0.1)
    >>> print(run([check], budget=2_000, workers=0).verdict)
    PASS
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
        """Return the numbers of the claim."""
        return ConsistencyTerms(self.bayes_risk, self.tolerance, self.monotone)

    def reference(self, size: int) -> float | None:
        """Return the stated bound at `size`, if there is one."""
        if self.finite_bounds is None:
            return None
        return call_number(self.finite_bounds, size, what=f"finite_bounds({size})")

    @staticmethod
    def decide(terms: ConsistencyTerms, evidence: CurveEvidence, significance: float) -> UtilityJudgment:
        """Return the judgment of the curve."""
        bounds = evidence.intervals(significance)
        found = tuple(Interval(f"risk at n = {n}", *ends) for n, ends in zip(evidence.sizes, bounds, strict=True))
        if broken := _broken(terms, evidence, bounds):
            exact = evidence.uses == "evaluator"
            trust = "by an evaluator, without noise" if exact else f"error probability {significance:.2g}"
            return UtilityJudgment(Verdict.FAIL, evidence.basis, f"{broken} ({trust})", found)
        if why_open := _why_open(terms, evidence, bounds):
            return undecided(why_open, found)
        reason = f"the risk at n = {evidence.sizes[-1]} is at most {bounds[-1][1]:.4g}, within {terms.tolerance:g} of "
        reason += f"{terms.bayes_risk:g} ({evidence.how(significance)})"
        return UtilityJudgment(Verdict.PASS, evidence.basis, reason, found)


def _broken(terms: ConsistencyTerms, evidence: CurveEvidence, bounds: Bounds) -> str | None:
    """Return what refutes the claim, or None."""
    goal, lowest = terms.bayes_risk + terms.tolerance, bounds[-1][0]
    if exceeds(lowest, goal):
        return f"the risk at n = {evidence.sizes[-1]} is at least {lowest:.4g}, above {goal:.4g}"
    for point, (low, _) in zip(evidence.points, bounds, strict=True):
        if point.reference is not None and exceeds(low, point.reference):
            return f"the risk at n = {point.size} is at least {low:.4g}, above its bound {point.reference:.4g}"
    if terms.monotone:
        for (before, after), ((_, high), (low, _)) in zip(pairwise(evidence.sizes), pairwise(bounds), strict=True):
            if exceeds(low, high):
                return f"the risk grows from at most {high:.4g} at n = {before} to at least {low:.4g} at n = {after}"
    return None


def _why_open(terms: ConsistencyTerms, evidence: CurveEvidence, bounds: Bounds) -> str | None:
    """Return what bars a PASS, or None."""
    goal, highest = terms.bayes_risk + terms.tolerance, bounds[-1][1]
    if any(exceeds(terms.bayes_risk, high) for _, high in bounds):
        return "the risk lies below the Bayes risk that the check states: one of the two is wrong"
    if exceeds(highest, goal):
        risk = f"the risk at n = {evidence.sizes[-1]} may be {highest:.4g}"
        return f"not refuted, but {risk}, above {goal:.4g}: raise the budget"
    for point, (_, high) in zip(evidence.points, bounds, strict=True):
        if point.reference is not None and exceeds(high, point.reference + terms.tolerance):
            loose = f"n = {point.size}: risk up to {high:.4g}, bound {point.reference:.4g}"
            return f"not refuted, but a stated bound is not confirmed within {terms.tolerance:g}: {loose}"
    return None


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
        None, or left out, if an `evaluator` takes its place.
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

    References
    ----------
    See `audit.ConsistencyCheck`.

    Examples
    --------
    >>> from audit import check_consistency
    >>> result = check_consistency(
    ...     evaluator=lambda n: 0.2 + n**-0.5, sizes=[100, 10_000], bayes_risk=0.2, tolerance=0.05)
    >>> print(result.verdict, result.basis)
    PASS exact
    """
    result: UtilityResult = checked(ConsistencyCheck, locals())
    return result
