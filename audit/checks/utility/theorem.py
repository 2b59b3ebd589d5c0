"""Share what all utility checks have: settings, evidence, the judgment with its intervals, the record."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, cast

from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.base import Check, Evidence, Judgment, Result
from audit.checks.plain import from_plain, to_plain

_USES = {"values": "stated values", "evaluator": "evaluator"}  # by the field that is judged; "simulation" for others


@dataclass(frozen=True)
class Interval:
    """Bounds of a quantity; those of one check hold together with probability at least 1 - significance."""

    quantity: str
    lower: float = field(metadata={"digits": 6})  # a replay may differ in further digits
    upper: float = field(metadata={"digits": 6})  # equal to `lower` when the value is exact

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.quantity} = {self.lower:.4g}"
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
        """Return False if a field is None and may be."""
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
