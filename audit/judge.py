"""The judge: a pure function from evidence to verdict. A live run and a replay call the same one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from audit.claims import PrivacyClaim
from audit.empirical.game import game_epsilon_lower_bound
from audit.empirical.resolution import EVENT_PROBABILITY, blind_spot, game_resolution, sequential_resolution
from audit.empirical.sequential import time_uniform_lower_bound
from audit.evidence import Evidence, ExactEvidence
from audit.exact.loss import ARITHMETIC_TOLERANCE
from audit.verdict import Verdict

DEPENDENCE = ("state", "mutated its dataset between calls")  # runs were not independent: no game counts
_CAUSES = {
    "state": "its outputs depend on earlier calls or share noise within a call, so that its runs are not independent",
    "mutated its dataset between calls": "it changed its dataset, which later calls of the same block saw",
    "mutated its dataset": "it changed the dataset it was given",
    "own randomness": "the same seed gave different outputs: it keeps state or does not draw from `rng` "
    "(audit.per_call declares randomness of its own)",
    "nan": "it returned NaN",
    "raised": "it raised",
}


@dataclass(frozen=True)
class Judgement:
    """A verdict, its reason, and the numbers it rests on.

    Parameters
    ----------
    verdict : Verdict
    basis : str
        "exact" (the stated law), "statistical" (the guess game), or "none".
    reason : str
        One sentence.
    epsilon_lower_bound : float
        Certified at the claim's delta; exceeds the true epsilon with probability at most `significance`.
    exact_epsilon : float or None
        Upper bound from the stated laws, the worst pair; None without a stated law.
    resolution : float
        Smallest epsilon that would have been refuted with power 0.8; inf when none.
    blind_spot : float
        Events rarer than this were not examined.
    """

    verdict: Verdict
    basis: str
    reason: str
    epsilon_lower_bound: float
    exact_epsilon: float | None
    resolution: float
    blind_spot: float


def default_tolerance(claim: PrivacyClaim) -> float:
    """By how much epsilon may be exceeded unseen under a statistical PASS: max(0.05, epsilon / 4)."""
    return max(0.05, 0.25 * claim.epsilon)


def judge(claim: PrivacyClaim, evidence: Evidence, significance: float, tolerance: float | None = None) -> Judgement:
    """Judge the evidence.

    A true claim is judged FAIL by the game with probability at most `significance`, in finite samples and for
    every mechanism whose runs are independent. A FAIL by the stated law takes the law for granted, and the reason
    says so.
    """
    lower = 0.0 if _dependent(evidence) else _bound(claim, evidence, significance)
    resolution = _resolution(claim, evidence, significance)
    verdict, basis, reason = _decide(claim, evidence, significance, lower, resolution, tolerance)
    return Judgement(
        verdict,
        basis,
        reason,
        lower,
        max((part.epsilon_upper_bound for part in evidence.exact), default=None),
        resolution,
        blind_spot(_trained_on(evidence)),
    )


def allowed_epsilon(claim: PrivacyClaim, tolerance: float | None) -> float:
    """The resolution that a statistical PASS needs."""
    return claim.epsilon + (default_tolerance(claim) if tolerance is None else tolerance)


def _bound(claim: PrivacyClaim, evidence: Evidence, significance: float) -> float:
    if evidence.sequential is not None:
        return time_uniform_lower_bound(evidence.sequential.outcome, significance)
    if evidence.game is None:
        return 0.0
    delta = claim.delta / 2 if evidence.game.one_sided else claim.delta
    return game_epsilon_lower_bound(evidence.game.counts, delta, significance, evidence.game.coin_seed())


def _resolution(claim: PrivacyClaim, evidence: Evidence, significance: float) -> float:
    if evidence.sequential is not None:
        return sequential_resolution(claim.epsilon, claim.delta, evidence.sequential.outcome.steps, significance)
    runs = evidence.game.counts.runs if evidence.game else 0
    return game_resolution(claim.epsilon, claim.delta, runs, significance)


def _trained_on(evidence: Evidence) -> int:
    """Outputs a side from which the events were learned: a sequential game learns from all of them."""
    if evidence.sequential is not None:
        return evidence.sequential.outcome.steps
    return evidence.game.training if evidence.game else 0


def _dependent(evidence: Evidence) -> bool:
    return any(kind in evidence.oddities for kind in DEPENDENCE)


def _decide(
    claim: PrivacyClaim,
    evidence: Evidence,
    significance: float,
    lower: float,
    resolution: float,
    tolerance: float | None,
) -> tuple[Verdict, str, str]:
    if _is_refuted(claim, evidence, lower, significance):
        return Verdict.FAIL, "statistical", _refuted(claim, evidence, lower, significance)
    if evidence.failure:
        return Verdict.INCONCLUSIVE, "none", evidence.failure
    if cause := _odd_cause(evidence):
        return Verdict.INCONCLUSIVE, "none", cause
    if evidence.exact:
        decided = _decide_exactly(claim, evidence.exact, significance)
        if decided is not None:
            return decided
    if "constant" in evidence.oddities:
        return Verdict.INCONCLUSIVE, "none", "its output never varied, so nothing random was exercised"
    return _decide_statistically(claim, evidence, resolution, tolerance)


def _is_refuted(claim: PrivacyClaim, evidence: Evidence, lower: float, significance: float) -> bool:
    """A fixed game refutes by its bound; a sequential one by the wealth that it reached against the claim."""
    if evidence.sequential is not None and not _dependent(evidence):
        return evidence.sequential.outcome.log_wealth >= math.log(1 / significance)
    return lower > claim.epsilon


def _refuted(claim: PrivacyClaim, evidence: Evidence, lower: float, significance: float) -> str:
    if evidence.sequential is not None:
        outcome = evidence.sequential.outcome
        found = f"after {outcome.steps} pairs of outputs the wealth was e^{outcome.log_wealth:.2f}"
    else:
        assert evidence.game is not None
        counts = evidence.game.counts
        found = f"{counts.correct} of {counts.correct + counts.wrong} guesses were right"
    return (
        f"{found}: epsilon >= {lower:.4g} at "
        f"delta = {claim.delta:g}, claimed {claim.epsilon:g} (error probability {significance:.2g})"
    )


def _odd_cause(evidence: Evidence) -> str | None:
    for kind, cause in _CAUSES.items():
        if count := evidence.oddities.get(kind):
            return cause + (f" ({count} times in {evidence.samples} outputs)" if kind in ("nan", "raised") else "")
    return None


def _decide_exactly(
    claim: PrivacyClaim, exact: tuple[ExactEvidence, ...], significance: float
) -> tuple[Verdict, str, str] | None:
    """The verdict by the stated laws; None when the brackets leave the claim open."""
    misfit = [part for part in exact if part.fit_pvalue is not None and part.fit_pvalue <= significance / len(exact)]
    if misfit:
        return (
            Verdict.INCONCLUSIVE,
            "none",
            f"the sampler and its stated law disagree (p = {misfit[0].fit_pvalue:.2g}, pair {misfit[0].pair}), "
            "without the claim being refuted",
        )
    worst = max(exact, key=lambda part: part.epsilon_lower_bound)
    untested = any(part.fit_pvalue is None for part in exact)
    if _breaks(claim, worst):
        return _broken_by_law(claim, worst, untested)
    if untested or not all(_keeps(claim, part) for part in exact):
        return None
    epsilon = max(part.epsilon_upper_bound for part in exact)
    return (
        Verdict.PASS,
        "exact",
        f"epsilon = {epsilon:.6g} at delta = {claim.delta:g} by the stated law, which the sampler follows "
        f"(within {_widest(exact):.2g} in distribution)",
    )


def _broken_by_law(claim: PrivacyClaim, part: ExactEvidence, untested: bool) -> tuple[Verdict, str, str]:
    said = f"its stated law has epsilon >= {part.epsilon_lower_bound:.6g} at delta = {claim.delta:g}"
    if untested:
        return Verdict.INCONCLUSIVE, "none", f"{said}, claimed {claim.epsilon:g}; the sampler was not tested against it"
    return Verdict.FAIL, "exact", f"{said}, claimed {claim.epsilon:g} (pair {part.pair}; taking the law for granted)"


def _widest(exact: tuple[ExactEvidence, ...]) -> float:
    return max(part.fit_resolution or math.inf for part in exact)


def _breaks(claim: PrivacyClaim, part: ExactEvidence) -> bool:
    by_delta = part.delta_lower_bound > claim.delta + ARITHMETIC_TOLERANCE * max(claim.delta, 1e-3)
    return by_delta and part.epsilon_lower_bound > claim.epsilon + ARITHMETIC_TOLERANCE * max(1.0, claim.epsilon)


def _keeps(claim: PrivacyClaim, part: ExactEvidence) -> bool:
    by_delta = part.delta_upper_bound <= claim.delta * (1 + ARITHMETIC_TOLERANCE)
    by_epsilon = part.epsilon_upper_bound <= claim.epsilon + ARITHMETIC_TOLERANCE * max(1.0, claim.epsilon)
    return by_delta or by_epsilon


def _decide_statistically(
    claim: PrivacyClaim, evidence: Evidence, resolution: float, tolerance: float | None
) -> tuple[Verdict, str, str]:
    played = evidence.sequential or evidence.game
    if played is None:
        return Verdict.INCONCLUSIVE, "none", "nothing was tested"
    if not played.complete:
        reason = "not refuted, but no score that competed sees every difference between outputs of this kind"
        return Verdict.INCONCLUSIVE, "none", reason
    allowed = allowed_epsilon(claim, tolerance)
    found = f"resolution {resolution:.4g} on events of probability {EVENT_PROBABILITY:g}"
    if resolution > allowed or blind_spot(_trained_on(evidence)) > EVENT_PROBABILITY:
        reason = f"not refuted, but {found} is too coarse for {allowed:.4g}: raise the budget"
        return Verdict.INCONCLUSIVE, "none", reason
    return Verdict.PASS, "statistical", f"not refuted; {found}"
