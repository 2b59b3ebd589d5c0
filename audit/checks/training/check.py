"""Check whether a training run was the mechanism that its accountant was told about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from scipy import special

from audit.base.arguments import positive
from audit.base.budgets import Budget
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_CONFIRMATION, DEFAULT_SIGNIFICANCE
from audit.base.errors import AuditError, InvalidArgument
from audit.base.text import described
from audit.base.verdict import Verdict
from audit.checks.allowance import Allowance
from audit.checks.base import Check, Evidence, Result, checked
from audit.checks.training.accounting import curve_steps, epsilon_of, epsilon_of_claim
from audit.checks.training.batches import batch_findings, batch_gaps, rate_resolution
from audit.checks.training.claim import TrainingClaim
from audit.checks.training.contributions import contribution_findings, contribution_gaps, release_findings
from audit.checks.training.findings import TESTS, Finding, Missing, number, stated
from audit.checks.training.noise import (
    is_reused,
    multiplier_interval,
    multiplier_resolution,
    noise_findings,
    noise_gaps,
)
from audit.checks.training.recorder import Recorder, TrainingEvidence
from audit.checks.utility.theorem import Found, UtilityJudgment
from audit.subjects.keeper import is_of_subject
from audit.subjects.subject import name_of

_CERTAIN = 1e-6  # level of a test at which the mechanism that was run is described; it decides no verdict
_PARTS = {
    "alone": "whether the gradient of a record depends on the others",
    "released": "what the optimizer sees of the noisy sum",
    "records": "which records are in the batches",
    "clipping": "the norms of the contributions",
}
_MODELED = (  # an accountant can say what a run amounts to that differs in one of these first
    "steps",
    "sampling rate",
    "spread of the batch sizes",
    "inclusions of records",
    "clipping",
    "noise that returns",
    "noise shared by coordinates",
    "size of the noise",
    "noise of each coordinate",
)
_SAYS = {  # which side of epsilon is known of a kind of sampling, and under which relation
    "fixed": "at least {} under substitution",
    "shuffled": "at least {} where a record becomes zero",
}


@dataclass(frozen=True)
class TrainingTerms:
    """What the judge needs besides the evidence."""

    claim: TrainingClaim
    tolerance: float
    unchecked: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class TrainingResult(Result):
    """The outcome of a check of a training run; see `PrivacyResult` for what all results have.

    Examples
    --------
    >>> import audit
    >>> claim = audit.TrainingClaim(noise_multiplier=1.0, steps=50, clip=1.0, rate=0.1)
    >>> result = audit.check_training(audit.training.Recorder(claim, records=500), claim)
    >>> result.verdict, result.epsilon_claimed
    (<Verdict.INCONCLUSIVE: 'INCONCLUSIVE'>, None)
    """

    @property
    def found(self) -> Found:
        """Noise multiplier and sampling rate with their bounds, and the accountant's epsilons."""
        return tuple(self.judgment.found)

    @property
    def epsilon_claimed(self) -> float | None:
        """The accountant's epsilon of the claim, at its delta; None before anything was recorded."""
        return self.evidence.epsilons[-1][1] if self.evidence.epsilons else None

    @property
    def epsilon_run(self) -> float | None:
        """The accountant's epsilon of the mechanism that was run; None where none is known."""
        return self.evidence.epsilons[-1][2] if self.evidence.epsilons else None


@dataclass(frozen=True, kw_only=True)
class TrainingCheck(Check):
    """The claim that one training run was the mechanism that its accountant was told about.

    The run is recorded step by step: its batches, the contributions of records, the noise, and what the optimizer sees.
    Facts are compared with the claim, and the random parts are tested by laws that hold in finite samples. A FAIL is
    about this mechanism, also where the run added more noise than it claims; it says which epsilon was run.

    Parameters
    ----------
    run : Recorder, or callable
        The record of a run, or `(rng) -> Recorder`, which trains and returns it.
    claim : TrainingClaim
        What the accountant is told.
    tolerance : float > 0, default 0.1
        A PASS needs that a relative change of the noise multiplier, or of the sampling rate, by this much would have
        been a FAIL with power 0.8.
    unchecked : tuple of str
        Parts without which a PASS is said nonetheless: "alone" (the gradient of a record alone), "released" (what
        the optimizer sees), "records" (which records are in the batches), "clipping". The certificate names them.
    budget
        Outputs are not drawn: a run has the steps that it has.
    name, expected, timeout
        As for `audit.PrivacyCheck`.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.

    References
    ----------
    Abadi et al. (2016), Deep learning with differential privacy. Massart (1990), The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> claim = audit.TrainingClaim(noise_multiplier=1.0, steps=100, clip=1.0, rate=0.2)
    >>> def train(rng):
    ...     recorder = audit.training.Recorder(claim, records=500)
    ...     for step in range(100):
    ...         batch = rng.permutation(500)[:100]  # always 100 records
    ...         clipped = np.full((len(batch), 100), 0.1)
    ...         recorder.step(batch, clipped=clipped, noisy_sum=clipped.sum(axis=0) + rng.normal(size=100))
    ...     return recorder
    >>> check = audit.TrainingCheck(name="fixed size", run=train, claim=claim)
    >>> print(audit.run([check], workers=0)["fixed size"].reason[:32])
    every batch has 100 records; Poi
    """

    run: Recorder | Callable[..., Any]
    claim: TrainingClaim
    tolerance: float = 0.1
    unchecked: tuple[str, ...] = ()

    kind: ClassVar[str] = "training"
    noun: ClassVar[str] = "the training"
    unit: ClassVar[str] = "steps"
    redraws: ClassVar[bool] = False
    evidence_type: ClassVar[type[Evidence]] = TrainingEvidence
    result_type: ClassVar[type[Result]] = TrainingResult

    def _validate(self) -> None:
        if not (isinstance(self.run, Recorder) or callable(self.run)):
            raise InvalidArgument.of("run", "be a Recorder, or callable as (rng) -> Recorder", self.run)
        if not isinstance(self.claim, TrainingClaim):
            raise InvalidArgument.of("claim", "be a TrainingClaim", self.claim)
        if isinstance(self.run, Recorder):
            _require_claim(self.run, self.claim)
        object.__setattr__(self, "tolerance", positive(self.tolerance, "tolerance"))
        object.__setattr__(self, "unchecked", tuple(self.unchecked))
        if wrong := [part for part in self.unchecked if part not in _PARTS]:
            raise InvalidArgument.of("unchecked", f"hold only {', '.join(map(repr, _PARTS))}", wrong[0])

    @property
    def subject(self) -> Any:
        """The function that trains, or the recorder."""
        return self.run

    @property
    def stated(self) -> str:
        """The claim in words."""
        return self.claim.summary

    def gather(self, allowance: Allowance) -> TrainingEvidence:
        """Train where asked, and return the record with the accountant's epsilons."""
        try:
            recorder = self.run if isinstance(self.run, Recorder) else self.run(allowance.stream.rng())
        except AuditError:
            raise
        except BaseException as error:
            if not is_of_subject(error):
                raise
            return self.nothing(f"the training raised {type(error).__name__}: {described(error)}")
        if not isinstance(recorder, Recorder):
            raise InvalidArgument.of("run", "return its Recorder", recorder)
        _require_claim(recorder, self.claim)
        evidence = recorder.evidence()
        return replace(evidence, epsilons=_epsilons(self.claim, evidence))

    def nothing(self, failure: str, cause: str = "error") -> TrainingEvidence:
        """Return the evidence of a run that was not recorded."""
        return TrainingEvidence(0, failure=failure)

    def terms(self) -> TrainingTerms:
        """Return claim, tolerance and what is not required."""
        return TrainingTerms(self.claim, self.tolerance, self.unchecked)

    @classmethod
    def recorded_terms(cls, record: Mapping[str, Any]) -> TrainingTerms:
        """Return the terms that a record holds."""
        settings = record["settings"]
        claim = TrainingClaim(**record["claim"]["terms"])
        return TrainingTerms(claim, positive(settings["tolerance"], "tolerance"), tuple(settings["unchecked"]))

    def recorded_claim(self) -> dict[str, Any]:
        """Return the claim as plain data."""
        claim = self.claim
        return {"statement": str(claim), "summary": claim.summary, "source": claim.source, "terms": claim.terms()}

    def recorded_settings(self) -> dict[str, Any]:
        """Return tolerance and what is not required."""
        return {"tolerance": self.tolerance, "unchecked": list(self.unchecked)}

    @classmethod
    def judge(cls, terms: TrainingTerms, evidence: TrainingEvidence, significance: float) -> UtilityJudgment:
        """Return the judgment; a run of the claimed mechanism FAILs with probability <= significance."""
        claim, level = terms.claim, significance / TESTS
        if evidence.failure is not None or not evidence.steps:
            return UtilityJudgment(Verdict.INCONCLUSIVE, "none", evidence.failure or "no step was recorded")
        found = tuple(_found(claim, evidence, level))
        if refuted := [part for part in findings(claim, evidence) if part.pvalue <= level]:
            first = refuted[0]
            odds = f" (p = {first.pvalue:.2g})" if first.pvalue else ""
            more = f"; also {', '.join(part.part for part in refuted[1:])}" if refuted[1:] else ""
            basis = "statistical" if first.pvalue else "exact"
            reason = f"{first.says()}{odds}{more}{_epsilon_says(claim, evidence)}"
            return UtilityJudgment(Verdict.FAIL, basis, reason, found)
        gaps = list(_gaps(terms, evidence, level))
        if due := [gap for gap in gaps if gap.part not in terms.unchecked]:
            said = "; ".join(f"{_PARTS.get(gap.part, gap.part)}: {gap.advice}" for gap in due)
            return UtilityJudgment(Verdict.INCONCLUSIVE, "none", f"not refuted, but not resolved: {said}", found)
        left = "".join(f"; not checked: {_PARTS[gap.part]}" for gap in gaps)
        return UtilityJudgment(Verdict.PASS, "statistical", _passed(claim, evidence, level) + left, found)


def _require_claim(recorder: Recorder, claim: TrainingClaim) -> None:
    if recorder.claim != claim:
        raise InvalidArgument.of("claim", f"be that of the recorder, {recorder.claim.summary}", claim.summary)


def findings(claim: TrainingClaim, evidence: TrainingEvidence) -> Iterator[Finding]:
    """Yield the tests of a run in the order in which a step is made: batch, contributions, noise, release."""
    if evidence.steps != claim.steps:
        said = f"{evidence.steps} noisy sums were released in place of {claim.steps}"
        yield Finding("steps", 0.0, lambda: said)
    if evidence.batches.sizes:
        yield from batch_findings(claim, evidence.batches)
    yield from contribution_findings(claim, evidence.contributions)
    yield from noise_findings(claim, evidence.noise)
    yield from release_findings(claim, evidence.contributions)


def _gaps(terms: TrainingTerms, evidence: TrainingEvidence, level: float) -> Iterator[Missing]:
    yield from batch_gaps(terms.claim, evidence.batches, level, terms.tolerance)
    yield from contribution_gaps(evidence.contributions)
    yield from noise_gaps(evidence.noise, level, terms.tolerance)


def _passed(claim: TrainingClaim, evidence: TrainingEvidence, level: float) -> str:
    noise, batches = evidence.noise, evidence.batches
    seen = [f"noise multiplier {number(100 * multiplier_resolution(noise, level))} %"]
    if claim.sampling == "poisson":
        rate = claim.rate_among(batches.records)
        seen.append(f"sampling rate {number(100 * rate_resolution(batches, rate, level))} %")
    return (
        f"{evidence.steps} steps are those that were claimed; smaller changes than these would not have been seen: "
        f"{', '.join(seen)}{_epsilon_says(claim, evidence)}"
    )


def _found(claim: TrainingClaim, evidence: TrainingEvidence, level: float) -> Iterable[Any]:
    noise, batches = evidence.noise, evidence.batches
    if noise.steps:
        yield stated("noise multiplier", *multiplier_interval(claim, noise, level))
    trials, included = batches.records * batches.steps, batches.included
    if claim.sampling == "poisson" and trials:
        low = special.betaincinv(included, trials - included + 1, level / 2) if included else 0.0
        high = special.betaincinv(included + 1, trials - included, 1 - level / 2) if included < trials else 1.0
        yield stated("sampling rate", float(low), float(high))
    if evidence.contributions.norms:
        yield stated("largest contribution", *[evidence.contributions.largest_norm] * 2)
    if evidence.epsilons:
        _, claimed, run = evidence.epsilons[-1]
        yield stated("epsilon by the accountant, of the claim", claimed, claimed)
        if run is not None:
            yield stated("epsilon by the accountant, of what was run", run, run)


def _epsilon_says(claim: TrainingClaim, evidence: TrainingEvidence) -> str:
    if not evidence.epsilons:
        return ""
    _, claimed, found = evidence.epsilons[-1]
    run, at = _described(claim, evidence), f"at delta = {claim.delta:g}"
    due = _SAYS.get(claim.sampling, "{}").format(number(claimed))
    if found is None:
        return f". The claim's epsilon is {due} {at}; that of what was run is not known"
    if run == _Run.of(claim, evidence):
        return f". Epsilon is {due} {at}"
    return f". What was run has epsilon {_SAYS.get(run.sampling, '{}').format(number(found))} {at}, the claim {due}"


@dataclass(frozen=True)
class _Run:
    """The mechanism that was run, by what its record refutes of the claim."""

    sampling: str
    rate: float
    noise_multiplier: float
    steps: int
    is_known: bool = True

    @classmethod
    def of(cls, claim: TrainingClaim, evidence: TrainingEvidence) -> _Run:
        """Return the claimed mechanism."""
        return cls(claim.sampling, claim.rate_among(evidence.batches.records), claim.noise_multiplier, claim.steps)


def _described(claim: TrainingClaim, evidence: TrainingEvidence) -> _Run:
    """Return the mechanism that was run: the claimed one, but for what was refuted beyond doubt."""
    refuted = [part.part for part in findings(claim, evidence) if part.pvalue <= _CERTAIN / TESTS]
    batches, noise, run = evidence.batches, evidence.noise, _Run.of(claim, evidence)
    if not refuted:
        return run
    is_fixed = len(batches.sizes) == 1
    if refuted[0] not in _MODELED or (refuted[0] == "inclusions of records" and not is_fixed):
        return replace(run, is_known=False)
    sampling, rate, multiplier = run.sampling, run.rate, run.noise_multiplier
    if is_fixed and {"spread of the batch sizes", "inclusions of records"} & set(refuted):
        sampling = "fixed" if batches.again or not batches.inclusions else "shuffled"
    if "sampling rate" in refuted or sampling != claim.sampling:
        rate = batches.included / (batches.records * batches.steps)
    if "size of the noise" in refuted:
        multiplier *= math.sqrt(noise.squares / (noise.steps * noise.dimension))
    if "clipping" in refuted:
        multiplier *= claim.clip / evidence.contributions.largest_norm
    is_bare = noise.steps > 0 and noise.coordinates_squares[0] == 0
    if "noise that returns" in refuted and not is_reused(noise):
        return replace(run, is_known=False)
    if "noise that returns" in refuted or "noise shared by coordinates" in refuted or is_bare:
        multiplier = 0.0
    is_known = "the sum under the noise" not in refuted or (multiplier == 0 and "clipping" not in refuted)
    return _Run(sampling, rate, multiplier, evidence.steps, is_known)


def _epsilons(claim: TrainingClaim, evidence: TrainingEvidence) -> tuple[tuple[int, float, float | None], ...]:
    """Return the accountant's epsilons over the steps, six digits: of the claim, and of the mechanism that was run."""
    if not evidence.steps:
        return ()
    run = _described(claim, evidence)
    points = []
    for steps in curve_steps(claim.steps):
        claimed = epsilon_of_claim(claim, evidence.batches.records, steps)
        taken = max(1, round(steps * run.steps / claim.steps))
        found = epsilon_of(run.sampling, run.rate, run.noise_multiplier, taken, claim.delta) if run.is_known else None
        points.append((steps, _short(claimed), None if found is None else _short(found)))
    return tuple(points)


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def check_training(
    run: Recorder | Callable[..., Any],
    claim: TrainingClaim,
    *,
    tolerance: float = 0.1,
    unchecked: tuple[str, ...] = (),
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    budget: Budget = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    confirmation: float | None = DEFAULT_CONFIRMATION,
    seed: int = 0,
    timeout: float | None = None,
) -> TrainingResult:
    """Test whether one training run was the mechanism that its accountant was told about.

    Parameters
    ----------
    run, claim, tolerance, unchecked, expected, budget, timeout
        See `audit.TrainingCheck`.
    name : str, optional
        Shown in messages; that of the function that trains unless given.
    significance : float in (0, 1)
        Probability that a run of the claimed mechanism is suspected. What is suspected at 0.001 is not a PASS.
    confirmation : float in (0, 1), optional
        Probability of a wrong FAIL: a run that is over cannot be drawn again, so that it is judged at this level at
        once. None: the probability is `significance`.
    seed : int >= 0
        Seeds the generator of a run that is trained here.

    Returns
    -------
    TrainingResult

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.

    References
    ----------
    See `audit.TrainingCheck`.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> claim = audit.TrainingClaim(noise_multiplier=1.0, steps=100, clip=1.0, rate=0.2)
    >>> recorder, rng = audit.training.Recorder(claim, records=500), np.random.default_rng(0)
    >>> for step in range(100):
    ...     batch = np.flatnonzero(rng.random(500) < 0.2)
    ...     clipped = np.full((len(batch), 100), 0.1)
    ...     noisy_sum = clipped.sum(axis=0) + 0.8 * rng.normal(size=100)
    ...     recorder.step(batch, clipped=clipped, noisy_sum=noisy_sum)
    >>> result = audit.check_training(recorder, claim)
    >>> print(result.verdict, result.reason[:45])
    FAIL the noise multiplier is 0.7997 in place of 1,
    """
    name = name or (name_of(run) if callable(run) else "training run")
    return checked(TrainingCheck, locals())
