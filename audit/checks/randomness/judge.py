"""The judge of a randomness check: a pure function from counts to verdict, called live and by a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audit.base.errors import InvalidCertificate
from audit.base.verdict import Verdict
from audit.checks.base import Judgment
from audit.checks.randomness.evidence import IN_WORKERS, KINDS, Comparison, RandomnessEvidence


@dataclass(frozen=True)
class RandomnessJudgment(Judgment):
    """A verdict, what it rests on, and its reason.

    Parameters
    ----------
    verdict : Verdict
        FAIL: the outputs are not independent draws from one law. PASS: no comparison found anything, and each of them
        would have found noise that is reused throughout. INCONCLUSIVE: neither.
    basis : str
        "statistical" or "none".
    reason : str
        One sentence.
    findings : tuple of Comparison
        Those that rejected independence, each at an equal share of the significance; the clearest first.
    """

    findings: tuple[Comparison, ...] = ()

    def record(self) -> dict[str, Any]:
        """The judged part of a record; six digits, since a replay elsewhere may differ in the last ones."""
        return {
            "verdict": self.verdict.value,
            "basis": self.basis,
            "reason": self.reason,
            "findings": [{"kind": part.kind, "pvalue": float(f"{part.pvalue:.6g}")} for part in self.findings],
        }


def judge_randomness(evidence: RandomnessEvidence, significance: float) -> RandomnessJudgment:
    """Judge the counts.

    Independent outputs FAIL with probability at most `significance`, in finite samples and whatever their law: each
    of the kinds in `KINDS` gets an equal share of it.

    Raises
    ------
    InvalidCertificate
        When the counts contradict themselves.
    """
    _require_form(evidence)
    share = significance / len(KINDS)
    rejected = (part for part in evidence.comparisons if part.pvalue <= share)
    findings = tuple(sorted(rejected, key=lambda part: part.pvalue))
    if findings:
        more = f"; also {', '.join(found.kind for found in findings[1:])}" if len(findings) > 1 else ""
        reason = f"the outputs are not independent: {findings[0].text}{more} (error probability {significance:.2g})"
        return RandomnessJudgment(Verdict.FAIL, "statistical", reason, findings)
    if evidence.failure is not None:
        return _undecided(evidence.failure)
    due = [kind for kind in KINDS if kind != IN_WORKERS or evidence.workers]
    if missing := [kind for kind in due if kind not in {part.kind for part in evidence.comparisons}]:
        return _undecided(f"not examined: {', '.join(missing)}")
    if blind := [part for part in evidence.comparisons if part.least_pvalue > share]:
        worst = min(blind, key=lambda part: part.able)
        return _undecided(
            f"its outputs are so much alike, or so few, that reused noise would not show ({worst.kind}: "
            f"{worst.able} comparisons could tell, at a share of {share:.2g} of the significance)"
        )
    smallest = min(part.pvalue for part in evidence.comparisons)
    unseen = "" if evidence.workers else "; worker processes were not examined: nothing can be forked here"
    reason = f"no sign of reused or shared noise (smallest p of {len(evidence.comparisons)}: {smallest:.2g}){unseen}"
    return RandomnessJudgment(Verdict.PASS, "statistical", reason)


def _undecided(reason: str) -> RandomnessJudgment:
    return RandomnessJudgment(Verdict.INCONCLUSIVE, "none", reason)


def _require_form(evidence: RandomnessEvidence) -> None:
    kinds = [part.kind for part in evidence.comparisons]
    if unknown := set(kinds) - set(KINDS):
        raise InvalidCertificate(f"comparisons of kinds {sorted(unknown)} are not known")
    if len(set(kinds)) < len(kinds):
        raise InvalidCertificate("a kind of comparison occurs twice")
    for part in evidence.comparisons:
        if min(part.won, part.lost, part.tied, part.able) < 0 or part.able > part.won + part.lost + part.tied:
            raise InvalidCertificate(f"the counts of {part.kind!r} contradict each other")
