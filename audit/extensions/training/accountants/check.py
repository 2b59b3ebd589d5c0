"""Check accountants: does a function return at least the epsilon of an event?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from audit import AuditError, Result, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    Evidence,
    Interval,
    InvalidArgument,
    Judgment,
    StatedCheck,
    call,
    call_number,
    conclude,
    defaults,
    document_from,
    errors,
    leave_open,
    run_alone,
    validate,
)

_SHORT = 1e-6  # relative: an epsilon that is less than this below the truth is rounding


@dataclass(frozen=True)
class StatedEpsilon:
    """The epsilon that an accountant says of an event, with bounds of the truth."""

    label: str
    stated: float
    lower: float
    upper: float


@dataclass(frozen=True)
class AccountingTerms:
    delta: float


@dataclass(frozen=True)
class AccountingEvidence(Evidence):
    """The epsilons that were stated; `samples` counts events."""

    accounted: tuple[StatedEpsilon, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AccountingCheck(StatedCheck):
    """The claim that an accountant's epsilon of events is at least the true epsilon.

    FAIL if it states less than the epsilon of one pair of datasets, without noise. PASS if it states at least that for
    all events; the reason has the largest ratio to the lower bound of the truth. INCONCLUSIVE
    if it raises or does not return a finite number, or if an event has no lower bound above 0.

    Parameters
    ----------
    accountant : callable (event, delta) -> float
        The accountant under audit: epsilon at `delta`.
    events : sequence of events, optional
        Events accounted for, in the order of the report, which shows the `repr` of each. By default those of
        `audit.extensions.training.accountants.brackets.usual_events`.
    delta : float in (0, 1), default 1e-5
        The delta at which epsilon is stated.
    bracket : callable (event, delta) -> (lower, upper), optional
        Bounds of the true epsilon: `epsilon_bracket` of `audit.extensions.training.accountants.brackets`, with the
        relation of the accountant. The real event may be another one than the accountant assumes: give the bracket
        of the real one.
    budget : int >= 2, optional
        Nothing is drawn.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Chua et al. (2024), How private are DP-SGD implementations? Lebeda et al. (2025), Avoiding pitfalls for privacy
    accounting of subsampled mechanisms under composition.
    """

    accountant: Callable[[Any, float], float]
    events: Sequence[Any] | None = None
    delta: float = 1e-5
    bracket: Callable[[Any, float], Any] | None = None

    kind: ClassVar[str] = "accounting"
    noun: ClassVar[str] = "the accountant"
    unit: ClassVar[str] = "events"
    callables: ClassVar = {"accountant": "(event, delta)", "bracket": "(event, delta)"}
    terms_type: ClassVar[type[Any]] = AccountingTerms
    evidence_type: ClassVar[type[Evidence]] = AccountingEvidence

    def _validate(self) -> None:
        self._convert(delta=validate.open_probability)
        if self.events is None:
            return
        if isinstance(self.events, str) or not isinstance(self.events, Sequence) or not self.events:
            raise InvalidArgument.of("events", "be a list of at least one event", self.events)

    @property
    def uses(self) -> str:
        return "stated values"

    @property
    def summary(self) -> str:
        return f"stated epsilon >= true epsilon at delta {self.delta:g}"

    def gather(self, allowance: Allowance) -> AccountingEvidence:
        """Ask the accountant and the bracket about every event, until one of them fails."""
        from audit.extensions.training.accountants.brackets import epsilon_bracket, usual_events

        found: list[StatedEpsilon] = []
        failure = None
        try:
            for event in usual_events() if self.events is None else self.events:
                stated = call_number(lambda one: self.accountant(one, self.delta), "accountant", event)
                lower, upper = call(self.bracket or epsilon_bracket, event, self.delta, what="bracket(event, delta)")
                found.append(StatedEpsilon(repr(event), stated, float(lower), float(upper)))
        except (errors.Unusable, AuditError) as unusable:
            failure = str(unusable)
        return AccountingEvidence(len(found), tuple(found), uses=self.uses, failure=failure)

    @staticmethod
    def decide(terms: AccountingTerms, evidence: AccountingEvidence, significance: float) -> Judgment:
        """Return the judgment: no probability is in it."""
        if not evidence.accounted:
            return leave_open("no event was accounted for")
        found = tuple(Interval(f"epsilon of {part.label}", part.lower, part.upper) for part in evidence.accounted)
        short = [part for part in evidence.accounted if part.stated < part.lower * (1 - _SHORT)]
        broken = None
        if short:
            least = max(short, key=lambda part: part.lower - part.stated)
            broken = (
                f"for {least.label} it returns epsilon = {least.stated:.4g}, but one pair of datasets has at least "
                f"{least.lower:.4g} at delta {terms.delta:g}"
            )
        blank = [part.label for part in evidence.accounted if not part.lower > 0]
        ratio = max(part.stated / part.lower for part in evidence.accounted if part.lower > 0) if not blank else 0.0
        return conclude(
            "computed",
            found,
            broken=broken,
            why_open=f"no pair of {blank[0]} has an epsilon above 0" if blank else None,
            kept=f"an upper bound for all {len(found)} events, at most {ratio:.4g} times a lower bound",
        )


@document_from(AccountingCheck)
def check_accounting(
    accountant: Callable[[Any, float], float],
    events: Sequence[Any] | None = None,
    delta: float = 1e-5,
    bracket: Callable[[Any, float], Any] | None = None,
    *,
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = 2, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Check that an accountant says at least the true epsilon of events.

    Examples
    --------
    >>> from dp_accounting import dp_event
    >>> from dp_accounting.pld import PLDAccountant
    >>> from audit import check_accounting
    >>> from audit.extensions.training.accountants.brackets import epsilon_bracket
    >>> def pld(event, delta):
    ...     return PLDAccountant().compose(event).get_epsilon(delta)
    >>> print(check_accounting(pld, [dp_event.GaussianDpEvent(1.0)], 1e-5, epsilon_bracket).verdict)
    PASS
    """
    return run_alone(
        AccountingCheck(
            name=name or UNNAMED, accountant=accountant, events=events, delta=delta, bracket=bracket, source=source,
            statement=statement, expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
