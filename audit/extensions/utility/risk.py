"""Check that the mean risk at several sizes tends to the Bayes risk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from audit import Result, Verdict
from audit.api import UNNAMED, Interval, Judgment, call_number, conclude, defaults, document_from, run_alone, validate
from audit.extensions.utility.curve import CurveCheck, CurveEvidence, exceeds
from audit.extensions.utility.means import Support


@dataclass(frozen=True)
class ConsistencyTerms:
    bayes_risk: float
    tolerance: float


@dataclass(frozen=True, kw_only=True)
class ConsistencyCheck(CurveCheck):
    """The claim that the risk tends to the Bayes risk, tested on the stated sizes.

    Without `finite_bounds` a PASS says that the risk is within the tolerance at the largest size, and nothing about
    a limit; give bounds that fall with n to claim a decrease.

    FAIL if the mean risk at the largest size is certainly above bayes_risk + tolerance, or certainly above a stated
    bound at some size.
    PASS if it is certainly at most bayes_risk + tolerance at the largest size and at most bound + tolerance at every
    size. A risk certainly below the Bayes risk is INCONCLUSIVE: one of the two is computed wrongly.

    Parameters
    ----------
    losses : callable, optional
        `(n, replicates, rng) -> (replicates,)`: independent losses of the learner, each trained on n fresh examples.
        Risks, not excess risks.
    evaluator : callable, optional
        `(n) -> float`: the mean loss without noise, in place of `losses`; the result says so.
    sizes : sequence of int
        Sample sizes, increasing.
    support : (low, high), or callable (n) -> (low, high)
        Range of the losses. A loss outside is INCONCLUSIVE. An infinite end gives no bound on that side, and claims
        about that side stay INCONCLUSIVE. A tighter support gives tighter bounds, because an upper bound allows for
        unseen losses at the upper end.
    bayes_risk : float
        The limit.
    tolerance : float >= 0
        The excess that may be left at the largest size.
    finite_bounds : callable, optional
        `(n) -> float`: a proved upper bound of the mean risk at every n.
    budget : int >= 2, optional
        Losses drawn in all, over all sizes; None takes the run's budget.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Devroye, Gyorfi and Lugosi (1996), A probabilistic theory of pattern recognition, definition 6.1.
    """

    bayes_risk: float = 0.0
    tolerance: float = 0.0
    finite_bounds: Callable[[int], float] | None = None

    kind: ClassVar[str] = "consistency"
    callables: ClassVar = {**CurveCheck.callables, "finite_bounds": "(n)"}
    terms_type: ClassVar[type[Any]] = ConsistencyTerms

    def _validate(self) -> None:
        super()._validate()
        self._convert(bayes_risk=validate.real, tolerance=validate.nonnegative)

    @property
    def summary(self) -> str:
        return f"risk -> {self.bayes_risk:.4g}, within {self.tolerance:.4g} at n = {self.sizes[-1]:.6g}"

    def reference(self, size: int) -> float | None:
        return None if self.finite_bounds is None else call_number(self.finite_bounds, "finite_bounds", size)

    @staticmethod
    def decide(terms: ConsistencyTerms, evidence: CurveEvidence, significance: float) -> Judgment:
        bounds = evidence.intervals(significance)
        last, (lowest, highest) = evidence.sizes[-1], bounds[-1]
        goal, tolerance = terms.bayes_risk + terms.tolerance, terms.tolerance
        broken, loose = [], []  # reasons against the claim, and against a PASS; the first of each is shown
        if exceeds(lowest, goal):
            broken.append(f"the risk at n = {last} is at least {lowest:.4g}, above {goal:.4g}")
        if any(exceeds(terms.bayes_risk, high) for _, high in bounds):
            loose.append("the risk lies below the Bayes risk that the check states: one of the two is wrong")
        if exceeds(highest, goal):
            risk = f"the risk at n = {last} may be {highest:.4g}"
            loose.append(f"not refuted, but {risk}, above {goal:.4g}: raise the budget")
        for point, (low, high) in zip(evidence.points, bounds, strict=True):
            n, bound = point.size, point.reference
            if bound is not None and exceeds(low, bound):
                broken.append(f"the risk at n = {n} is at least {low:.4g}, above its bound {bound:.4g}")
            if bound is not None and exceeds(high, bound + tolerance):
                risk = f"n = {n}: risk up to {high:.4g}, bound {bound:.4g}"
                loose.append(f"not refuted, but a stated bound is not confirmed within {tolerance:g}: {risk}")
        kept = f"the risk at n = {last} is at most {highest:.4g}, within {tolerance:g} of {terms.bayes_risk:g}"
        exact = evidence.uses == "evaluator"
        trust = "by an evaluator, without noise" if exact else f"error probability {significance:.2g}"
        return conclude(
            "computed" if exact else "outputs",
            tuple(Interval(f"risk at n = {n}", *ends) for n, ends in zip(evidence.sizes, bounds, strict=True)),
            broken=f"{broken[0]} ({trust})" if broken else None,
            why_open=loose[0] if loose else None,
            kept=f"{kept} ({evidence.how()})",
        )


@document_from(ConsistencyCheck)
def check_consistency(
    losses: Callable[..., Any] | None = None,
    sizes: Sequence[int] = (),
    bayes_risk: float = 0.0,
    tolerance: float = 0.0,
    *,
    evaluator: Callable[[int], float] | None = None,
    support: Support | Callable[[int], Support] = (0.0, 1.0),
    finite_bounds: Callable[[int], float] | None = None,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = defaults.DEFAULT_BUDGET, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Check that the risk comes within `tolerance` of the Bayes risk at the largest size.

    Examples
    --------
    >>> from audit import check_consistency
    >>> result = check_consistency(
    ...     evaluator=lambda n: 0.2 + n**-0.5, sizes=[100, 10_000], bayes_risk=0.2, tolerance=0.05)
    >>> print(result.verdict, result.basis)
    PASS computed
    """
    return run_alone(
        ConsistencyCheck(
            name=name or UNNAMED, losses=losses, sizes=sizes, bayes_risk=bayes_risk, tolerance=tolerance,
            evaluator=evaluator, support=support, finite_bounds=finite_bounds, source=source, statement=statement,
            expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
