"""Define what every kind of check shares: it gathers evidence, judges the evidence, and renders a record.

A kind of check is a subclass of `Check`, with its evidence, its judgment and, where it has properties of its own, its
result. Settings, results, records, isolation and time limits are written once, here; plain data in
`audit.checks.plain`; the list of kinds in `audit.report.kinds`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Self

from audit.base.arguments import EFFORTS, Budget, Effort, budget_of, open_probability, positive
from audit.base.errors import AuditError, InvalidArgument, InvalidCertificate
from audit.base.text import described, printable
from audit.base.verdict import Verdict, outcome
from audit.checks import confirm
from audit.checks.allowance import Allowance
from audit.checks.plain import from_plain, to_plain
from audit.subjects.keeper import is_of_subject
from audit.subjects.place import HERE, Place
from audit.subjects.pool import Pool, open_pool
from audit.subjects.subject import describe_mechanism, name_of

_ALLOWED = ("budget", "significance", "confirmation", "seed", "workers")  # parameters of every function `check_...`
_LINE = 100  # characters of a result's `repr`
_MALFORMED = (AuditError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError)


@dataclass(frozen=True)
class Evidence:
    """Hold what a check observed: frozen plain data, from which the verdict is computed, live or from a file."""

    samples: int  # outputs, losses or trials drawn, or values computed
    failure: str | None = field(default=None, kw_only=True)  # why the check ended early
    # evidence of the same kind from fresh outputs, where this one refutes the claim
    confirmation: Any = field(default=None, kw_only=True, metadata={"since": "1.2"})

    def __post_init__(self) -> None:
        if self.samples < 0:
            raise InvalidArgument.of("samples", "be >= 0", self.samples)

    @property
    def is_final(self) -> bool:
        """True if nothing fresh can be drawn to confirm it."""
        return False


@dataclass(frozen=True)
class Judgment:
    """Hold a verdict, what it rests on, and its reason in one sentence."""

    verdict: Verdict
    basis: str  # "exact" (a stated law, values without noise), "statistical" (finite-sample bounds) or "none"
    reason: str

    def record(self) -> dict[str, Any]:
        """Return the judged part of a record."""
        return to_plain(self)


@dataclass(frozen=True, repr=False)
class Result:
    """The outcome of a check."""

    check: Any  # where it searched for its pairs, with the pairs that it found
    budget: int  # what it was allowed to draw
    significance: float  # probability that a true claim is suspected; it is judged FAIL with that of `confirmation`
    evidence: Any
    judgment: Any
    seconds: float
    # the process that the code under audit ran in: "process" for one of its own, "caller" for that of the caller
    isolation: str = field(default="caller", kw_only=True)
    confirmation: float | None = field(default=None, kw_only=True)  # probability of a wrong FAIL, with fresh outputs
    printed: str = field(default="", kw_only=True)  # the first 4 KB of what it printed in a process of its own

    @property
    def name(self) -> str:
        """Name of the check."""
        return str(self.check.name)

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCONCLUSIVE."""
        return self.judgment.verdict

    @property
    def basis(self) -> str:
        """Basis of the verdict: "exact", "statistical" or "none"."""
        return str(self.judgment.basis)

    @property
    def reason(self) -> str:
        """Reason for the verdict, in one sentence."""
        return str(self.judgment.reason)

    @property
    def samples(self) -> int:
        """Outputs, losses or trials drawn, or values computed."""
        fresh = self.evidence.confirmation
        return int(self.evidence.samples + (fresh.samples if fresh else 0))

    @property
    def met(self) -> bool:
        """True if the verdict is the expected one."""
        return self.verdict is self.check.expected

    @property
    def outcome(self) -> str:
        """The verdict, or the word for it where it was expected: "CAUGHT", "OPEN" or "MISSED"."""
        return outcome(self.verdict, self.check.expected)

    def record(self) -> dict[str, Any]:
        """Return plain data without durations: the same evidence gives the same record, wherever it was gathered."""
        check, subject = self.check, self.check.subject
        while isinstance(subject, partial):
            subject = subject.func
        return {
            "name": check.name,
            "kind": check.kind,
            "mechanism": describe_mechanism(subject),
            "expected": check.expected.value,
            "claim": check.recorded_claim(),
            "settings": {
                "budget": self.budget,
                "significance": self.significance,
                "confirmation": self.confirmation,
                **check.recorded_settings(),
            },
            **self.recorded_inputs(),
            "evidence": to_plain(self.evidence),
            **self.judgment.record(),
        }

    def recorded_inputs(self) -> dict[str, Any]:
        """Return what else a record of this kind holds: datasets, a witness."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as in a certificate, with the duration, the isolation, and what the subject printed."""
        apart = {"seconds": self.seconds, "isolation": self.isolation, "printed": self.printed}
        return {**self.record(), **apart}

    def details(self) -> Iterator[str]:
        """Yield the lines that `str` shows beside claim, reason and cost."""
        return iter(())

    def __str__(self) -> str:
        cost = f"{self.samples:,} {self.check.unit} in {self.seconds:.1f} s"
        return "\n  ".join(map(printable, (f"{self.verdict}: {self.check.stated}", self.reason, *self.details(), cost)))

    def __repr__(self) -> str:
        text = printable(f"<{type(self).__name__} {self.name}: {self.verdict}, {self.reason}>")
        return text if len(text) <= _LINE else f"{text[: _LINE - 4]}...>"

    def _repr_html_(self) -> str | None:
        """Show the check in a notebook as its certificate does; as text if no certificate can hold its claim."""
        rendering = import_module("audit.report.renderers")  # on demand: no check needs the room above
        try:
            return rendering.check_fragment(self.record())
        except AuditError:
            return None


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """A claim about one mechanism or learner, with the settings to test it: the unit that gets a verdict."""

    name: str  # unique within a run; `--select` matches it
    # PASS for code that should keep its claim; FAIL for a fault, or for a claim known to be false
    expected: Verdict = Verdict.PASS
    budget: Budget | None = None  # what the check may draw, in the unit of its kind; None takes the run's
    timeout: float | None = None  # seconds after which it is stopped and is INCONCLUSIVE; None takes the run's

    kind: ClassVar[str]  # its name in records
    noun: ClassVar[str] = "the mechanism"  # the code under audit, as a reason calls it
    unit: ClassVar[str] = "outputs"  # the draws, as `str` calls them
    evidence_type: ClassVar[type[Evidence]]
    result_type: ClassVar[type[Result]]

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidArgument.of("name", "be text, not empty", self.name)
        if not isinstance(self.expected, Verdict):
            raise InvalidArgument.of("expected", "be a Verdict", self.expected)
        if self.budget is not None:
            object.__setattr__(self, "budget", budget_of(self.budget))
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
    def stated(self) -> str:
        """The claim in words."""

    def planned(self, allowance: Allowance) -> tuple[Self, Allowance]:
        """Return the check and the allowance with a budget in numbers; the check's own budget replaces the run's."""
        budget = self.budget or allowance.budget
        if not isinstance(budget, str):
            return self, replace(allowance, budget=budget)
        return self.with_effort(EFFORTS[budget], allowance)

    def with_effort(self, effort: Effort, allowance: Allowance) -> tuple[Self, Allowance]:
        """Return the check and the allowance that a named budget means."""
        return self, replace(allowance, budget=effort.draws)

    @abstractmethod
    def gather(self, allowance: Allowance) -> Any:
        """Observe; return evidence of `evidence_type`. A fault of the code under audit is recorded as its `failure`."""

    @abstractmethod
    def nothing(self, failure: str, cause: str = "error") -> Any:
        """Return the evidence of a check that observed nothing; `cause` is "hung", "died", "lost" or "error"."""

    def confirm(self, evidence: Any, allowance: Allowance, level: float) -> Iterator[Any]:
        """Yield evidence from fresh outputs, to be judged at `level`: a short look at them, then a long one."""
        return map(self.gather, confirm.fresh_allowances(allowance, level))

    @classmethod
    @abstractmethod
    def judge(cls, terms: Any, evidence: Any, significance: float) -> Any:
        """Return the judgment: a pure function of terms and evidence, called live and by a replay."""

    def sent(self, evidence: Any) -> Any:
        """Return evidence as the plain data that leaves the process of the code under audit."""
        return to_plain(evidence)

    def received(self, data: Any) -> Any:
        """Return the evidence that `sent` made plain: it is all that is believed of the other process."""
        return self.evidence_of(data)

    @classmethod
    def evidence_of(cls, data: Any) -> Any:
        """Return recorded evidence, with that of fresh outputs in it."""
        evidence = from_plain(cls.evidence_type, data)
        if evidence.confirmation is None:
            return evidence
        return replace(evidence, confirmation=from_plain(cls.evidence_type, evidence.confirmation))

    def terms(self) -> Any:
        """Return what the judge needs of the claim and the settings."""
        return None

    @classmethod
    def recorded_terms(cls, record: Mapping[str, Any]) -> Any:
        """Return the terms that a record holds."""
        return None

    def completed(self, evidence: Any) -> Self:
        """Return the check with what it found out about its own inputs."""
        return self

    def granted(self, evidence: Any, allowance: Allowance) -> int:
        """Return the draws that the check was allowed."""
        return int(allowance.budget)

    @abstractmethod
    def recorded_claim(self) -> dict[str, Any]:
        """Return the claim as plain data; raise `InvalidArgument` for a claim that no certificate can hold."""

    def recorded_settings(self) -> dict[str, Any]:
        """Return the settings of the kind as plain data."""
        return {}

    @classmethod
    def judge_record(cls, record: Mapping[str, Any]) -> Judgment:
        """Judge a record's evidence anew: nothing of its verdict is used, nothing is imported or run."""
        try:
            terms = cls.recorded_terms(record)
            evidence = cls.evidence_of(record["evidence"])
            significance = open_probability(record["settings"]["significance"], "significance")
            if (confirmation := record["settings"].get("confirmation")) is not None:  # not in older records
                confirmation = open_probability(confirmation, "confirmation")
            judgment: Judgment = confirm.judge(cls, terms, evidence, significance, confirmation)
            return judgment
        except InvalidCertificate:
            raise
        except _MALFORMED as error:
            raise InvalidCertificate(f"the record of a check does not have its form: {error!r}") from error


def run_check(
    check: Check,
    allowance: Allowance,
    timeout: float | None = None,
    pool: Pool | None = None,
    blocks: Place | None = None,  # where its blocks are drawn when they take long; where it runs unless given
) -> Any:
    """Gather and judge the evidence of one check; the check's own budget, if it has one, replaces the allowance's.

    With a `timeout` in seconds its evidence is gathered in a new process, of `pool` or of this machine, comes back as
    plain data, and is judged here. It is INCONCLUSIVE with the cause when it hangs, dies or cannot be sent. An
    `AuditError` of the check, or `Unreachable`, is raised.
    """
    check, allowance = check.planned(allowance)
    if timeout is not None and allowance.seconds is not None:  # the rest of it is for what is not drawing
        allowance = replace(allowance, seconds=min(allowance.seconds, timeout / 2))
    if timeout is None:
        return _gather_and_judge(check, allowance)
    if pool is None:
        with open_pool(Place(workers=1), [check]) as own:
            return run_check(check, allowance, timeout, own, blocks)
    there, printed = replace(allowance, place=HERE if blocks is None else blocks), list[str]()
    try:
        if pool.is_here:
            return pool.call(_gather_and_judge, check, there)
        seconds = 0.0

        def gathered(allowed: Allowance) -> Any:
            nonlocal seconds
            evidence, taken = pool.call(_gather, check, allowed, timeout=timeout, hear=printed.append)
            seconds += float(taken)
            return check.received(evidence)

        evidence, first = confirm.confirmed(  # it is, unless the subject has kept its process from that
            check, gathered(there), there, lambda level: map(gathered, confirm.fresh_allowances(there, level))
        )
        result = _judged(check, allowance, evidence, seconds, first)
    except AuditError:
        raise
    except TimeoutError:
        result = failed_check(check, allowance, "hung", f"{check.noun} took longer than {timeout:g} s", timeout)
    except ChildProcessError as error:
        result = failed_check(check, allowance, "died", f"{check.noun} {error}")
    except BaseException as error:
        if not is_of_subject(error):
            raise
        result = failed_check(check, allowance, "error", f"{type(error).__name__}: {described(error)}")
    return replace(result, isolation="caller" if pool.is_here else "process", printed="".join(printed))


def failed_check(check: Check, allowance: Allowance, cause: str, reason: str, seconds: float = 0.0) -> Any:
    """Return the result of a check that brought no evidence; `cause` is "hung", "died", "lost" or "error"."""
    check, allowance = check.planned(allowance)
    return _judged(check, allowance, check.nothing(reason, cause), seconds)


def checked(check_type: type[Check], arguments: Mapping[str, Any]) -> Any:
    """Run the check that the `locals()` of a function `check_...` describe, and return its result."""
    fields = dict(arguments)
    allowance = {name: fields.pop(name) for name in _ALLOWED if name in fields}
    # unless a name is given, the first callable lends its own
    fields["name"] = fields["name"] or name_of(next(filter(callable, fields.values()), None))
    check = check_type(**fields)
    return run_check(check, Allowance.of(**allowance), check.timeout)


def _gather(check: Check, allowance: Allowance) -> tuple[Any, float]:
    """Return evidence as plain data and its duration: what runs in a process of its own, and is judged in another."""
    started = time.perf_counter()
    evidence, _ = confirm.gather(check, allowance)
    return check.sent(evidence), time.perf_counter() - started


def _gather_and_judge(check: Check, allowance: Allowance) -> Any:
    started = time.perf_counter()
    evidence, first = confirm.gather(check, allowance)
    return _judged(check, allowance, evidence, time.perf_counter() - started, first)


def _judged(check: Check, allowance: Allowance, evidence: Any, seconds: float, first: Any = None) -> Any:
    found, level = check.completed(evidence), allowance.significance
    judgment = confirm.judge(type(check), found.terms(), evidence, level, allowance.confirmation, first)
    return check.result_type(
        found,
        check.granted(evidence, allowance),
        level,
        evidence,
        judgment,
        seconds,
        confirmation=allowance.confirmation,
    )
