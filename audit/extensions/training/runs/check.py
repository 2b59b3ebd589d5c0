"""Check whether a training run was the mechanism that its accountant assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from audit import Result, Verdict
from audit.api import (
    UNNAMED,
    Allowance,
    Evidence,
    Interval,
    InvalidArgument,
    Judgment,
    StatedCheck,
    bounds,
    call,
    defaults,
    document_from,
    errors,
    leave_open,
    run_alone,
    text,
    validate,
)
from audit.extensions.training.runs.batches import batch_findings, batch_gaps, rate_resolution
from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.contributions import contribution_findings, contribution_gaps, release_findings
from audit.extensions.training.runs.epsilon import epsilon_of_claim, epsilon_says
from audit.extensions.training.runs.findings import TESTS, Finding
from audit.extensions.training.runs.noise import (
    multiplier_interval,
    multiplier_resolution,
    noise_findings,
    noise_gaps,
    shape_resolution,
)
from audit.extensions.training.runs.recorder import RECORDED, Recorder, TrainingEvidence

_UNSEEN = "a seed that others know, data prepared by their own statistics, or records far apart that enter together"
PARTS = {
    "alone": "whether the gradient of a record depends on the others",
    "released": "the part of the noisy sum that the optimizer gets",
    "records": "which records are in the batches",
    "clipping": "the norms of the contributions",
    "update": "the updates of the parameters",
}


@dataclass(frozen=True)
class TrainingTerms:
    """Terms of the judge besides the evidence."""

    claim: TrainingClaim
    tolerance: float
    unchecked: tuple[str, ...]


def findings(claim: TrainingClaim, evidence: TrainingEvidence) -> Iterator[Finding]:
    """Yield the tests of a run in the order in which a step is made: batch, contributions, noise, release."""
    if evidence.steps > claim.steps:
        yield Finding("steps", 0.0, f"{evidence.steps} noisy sums were released in place of {claim.steps}")
    if evidence.batches.sizes:
        yield from batch_findings(claim, evidence.batches)
    yield from contribution_findings(claim, evidence.contributions)
    yield from noise_findings(claim, evidence.noise)
    yield from release_findings(claim, evidence.contributions)


def decide(terms: TrainingTerms, evidence: TrainingEvidence, significance: float) -> Judgment:
    """Return the judgment; a run of the claimed mechanism FAILs with probability <= significance."""
    claim, level = terms.claim, significance / TESTS
    if not evidence.steps:
        return leave_open(evidence.stopped or "no step was recorded")
    found = tuple(_list_intervals(claim, evidence, level))
    if refuted := [part for part in findings(claim, evidence) if part.pvalue <= level]:
        first = refuted[0]
        odds = f" (p = {first.pvalue:.2g})" if first.pvalue else ""
        more = f"; also {', '.join(part.part for part in refuted[1:])}" if refuted[1:] else ""
        basis = "outputs" if first.pvalue else "computed"
        return Judgment(Verdict.FAIL, basis, f"{first.says}{odds}{more}", found=found)
    if evidence.stopped:
        return leave_open(f"not refuted, and not recorded to the end: {evidence.stopped}", found)
    gaps = [
        *batch_gaps(claim, evidence.batches, level, terms.tolerance),
        *contribution_gaps(evidence.contributions),
        *noise_gaps(evidence.noise, level, terms.tolerance),
    ]
    if due := [gap for gap in gaps if gap.part not in terms.unchecked]:
        said = "; ".join(f"{PARTS.get(gap.part, gap.part)}: {gap.advice}" for gap in due)
        return leave_open(f"not refuted, but not resolved: {said}", found)
    left = "".join(f"; not checked: {PARTS[gap.part]}" for gap in gaps)
    if evidence.contributions.is_coarse:
        longest = text.number(evidence.contributions.largest_norm / claim.clip)
        left += f"; contributions of 16 bits: up to {longest} clipping norms, by rounding"
    return Judgment(Verdict.PASS, "outputs", _explain_pass(claim, evidence, level) + left, found=found)


def _explain_pass(claim: TrainingClaim, evidence: TrainingEvidence, level: float) -> str:
    noise, batches = evidence.noise, evidence.batches
    seen = [f"noise multiplier {text.number(100 * multiplier_resolution(noise, level))} %"]
    if claim.sampling in ("poisson", "cyclic"):
        seen.append(f"sampling rate {text.number(100 * rate_resolution(claim, batches, level))} %")
    is_early = evidence.steps < claim.steps
    early = f"of {claim.steps} steps, after which the run stopped, less was spent," if is_early else "steps"
    shape = f"a share of {text.number(100 * shape_resolution(noise, level))} % of the noise that has another shape"
    return (
        f"{evidence.steps} {early} are those that were claimed; smaller changes than these would have been "
        f"missed: {', '.join(seen)}, {shape}; so would {_UNSEEN}{epsilon_says(claim, evidence.epsilon)}"
    )


def _list_intervals(claim: TrainingClaim, evidence: TrainingEvidence, level: float) -> Iterable[Interval]:
    noise, batches = evidence.noise, evidence.batches
    if noise.steps:
        yield Interval("noise multiplier", *multiplier_interval(claim, noise, level))
    trials, included = batches.records * batches.steps, batches.included
    if claim.sampling in ("poisson", "cyclic") and trials and claim.truncation is None:
        ends = (
            bound(included, trials, level / 2)
            for bound in (bounds.proportion_lower_bound, bounds.proportion_upper_bound)
        )
        yield Interval("sampling rate", *ends)
    if evidence.contributions.norms:
        yield Interval("largest contribution", *[evidence.contributions.largest_norm] * 2)
    if evidence.epsilon is not None:
        yield Interval("epsilon by the accountant, of the claim", *[evidence.epsilon] * 2)


@dataclass(frozen=True, kw_only=True)
class TrainingCheck(StatedCheck):
    """The claim that one training run was the mechanism that its accountant assumed.

    The run is recorded step by step: its batches, the contributions of records, the noise, and the optimizer's input.
    Facts are compared with the claim, and the random parts are tested by laws that hold in finite samples. A FAIL is
    about this mechanism, also where the run added more noise than it claims.

    Parameters
    ----------
    run : Recorder, or callable
        The record of a run, or `(rng) -> Recorder`, which trains and returns it.
    claim : TrainingClaim
        The mechanism that the accountant assumes.
    tolerance : float > 0, default 0.1
        A PASS needs that a relative change of the noise multiplier, or of the sampling rate, by this much would have
        been a FAIL with power 0.8.
    unchecked : tuple of str
        Parts without which a PASS is given nonetheless: "alone" (the gradient of a record alone), "released" (the
        optimizer's input), "records" (which records are in the batches), "clipping", "update" (the updates of the
        parameters). The certificate names them.
    budget
        Nothing is drawn: the steps are those of the run.
    name, source, statement, expected, timeout
        As for `audit.InequalityCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Abadi et al. (2016), Deep learning with differential privacy. Massart (1990), The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality.
    """

    run: Recorder | Callable[..., Any]
    claim: TrainingClaim = field()  # required, though a utility check states its claim by a property of this name
    tolerance: float = 0.1
    unchecked: tuple[str, ...] = ()

    kind: ClassVar[str] = "training"
    noun: ClassVar[str] = "the training"
    unit: ClassVar[str] = "steps"
    callables: ClassVar = {}
    terms_type: ClassVar[type[Any]] = TrainingTerms
    evidence_type: ClassVar[type[Evidence]] = TrainingEvidence

    def _validate(self) -> None:
        if not (isinstance(self.run, Recorder) or callable(self.run)):
            raise InvalidArgument.of("run", "be a Recorder, or callable as (rng) -> Recorder", self.run)
        if not isinstance(self.claim, TrainingClaim):
            raise InvalidArgument.of("claim", "be a TrainingClaim", self.claim)
        if isinstance(self.run, Recorder):
            _require_claim(self.run, self.claim)
        self._convert(tolerance=validate.positive)
        parts = (self.unchecked,) if isinstance(self.unchecked, str) else tuple(self.unchecked)
        for name, value in {"unchecked": parts, "source": self.source or self.claim.source}.items():
            object.__setattr__(self, name, value)
        if wrong := [part for part in self.unchecked if part not in PARTS]:
            raise InvalidArgument.of("unchecked", f"hold only {', '.join(map(repr, PARTS))}", wrong[0])

    @property
    def subject(self) -> Any:
        """The function that trains, or the recorder."""
        return self.run

    @property
    def usual_name(self) -> str:
        return "training run" if isinstance(self.run, Recorder) else super().usual_name

    @property
    def uses(self) -> str:
        return RECORDED

    @property
    def summary(self) -> str:
        return self.claim.summary

    def gather(self, allowance: Allowance) -> TrainingEvidence:
        """Train where asked, and return the record with the accountant's epsilon."""
        recorder = self.run
        if not isinstance(recorder, Recorder):
            try:
                recorder = call(recorder, allowance.stream.rng(), what="the training")
            except errors.Unusable as unusable:
                return TrainingEvidence(0, failure=str(unusable))
        if not isinstance(recorder, Recorder):
            raise InvalidArgument.of("run", "return its Recorder", recorder)
        _require_claim(recorder, self.claim)
        evidence = recorder.evidence()
        if not (taken := min(evidence.steps, self.claim.steps)):
            return evidence
        epsilon = epsilon_of_claim(self.claim, evidence.batches.records, taken)
        return replace(evidence, epsilon=float(f"{epsilon:.6g}"))

    decide = staticmethod(decide)


def _require_claim(recorder: Recorder, claim: TrainingClaim) -> None:
    if recorder.claim != claim:
        raise InvalidArgument.of("claim", f"be that of the recorder, {recorder.claim.summary}", claim.summary)


@document_from(TrainingCheck)
def check_training(
    run: Recorder | Callable[..., Any],
    claim: TrainingClaim,
    *,
    tolerance: float = 0.1,
    unchecked: tuple[str, ...] = (),
    source: str = "", statement: str = "", expected: Verdict = Verdict.PASS, name: str | None = None,
    budget: validate.Budget = defaults.DEFAULT_BUDGET, significance: float = defaults.DEFAULT_SIGNIFICANCE,
    confirmation: float | None = defaults.DEFAULT_CONFIRMATION, seed: int = 0, timeout: float | None = None,
) -> Result:  # fmt: skip
    """Test whether one training run was the mechanism that its accountant assumed.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> claim = audit.TrainingClaim(noise_multiplier=1.0, steps=100, clip=1.0, rate=0.2)
    >>> recorder, rng = audit.extensions.training.Recorder(claim, records=500), np.random.default_rng(0)
    >>> for step in range(100):
    ...     batch = np.flatnonzero(rng.random(500) < 0.2)
    ...     clipped = np.full((len(batch), 100), 0.1)
    ...     noisy_sum = clipped.sum(axis=0) + 0.8 * rng.normal(size=100)
    ...     recorder.step(batch, clipped=clipped, noisy_sum=noisy_sum)
    >>> result = audit.check_training(recorder, claim)
    >>> print(result.verdict, result.reason[:45])
    FAIL the noise multiplier is 0.7997 in place of 1,
    """
    return run_alone(
        TrainingCheck(
            name=name or UNNAMED, run=run, claim=claim, tolerance=tolerance, unchecked=unchecked, source=source,
            statement=statement, expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed,
    )  # fmt: skip
