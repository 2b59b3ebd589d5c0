"""What all utility checks share: the claim in words, the examination, the result, and the record."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

from audit.base.arguments import integer, positive
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.contract import Outcome
from audit.checks.utility.plain import to_plain
from audit.subjects import Stream
from audit.subjects.describe import describe_mechanism

Uses = str  # "evaluator", "simulation", "stated values" or "nothing"


@dataclass(frozen=True)
class Interval:
    """Bounds of a quantity that the verdict rests on.

    Parameters
    ----------
    quantity : str
        What is bounded.
    lower, upper : float
        Both hold together with the other intervals of the check, with probability at least 1 - significance; equal
        when the value is exact.
    """

    quantity: str
    lower: float
    upper: float

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.quantity} = {self.lower:.4g}"
        return f"{self.quantity} in [{self.lower:.4g}, {self.upper:.4g}]"


@dataclass(frozen=True)
class UtilityJudgement:
    """A verdict, what it rests on, its reason, and the bounds that were found.

    Parameters
    ----------
    verdict : Verdict
    basis : str
        "exact" (values computed without noise), "statistical" (bounds that hold in finite samples), or "none".
    reason : str
        One sentence.
    found : tuple of Interval
    """

    verdict: Verdict
    basis: str
    reason: str
    found: tuple[Interval, ...] = ()


@dataclass(frozen=True)
class UtilityClaim:
    """What is claimed, in words, with its source."""

    statement: str
    source: str

    def __str__(self) -> str:
        return self.statement


class UtilityEvidence(Protocol):
    """What the evidence of every utility check has; frozen plain data."""

    @property
    def samples(self) -> int: ...
    @property
    def uses(self) -> Uses: ...

    def barred(self, significance: float) -> str | None:
        """Why there can be no verdict, or None."""
        ...


@dataclass(frozen=True, kw_only=True)
class UtilityCheck(ABC):
    """A utility theorem about one learner, and the settings to test it.

    Parameters
    ----------
    name : str
        Unique within a run; `--select` matches it.
    source : str
        The theorem.
    statement : str
        One sentence: what is claimed.
    expected : Verdict
        PASS for a theorem that should hold; FAIL for a fault, or for a statement known to be false.
    budget : int >= 2, optional
        Losses or trials drawn in all; None takes the run's budget.
    timeout : float > 0, optional
        Seconds after which the check is stopped and is INCONCLUSIVE; None takes the run's limit.
    """

    name: str
    source: str = ""
    statement: str = ""
    expected: Verdict = Verdict.PASS
    budget: int | None = None
    timeout: float | None = None

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidArgument.of("name", "be text, not empty", self.name)
        for name in ("source", "statement"):
            if not isinstance(getattr(self, name), str):
                raise InvalidArgument.of(name, "be text", getattr(self, name))
        if not isinstance(self.expected, Verdict):
            raise InvalidArgument.of("expected", "be a Verdict", self.expected)
        if self.budget is not None:
            object.__setattr__(self, "budget", integer(self.budget, "budget", at_least=2))
        if self.timeout is not None:
            object.__setattr__(self, "timeout", positive(self.timeout, "timeout"))
        self._validate()

    @abstractmethod
    def _validate(self) -> None:
        """Refuse settings outside their admissible sets."""

    @property
    @abstractmethod
    def subject(self) -> Any:
        """The callable under audit."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The claim in a few symbols."""

    @abstractmethod
    def terms(self) -> Any:
        """The numbers of the claim that the judge needs; a frozen dataclass of plain data."""

    @abstractmethod
    def gather(self, budget: int, significance: float, stream: Stream) -> Any:
        """Observe; whatever goes wrong in the subject ends up in the evidence as `failure`."""

    @abstractmethod
    def nothing(self, failure: str) -> Any:
        """Evidence of a check that observed nothing."""

    @staticmethod
    @abstractmethod
    def judge(terms: Any, evidence: Any, significance: float) -> UtilityJudgement:
        """Judge the evidence: a pure function, called live and by a replay."""

    @property
    def claim(self) -> UtilityClaim:
        """What is claimed, in words."""
        return UtilityClaim(self.statement or self.summary, self.source)

    def examine(self, budget: int, significance: float, stream: Stream) -> UtilityResult:
        """Observe and judge, in this process; the check's own budget, when it has one, replaces `budget`."""
        started = time.perf_counter()
        budget = self.budget or budget
        evidence = self.gather(budget, significance, stream)
        return self._result(budget, significance, evidence, time.perf_counter() - started)

    def failed(self, budget: int, significance: float, reason: str, seconds: float) -> UtilityResult:
        """The result of a check that was stopped before it brought evidence."""
        return self._result(self.budget or budget, significance, self.nothing(reason), seconds)

    def _result(self, budget: int, significance: float, evidence: Any, seconds: float) -> UtilityResult:
        judgement = judge_evidence(self.judge, self.terms(), evidence, significance)
        return UtilityResult(self, budget, significance, evidence, judgement, seconds)


def judge_evidence(
    judge: Callable[[Any, Any, float], UtilityJudgement], terms: Any, evidence: UtilityEvidence, significance: float
) -> UtilityJudgement:
    """Judge; evidence that ended early is INCONCLUSIVE with its cause, whatever else it holds."""
    barred = evidence.barred(significance)
    if barred is not None:
        return UtilityJudgement(Verdict.INCONCLUSIVE, "none", barred)
    return judge(terms, evidence, significance)


@dataclass(frozen=True)
class UtilityResult(Outcome):
    """The outcome of one utility check.

    Parameters
    ----------
    check : UtilityCheck
    budget : int
        Losses or trials that it might draw.
    significance : float
        Probability that a true claim is judged FAIL.
    evidence
        What was observed; its type belongs to the check's.
    judgement : UtilityJudgement
    seconds : float
    """

    check: UtilityCheck
    budget: int
    significance: float
    evidence: Any
    judgement: UtilityJudgement
    seconds: float

    @property
    def basis(self) -> str:
        """What the verdict rests on: "exact", "statistical" or "none"."""
        return self.judgement.basis

    @property
    def found(self) -> tuple[Interval, ...]:
        """The bounds that the verdict rests on."""
        return self.judgement.found

    @property
    def uses(self) -> Uses:
        """Whether an evaluator, a simulation or stated values were used."""
        uses: Uses = self.evidence.uses
        return uses

    def record(self) -> dict[str, Any]:
        """Plain data without durations: the same evidence gives the same record, wherever it was gathered."""
        check = self.check
        return {
            "name": check.name,
            "kind": check.kind,
            "mechanism": describe_mechanism(_inner(check.subject)),
            "expected": check.expected.value,
            "claim": {
                "statement": check.claim.statement,
                "summary": check.summary,
                "source": check.source,
                "terms": to_plain(check.terms()),
            },
            "settings": {"budget": self.budget, "significance": self.significance},
            "evidence": to_plain(self.evidence),
            **judgement_record(self.judgement),
        }


def _inner(subject: Any) -> Any:
    """The function inside a partial one."""
    return _inner(subject.func) if isinstance(subject, partial) else subject


def judgement_record(judgement: UtilityJudgement) -> dict[str, Any]:
    """The judged part of a record."""
    return {
        "verdict": judgement.verdict.value,
        "basis": judgement.basis,
        "reason": judgement.reason,
        "found": [
            {
                "quantity": part.quantity,
                "lower": to_plain(_rounded(part.lower)),
                "upper": to_plain(_rounded(part.upper)),
            }
            for part in judgement.found
        ],
    }


def _rounded(value: float) -> float:
    """Six digits: a replay on another machine may differ in the last ones."""
    return float(f"{value:.6g}")
