"""What all checks of utility theorems share: the claim in words, the bounds that were found, the result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.base import Check, Evidence, Judgment, Result
from audit.checks.plain import from_plain, to_plain


@dataclass(frozen=True)
class Interval:
    """Bounds of a quantity that the verdict rests on; a record keeps six digits."""

    quantity: str  # what is bounded
    # Both hold together with the other intervals of the check, with probability at least 1 - significance; equal
    # when the value is exact
    lower: float = field(metadata={"digits": 6})
    upper: float = field(metadata={"digits": 6})

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.quantity} = {self.lower:.4g}"
        return f"{self.quantity} in [{self.lower:.4g}, {self.upper:.4g}]"


@dataclass(frozen=True)
class UtilityEvidence(Evidence):
    """What the evidence of every utility check holds."""

    uses: str  # "evaluator", "simulation" or "stated values"

    def barred(self, significance: float) -> str | None:
        """Return why there can be no verdict, or None."""
        return self.failure


@dataclass(frozen=True)
class UtilityJudgment(Judgment):
    """A judgment, with the bounds that were found."""

    found: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class StatedClaim:
    """What is claimed, in words, with its source."""

    statement: str
    source: str

    def __str__(self) -> str:
        return self.statement


@dataclass(frozen=True, repr=False)
class UtilityResult(Result):
    """The outcome of one utility check; see `Result`."""

    @property
    def found(self) -> tuple[Interval, ...]:
        """The bounds that the verdict rests on."""
        found: tuple[Interval, ...] = self.judgment.found
        return found

    @property
    def uses(self) -> str:
        """What was used: "evaluator", "simulation" or "stated values"."""
        return str(self.evidence.uses)


@dataclass(frozen=True, kw_only=True)
class UtilityCheck(Check):
    """A utility theorem about one learner, and the settings to test it; see `Check` for the common ones."""

    source: str = ""  # the theorem
    statement: str = ""  # one sentence: what is claimed

    noun: ClassVar[str] = "the learner"
    unit: ClassVar[str] = "losses"
    terms_type: ClassVar[type[Any]]
    """Frozen dataclass of plain data: the numbers of the claim that the judge needs."""
    result_type: ClassVar[type[Result]] = UtilityResult

    def __post_init__(self) -> None:
        for name in ("source", "statement"):
            if not isinstance(getattr(self, name), str):
                raise InvalidArgument.of(name, "be text", getattr(self, name))
        super().__post_init__()

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
        if barred is not None:
            return UtilityJudgment(Verdict.INCONCLUSIVE, "none", barred)
        return cls.decide(terms, evidence, significance)

    @property
    def stated(self) -> str:
        """The claim in words."""
        return self.statement or self.summary

    @cached_property  # not a property: a subclass may have a field of this name
    def claim(self) -> Any:
        """What is claimed, in words."""
        return StatedClaim(self.stated, self.source)

    @classmethod
    def recorded_terms(cls, record: Mapping[str, Any]) -> Any:
        """Return the terms that a record holds."""
        return from_plain(cls.terms_type, record["claim"]["terms"])

    def recorded_claim(self) -> dict[str, Any]:
        """Return the claim as plain data, in words and in numbers."""
        return {
            "statement": self.stated,
            "summary": self.summary,
            "source": self.source,
            "terms": to_plain(self.terms()),
        }


def undecided(reason: str, found: tuple[Interval, ...] = ()) -> UtilityJudgment:
    """Return INCONCLUSIVE, for a reason."""
    return UtilityJudgment(Verdict.INCONCLUSIVE, "none", reason, found)
