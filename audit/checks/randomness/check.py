"""The check, its result, and the function `check_randomness` that runs one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from audit.base.defaults import DEFAULT_SIGNIFICANCE
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.base import Allowance, Check, Evidence, Result
from audit.checks.randomness.compare import compare_all
from audit.checks.randomness.drawing import CALLS, Drawing, Layout, Undecided
from audit.checks.randomness.evidence import Comparison, RandomnessEvidence
from audit.checks.randomness.judge import RandomnessJudgment, judge_randomness
from audit.checks.randomness.swaps import Values
from audit.checks.running import checked
from audit.subjects import BadLength, Stream, Subject, SubjectFailed, concatenate
from audit.subjects.describe import show

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


@dataclass(frozen=True, repr=False)
class RandomnessResult(Result):
    """The outcome of a randomness check; see `Result`."""

    @property
    def findings(self) -> tuple[Comparison, ...]:
        """The comparisons that rejected independence."""
        findings: tuple[Comparison, ...] = self.judgment.findings
        return findings

    def recorded_inputs(self) -> dict[str, Any]:
        """Return the dataset."""
        return {"dataset": show(self.check.dataset)}


@dataclass(frozen=True, kw_only=True)
class RandomnessCheck(Check):
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

    mechanism: Any
    dataset: Any
    source: str = ""

    kind: ClassVar[str] = "randomness"
    evidence_type: ClassVar[type[Evidence]] = RandomnessEvidence
    result_type: ClassVar[type[Result]] = RandomnessResult

    def _validate(self) -> None:
        if not callable(self.mechanism):
            raise InvalidArgument.of("mechanism", "be callable as (dataset, size, rng)", self.mechanism)
        if not isinstance(self.source, str):
            raise InvalidArgument.of("source", "be text", self.source)

    @property
    def subject(self) -> Any:
        """The mechanism."""
        return self.mechanism

    @property
    def stated(self) -> str:
        """The claim in words."""
        return str(self.claim)

    @property
    def claim(self) -> IndependenceClaim:
        """What is claimed, in words."""
        return IndependenceClaim(self.source)

    def gather(self, allowance: Allowance) -> RandomnessEvidence:
        """Draw and compare."""
        return gather(self.mechanism, self.dataset, allowance.budget, allowance.stream)

    def nothing(self, failure: str, cause: str = "error") -> RandomnessEvidence:
        """Return the evidence of a check that observed nothing."""
        return RandomnessEvidence(0, failure=failure)

    @classmethod
    def judge(cls, terms: None, evidence: RandomnessEvidence, significance: float) -> RandomnessJudgment:
        """Return the judgment of the counts."""
        return judge_randomness(evidence, significance)

    def recorded_claim(self) -> dict[str, Any]:
        """Return the claim in words."""
        return {"statement": self.stated, "source": self.source}


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
        return RandomnessEvidence(drawing.samples, found, len(workers), failure=failure)
    except (SubjectFailed, BadLength) as failed:
        return RandomnessEvidence(drawing.samples if drawing else 0, failure=f"the mechanism {failed}")
    except Undecided as cause:
        return RandomnessEvidence(drawing.samples if drawing else 0, failure=str(cause))


def check_randomness(
    mechanism: Any,
    dataset: Any,
    *,
    source: str = "",
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    budget: int = DEFAULT_RANDOMNESS_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
) -> RandomnessResult:
    """Test whether the outputs of a mechanism on one dataset are independent; see `RandomnessCheck`.

    Parameters
    ----------
    mechanism, dataset, source, expected
        As in `RandomnessCheck`.
    budget : int >= 2
        Outputs in all; 1024 at least are needed for a verdict, beyond 8192 none are drawn.
    significance : float in (0, 1)
        Probability of a FAIL when all outputs are independent draws from one law, whatever that law: each kind of
        comparison spends an equal share of it.
    seed : int >= 0
        Seeds the calls and the comparisons.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.
    timeout : float > 0, optional
        Run in a process of its own and stop it after this many seconds: for mechanisms that may hang or die.

    Returns
    -------
    RandomnessResult

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    result: RandomnessResult = checked(RandomnessCheck, locals())
    return result
