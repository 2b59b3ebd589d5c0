"""Define the common parts of checks whose claim is stated in words: settings, terms for the judge, record."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

from audit.checks.base import Check
from audit.errors import InvalidArgument
from audit.evidence.base import Judgment, leave_open
from audit.records.plain import from_plain, to_plain

_USES = {"values": "stated values", "evaluator": "evaluator"}  # by the field that is judged; "simulation" for others


@dataclass(frozen=True)
class StatedClaim:
    """A claim in words, with its source."""

    statement: str
    source: str

    def __str__(self) -> str:
        return self.statement


@dataclass(frozen=True)
class NoTerms:
    """No numbers: the words say all of the claim."""


@dataclass(frozen=True, kw_only=True)
class StatedCheck(Check):
    """A claim in words about some code, and the settings to test it; `InequalityCheck` documents the common ones."""

    source: str = ""
    statement: str = ""

    noun: ClassVar[str] = "the learner"
    unit: ClassVar[str] = "losses"
    callables: ClassVar[Mapping[str, str]]  # fields with functions, and their parameters; the first given is judged
    terms_type: ClassVar[type[Any]] = NoTerms  # frozen dataclass: the numbers of the claim that the judge needs

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
        """Replace the settings that are given by the values of their rules."""
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

    def observe_nothing(self, failure: str, cause: str = "error") -> Any:
        return replace(super().observe_nothing(failure, cause), uses=self.uses)

    def terms(self) -> Any:
        """Return the numbers of the claim: the settings that the terms name."""
        return self.terms_type(*(getattr(self, part.name) for part in fields(self.terms_type)))

    @property
    @abstractmethod
    def summary(self) -> str:
        """The claim in a few symbols."""

    @staticmethod
    @abstractmethod
    def decide(terms: Any, evidence: Any, significance: float) -> Judgment:
        """Return the judgment of evidence that nothing bars."""

    @classmethod
    def judge(cls, terms: Any, evidence: Any, significance: float) -> Judgment:
        """Return the judgment; evidence that ended early is INCONCLUSIVE with its cause, whatever else it holds."""
        if evidence.failure is not None:
            return leave_open(evidence.failure)
        return cls.decide(terms, evidence, significance)

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
