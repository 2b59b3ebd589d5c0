"""Judge the record of a training run: a pure function of the claim, the record and the significance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from scipy import special

from audit.api import Interval, Judgment, Verdict, undecided
from audit.extensions.training.runs.batches import batch_findings, batch_gaps, rate_resolution
from audit.extensions.training.runs.claim import TrainingClaim
from audit.extensions.training.runs.contributions import contribution_findings, contribution_gaps, release_findings
from audit.extensions.training.runs.epsilon import epsilon_says
from audit.extensions.training.runs.findings import TESTS, Finding, Missing, number
from audit.extensions.training.runs.noise_tests import (
    multiplier_interval,
    multiplier_resolution,
    noise_findings,
    noise_gaps,
    shape_resolution,
)
from audit.extensions.training.runs.recorder import TrainingEvidence

PARTS = {
    "alone": "whether the gradient of a record depends on the others",
    "released": "what the optimizer sees of the noisy sum",
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
        said = f"{evidence.steps} noisy sums were released in place of {claim.steps}"
        yield Finding("steps", 0.0, lambda: said)
    if evidence.batches.sizes:
        yield from batch_findings(claim, evidence.batches)
    yield from contribution_findings(claim, evidence.contributions)
    yield from noise_findings(claim, evidence.noise)
    yield from release_findings(claim, evidence.contributions)


def decide(terms: TrainingTerms, evidence: TrainingEvidence, significance: float) -> Judgment:
    """Return the judgment; a run of the claimed mechanism FAILs with probability <= significance."""
    claim, level = terms.claim, significance / TESTS
    if not evidence.steps:
        return undecided(evidence.stopped or "no step was recorded")
    found = tuple(_found(claim, evidence, level))
    if refuted := [part for part in findings(claim, evidence) if part.pvalue <= level]:
        first = refuted[0]
        odds = f" (p = {first.pvalue:.2g})" if first.pvalue else ""
        more = f"; also {', '.join(part.part for part in refuted[1:])}" if refuted[1:] else ""
        basis = "outputs" if first.pvalue else "computed"
        return Judgment(Verdict.FAIL, basis, f"{first.says()}{odds}{more}", found=found)
    if evidence.stopped:
        return undecided(f"not refuted, and not recorded to the end: {evidence.stopped}", found)
    gaps = list(_gaps(terms, evidence, level))
    if due := [gap for gap in gaps if gap.part not in terms.unchecked]:
        said = "; ".join(f"{PARTS.get(gap.part, gap.part)}: {gap.advice}" for gap in due)
        return undecided(f"not refuted, but not resolved: {said}", found)
    left = "".join(f"; not checked: {PARTS[gap.part]}" for gap in gaps)
    if evidence.contributions.is_coarse:
        longest = number(evidence.contributions.largest_norm / claim.clip)
        left += f"; contributions of 16 bits: up to {longest} clipping norms, by rounding"
    return Judgment(Verdict.PASS, "outputs", _passed(claim, evidence, level) + left, found=found)


def _gaps(terms: TrainingTerms, evidence: TrainingEvidence, level: float) -> Iterator[Missing]:
    yield from batch_gaps(terms.claim, evidence.batches, level, terms.tolerance)
    yield from contribution_gaps(evidence.contributions)
    yield from noise_gaps(evidence.noise, level, terms.tolerance)


def _passed(claim: TrainingClaim, evidence: TrainingEvidence, level: float) -> str:
    noise, batches = evidence.noise, evidence.batches
    seen = [f"noise multiplier {number(100 * multiplier_resolution(noise, level))} %"]
    if claim.sampling in ("poisson", "cyclic"):
        seen.append(f"sampling rate {number(100 * rate_resolution(claim, batches, level))} %")
    early = (
        f"of {claim.steps} steps, after which the run stopped, less was spent,"
        if evidence.steps < claim.steps
        else "steps"
    )
    shape = f"a share of {number(100 * shape_resolution(noise, level))} % of the noise that has another shape"
    return (
        f"{evidence.steps} {early} are those that were claimed; smaller changes than these would not have been "
        f"seen: {', '.join(seen)}, {shape}{epsilon_says(claim, evidence.epsilon)}"
    )


def _found(claim: TrainingClaim, evidence: TrainingEvidence, level: float) -> Iterable[Interval]:
    noise, batches = evidence.noise, evidence.batches
    if noise.steps:
        yield Interval("noise multiplier", *multiplier_interval(claim, noise, level))
    trials, included = batches.records * batches.steps, batches.included
    if claim.sampling in ("poisson", "cyclic") and trials and claim.truncation is None:
        low = special.betaincinv(included, trials - included + 1, level / 2) if included else 0.0
        high = special.betaincinv(included + 1, trials - included, 1 - level / 2) if included < trials else 1.0
        yield Interval("sampling rate", float(low), float(high))
    if evidence.contributions.norms:
        yield Interval("largest contribution", *[evidence.contributions.largest_norm] * 2)
    if evidence.epsilon is not None:
        yield Interval("epsilon by the accountant, of the claim", *[evidence.epsilon] * 2)
