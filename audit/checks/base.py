"""Define the parts that every kind of check shares, and those of kinds whose claim is stated in words.

A kind of check is a subclass of `Check`, with its evidence, its judgment and, where it has properties of its own, its
result. Settings, results, records, isolation and time limits are written once, here; plain data in
`audit.records.plain`; the kinds in `audit.plugins`. The functions `audit.check_...` run a check alone, without a run
around it, here or in a process of its own; `document_from` completes their docstrings from those of their classes.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any, ClassVar, Self, TypeVar

from audit import plugins
from audit.errors import AuditError, InvalidArgument, InvalidCertificate
from audit.evidence.base import (
    Allowance,
    Evidence,
    Found,
    Judgment,
    find_confirming_level,
    is_refuted,
    judge_confirmed,
    leave_open,
    list_fresh_allowances,
)
from audit.execution.sandbox import TimedOut, clock, collecting_rarely, is_of_subject, limit_time
from audit.execution.seeds import HERE, Place
from audit.execution.workers import Pool, open_pool
from audit.mechanism.call import describe_mechanism, keep_picklable, name_callable
from audit.mechanism.provenance import find_source
from audit.records.plain import from_plain, to_plain
from audit.records.view import RecordView
from audit.text import describe_error, printable
from audit.validate import EFFORTS, Budget, Effort, open_probability, positive, read_budget
from audit.verdict import AnyResult, Verdict, note_result, outcome

UNNAMED = "(unnamed)"  # name of a check that runs alone, until it has that of its subject
_LINE = 100  # characters of a result's `repr`
_MALFORMED = (AuditError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, AssertionError)


@dataclass(frozen=True, repr=False, eq=False)
class Result(AnyResult):
    """The outcome of a check of any kind; some kinds have a result with more properties.

    Assert `result.verdict == "PASS"`, or `result.met` where another verdict is expected. `assert result`
    raises. Under pytest, a test fails if it makes a result and reads nothing of it.

    `str(result)` is the text that a failing pytest test prints. `repr(result)` is one line. A notebook shows the check
    as its certificate does.

    Examples
    --------
    >>> import audit
    >>> claim = audit.PrivacyClaim(epsilon=1.0)
    >>> def noisy(data, size, rng):
    ...     return data[0] + rng.laplace(size=size)
    >>> result = audit.check_privacy(noisy, claim, [([0.0], [1.0])])
    >>> print(result.verdict, result.uses)
    PASS outputs
    """

    check: Check  # where it searched for its pairs, with the pairs that it found
    budget: int  # its allowance of draws
    significance: float  # probability that a true claim is suspected; it is judged FAIL with that of `confirmation`
    evidence: Evidence
    judgment: Judgment
    seconds: float
    # the process that the code under audit ran in: "process" for one of its own, "caller" for that of the caller
    isolation: str = field(default="caller", kw_only=True)
    confirmation: float | None = field(default=None, kw_only=True)  # probability of a wrong FAIL, with fresh outputs
    printed: str = field(default="", kw_only=True)  # the first 4 KB of its prints in a process of its own
    # which code was audited, as the process said that ran it; empty where that was this one
    source: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

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
        """Basis of the verdict: "proof", "computed", "law", "noise followed", "outputs" or "none"."""
        return str(self.judgment.basis)

    @property
    def reason(self) -> str:
        """Reason for the verdict, in one sentence."""
        return str(self.judgment.reason)

    @property
    def scope(self) -> tuple[str, ...]:
        """Clauses about the scope of a PASS: the violations it would have detected, and the parts not examined."""
        return self.judgment.scope

    @property
    def bounds(self) -> Found:
        """The bounds of quantities that the verdict rests on; none where it rests on counts alone."""
        return self.judgment.found

    @property
    def uses(self) -> str:
        """The kind of evidence: "outputs", "simulation", "evaluator", "stated values" or "guesses about canaries"."""
        return self.evidence.uses

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
        """The verdict beside the expected one: "PASS", "FAIL, expected" or "PASS, expected FAIL"."""
        return outcome(self.verdict, self.check.expected)

    @property
    def audited_source(self) -> dict[str, Any]:
        """Source of the audited code, as plain data without unknown parts: see `audit.mechanism.provenance`."""
        return dict(self.source) or describe_source(getattr(self.check, "subject", None))

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
        """Return the other parts of a record of this kind: datasets, a witness."""
        return self.check.recorded_inputs()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as in a certificate, with the duration, the isolation, and the subject's printed text."""
        apart = {"seconds": self.seconds, "isolation": self.isolation, "printed": self.printed}
        apart["sources"] = self.audited_source
        return {**self.record(), **apart}

    def details(self) -> Iterator[str]:
        """Yield the lines that `str` shows beside claim, reason and cost."""
        return self.check.estimate(self.evidence, self.significance)

    def __str__(self) -> str:
        unit = self.check.unit
        if self.samples == 1:
            unit = unit.removesuffix("es" if unit.endswith("sses") else "s")
        cost = f"{self.samples:,} {unit} in {self.seconds:.1f} s"
        return "\n  ".join(map(printable, (f"{self.verdict}: {self.check.stated}", self.reason, *self.details(), cost)))

    def __repr__(self) -> str:
        text = printable(f"<{type(self).__name__} {self.name}: {self.verdict}, {self.reason}>")
        return text if len(text) <= _LINE else f"{text[: _LINE - 4]}...>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickle; of code that cannot be pickled, such as a lambda, the name."""
        return {**vars(self), "check": keep_picklable(self.check), "source": self.audited_source}

    def plot(self) -> Any:
        """Return a matplotlib figure: outputs, errors of tests, scores of canaries, the ledger of the code.

        The histogram draws some more outputs, of which nothing is recorded, and marks the event of a witness.

        Raises
        ------
        AuditError
            If matplotlib or the extension certificates is not installed.
        """
        return plugins.draw_figure(self)

    def _repr_html_(self) -> str | None:
        """Show the check in a notebook as its certificate does; as text if no certificate can hold its claim."""
        try:
            return str(plugins.load(plugins.FRAGMENT)(self.record()))
        except AuditError:
            return None


def describe_source(subject: Any) -> dict[str, Any]:
    """Return the known source of a callable, as plain data."""
    return {key: value for key, value in to_plain(find_source(subject)).items() if value}


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """A claim about one mechanism or learner, with the settings to test it: the unit that gets a verdict."""

    name: str  # unique within a run; `--select` matches it
    # PASS for code that should keep its claim; FAIL for a fault, or for a claim known to be false
    expected: Verdict = Verdict.PASS
    budget: Budget | None = None  # draws, in the unit of its kind; None takes the run's
    timeout: float | None = None  # seconds after which its drawing ends, or it is stopped; None takes the run's

    kind: ClassVar[str]  # its name in records
    noun: ClassVar[str] = "the mechanism"  # the code under audit, as a reason calls it
    unit: ClassVar[str] = "outputs"  # the draws, as `str` calls them
    evidence_type: ClassVar[type[Evidence]] = Evidence
    judgment_type: ClassVar[type[Judgment]] = Judgment
    result_type: ClassVar[type[Result]] = Result
    record_view: ClassVar[type[RecordView]] = RecordView  # how its records are shown
    input_names: ClassVar[tuple[str, ...]] = ()  # what its records hold of its inputs, and of its own settings
    setting_names: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidArgument.of("name", "be text, not empty", self.name)
        if self.expected not in [verdict.value for verdict in Verdict]:
            raise InvalidArgument.of("expected", "be a Verdict, such as audit.Verdict.FAIL", self.expected)
        object.__setattr__(self, "expected", Verdict(self.expected))  # also of text
        if self.budget is not None:
            object.__setattr__(self, "budget", read_budget(self.budget))
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
    def usual_name(self) -> str:
        """The name of the check where it runs alone and has none."""
        return name_callable(self.subject)

    @property
    @abstractmethod
    def stated(self) -> str:
        """The claim in words."""

    def plan(self, allowance: Allowance) -> tuple[Self, Allowance]:
        """Return the check and the allowance with a budget in numbers; the check's own budget replaces the run's."""
        budget = self.budget or allowance.budget
        if not isinstance(budget, str):
            return self, replace(allowance, budget=budget)
        return self.plan_effort(EFFORTS[budget], allowance)

    def plan_effort(self, effort: Effort, allowance: Allowance) -> tuple[Self, Allowance]:
        """Return the check and the allowance that a named budget means."""
        return self, replace(allowance, budget=effort.draws)

    @abstractmethod
    def gather(self, allowance: Allowance) -> Any:
        """Observe; return evidence of `evidence_type`. A fault of the code under audit is recorded as its `failure`."""

    def observe_nothing(self, failure: str, cause: str = "error") -> Any:
        """Return the evidence of a check that observed nothing; `cause` is "hung", "died", "lost" or "error"."""
        return self.evidence_type(0, failure=failure)

    def confirm(self, evidence: Any, allowance: Allowance, level: float) -> Iterator[Any]:
        """Yield evidence from fresh outputs, to be judged at `level`: a short look at them, then a long one."""
        return map(self.gather, list_fresh_allowances(allowance, level))

    def estimate(self, evidence: Any, significance: float) -> Iterator[str]:
        """Yield lines with usual estimates from the evidence: for `str`, neither judged nor recorded."""
        yield from ()

    @classmethod
    @abstractmethod
    def judge(cls, terms: Any, evidence: Any, significance: float) -> Any:
        """Return the judgment: a pure function of terms and evidence, called live and by a replay."""

    def pack_evidence(self, evidence: Any) -> Any:
        """Return evidence as the plain data that leaves the process of the code under audit."""
        return to_plain(evidence)

    def unpack_evidence(self, data: Any) -> Any:
        """Return the evidence that `pack_evidence` made plain: it is all that is believed of the other process."""
        return self.evidence_of(data)

    @classmethod
    def evidence_of(cls, data: Any) -> Any:
        """Return recorded evidence, with that of fresh outputs in it; as it is where it was read before."""
        return data if isinstance(data, cls.evidence_type) else from_plain(cls.evidence_type, data)

    def terms(self) -> Any:
        """Return the part of the claim and the settings that the judge needs."""
        return None

    @classmethod
    def recorded_terms(cls, record: Mapping[str, Any]) -> Any:
        """Return the terms that a record holds."""
        return None

    def complete(self, evidence: Any) -> Self:
        """Return the check with the inputs that its evidence fixes."""
        return self

    @abstractmethod
    def recorded_claim(self) -> dict[str, Any]:
        """Return the claim as plain data; raise `InvalidArgument` for a claim that no certificate can hold."""

    def recorded_settings(self) -> dict[str, Any]:
        """Return the settings of the kind as plain data."""
        return {}

    def recorded_inputs(self) -> dict[str, Any]:
        """Return the part of the inputs that a record holds, such as datasets."""
        return {}

    @classmethod
    def judge_record(cls, record: Mapping[str, Any]) -> Judgment:
        """Judge a record's evidence anew: nothing of its verdict is used, nothing is imported or run."""
        try:
            terms = cls.recorded_terms(record)
            evidence = cls.evidence_of(record["evidence"])
            significance = open_probability(record["settings"]["significance"], "significance")
            if (confirmation := record["settings"]["confirmation"]) is not None:
                confirmation = open_probability(confirmation, "confirmation")
            judgment: Judgment = judge_confirmed(cls, terms, evidence, significance, confirmation)
            return judgment
        except InvalidCertificate:
            raise
        except _MALFORMED as error:
            raise InvalidCertificate(f"the record of a check does not have its form: {error!r}") from error


F = TypeVar("F", bound=Callable[..., Result])
_COMMON = {  # parameters of the functions, and their descriptions
    "expected": """ : Verdict
    Verdict that `result.met` compares with.""",
    "name": """ : str, optional
    Shown in messages; the name of the code under audit unless given.""",
    "significance": """ : float in (0, 1)
    Probability that a true claim is suspected, and tested again on fresh outputs. Evidence that cannot be drawn
    again is judged FAIL at `confirmation`, and is INCONCLUSIVE where it refutes the claim at 0.001 only.""",
    "confirmation": """ : float in (0, 1), optional
    Probability of a wrong FAIL. None: the first outputs decide, and the probability is `significance`.""",
    "seed": """ : int >= 0
    The same seed gives the same evidence, for any number of workers.""",
    "timeout": """ : float > 0, optional
    Run in a process of its own and stop it after this many seconds: for code that may hang or die. The limit ends the
    drawing, and the outputs so far are judged.""",
    "workers": """ : int >= 0, optional
    Processes of this machine that share the certifying outputs if drawing takes long: by default one for each
    available core. 0 means this process.""",
}


def run_alone(
    check: Check, budget: Budget, significance: float, confirmation: float | None, seed: int, workers: int | None = 0
) -> Any:
    """Run a check at a significance of its own; return its result, of the type that its kind has."""
    if check.name == UNNAMED:
        object.__setattr__(check, "name", check.usual_name)
    allowance = Allowance.of(budget, significance, seed, workers, confirmation)
    result = run_check(check, allowance, check.timeout)
    note_result(result)
    return result


def document_from(kind: type[Check]) -> Callable[[F], F]:
    """Return a decorator that completes the docstring of the function that runs a kind alone from that of its class.

    The class shows the examples of its function where it has none.
    """

    def complete(function: F) -> F:
        names = inspect.signature(function).parameters
        parts = {**_sections(kind), **_sections(function)}
        common = (name + text for name, text in _COMMON.items() if name in names)
        own = _entries(parts["Parameters"], names.keys() - _COMMON)
        parts["Parameters"] = "\n".join(["Parameters\n----------", *own, *common])
        parts.setdefault("Returns", f"Returns\n-------\n{kind.result_type.__name__}")
        order = ("", "Parameters", "Returns", "Raises", "References", "Examples")
        function.__doc__ = "\n\n".join(parts[title] for title in order if title in parts)
        if "Examples" in parts.keys() - _sections(kind).keys():
            kind.__doc__ = f"{inspect.getdoc(kind)}\n\n{parts['Examples']}"
        return function

    return complete


def _sections(thing: Any) -> dict[str, str]:
    """Return the parts of a docstring by their titles; the first one has none."""
    parts = re.split(r"\n\n(?=\w+\n---)", inspect.getdoc(thing) or "")
    return {"": parts[0], **{part.partition("\n")[0]: part for part in parts[1:]}}


def _entries(section: str, names: Set[str]) -> Iterator[str]:
    """Yield the entries of a list of parameters, with those of their names that are asked for."""
    for entry in re.split(r"\n(?=\w)", section)[1:]:
        head, text = entry.split("\n", 1)
        listed, *form = head.split(" : ")
        if kept := [name for name in listed.split(", ") if name in names]:
            yield " : ".join([", ".join(kept), *form]) + f"\n{text}"


def run_check(
    check: Check,
    allowance: Allowance,
    timeout: float | None = None,
    pool: Pool | None = None,
    blocks: Place | None = None,  # where its blocks are drawn when they take long; where it runs unless given
) -> Result:
    """Gather and judge the evidence of one check; the check's own budget, if it has one, replaces the allowance's.

    With a `timeout` in seconds its evidence is gathered in a new process, of `pool` or of this machine, comes back as
    plain data, and is judged here. It is INCONCLUSIVE with the cause when it hangs, dies or cannot be sent. An
    `AuditError` of the check, or `Unreachable`, is raised.
    """
    if timeout is None:
        return _gather_and_judge(check, allowance)
    check, allowance = check.plan(allowance)
    allowance = allowance.limit_time(timeout)
    if pool is None:
        with open_pool(Place(workers=1), [check]) as own:
            return run_check(check, allowance, timeout, own, blocks)
    there, printed = replace(allowance, place=HERE if blocks is None else blocks), list[str]()
    source: dict[str, Any] = {}
    try:
        if pool.is_here:
            ended: Result = pool.call(_gather_and_judge, check, there)
            return ended
        seconds = 0.0

        def gather(allowed: Allowance) -> Any:
            nonlocal seconds
            evidence, taken, found = pool.call(_gather, check, allowed, timeout=timeout, hear=printed.append)
            source.update(found)
            seconds += float(taken)
            return check.unpack_evidence(evidence)

        evidence, judgment = confirm_evidence(  # it is, unless the subject has kept its process from that
            check, gather(there), there, lambda level: map(gather, list_fresh_allowances(there, level))
        )
        result = _result(check, allowance, evidence, judgment, seconds)
    except AuditError:
        raise
    except TimeoutError:
        said = f"{check.noun} and its audit took longer than {timeout:g} s"
        reason = f"{said}: set {allowance.setting.format(2 * timeout)}"
        result = failed_check(check, allowance, "hung", reason, timeout)
    except ChildProcessError as error:
        result = failed_check(check, allowance, "died", f"{check.noun} {error}")
    except BaseException as error:
        if not is_of_subject(error):
            raise
        result = failed_check(check, allowance, "error", f"{type(error).__name__}: {describe_error(error)}")
    isolation = "caller" if pool.is_here else "process"
    return replace(result, isolation=isolation, printed="".join(printed), source=source)


@collecting_rarely()
def gather_evidence(check: Check, allowance: Allowance) -> tuple[Any, Any]:
    """Return the evidence of a check, with fresh outputs where the first ones refute the claim, and its judgment."""
    evidence = check.gather(allowance)
    return confirm_evidence(check, evidence, allowance, lambda level: check.confirm(evidence, allowance, level))


def confirm_evidence(
    check: Check, evidence: Any, allowance: Allowance, looks: Callable[[float], Iterable[Any]]
) -> tuple[Any, Any]:
    """Return evidence, with that of fresh outputs where it lacks it, and its judgment.

    `looks` gathers from fresh outputs, to be judged at a level.
    """
    terms = check.complete(evidence).terms()
    first = check.judge(terms, evidence, allowance.significance)
    level = find_confirming_level(allowance.significance, allowance.confirmation, evidence.spent)
    if is_refuted(first) and level is not None and not evidence.is_final and evidence.confirmation is None:
        drawn, fresh = 0, None
        try:
            for fresh in looks(level):
                drawn += fresh.samples
                if is_refuted(check.judge(terms, fresh, level)):
                    break
        except TimedOut:
            fresh = check.observe_nothing(allowance.out_of_time(check.noun), "hung")
        if fresh is not None:
            evidence = replace(evidence, confirmation=replace(fresh, samples=drawn))
    levels = allowance.significance, allowance.confirmation
    return evidence, judge_confirmed(check, terms, evidence, *levels, first)


def failed_check(check: Check, allowance: Allowance, cause: str, reason: str, seconds: float = 0.0) -> Result:
    """Return the result of a check that brought no evidence; `cause` is "hung", "died", "lost" or "error"."""
    check, allowance = check.plan(allowance)
    evidence, judgment = confirm_evidence(check, check.observe_nothing(reason, cause), allowance, lambda level: ())
    return _result(check, allowance, evidence, judgment, seconds)


def _gather(check: Check, allowance: Allowance) -> tuple[Any, float, dict[str, Any]]:
    """Return evidence as plain data, its duration, and which code was run.

    It runs in a process of its own, and is judged in another.
    """
    started = perf_counter()
    with limit_time(allowance.limit):
        try:
            evidence, _ = gather_evidence(check, allowance)
        except TimedOut:
            found = check.observe_nothing(allowance.out_of_time(check.noun), "hung")
            evidence = replace(found, samples=clock().outputs)
    seconds = perf_counter() - started
    return check.pack_evidence(evidence), seconds, describe_source(check.complete(evidence).subject)


def _gather_and_judge(check: Check, allowance: Allowance) -> Result:
    started = perf_counter()
    check, allowance = check.plan(allowance)
    with limit_time(None):  # a clock of its own
        evidence, judgment = gather_evidence(check, allowance)
    return _result(check, allowance, evidence, judgment, perf_counter() - started)


def _result(check: Check, allowance: Allowance, evidence: Any, judgment: Any, seconds: float) -> Result:
    budget = allowance.budget if evidence.searched is None else evidence.searched.budget  # after a search: its claim's
    return check.result_type(
        check.complete(evidence),
        int(budget),
        allowance.significance,
        evidence,
        judgment,
        seconds,
        confirmation=allowance.confirmation,
    )


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
