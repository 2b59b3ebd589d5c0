"""Share what all utility checks have: settings, evidence, judgment, record; and the curve over the sample sizes."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any, ClassVar, ParamSpec, TypeVar, cast

from audit.base.arguments import integer
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.allowance import Allowance
from audit.checks.base import Check, Evidence, Judgment, Result
from audit.checks.plain import from_plain, to_plain
from audit.game.means import (
    ROUNDING,
    LossDrawer,
    MeanSample,
    Support,
    Unusable,
    call,
    call_number,
    require_support,
)

_USES = {"values": "stated values", "evaluator": "evaluator"}  # by the field that is judged; "simulation" for others

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Interval:
    """Bounds of a quantity; those of one check hold together with probability at least 1 - significance."""

    quantity: str
    lower: float = field(metadata={"digits": 6})  # a replay may differ in further digits
    upper: float = field(metadata={"digits": 6})  # equal to `lower` when the value is exact

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.quantity} = {self.lower:.4g}"
        if self.upper == math.inf:
            return f"{self.quantity} >= {self.lower:.4g}"
        return f"{self.quantity} in [{self.lower:.4g}, {self.upper:.4g}]"


Found = tuple[Interval, ...]


@dataclass(frozen=True)
class UtilityEvidence(Evidence):
    """The evidence of a utility check; `uses` is "evaluator", "simulation" or "stated values"."""

    uses: str

    def barred(self, significance: float) -> str | None:
        """Return the reason why there can be no verdict, or None."""
        return self.failure


@dataclass(frozen=True)
class UtilityJudgment(Judgment):
    """A judgment, with the bounds that were found."""

    found: Found = ()


@dataclass(frozen=True)
class StatedClaim:
    """A claim in words, with its source."""

    statement: str
    source: str

    def __str__(self) -> str:
        return self.statement


@dataclass(frozen=True, repr=False)
class UtilityResult(Result):
    """The outcome of a utility check; see `PrivacyResult` for what all results have.

    Examples
    --------
    >>> import audit
    >>> result = audit.check_inequality(lambda: [("n = 3", 1.3, 1.331)])
    >>> print(result.uses, result.found[0])
    stated values <= 1.331 in n = 3 = 1.3
    """

    @property
    def found(self) -> Found:
        """The bounds that the verdict rests on."""
        return tuple(self.judgment.found)

    @property
    def uses(self) -> str:
        """The kind of evidence: "evaluator", "simulation" or "stated values"."""
        return str(self.evidence.uses)


@dataclass(frozen=True, kw_only=True)
class UtilityCheck(Check):
    """A utility theorem about one learner, and the settings to test it; `InequalityCheck` documents the common ones."""

    source: str = ""
    statement: str = ""

    noun: ClassVar[str] = "the learner"
    unit: ClassVar[str] = "losses"
    callables: ClassVar[Mapping[str, str]]  # fields with functions, and their parameters; the first given is judged
    terms_type: ClassVar[type[Any]]  # frozen dataclass of plain data: the numbers of the claim that the judge needs
    result_type: ClassVar[type[Result]] = UtilityResult

    def __post_init__(self) -> None:
        for name in ("source", "statement"):
            if not isinstance(getattr(self, name), str):
                raise InvalidArgument.of(name, "be text", getattr(self, name))
        for name, parameters in self.callables.items():
            if self._is_given(name) and not callable(getattr(self, name)):
                raise InvalidArgument.of(name, f"be callable as {parameters}", getattr(self, name))
        super().__post_init__()

    def _is_given(self, name: str) -> bool:
        optional = next(part.default is None for part in fields(self) if part.name == name)
        return not (optional and getattr(self, name) is None)

    def _convert(self, **rules: Callable[[object, str], object]) -> None:
        """Replace the settings that are given by what their rules return."""
        for name, rule in rules.items():
            if self._is_given(name):
                object.__setattr__(self, name, rule(getattr(self, name), name))

    @property
    def _judged(self) -> str:
        return next(name for name in self.callables if self._is_given(name))

    @property
    def subject(self) -> Any:
        return getattr(self, self._judged)

    @property
    def uses(self) -> str:
        """The kind of evidence."""
        return _USES.get(self._judged, "simulation")

    def nothing(self, failure: str, cause: str = "error") -> Any:
        return cast(Any, self.evidence_type)(0, self.uses, failure=failure)

    def terms(self) -> Any:
        """Return the numbers of the claim: the settings that the terms name."""
        return self.terms_type(*(getattr(self, part.name) for part in fields(self.terms_type)))

    @property
    @abstractmethod
    def summary(self) -> str:
        """The claim in a few symbols."""

    @staticmethod
    @abstractmethod
    def decide(terms: Any, evidence: Any, significance: float) -> UtilityJudgment:
        """Return the judgment of evidence that nothing bars."""

    @classmethod
    def judge(cls, terms: Any, evidence: Any, significance: float) -> UtilityJudgment:
        """Return the judgment; evidence that ended early is INCONCLUSIVE with its cause, whatever else it holds."""
        barred = evidence.barred(significance)
        return cls.decide(terms, evidence, significance) if barred is None else undecided(barred)

    @property
    def stated(self) -> str:
        return self.statement or self.summary

    @cached_property  # not a property: a subclass may have a field of this name
    def claim(self) -> Any:
        """The claim in words, with its source."""
        return StatedClaim(self.stated, self.source)

    @classmethod
    def recorded_terms(cls, record: Mapping[str, Any]) -> Any:
        return from_plain(cls.terms_type, record["claim"]["terms"])

    def recorded_claim(self) -> dict[str, Any]:
        words = {"statement": self.stated, "summary": self.summary, "source": self.source}
        return {**words, "terms": to_plain(self.terms())}


def undecided(reason: str, found: Found = ()) -> UtilityJudgment:
    """Return INCONCLUSIVE, for a reason."""
    return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)


def conclude(basis: str, found: Found, *, broken: str | None, why_open: str | None, kept: str) -> UtilityJudgment:
    """Return FAIL if something breaks the claim, else INCONCLUSIVE if something bars a PASS, else PASS."""
    if broken:
        return UtilityJudgment(Verdict.FAIL, basis, broken, found)
    return undecided(why_open, found) if why_open else UtilityJudgment(Verdict.PASS, basis, kept, found)


@dataclass(frozen=True)
class CurvePoint:
    """The observations at one sample size: an evaluator's value, simulated losses, or both."""

    size: int
    exact: float | None
    sample: MeanSample | None
    reference: float | None  # value of the function that the claim states: a bound, or a scale

    def interval(self, significance: float) -> tuple[float, float]:
        """Return bounds of the mean, each wrong with probability at most `significance`; equal if it was computed."""
        if self.sample is not None:
            return self.sample.bounds(significance)
        assert self.exact is not None
        return self.exact, self.exact


@dataclass(frozen=True)
class CurveEvidence(UtilityEvidence):
    points: tuple[CurvePoint, ...] = ()
    beyond: tuple[CurvePoint, ...] = ()  # values of an evaluator at larger sizes, before a rate is refuted
    compared: tuple[CurvePoint, ...] = ()  # where the losses were compared with the evaluator: both are there

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that were observed."""
        return tuple(point.size for point in self.points)

    def intervals(self, significance: float, *, compared: bool = False) -> list[tuple[float, float]]:
        """Return bounds of all means of one kind, together right with probability at least 1 - significance."""
        points = self.compared if compared else self.points
        share = significance / (2 * max(1, len(points)))
        return [point.interval(share) for point in points]

    def barred(self, significance: float) -> str | None:
        """Return why there can be no verdict: the check ended early, or the losses contradict the evaluator."""
        if self.failure is not None:
            return self.failure
        for point, (lower, upper) in zip(self.compared, self.intervals(significance, compared=True), strict=True):
            assert point.exact is not None
            if not lower - ROUNDING * abs(lower) <= point.exact <= upper + ROUNDING * abs(upper):
                numbers = f"{point.exact:.6g}, and a mean in [{lower:.6g}, {upper:.6g}]"
                return f"the evaluator and the losses disagree at n = {point.size}: {numbers}"
        return None

    def how(self, significance: float) -> str:
        if self.uses == "simulation":
            return "by simulation"
        if not self.compared:
            return "by an evaluator, without noise"
        widest = max((upper - lower) / 2 for lower, upper in self.intervals(significance, compared=True))
        sizes = ", ".join(str(point.size) for point in self.compared)
        return f"by an evaluator, without noise; the losses agree with it within {widest:.2g} at n = {sizes}"


@dataclass(frozen=True, kw_only=True)
class CurveCheck(UtilityCheck):
    """A claim about the mean loss as a function of the sample size; `ConsistencyCheck` documents its parameters."""

    losses: Callable[..., Any] | None = None
    evaluator: Callable[[int], float] | None = None
    sizes: Sequence[int]
    support: Support | Callable[[int], Support] = (0.0, 1.0)
    compared_at: Sequence[int] = ()

    callables: ClassVar = {"evaluator": "(n)", "losses": "(n, replicates, rng)"}
    least_sizes: ClassVar[int] = 1
    evidence_type: ClassVar[type[Evidence]] = CurveEvidence

    def _validate(self) -> None:
        if self.losses is None and self.evaluator is None:
            raise InvalidArgument("one of `losses` and `evaluator` must be given, got neither")
        object.__setattr__(self, "sizes", _checked_sizes(self.sizes, "sizes", self.least_sizes))
        if self.losses is not None and self.evaluator is not None:
            compared = _checked_sizes(self.compared_at or self.sizes[:1], "compared_at", 1)
            object.__setattr__(self, "compared_at", compared)
        elif self.compared_at:
            raise InvalidArgument("`compared_at` needs both `losses` and `evaluator`")
        if self.losses is not None and not callable(self.support):
            self._convert(support=require_support)

    def reference(self, size: int) -> float | None:
        """Return the value at `size` of the function that the claim states, if it states one."""
        return None

    def bet_share(self, significance: float) -> float:
        """Return the significance for which bets are chosen; the bounds hold whatever it is."""
        return significance / (2 * len(self.sizes))

    def look_beyond(self, points: tuple[CurvePoint, ...]) -> tuple[CurvePoint, ...]:
        """Return further values of an evaluator, if the kind of check needs any."""
        return ()

    def gather(self, allowance: Allowance) -> CurveEvidence:
        """Observe every size; a failure ends it, and what was observed before is kept."""
        drawer = LossDrawer(self.subject if self.losses is None else self.losses)
        points: list[CurvePoint] = []
        compared: list[CurvePoint] = []
        beyond: tuple[CurvePoint, ...] = ()
        failure = None
        count, share = allowance.budget // len(self.compared_at or self.sizes), self.bet_share(allowance.significance)

        def simulate(index: int, size: int) -> MeanSample:
            support = self.support
            if callable(support):
                try:
                    support = require_support(call(support, size, what=f"support({size})"))
                except InvalidArgument as error:
                    raise Unusable(str(error)) from None
            return drawer.sample(count, support, share, allowance.stream.child(index), size)

        try:
            for index, size in enumerate(self.sizes):
                sample = simulate(index, size) if self.evaluator is None else None
                points.append(CurvePoint(size, self._value(size), sample, self.reference(size)))
            for index, size in enumerate(self.compared_at):
                compared.append(CurvePoint(size, self._value(size), simulate(index, size), None))
            beyond = self.look_beyond(tuple(points))
        except Unusable as unusable:
            failure = str(unusable)
        values = 0 if self.evaluator is None else len(points) + len(beyond)
        return CurveEvidence(drawer.drawn + values, self.uses, tuple(points), beyond, tuple(compared), failure=failure)

    def _value(self, size: int) -> float | None:
        return None if self.evaluator is None else call_number(self.evaluator, "evaluator", size)


def exceeds(a: float, b: float) -> bool:
    """Return whether a > b by more than the rounding of an evaluator."""
    return a > b + ROUNDING * abs(b)


def _checked_sizes(sizes: Any, name: str, least: int) -> tuple[int, ...]:
    try:
        listed = tuple(integer(size, name, at_least=1) for size in sizes)
    except TypeError:
        raise InvalidArgument.of(name, "be a sequence of integers", sizes) from None
    if len(listed) < least:
        raise InvalidArgument.of(name, f"hold at least {least} sample sizes", sizes)
    if any(b <= a for a, b in pairwise(listed)):
        raise InvalidArgument.of(name, "increase", sizes)
    return listed


def losses_or_evaluator(check: Callable[P, R]) -> Callable[P, R]:
    """Return a function `check_...` whose `losses` may be left out if an `evaluator` takes their place."""

    @wraps(check)
    def wrapped(*arguments: P.args, **settings: P.kwargs) -> R:
        if not arguments:
            settings.setdefault("losses", None)
        return check(*arguments, **settings)

    return wrapped
