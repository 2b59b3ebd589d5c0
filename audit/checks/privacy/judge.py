"""Judge what a privacy check observed: a pure function from evidence to verdict, called live and by a replay."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from audit.base.arguments import closed_probability, integer, nonnegative
from audit.base.errors import InvalidCertificate
from audit.base.verdict import Verdict
from audit.checks.base import Evidence, Found, Judgment
from audit.checks.privacy.proof import Proof, ProofEvidence
from audit.checks.privacy.scope import NO_GENERAL, unread_reason
from audit.claims import Claim, Point
from audit.game.dependence import LOG_LEVEL, CallStatistics
from audit.game.events import EventPair
from audit.game.exchangeability import OF_CALLS, STATE
from audit.game.guesses import GameCounts, game_epsilon_lower_bound
from audit.game.resolution import EVENT_PROBABILITY, blind_spot, game_resolution, sequential_resolution
from audit.game.sequential import SequentialOutcome, time_uniform_lower_bound
from audit.game.tuning import SCAN_SHARE
from audit.laws.privacy_loss import ARITHMETIC_TOLERANCE

DEPENDENCE = ("mutated its dataset between calls", *OF_CALLS)  # runs were not independent: no game counts
_CONTRADICTION = 1e-8  # more than rounding: a law that is said to keep a claim, with bounds that break it
_LARGEST_SEQUENTIAL_DELTA = 1e-4  # beyond, simulated violations were missed more often than the resolution says
_CAUSES = {
    "mutated its dataset between calls": "it changed its dataset, which later calls of the same block saw",
    **{kind: f"its outputs are not independent: {said}" for kind, said in OF_CALLS.items()},
    STATE: "its outputs depend on earlier calls or share noise within a call, so that its runs are not independent",
    "mutated its dataset": "it changed the dataset it was given",
    "own randomness": "the same seed gave different outputs: it keeps state or does not draw from `rng` "
    "(audit.per_call declares randomness of its own)",
    "nan": "it returned NaN",
    "raised": "it raised",
}
Decision = tuple[Verdict, str, str]  # verdict, basis, reason


@dataclass(frozen=True)
class GameEvidence:
    """Hold a guess game at a fixed budget, on the pair that was chosen on training outputs."""

    pair: int
    scorer: str  # the score that won on training outputs
    complete: bool  # whether some score that competed counts every value that the output takes
    plus: str  # the event "guess left" in words
    minus: str  # the event "guess right" in words
    one_sided: bool  # whether one of the two events is empty
    counts: GameCounts
    coins: tuple[int, ...]  # entropy, then spawn key, of the uniforms behind virtual wrong guesses
    training: int  # outputs per dataset for each pair
    estimated_bound: float | None = field(metadata={"key": "promise"})  # of epsilon, from training outputs
    calls: CallStatistics | None = field(default=None, metadata={"since": "1.2"})  # what they show of dependence
    # Whether some score that competed sees any difference on large sets of outputs; None in older records
    general: bool | None = field(default=None, metadata={"since": "1.2"})
    looked_for: tuple[str, ...] = field(default=(), metadata={"since": "1.2"})  # by the scores that competed, in words
    share: float = field(default=1.0, metadata={"since": "1.2"})  # of the significance, beside events that lost
    unread: tuple[str, ...] = field(default=(), metadata={"since": "1.2"})  # places of the output that no score reads

    def coin_seed(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.coins[0], spawn_key=self.coins[1:])

    def inflation(self, delta: float, significance: float) -> float:
        """Return by how much dependence within calls inflates the variance, at the bound of independent runs."""
        return self._bound_and_inflation(delta, significance)[1]

    def epsilon_lower_bound(self, delta: float, significance: float, inflation: float | None = None) -> float:
        """Return the lower bound of epsilon at `delta`, all counts divided by the inflation, its own unless given."""
        bound = self._bound(delta, significance)
        return self._bound_and_inflation(delta, significance)[0] if inflation is None else bound(inflation)

    def _bound_and_inflation(self, delta: float, significance: float) -> tuple[float, float]:
        bound = self._bound(delta, significance)
        found = bound(1.0)
        inflation = 1.0 if self.calls is None else self.calls.design_effect(found, significance * self.share)
        return found if inflation == 1.0 else bound(inflation), inflation

    def _bound(self, delta: float, significance: float) -> Callable[[float], float]:
        share = delta / 2 if self.one_sided else delta
        return partial(game_epsilon_lower_bound, self.counts, share, significance * self.share, self.coin_seed())


@dataclass(frozen=True)
class SequentialEvidence:
    """Hold a sequential game on one pair."""

    pair: int
    complete: bool  # whether the experts see every difference between two laws of outputs of this kind
    outcome: SequentialOutcome


@dataclass(frozen=True)
class ExactEvidence:
    """Hold what the stated law of one pair says, worse direction, and how the sampler agrees with it."""

    pair: int
    epsilon_upper_bound: float  # at the tested delta
    epsilon_lower_bound: float
    delta_upper_bound: float  # at the tested epsilon
    delta_lower_bound: float
    total_variation: float  # an upper bound
    mass_at_infinity: float  # probability of an output that the other dataset cannot give
    fit_pvalue: float | None  # finite-sample p-value of the sampler, both datasets; None when it was not tested
    fit_outputs: int  # per dataset, behind the p-value
    fit_resolution: float | None  # least distance in distribution that the test of the sampler rejects
    keeps: bool | None = field(default=None, metadata={"since": "1.1"})  # of a claim about a curve; None when open
    detail: str = field(default="", metadata={"since": "1.1"})  # the numbers behind `keeps`


@dataclass(frozen=True)
class LossCurve:
    """Hold the privacy profile of the worst pair by its stated law, at a few points; no verdict rests on it."""

    pair: int
    profile: tuple[tuple[float, float, float], ...]  # epsilon, and delta with the left and the right law on top
    tightness: float | None  # epsilon of the law over the tested one; None unless both are finite and positive


@dataclass(frozen=True)
class Searched:
    """Hold what a search over datasets, the parameters of a mechanism, or both ended with."""

    settings: int  # that were tried, on training outputs
    setting: Mapping[str, Any]  # the one that was certified; empty where no parameters were searched
    budget: int  # outputs per dataset that its claim needs
    tolerance: float | None
    cases: int | None = field(default=None, metadata={"since": "1.2"})  # settings and pairs that were tried


@dataclass(frozen=True)
class PrivacyEvidence(Evidence):
    """Hold all that one privacy check observed; `samples` counts both datasets and all stages together."""

    exact: tuple[ExactEvidence, ...] = ()
    game: GameEvidence | None = None
    anomalies: Mapping[str, int] = field(default_factory=dict, metadata={"key": "oddities"})
    sequential: SequentialEvidence | None = None
    tested: Point | None = field(default=None, metadata={"since": "1.1"})  # None: the claim's own
    curve: LossCurve | None = field(default=None, metadata={"since": "1.1"})
    # Outputs per dataset that would resolve the claim, where the budget does not; and seconds, where the time did not
    need: tuple[float, ...] = field(default=(), metadata={"since": "1.2"})
    found_pair: tuple[Any, Any] | None = field(default=None, compare=False, metadata={"recorded": False})
    proofs: tuple[ProofEvidence, ...] = field(default=(), metadata={"since": "1.2"})  # the exact laws of each pair
    covers: str = field(default="", metadata={"since": "1.2"})  # what the pairs of a proof stand for, all together
    searched: Searched | None = field(default=None, metadata={"since": "1.2"})  # where parameters were searched
    events: EventPair | None = field(default=None, compare=False, repr=False, metadata={"recorded": False})
    one_by_one: bool = field(default=False, compare=False, metadata={"recorded": False})  # one output in each call

    def __post_init__(self) -> None:
        super().__post_init__()
        for count in self.anomalies.values():
            integer(count, "oddities", at_least=0)
        if self.tested is not None:
            nonnegative(self.tested.epsilon, "epsilon")
            closed_probability(self.tested.delta, "delta")

    @property
    def is_dependent(self) -> bool:
        """True if the runs were found not to be independent, so that no game counts."""
        return any(kind in self.anomalies for kind in DEPENDENCE)

    @property
    def trained_on(self) -> int:
        """Outputs per dataset from which the events were learned: a sequential game learns from all of them."""
        trained = self.game.training if self.game else 0
        return trained if self.sequential is None else self.sequential.outcome.steps


@dataclass(frozen=True)
class PrivacyJudgment(Judgment):
    """Hold a verdict, its reason, and the numbers that it rests on; `PrivacyResult` says what they mean."""

    epsilon_lower_bound: float
    exact_epsilon: float | None
    resolution: float
    blind_spot: float
    found: Found = field(default=(), kw_only=True, metadata={"recorded": False})


class PrivacyTerms(NamedTuple):
    """State what the judge needs of a check: its claim and the tolerance of a statistical PASS."""

    claim: Claim
    tolerance: float | None = None

    def allowed_epsilon(self, point: Point) -> float:
        """Return the resolution that a statistical PASS needs."""
        return point.epsilon + (usual_tolerance(point.epsilon) if self.tolerance is None else self.tolerance)


def usual_tolerance(epsilon: float) -> float:
    """Return the tolerance of a check that states none."""
    return max(0.05, 0.25 * epsilon)


def judge(terms: PrivacyTerms, evidence: PrivacyEvidence, significance: float) -> PrivacyJudgment:
    """Judge the evidence; with independent runs the game fails a true claim with probability <= `significance`."""
    case = _Case(terms, evidence, significance)
    if evidence.proofs:
        proof = Proof(evidence.proofs, case.point, evidence.covers)
        return PrivacyJudgment(*proof.decide(), *proof.epsilons(), case.point.epsilon, 0.0)
    verdict, basis, reason = case.refuted() or case.barred() or case.by_law() or case.by_game()
    exact = max((part.epsilon_upper_bound for part in evidence.exact), default=None)
    unseen = blind_spot(evidence.trained_on)
    return PrivacyJudgment(verdict, basis, reason, case.lower, exact, case.resolution(case.point), unseen)


@dataclass(frozen=True)
class _Case:
    """Decide one case, by one rule in each method; None leaves it to the next one."""

    terms: PrivacyTerms
    evidence: PrivacyEvidence
    significance: float

    @property
    def claim(self) -> Claim:
        return self.terms.claim

    @cached_property
    def point(self) -> Point:
        """The (epsilon, delta) that was tested. To refute one that the claim does not imply would say nothing."""
        tested = self.evidence.tested
        if tested is not None and not self.claim.implies(tested):
            raise InvalidCertificate(f"the evidence tested {tested}, which does not follow from {self.claim.short}")
        return self.claim.point if tested is None else tested

    @cached_property
    def lower(self) -> float:  # certified bound of epsilon
        game, sequential = self.evidence.game, self.evidence.sequential
        if self.evidence.is_dependent:
            return 0.0
        if sequential is not None:
            return time_uniform_lower_bound(sequential.outcome, self.significance)
        if game is None:
            return 0.0
        return game.epsilon_lower_bound(self.point.delta, self.significance)

    @cached_property
    def rests_on_too_few_calls(self) -> bool:
        """True if a bound rests on runs that ended alike, and the calls, as units, do not confirm it."""
        game, delta = self.evidence.game, self.point.delta
        if game is None or game.calls is None or not game.calls.is_uniform:
            return False
        return game.epsilon_lower_bound(delta, self.significance, game.calls.size) <= self.point.epsilon

    def resolution(self, point: Point) -> float:
        """Return the smallest epsilon beyond the point that the game would have refuted."""
        game, sequential = self.evidence.game, self.evidence.sequential
        if sequential is not None:
            return sequential_resolution(point.epsilon, point.delta, sequential.outcome.steps, self.significance)
        level = self.significance * (1.0 if game is None or game.share == 1.0 else 1.0 - SCAN_SHARE)
        return game_resolution(point.epsilon, point.delta, game.counts.runs if game else 0, level)

    def refuted(self) -> Decision | None:
        """FAIL by the bound of a game at a fixed budget, or by the wealth that a sequential one reached."""
        game, sequential = self.evidence.game, self.evidence.sequential
        if sequential is not None and not self.evidence.is_dependent:
            outcome = sequential.outcome
            is_refuted = outcome.log_wealth >= math.log(1 / self.significance)
            found = f"after {outcome.steps} pairs of outputs the wealth was e^{outcome.log_wealth:.2f}"
        else:
            is_refuted = game is not None and self.lower > self.point.epsilon and not self.rests_on_too_few_calls
            guesses = game.counts.correct + game.counts.wrong if game else 0
            found = f"{game.counts.correct if game else 0} of {guesses} guesses were right"
        if not is_refuted:
            return None
        epsilon, delta = self.point
        claimed = f"{self.claim.short} implies {epsilon:.4g}" if self.claim.is_curve else f"claimed {epsilon:g}"
        reason = f"{found}: epsilon >= {self.lower:.4g} at delta = {delta:.6g}, {claimed}"
        return Verdict.FAIL, "statistical", f"{reason} (error probability {self.significance:.2g})"

    def barred(self) -> Decision | None:
        """INCONCLUSIVE for a check that ended early, or whose mechanism did what no verdict can be given on."""
        if self.evidence.failure:
            return _open(self.evidence.failure)
        for kind, cause in _CAUSES.items():
            if count := self.evidence.anomalies.get(kind):
                counted = f" ({count} times in {self.evidence.samples} outputs)" if kind in ("nan", "raised") else ""
                return _open(cause + counted)
        game = self.evidence.game
        return None if game is None or game.calls is None else self._barred_by_calls(game.calls)

    def _barred_by_calls(self, calls: CallStatistics) -> Decision | None:
        if self.lower > self.point.epsilon and self.rests_on_too_few_calls:
            number = calls.left.calls + calls.right.calls
            said = f"nearly all runs ended alike, in {number} calls: noise shared within a call would explain it"
            return _open(f"refuted if the runs of a call are independent, but {said}")
        ratio, log_p = calls.dispersion()
        if calls.drift() <= LOG_LEVEL * max(1.0, ratio):  # shared noise makes the parts of the calls differ by as much
            return _open("it behaves otherwise in later calls than in the first ones, among which events were learned")
        if log_p <= LOG_LEVEL:
            said = f"outputs of one call of {calls.size} are more alike than those of different calls"
            return _open(f"{said}: the counts of the calls vary {ratio:.3g} times as much as independent ones would")
        if calls.of_size() <= LOG_LEVEL:
            said = f"it behaves otherwise in a call of {calls.long[1]} outputs than in calls of {calls.size}"
            return _open(f"{said}, or shares noise within a call")
        return None

    def by_law(self) -> Decision | None:
        """Decide by the stated laws; None without one, or when the brackets leave the claim open."""
        exact, share = self.evidence.exact, self.significance / max(1, len(self.evidence.exact))
        for part in exact:
            if part.fit_pvalue is not None and part.fit_pvalue <= share:
                said = f"the sampler and its stated law disagree (p = {part.fit_pvalue:.2g}, pair {part.pair})"
                return _open(f"{said}, without the claim being refuted")
        is_untested = any(part.fit_pvalue is None for part in exact)
        if broken := [part for part in exact if self._breaks(part)]:
            worst = max(broken, key=lambda part: part.epsilon_lower_bound)
            found = f"has epsilon >= {worst.epsilon_lower_bound:.6g} at delta = {self.point.delta:g}"
            found = f"breaks {worst.detail}" if self.claim.is_curve else f"{found}, claimed {self.point.epsilon:g}"
            if is_untested:
                return _open(f"its stated law {found}; the sampler was not tested against it")
            return Verdict.FAIL, "exact", f"its stated law {found} (pair {worst.pair}; taking the law for granted)"
        if not exact or is_untested or not all(self._keeps(part) for part in exact):
            return None
        worst = max(exact, key=lambda part: part.epsilon_upper_bound)
        found = f"epsilon = {worst.epsilon_upper_bound:.6g} at delta = {self.point.delta:g}"
        noticed = max(part.fit_resolution or math.inf for part in exact)
        follows = f"by the stated law, which the sampler follows (within {noticed:.2g} in distribution)"
        return Verdict.PASS, "exact", f"{worst.detail if self.claim.is_curve else found} {follows}"

    def _breaks(self, part: ExactEvidence) -> bool:
        """Return whether the law breaks an (epsilon, delta) claim by the brackets, or a curve by its own judgment."""
        epsilon, delta = self.point
        if self.claim.is_curve:
            return part.keeps is False
        by_delta = part.delta_lower_bound > delta + ARITHMETIC_TOLERANCE * max(delta, 1e-3)
        return by_delta and part.epsilon_lower_bound > epsilon + ARITHMETIC_TOLERANCE * max(1.0, epsilon)

    def _keeps(self, part: ExactEvidence) -> bool:
        epsilon, delta = self.point
        if self.claim.is_curve:
            if part.keeps and part.delta_lower_bound > delta + _CONTRADICTION:
                said = f"the law of pair {part.pair} is said to keep {self.claim.short} and breaks {self.point}"
                raise InvalidCertificate(said)
            return part.keeps is True
        by_delta = part.delta_upper_bound <= delta * (1 + ARITHMETIC_TOLERANCE)
        return by_delta or part.epsilon_upper_bound <= epsilon + ARITHMETIC_TOLERANCE * max(1.0, epsilon)

    def by_game(self) -> Decision:
        """Decide on a claim that was not refuted: a PASS needs the game to resolve each of its points.

        At a fixed budget the training outputs choose among the points, as they choose among events, so that a violation
        at any of them would have been certified there. A sequential game plays one point.
        """
        evidence, claim, point = self.evidence, self.claim, self.point
        played = evidence.sequential or evidence.game
        if "constant" in evidence.anomalies:
            return _open("its output never varied, so nothing random was exercised")
        if played is None:
            return _open("nothing was tested")
        if unread := getattr(played, "unread", ()):
            return _open(unread_reason(unread))
        general = getattr(played, "general", None)
        if not (played.complete if general is None else general):
            decision = self._by_resolution() if evidence.need else _open(NO_GENERAL)  # more may bring such a score
            return _open(NO_GENERAL) if decision[0] is Verdict.PASS else decision
        if evidence.sequential is not None and claim.is_curve:
            said = f"not refuted at {point}, one point of the curve of {claim.short}"
            return _open(f"{said}; the others were not tested")
        if evidence.sequential is not None and point.delta > _LARGEST_SEQUENTIAL_DELTA:
            return _open(f"not refuted, but no resolution of the sequential game is known at delta = {point.delta:g}")
        return self._by_resolution()

    def _advice(self) -> str:
        """Say what would resolve the claim."""
        others = ", a larger tolerance or a stated law" if self.claim.is_curve else " or a larger tolerance"
        if not (need := self.evidence.need):
            return f"use a larger budget{others}"
        limit = f" and a time limit above {need[1]:,.3g} s" if len(need) > 1 else ""
        return f"use budget={need[0]:.0f}{limit}{others}"

    def _by_resolution(self) -> Decision:
        claim, allowed = self.claim, self.terms.allowed_epsilon
        limits = [(each, self.resolution(each)) for each in claim.points]
        coarse = [(each, found) for each, found in limits if found > allowed(each)]
        worst, found = max(coarse or limits, key=lambda limit: limit[1] - allowed(limit[0]))
        resolved = f"resolution {found:.4g} on events of probability {EVENT_PROBABILITY:g}"
        if coarse:
            at = f" at {worst}, a point of {claim.short}" if claim.is_curve else ""
            apart = f"too few outputs to tell epsilon {worst.epsilon:.4g} from {allowed(worst):.4g}{at} ({resolved})"
            return _open(f"not refuted, but {apart}: {self._advice()}")
        if (unseen := blind_spot(self.evidence.trained_on)) > EVENT_PROBABILITY:
            return _open(f"not refuted, but training saw no events of probability below {unseen:.3g}: {self._advice()}")
        if claim.is_curve:
            tested = f"of which {self.point} was tested; between them none was"
            resolved = f"{resolved} at each of {', '.join(map(str, claim.points))}, {tested}"
        calls = self.evidence.game.calls if self.evidence.game else None
        drawn = "" if calls is None else f", in calls of {calls.size:,} outputs"
        sought = f"; looked for {', '.join(words)}" if (words := getattr(self.evidence.game, "looked_for", ())) else ""
        return Verdict.PASS, "statistical", f"not refuted; {resolved}{drawn}{sought}"


def _open(reason: str) -> Decision:
    return Verdict.INCONCLUSIVE, "none", reason
