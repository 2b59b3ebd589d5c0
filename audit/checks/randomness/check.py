"""The check, its result, and the function `check_randomness` that runs one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

from audit.base.arguments import integer, open_probability, positive
from audit.base.defaults import DEFAULT_SIGNIFICANCE
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.contract import Outcome
from audit.checks.randomness.compare import compare_all
from audit.checks.randomness.drawing import CALLS, Drawing, Layout, Undecided
from audit.checks.randomness.evidence import Comparison, RandomnessEvidence
from audit.checks.randomness.judge import RandomnessJudgement, judge_randomness
from audit.checks.randomness.swaps import Values
from audit.checks.utility.plain import to_plain
from audit.subjects import BadLength, Stream, Subject, SubjectFailed, concatenate
from audit.subjects.describe import describe_mechanism, name_of, show

DEFAULT_RANDOMNESS_BUDGET = 4_096
_DRAWING, _COMPARING = 0, 1  # children of the stream


@dataclass(frozen=True)
class IndependenceClaim:
    """What every release needs: noise of its own.

    Parameters
    ----------
    source : str
        Who says so.
    """

    source: str = ""

    def __str__(self) -> str:
        return "independent outputs, over calls and processes"


@dataclass(frozen=True, kw_only=True)
class RandomnessCheck:
    """The outputs of a mechanism on one dataset are independent draws from one law, over all calls and processes.

    Looks for a fixed seed (the same outputs in every call), a stream reused between calls, repeats within a call, noise
    shared by one call, a short period over the calls or within one, serial correlation, and forked processes that
    share their noise. A law with few values is no fault: its collisions are held against those that it brings about.

    Parameters
    ----------
    name : str
        Unique within a run; `--select` matches it.
    mechanism : callable
        `(dataset, size, rng) -> array-like`; every call gets a generator with a seed of its own.
    dataset : object
        The one dataset on which it runs.
    source : str
        Who says that the outputs are independent.
    expected : Verdict
        PASS; FAIL for a fault that the audit must convict.
    budget : int >= 2, optional
        Outputs; 1024 at least are needed for a verdict, beyond 8192 none are drawn. None takes the run's budget.
    timeout : float > 0, optional
        Seconds after which the check is stopped and is INCONCLUSIVE; None takes the run's limit.
    """

    name: str
    mechanism: Any
    dataset: Any
    source: str = ""
    expected: Verdict = Verdict.PASS
    budget: int | None = None
    timeout: float | None = None

    kind: ClassVar[str] = "randomness"

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise InvalidArgument.of("name", "be text, not empty", self.name)
        if not callable(self.mechanism):
            raise InvalidArgument.of("mechanism", "be callable as (dataset, size, rng)", self.mechanism)
        if not isinstance(self.source, str):
            raise InvalidArgument.of("source", "be text", self.source)
        if not isinstance(self.expected, Verdict):
            raise InvalidArgument.of("expected", "be a Verdict", self.expected)
        if self.budget is not None:
            object.__setattr__(self, "budget", integer(self.budget, "budget", at_least=2))
        if self.timeout is not None:
            object.__setattr__(self, "timeout", positive(self.timeout, "timeout"))

    @property
    def claim(self) -> IndependenceClaim:
        """What is claimed, in words."""
        return IndependenceClaim(self.source)

    def examine(self, budget: int, significance: float, stream: Stream) -> RandomnessResult:
        """Draw, compare and judge in this process; the check's own budget, when it has one, replaces `budget`."""
        started = time.perf_counter()
        budget = self.budget or budget
        evidence = gather(self.mechanism, self.dataset, budget, stream)
        return self._result(budget, significance, evidence, time.perf_counter() - started)

    def failed(self, budget: int, significance: float, reason: str, seconds: float) -> RandomnessResult:
        """The result of a check that was stopped before it brought evidence."""
        return self._result(self.budget or budget, significance, RandomnessEvidence(0, failure=reason), seconds)

    def _result(
        self, budget: int, significance: float, evidence: RandomnessEvidence, seconds: float
    ) -> RandomnessResult:
        judgement = judge_randomness(evidence, significance)
        return RandomnessResult(self, budget, significance, evidence, judgement, seconds)


@dataclass(frozen=True)
class RandomnessResult(Outcome):
    """The outcome of a randomness check.

    Parameters
    ----------
    check : RandomnessCheck
    budget : int
        Outputs that it might draw.
    significance : float
        Probability that independent outputs are judged FAIL.
    evidence : RandomnessEvidence
    judgement : RandomnessJudgement
    seconds : float
    """

    check: RandomnessCheck
    budget: int
    significance: float
    evidence: RandomnessEvidence
    judgement: RandomnessJudgement
    seconds: float

    @property
    def findings(self) -> tuple[Comparison, ...]:
        """The comparisons that rejected independence."""
        return self.judgement.findings

    def record(self) -> dict[str, Any]:
        """Plain data without durations."""
        check = self.check
        return {
            "name": check.name,
            "kind": check.kind,
            "mechanism": describe_mechanism(check.mechanism),
            "expected": check.expected.value,
            "claim": {"statement": str(check.claim), "source": check.source},
            "settings": {"budget": self.budget, "significance": self.significance},
            "dataset": show(check.dataset),
            "evidence": to_plain(self.evidence),
            **self.judgement.record(),
        }


def gather(mechanism: Any, dataset: Any, budget: int, stream: Stream) -> RandomnessEvidence:
    """Draw and compare; whatever goes wrong ends up in the evidence as `failure`."""
    drawing = None
    try:
        layout = Layout.of(budget)
        drawing = Drawing(Subject(mechanism), dataset, layout, stream.child(_DRAWING))
        calls, long = drawing.calls(), drawing.long_call()
        failure, workers = None, []
        try:
            workers = drawing.workers()
        except Undecided as cause:  # what the calls show stands
            failure = str(cause)
        values = Values.of(concatenate([*calls, long, *workers]))
        ends = [CALLS * layout.call, CALLS * layout.call + layout.long]
        ends.append(ends[-1] + layout.worker)
        in_workers = (values[ends[1] : ends[2]], values[ends[2] :]) if workers else None
        rng = stream.child(_COMPARING).rng()
        found = compare_all(values[: ends[0]], values[ends[0] : ends[1]], in_workers, rng)
        return RandomnessEvidence(drawing.samples, found, len(workers), failure)
    except (SubjectFailed, BadLength) as failed:
        return RandomnessEvidence(drawing.samples if drawing else 0, failure=f"the mechanism {failed}")
    except Undecided as cause:
        return RandomnessEvidence(drawing.samples if drawing else 0, failure=str(cause))


def check_randomness(
    mechanism: Any,
    dataset: Any,
    *,
    budget: int = DEFAULT_RANDOMNESS_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    name: str | None = None,
) -> RandomnessResult:
    """Test whether the outputs of a mechanism on one dataset are independent; see `RandomnessCheck`.

    Parameters
    ----------
    mechanism, dataset, budget
        As in `RandomnessCheck`.
    significance : float in (0, 1)
        Probability of a FAIL when all outputs are independent draws from one law, whatever that law: each kind of
        comparison spends an equal share of it.
    seed : int >= 0
        Seeds the calls and the comparisons.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.
    """
    check = RandomnessCheck(
        name=name or name_of(mechanism),
        mechanism=mechanism,
        dataset=dataset,
        budget=integer(budget, "budget", at_least=2),
    )
    significance = open_probability(significance, "significance")
    return check.examine(budget, significance, Stream(integer(seed, "seed", at_least=0)))
