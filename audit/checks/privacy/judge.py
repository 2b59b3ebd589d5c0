"""The judge: a pure function from evidence to verdict. A live run and a replay call the same one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from audit.base.errors import InvalidCertificate
from audit.base.verdict import Verdict
from audit.checks.base import Judgment
from audit.checks.privacy.evidence import ExactEvidence, PrivacyEvidence
from audit.claims import Claim, Point
from audit.game.guesses import game_epsilon_lower_bound
from audit.game.resolution import EVENT_PROBABILITY, blind_spot, game_resolution, sequential_resolution
from audit.game.sequential import time_uniform_lower_bound
from audit.laws.privacy_loss import ARITHMETIC_TOLERANCE

DEPENDENCE = ("state", "mutated its dataset between calls")  # runs were not independent: no game counts
_CONTRADICTION = 1e-8  # more than rounding: a law that is said to keep a claim, with bounds that break it
_LARGEST_SEQUENTIAL_DELTA = 1e-4  # beyond, simulated violations were missed more often than the resolution says
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
class PrivacyJudgment(Judgment):
    """A verdict, its reason, and the numbers that it rests on.

    Parameters
    ----------
    verdict, basis, reason
        As in `Judgment`: "exact" is the stated law, "statistical" the guess game.
    epsilon_lower_bound : float
        Certified at the tested delta; exceeds the true epsilon with probability at most `significance`.
    exact_epsilon : float or None
        Upper bound at the tested delta from the stated laws, the worst pair; None without a stated law.
    resolution : float
        Smallest epsilon that would have been refuted with power 0.8; inf when none.
    blind_spot : float
        Events rarer than this were not examined.
    """

    epsilon_lower_bound: float
    exact_epsilon: float | None
    resolution: float
    blind_spot: float


def default_tolerance(point: Point) -> float:
    """By how much epsilon may be exceeded unseen under a statistical PASS: max(0.05, epsilon / 4)."""
    return max(0.05, 0.25 * point.epsilon)


def judge(
    claim: Claim, evidence: PrivacyEvidence, significance: float, tolerance: float | None = None
) -> PrivacyJudgment:
    """Judge the evidence.

    A true claim is judged FAIL by the game with probability at most `significance`, in finite samples and for every
    mechanism whose runs are independent. A claim that implies a whole curve of (epsilon, delta) is refuted at the one
    point that was tested. A FAIL by the stated law takes the law for granted, and the reason says so.

    Raises
    ------
    InvalidCertificate
        When the evidence tested a point that the claim does not imply, or contradicts itself.
    """
    point = tested_point(claim, evidence)
    lower = 0.0 if is_dependent(evidence) else _bound(point, evidence, significance)
    resolution = _resolution(point, evidence, significance)
    verdict, basis, reason = _decide(claim, point, evidence, significance, lower, resolution, tolerance)
    return PrivacyJudgment(
        verdict,
        basis,
        reason,
        lower,
        max((part.epsilon_upper_bound for part in evidence.exact), default=None),
        resolution,
        blind_spot(_trained_on(evidence)),
    )


def tested_point(claim: Claim, evidence: PrivacyEvidence) -> Point:
    """The point that the evidence tested: the claim's own unless it says another one.

    Raises
    ------
    InvalidCertificate
        When the claim does not imply it: refuting it would say nothing.
    """
    if evidence.tested is None:
        return claim.point
    if not claim.implies(evidence.tested):
        raise InvalidCertificate(f"the evidence tested {evidence.tested}, which does not follow from {claim.short}")
    return evidence.tested


def allowed_epsilon(point: Point, tolerance: float | None) -> float:
    """The resolution that a statistical PASS needs."""
    return point.epsilon + (default_tolerance(point) if tolerance is None else tolerance)


def _bound(point: Point, evidence: PrivacyEvidence, significance: float) -> float:
    if evidence.sequential is not None:
        return time_uniform_lower_bound(evidence.sequential.outcome, significance)
    if evidence.game is None:
        return 0.0
    delta = point.delta / 2 if evidence.game.one_sided else point.delta
    return game_epsilon_lower_bound(evidence.game.counts, delta, significance, evidence.game.coin_seed())


def _resolution(point: Point, evidence: PrivacyEvidence, significance: float) -> float:
    if evidence.sequential is not None:
        return sequential_resolution(point.epsilon, point.delta, evidence.sequential.outcome.steps, significance)
    runs = evidence.game.counts.runs if evidence.game else 0
    return game_resolution(point.epsilon, point.delta, runs, significance)


def _trained_on(evidence: PrivacyEvidence) -> int:
    """Outputs a side from which the events were learned: a sequential game learns from all of them."""
    if evidence.sequential is not None:
        return evidence.sequential.outcome.steps
    return evidence.game.training if evidence.game else 0


def is_dependent(evidence: PrivacyEvidence) -> bool:
    """Whether the runs were found not to be independent, so that no game counts."""
    return any(kind in evidence.anomalies for kind in DEPENDENCE)


def _decide(
    claim: Claim,
    point: Point,
    evidence: PrivacyEvidence,
    significance: float,
    lower: float,
    resolution: float,
    tolerance: float | None,
) -> tuple[Verdict, str, str]:
    if _is_refuted(point, evidence, lower, significance):
        return Verdict.FAIL, "statistical", _refuted(claim, point, evidence, lower, significance)
    if evidence.failure:
        return Verdict.INCONCLUSIVE, "none", evidence.failure
    if cause := _odd_cause(evidence):
        return Verdict.INCONCLUSIVE, "none", cause
    if evidence.exact:
        decided = _decide_exactly(claim, point, evidence.exact, significance)
        if decided is not None:
            return decided
    if "constant" in evidence.anomalies:
        return Verdict.INCONCLUSIVE, "none", "its output never varied, so nothing random was exercised"
    return _decide_statistically(claim, point, evidence, significance, tolerance)


def _is_refuted(point: Point, evidence: PrivacyEvidence, lower: float, significance: float) -> bool:
    """A fixed game refutes by its bound; a sequential one by the wealth that it reached against the claim."""
    if evidence.sequential is not None and not is_dependent(evidence):
        return evidence.sequential.outcome.log_wealth >= math.log(1 / significance)
    return lower > point.epsilon


def _refuted(claim: Claim, point: Point, evidence: PrivacyEvidence, lower: float, significance: float) -> str:
    epsilon, delta = point
    if evidence.sequential is not None:
        outcome = evidence.sequential.outcome
        found = f"after {outcome.steps} pairs of outputs the wealth was e^{outcome.log_wealth:.2f}"
    else:
        assert evidence.game is not None
        counts = evidence.game.counts
        found = f"{counts.correct} of {counts.correct + counts.wrong} guesses were right"
    promise = f"{claim.short} implies {epsilon:.4g}" if claim.is_curve else f"claimed {epsilon:g}"
    return f"{found}: epsilon >= {lower:.4g} at delta = {delta:.6g}, {promise} (error probability {significance:.2g})"


def _odd_cause(evidence: PrivacyEvidence) -> str | None:
    for kind, cause in _CAUSES.items():
        if count := evidence.anomalies.get(kind):
            return cause + (f" ({count} times in {evidence.samples} outputs)" if kind in ("nan", "raised") else "")
    return None


def _decide_exactly(
    claim: Claim, point: Point, exact: tuple[ExactEvidence, ...], significance: float
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
    untested = any(part.fit_pvalue is None for part in exact)
    broken = [part for part in exact if _breaks(claim, point, part)]
    if broken:
        return _broken_by_law(claim, point, max(broken, key=lambda part: part.epsilon_lower_bound), untested)
    if untested or not all(_keeps(claim, point, part) for part in exact):
        return None
    worst = max(exact, key=lambda part: part.epsilon_upper_bound)
    found = f"epsilon = {worst.epsilon_upper_bound:.6g} at delta = {point.delta:g}"
    return (
        Verdict.PASS,
        "exact",
        f"{worst.detail if claim.is_curve else found} by the stated law, which the sampler follows "
        f"(within {_widest(exact):.2g} in distribution)",
    )


def _broken_by_law(claim: Claim, point: Point, part: ExactEvidence, untested: bool) -> tuple[Verdict, str, str]:
    said = f"its stated law has epsilon >= {part.epsilon_lower_bound:.6g} at delta = {point.delta:g}, claimed "
    said = f"its stated law breaks {part.detail}" if claim.is_curve else f"{said}{point.epsilon:g}"
    if untested:
        return Verdict.INCONCLUSIVE, "none", f"{said}; the sampler was not tested against it"
    return Verdict.FAIL, "exact", f"{said} (pair {part.pair}; taking the law for granted)"


def _widest(exact: tuple[ExactEvidence, ...]) -> float:
    return max(part.fit_resolution or math.inf for part in exact)


def _breaks(claim: Claim, point: Point, part: ExactEvidence) -> bool:
    """Whether the law breaks the claim: an (epsilon, delta) one by the brackets, a curve by its own judgement."""
    if claim.is_curve:
        return part.keeps is False
    by_delta = part.delta_lower_bound > point.delta + ARITHMETIC_TOLERANCE * max(point.delta, 1e-3)
    return by_delta and part.epsilon_lower_bound > point.epsilon + ARITHMETIC_TOLERANCE * max(1.0, point.epsilon)


def _keeps(claim: Claim, point: Point, part: ExactEvidence) -> bool:
    if claim.is_curve:
        if part.keeps and part.delta_lower_bound > point.delta + _CONTRADICTION:
            raise InvalidCertificate(f"the law of pair {part.pair} is said to keep {claim.short} and breaks {point}")
        return part.keeps is True
    by_delta = part.delta_upper_bound <= point.delta * (1 + ARITHMETIC_TOLERANCE)
    by_epsilon = part.epsilon_upper_bound <= point.epsilon + ARITHMETIC_TOLERANCE * max(1.0, point.epsilon)
    return by_delta or by_epsilon


def _decide_statistically(
    claim: Claim, point: Point, evidence: PrivacyEvidence, significance: float, tolerance: float | None
) -> tuple[Verdict, str, str]:
    """A claim that was not refuted: a PASS needs the game to resolve each of its points.

    At a fixed budget the training outputs choose among the points, as they choose among events, so that a violation
    at any of them would have been certified there. A sequential game plays one point.
    """
    played = evidence.sequential or evidence.game
    if played is None:
        return Verdict.INCONCLUSIVE, "none", "nothing was tested"
    if not played.complete:
        reason = "not refuted, but no score that competed sees every difference between outputs of this kind"
        return Verdict.INCONCLUSIVE, "none", reason
    if evidence.sequential is not None and claim.is_curve:
        reason = f"not refuted at {point}, one point of the curve of {claim.short}; the others were not tested"
        return Verdict.INCONCLUSIVE, "none", reason
    if evidence.sequential is not None and point.delta > _LARGEST_SEQUENTIAL_DELTA:
        reason = f"not refuted, but no resolution of the sequential game is known at delta = {point.delta:g}"
        return Verdict.INCONCLUSIVE, "none", reason
    limits = [(each, _resolution(each, evidence, significance)) for each in claim.points]
    coarse = [(each, found) for each, found in limits if found > allowed_epsilon(each, tolerance)]
    blind = blind_spot(_trained_on(evidence)) > EVENT_PROBABILITY
    worst, found = max(coarse or limits, key=lambda limit: limit[1] - allowed_epsilon(limit[0], tolerance))
    resolved = f"resolution {found:.4g} on events of probability {EVENT_PROBABILITY:g}"
    if coarse or blind:
        at = f" at {worst}, a point of {claim.short}," if claim.is_curve else ""
        reason = f"not refuted, but {resolved}{at} is too coarse for {allowed_epsilon(worst, tolerance):.4g}"
        advice = "raise the budget, or state the law" if claim.is_curve else "raise the budget"
        return Verdict.INCONCLUSIVE, "none", f"{reason}: {advice}"
    return Verdict.PASS, "statistical", f"not refuted; {resolved}{_points_tested(claim, point)}"


def _points_tested(claim: Claim, point: Point) -> str:
    """For a claim that implies a curve: which of its points competed, and that others did not."""
    if not claim.is_curve:
        return ""
    return f" at each of {', '.join(map(str, claim.points))}, of which {point} was tested; between them none was"
