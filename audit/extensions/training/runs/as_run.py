"""Describe the mechanism that was run by what its record refutes of the claim, and say its epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from audit.extensions.training.runs.batches import batch_findings
from audit.extensions.training.runs.claim import SPACED, TrainingClaim
from audit.extensions.training.runs.contributions import contribution_findings, release_findings
from audit.extensions.training.runs.epsilon import curve_steps, epsilon_of, epsilon_of_claim
from audit.extensions.training.runs.findings import TESTS, Finding, number
from audit.extensions.training.runs.noise_tests import is_reused, noise_findings
from audit.extensions.training.runs.recorder import TrainingEvidence

_CERTAIN = 1e-6  # level of a test at which the mechanism that was run is described; it decides no verdict
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
    "noise of frozen coordinates",
)
_SAYS = {  # which side of epsilon is known of a kind of sampling, and under which relation
    "fixed": "at least {} under substitution",
    "shuffled": "at least {} where a record becomes zero",
    "bins": "at most {}",
}


def findings(claim: TrainingClaim, evidence: TrainingEvidence) -> Iterator[Finding]:
    """Yield the tests of a run in the order in which a step is made: batch, contributions, noise, release."""
    if evidence.steps > claim.steps:
        said = f"{evidence.steps} noisy sums were released in place of {claim.steps}"
        yield Finding("steps", 0.0, lambda: said)
    if evidence.batches.sizes:
        yield from batch_findings(claim, evidence.batches)
    yield from contribution_findings(claim, evidence.contributions)
    yield from noise_findings(claim, evidence.noise)
    yield from release_findings(claim, evidence.contributions)


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
        sampling = claim.sampling if claim.is_amplified else "separated"
        return cls(sampling, claim.rate_among(evidence.batches.records), claim.noise_multiplier, claim.steps)


def _described(claim: TrainingClaim, evidence: TrainingEvidence) -> _Run:
    """Return the mechanism that was run: the claimed one, but for what was refuted beyond doubt."""
    refuted = [part.part for part in findings(claim, evidence) if part.pvalue <= _CERTAIN / TESTS]
    batches, noise, run = evidence.batches, evidence.noise, _Run.of(claim, evidence)
    run = replace(run, steps=min(run.steps, evidence.steps))  # a run that stopped early spent less
    if not refuted:
        return run
    is_fixed = len(batches.sizes) == 1 and claim.sampling not in SPACED
    is_uneven = refuted[0] == "spread of the batch sizes" and claim.sampling in SPACED
    if refuted[0] not in _MODELED or is_uneven or (refuted[0] == "inclusions of records" and not is_fixed):
        return replace(run, is_known=False)
    sampling, rate, multiplier = run.sampling, run.rate, run.noise_multiplier
    if is_fixed and {"spread of the batch sizes", "inclusions of records"} & set(refuted):
        sampling = "fixed" if batches.again or not batches.inclusions else "shuffled"
    if "sampling rate" in refuted or sampling != run.sampling:
        rate = batches.included / (batches.records * batches.steps)
    if "size of the noise" in refuted:
        multiplier *= math.sqrt(noise.squares / (noise.steps * noise.dimension))
    if "clipping" in refuted:
        multiplier *= claim.clip / evidence.contributions.largest_norm
    is_bare = noise.woken > 0 or (noise.steps > 0 and noise.coordinates_squares[0] == 0)
    if "noise that returns" in refuted and not is_reused(noise):
        return replace(run, is_known=False)
    if "noise that returns" in refuted or "noise shared by coordinates" in refuted or is_bare:
        multiplier = 0.0
    is_known = "the sum under the noise" not in refuted or (multiplier == 0 and "clipping" not in refuted)
    return _Run(sampling, rate, multiplier, evidence.steps, is_known)


def epsilons(claim: TrainingClaim, evidence: TrainingEvidence) -> tuple[tuple[int, float, float | None], ...]:
    """Return the accountant's epsilons over the steps, six digits: of the claim, and of the mechanism that was run."""
    if not evidence.steps:
        return ()
    run = _described(claim, evidence)
    points = []
    for steps in curve_steps(claim.steps):
        claimed = epsilon_of_claim(claim, evidence.batches.records, steps)
        taken = max(1, round(steps * run.steps / claim.steps))
        told = run.noise_multiplier, taken, claim.delta, claim.separation or 1
        found = epsilon_of(run.sampling, run.rate, *told) if run.is_known else None
        points.append((steps, _short(claimed), None if found is None else _short(found)))
    return tuple(points)


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def epsilon_says(claim: TrainingClaim, evidence: TrainingEvidence) -> str:
    """Return what a reason says of epsilon: that of the claim, and that of what was run."""
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
