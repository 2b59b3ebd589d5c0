"""Check a stated inequality: between computed numbers, case by case, or between a sampled mean and a number."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from audit import Result, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    Evidence,
    Interval,
    InvalidArgument,
    Judgment,
    StatedCheck,
    bounds,
    call,
    conclude,
    defaults,
    document_from,
    errors,
    leave_open,
    run_alone,
    validate,
)
from audit.extensions.utility.means import LossDrawer, Support, require_support

Sense = Literal["<=", ">=", "=="]
_RELATIVE = 1e-9  # relative error that computed quantities may have, unless the check says otherwise
_ABSOLUTE = 1e-12  # absolute error that they may have, for bounds near 0


@dataclass(frozen=True)
class Case:
    """One instance of the inequality."""

    label: str
    quantity: float
    bound: float


@dataclass(frozen=True)
class InequalityTerms:
    sense: str
    tolerance: float
    bound: float | None

    def per_side(self, significance: float) -> float:
        """Return the significance of each bound of a mean that can decide a FAIL."""
        return significance / (2 if self.sense == "==" else 1)


@dataclass(frozen=True)
class InequalityEvidence(Evidence):
    """Computed cases, or the losses whose mean is compared with the bound."""

    cases: tuple[Case, ...] = ()
    sample: bounds.MeanSample | None = None


@dataclass(frozen=True, kw_only=True)
class InequalityCheck(StatedCheck):
    """The claim of an inequality `quantity <= bound`, `>=` or `==`.

    Either computed by `values`: PASS if every case holds, FAIL if one does not. Or sampled by `losses` within
    `support`: the mean loss is compared with `bound` by confidence bounds that hold in finite samples. FAIL if the mean
    lies certainly on the wrong side; PASS if it lies certainly on the right side.

    Parameters
    ----------
    values : callable, optional
        `() -> sequence of (label, quantity, bound)`, one for each case; an empty one is INCONCLUSIVE.
    losses : callable, optional
        `(replicates, rng) -> (replicates,)`: independent values within `support`.
    bound : float, optional
        Number that the mean of `losses` is compared with.
    support : (low, high)
        Range of the losses; a loss outside is INCONCLUSIVE. An infinite end gives no bound on that side.
    sense : {"<=", ">=", "=="}
        "==" needs `tolerance`.
    tolerance : float >= 0, optional
        Relative to the bound for `values` (default 1e-9, the error of the arithmetic); absolute for `losses` (default
        0): by how much the mean may miss the bound without breaking the claim.
    name : str
        Unique within a run; `--select` matches it.
    source : str
        The theorem.
    statement : str
        The claim in one sentence; reports show it.
    expected : Verdict
        PASS for code that should keep its claim; FAIL for a fault, or for a claim known to be false.
    budget : int >= 2, optional
        Losses drawn in all; None takes the run's budget.
    timeout : float > 0, optional
        Seconds after which the check is stopped and is INCONCLUSIVE; None takes the run's limit.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, section 4.
    """

    values: Callable[[], Any] | None = None
    losses: Callable[..., Any] | None = None
    bound: float | None = None
    support: Support = (0.0, 1.0)
    sense: Sense = "<="
    tolerance: float | None = None

    kind: ClassVar[str] = "inequality"
    callables: ClassVar = {"values": "()", "losses": "(replicates, rng)"}
    terms_type: ClassVar[type[Any]] = InequalityTerms
    evidence_type: ClassVar[type[Evidence]] = InequalityEvidence

    def _validate(self) -> None:
        if (self.values is None) == (self.losses is None):
            raise InvalidArgument("give either `values` or `losses`")
        if self.sense not in get_args(Sense):
            raise InvalidArgument.of("sense", "be one of <=, >=, ==", self.sense)
        if self.sense == "==" and self.tolerance is None:
            raise InvalidArgument("sense='==' needs `tolerance`: the largest difference that counts as equal")
        self._convert(tolerance=validate.nonnegative)
        if self.losses is not None:
            if not math.isfinite(validate.real(self.bound, "bound")):
                raise InvalidArgument.of("bound", "be finite", self.bound)
            self._convert(bound=validate.real, support=require_support)

    @property
    def summary(self) -> str:
        return f"quantity {self.sense} bound" if self.losses is None else f"mean {self.sense} {self.bound:.4g}"

    def terms(self) -> InequalityTerms:
        default = _RELATIVE if self.losses is None else 0.0
        tolerance = default if self.tolerance is None else self.tolerance
        return InequalityTerms(self.sense, tolerance, self.bound)

    def gather(self, allowance: Allowance) -> InequalityEvidence:
        cases: tuple[Case, ...] = ()
        sample, failure, drawer = None, None, LossDrawer(self.subject)
        try:
            if self.losses is None:
                cases = _cases_of(self.values)
            else:
                side = self.terms().per_side(allowance.significance)
                sample = drawer.sample(allowance.budget, self.support, allowance.stream, side)
        except errors.Unusable as unusable:
            failure = str(unusable)
        return InequalityEvidence(len(cases) + drawer.drawn, cases, sample, uses=self.uses, failure=failure)

    @staticmethod
    def decide(terms: InequalityTerms, evidence: InequalityEvidence, significance: float) -> Judgment:
        if evidence.sample is not None:
            return _judge_mean(terms, evidence.sample, significance)
        return _judge_cases(terms, evidence.cases)


def _cases_of(values: Any) -> tuple[Case, ...]:
    listed = call(lambda: list(values()), what="values()")
    try:
        return tuple(Case(str(label), float(quantity), float(bound)) for label, quantity, bound in listed)
    except (TypeError, ValueError) as error:
        raise errors.Unusable(f"values() must give (label, quantity, bound) in every case: {error}") from None


def _judge_cases(terms: InequalityTerms, cases: tuple[Case, ...]) -> Judgment:
    if not cases:
        return leave_open("there is no case: nothing was compared")
    if undefined := [case for case in cases if math.isnan(case.quantity) or math.isnan(case.bound)]:
        first = undefined[0]
        numbers = f"quantity {first.quantity:g}, bound {first.bound:g}"
        return leave_open(f"{first.label}: {numbers} ({len(undefined)} of {len(cases)})")
    excesses = [_excess(terms, case) for case in cases]
    worst = cases[excesses.index(max(excesses))]
    found = (Interval(f"{terms.sense} {worst.bound:.6g} in {worst.label}", worst.quantity, worst.quantity),)
    shown = f"{worst.label}: {worst.quantity:.10g} {terms.sense} {worst.bound:.10g}"
    broken = sum(excess > 0 for excess in excesses)
    return conclude(
        "computed",
        found,
        broken=f"{broken} of {len(cases)} cases break it; the worst is {shown}" if broken else None,
        why_open=None,
        kept=f"all {len(cases)} cases hold; the tightest is {shown}",
    )


def _excess(terms: InequalityTerms, case: Case) -> float:
    """Return by how much a case breaks the inequality beyond the error of arithmetic; relative, > 0 if broken."""
    if case.quantity == case.bound:
        return -terms.tolerance
    over = case.quantity - case.bound
    wrong = {"<=": over, ">=": -over, "==": abs(over)}[terms.sense]
    allowed = terms.tolerance * abs(case.bound) + _ABSOLUTE
    if math.isinf(allowed) or math.isinf(wrong):
        return wrong if math.isinf(wrong) else 0.0
    return (wrong - allowed) / max(abs(case.bound), abs(case.quantity))


def _judge_mean(terms: InequalityTerms, sample: bounds.MeanSample, significance: float) -> Judgment:
    assert terms.bound is not None
    sense, bound, room = terms.sense, terms.bound, terms.tolerance
    lower, upper = sample.bounds(terms.per_side(significance))
    shown = f"[{lower:.6g}, {upper:.6g}]"
    above, below = lower > bound + room, upper < bound - room
    is_broken = (above and sense != ">=") or (below and sense != "<=")
    is_open = (sense != ">=" and upper > bound + room) or (sense != "<=" and lower < bound - room)
    how = f"(error probability {significance:.2g}, {sample.count} losses)"
    return conclude(
        "outputs",
        (Interval("mean", lower, upper),),
        broken=f"the mean lies in {shown}, claimed {sense} {bound:.6g} {how}" if is_broken else None,
        why_open=f"not refuted, but the mean is only known to lie in {shown}: raise the budget" if is_open else None,
        kept=f"the mean lies in {shown}, {sense} {bound:.6g} up to {room:g}",
    )


@document_from(InequalityCheck)
def check_inequality(
    values: Callable[[], Any] | None = None,
    *,
    losses: Callable[..., Any] | None = None,
    bound: float | None = None,
    support: Support = (0.0, 1.0),
    sense: Sense = "<=",
    tolerance: float | None = None,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = defaults.DEFAULT_BUDGET, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Check a stated inequality: computed `values`, or the mean of sampled `losses` against `bound`.

    Examples
    --------
    >>> from audit import check_inequality
    >>> result = check_inequality(losses=lambda replicates, rng: rng.random(replicates), bound=0.6, budget=2_000)
    >>> print(result.verdict, result.bounds[0])
    PASS mean in [0.467, 0.5019]
    """
    return run_alone(
        InequalityCheck(
            name=name or UNNAMED, values=values, losses=losses, bound=bound, support=support, sense=sense,
            tolerance=tolerance, source=source, statement=statement, expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
