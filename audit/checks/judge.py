"""Judge the evidence of a privacy check: a pure function from evidence to verdict, called live and by a replay."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self, TypeVar

from audit.claims import Claim, Point, claim_of
from audit.errors import InvalidCertificate
from audit.events.violations import LARGEST
from audit.evidence.base import (
    DEPENDENCE,
    DRAWN_BEFORE,
    LIMITED,
    MOST_BUDGET,
    OWN_RANDOMNESS,
    STATEFUL,
    Case,
    Evidence,
    Found,
    GameLimits,
    Judgment,
    PrivacyTerms,
    Way,
    leave_open,
)
from audit.evidence.guess_game import GuessGame
from audit.evidence.new_processes import NewProcesses
from audit.evidence.session import SCAN_SHARE, Split
from audit.evidence.stated_law import UNEVALUATED
from audit.statistics.bounds import EVENT_PROBABILITY, blind_spot, runs_to_resolve
from audit.statistics.independence import COUNTS, OF_CALLS, SPENT, STATE
from audit.text import count, join_names, number
from audit.validate import Limits, Nonnegative, Probability, closed_probability, integer, nonnegative
from audit.verdict import Verdict

W = TypeVar("W")
_NO_GENERAL = (
    "not refuted, but no score that competed sees every difference between outputs of this kind; return numbers as "
    "numbers, not as text, or give the mechanism a `law` or a `log_likelihood`, or audit parts of its outputs"
)


_CAUSES = {
    "mutated its dataset between calls": "it changed its dataset, which later calls of a block saw: copy it first",
    **{kind: f"its outputs are not independent: {said}" for kind, said in OF_CALLS.items()},
    STATE: "its outputs depend on earlier calls or share noise within a call, so its runs are not independent: draw "
    "noise for each output, as rng.laplace(size=size) does, and keep no state between calls",
    "mutated its dataset": "it changed the dataset it was given: copy it first",
    OWN_RANDOMNESS: "the same seed gave different outputs: it keeps state or does not draw from `rng` "
    "(audit.per_call of a function without a parameter `rng` declares randomness of its own)",
    STATEFUL: "the same seed gave different outputs: it keeps state between calls, or draws from something other than "
    "`rng`; make the object that holds the state anew in each call: "
    "audit.per_call(lambda data, rng: make().release(data, rng))",
    "nan": "it returned NaN; return None where there is no number",
    "raised": "it raised",
}
_CONSTANT = "its output never varied, so nothing random was exercised: does it return a value?"


@dataclass(frozen=True)
class PrivacyEvidence(Evidence):
    """Hold all that one privacy check observed; `samples` counts both datasets and all stages together."""

    ways: tuple[Way, ...] = ()  # at most one of each
    anomalies: Mapping[str, int] = field(default_factory=dict)
    tested: Point | None = None  # None: nothing was gathered
    # Outputs per dataset that would resolve the claim, where the budget does not; and seconds, where the time did not
    need: Annotated[tuple[Nonnegative, ...], Limits(longest=2)] = ()
    found_pair: tuple[Any, Any] | None = field(default=None, compare=False, metadata={"recorded": False})
    one_by_one: bool = field(default=False, compare=False, metadata={"recorded": False})  # one output in each call

    def __post_init__(self) -> None:
        super().__post_init__()
        for times in self.anomalies.values():
            integer(times, "anomalies", at_least=0)
        if self.tested is not None:
            nonnegative(self.tested.epsilon, "epsilon")
            closed_probability(self.tested.delta, "delta")

    def by(self, way: type[W]) -> W | None:
        """Return the evidence of one kind; None where the check gathered none."""
        return next((found for found in self.ways if isinstance(found, way)), None)

    @property
    def game(self) -> GuessGame | None:
        """The guess game at a fixed budget, if one was played."""
        return self.by(GuessGame)

    @property
    def searched(self) -> Any:
        """The end of a search over datasets or parameters; None if there was none."""
        return next((way for way in self.ways if way.way == "search"), None)

    def unlike(self, fresh: Self) -> str | None:
        """Return the change where the events of the game are not as frequent among fresh outputs."""
        return None if self.game is None or fresh.game is None else self.game.unlike(fresh.game)

    @property
    def is_final(self) -> bool:
        """True if a look refutes the claim at a share of the confirmation, or no more outputs can be drawn."""
        return self.uses == DRAWN_BEFORE or any(way.is_final for way in self.ways)

    @property
    def spent(self) -> float:
        """Share of the confirmation that looks before this evidence had."""
        return sum(way.spent for way in self.ways)

    @property
    def spends(self) -> tuple[str, ...]:
        return tuple(way.spends for way in self.ways if way.spends)

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield those of each way of looking, and that a game took other outputs than were drawn."""
        yield from itertools.chain.from_iterable(way.contradictions(record) for way in self.ways)
        if record["kind"] == "privacy" and self.ways:
            yield from self._list_misfits(claim_of(record["claim"]))
        has_budget = len(self.ways) == 1 and self.game is not None and not self.game.is_fresh
        most = 2 * record["settings"]["budget"] if has_budget else math.inf
        if not sum(way.sample_size for way in self.ways) <= self.samples <= most:
            yield "its games took other outputs than were drawn"

    def _list_misfits(self, claim: Claim) -> Iterator[str]:
        """Yield where what was gathered fits neither the claim nor its end."""
        if self.tested not in (*claim.points, claim.point):
            yield "it tested another claim"
        if self.failure is not None and not self.failure.startswith(UNEVALUATED):
            yield "it ended early, and has evidence"

    @property
    def is_dependent(self) -> bool:
        """True if a test refuted the independence of the runs, so that no game counts."""
        asked = self.by(NewProcesses)
        return any(kind in self.anomalies for kind in DEPENDENCE) or (asked is not None and not asked.repeat)


@dataclass(frozen=True)
class PrivacyJudgment(Judgment):
    """Hold a verdict, its reason, and the numbers that it rests on; `PrivacyResult` defines them."""

    epsilon_lower_bound: Nonnegative
    exact_epsilon: Nonnegative | None
    resolution: Nonnegative
    blind_spot: Probability
    found: Found = field(default=(), kw_only=True, metadata={"recorded": False})


def judge(terms: PrivacyTerms, evidence: PrivacyEvidence, significance: float) -> PrivacyJudgment:
    """Judge the evidence; with independent runs the games fail a true claim with probability <= `significance`.

    All ways are asked one question after the other; the worst answer to the first that is answered decides.
    """
    case, ways = Case(terms, _find_point(terms, evidence), evidence, significance), evidence.ways
    findings = [way.finding(case) for way in ways]
    decided = (
        _find_worst(each.refutation for each in findings)
        or _find_worst([_find_obstacle(evidence), *(each.obstacle for each in findings)])
        or _find_worst(each.exact for each in findings)
        or _find_worst(_judge_game(case, found) for way in ways if (found := way.limits(case)))
        or leave_open(_CONSTANT if "constant" in evidence.anomalies else "nothing was tested")
    )
    is_counted = decided.verdict is Verdict.PASS and decided.basis == "outputs"
    doubts = [each.doubt for each in findings if each.doubt and is_counted]
    return PrivacyJudgment(
        decided.verdict,
        decided.basis,
        f"{decided.reason}; rarer ones may break it" if doubts else decided.reason,
        scope=(*decided.scope, *doubts),
        exact_epsilon=max((each.upper_bound for each in findings if each.upper_bound is not None), default=None),
        epsilon_lower_bound=max((each.lower_bound for each in findings), default=0.0),
        resolution=min((each.resolution for each in findings), default=math.inf),
        blind_spot=blind_spot(max((each.trained_on for each in findings), default=0)),
    )


def _find_point(terms: PrivacyTerms, evidence: PrivacyEvidence) -> Point:
    """Return the (epsilon, delta) that was tested. To refute one that the claim does not imply would say nothing."""
    if evidence.tested is None:
        return terms.claim.point
    if not terms.claim.implies(evidence.tested):
        said = f"the evidence tested {evidence.tested}, which does not follow from {terms.claim.short}"
        raise InvalidCertificate(said)
    return evidence.tested


def _find_worst(answers: Iterable[Judgment | None]) -> Judgment | None:
    given = (answer for answer in answers if answer is not None)
    return max(given, key=lambda answer: answer.verdict.severity, default=None)


def _find_obstacle(evidence: PrivacyEvidence) -> Judgment | None:
    """Return INCONCLUSIVE if the check ended early, or its mechanism did something that allows no verdict."""
    if evidence.failure:
        return leave_open(evidence.failure)
    if places := [kind.removeprefix(COUNTS) for kind in evidence.anomalies if kind.startswith(COUNTS)]:
        return leave_open(f"{join_names(places)} counts the calls or tells the time: leave it out of the output")
    if spent := [kind.removeprefix(SPENT) for kind in evidence.anomalies if kind.startswith(SPENT)]:
        fresh = "make the object anew in each call, as in audit.per_call(lambda data: make().release(data))"
        return leave_open(f"{spent[0]}, as an object does whose budget is spent: {fresh}")
    for kind, cause in _CAUSES.items():
        if count := evidence.anomalies.get(kind):
            counted = f" ({count} times in {evidence.samples} outputs)" if kind in ("nan", "raised") else ""
            caught = "; catch the exception, and return the value that callers see instead" if kind == "raised" else ""
            return leave_open(f"{cause}{counted}{caught}")
    return None


def _judge_game(case: Case, found: GameLimits) -> Judgment:
    """Decide on a claim that was not refuted: a PASS needs a game to resolve each of its points.

    At a fixed budget the training outputs choose among the points, as they choose among events, so that a violation
    at any of them would have been certified there. A sequential game plays one point.
    """
    if "constant" in case.evidence.anomalies:
        return leave_open(_CONSTANT)
    if found.gaps:
        return leave_open(_explain_unread(found.gaps))
    if found.is_general:
        return leave_open(found.unresolvable) if found.unresolvable else _judge_resolution(case, found)
    # more outputs may bring such a score
    decision = _judge_resolution(case, found) if case.evidence.need else leave_open(_NO_GENERAL)
    return leave_open(_NO_GENERAL) if decision.verdict is Verdict.PASS else decision


def _explain_unread(places: Sequence[str]) -> str:
    """Return why there is no PASS where some places of the output were not read, with a remedy."""
    few = [place for place in places if "takes about" in place]
    if few:
        said = "values that the other dataset does not give: draw the noise from more random bits"
        return f"not refuted, but the noise is coarse in {join_names(few)}, {said}"
    said = "return its numbers as numbers, and leave out parts that are not released"
    return f"not refuted, but no score reads {join_names(places)}: {said}"


def _judge_resolution(case: Case, game: GameLimits) -> Judgment:
    claim, allowed = case.terms.claim, case.terms.allowed_epsilon
    coarse = [(each, found) for each, found in game.resolved if found > allowed(each)]
    worst, found = max(coarse or game.resolved, key=lambda limit: limit[1] - allowed(limit[0]))
    unseen = blind_spot(game.trained_on)
    events = EVENT_PROBABILITY if case.terms.tolerance is None else max(EVENT_PROBABILITY, unseen)
    resolved = f"resolution {found:.4g} on events of probability {events:.3g}"
    if coarse:
        at = f" at {worst}, a point of {claim.short}" if claim.is_curve else ""
        if math.isinf(found):
            most = f"which certify at most epsilon {game.most_certified:.3g} on any event"
            resolved = f"these outputs resolve none on events of probability {events:.3g}, {most}"
        apart = f"too few outputs to tell epsilon {worst.epsilon:.4g} from {allowed(worst):.4g}{at} ({resolved})"
        if (wider := case.terms.wider()) is not None:
            apart = f"too few outputs to tell {claim.short} from {wider.short}"
        return leave_open(f"not refuted, but {apart}: {_advise(case, game, game.resolved)}")
    if unseen > (EVENT_PROBABILITY if case.terms.tolerance is None else LARGEST):
        unseen_said = f"training saw no events of probability below {unseen:.3g}"
        return leave_open(f"not refuted, but {unseen_said}: {_advise(case, game)}")
    if claim.is_curve:
        tested = f"of which {case.point} was tested; between them none was"
        resolved = f"{resolved} at each of {', '.join(str(point) for point, _ in game.resolved)}, {tested}"
    at = f" at delta {number(worst.delta)}" if worst.delta else ""
    beyond = f"above epsilon {number(found)}{at}"
    if (wider := case.terms.wider(_factor_of(claim, game.resolved) - 1)) is not None:
        beyond = f"beyond the curve of {wider.short}"
    reason = f"no violation {beyond} found in {count(case.evidence.samples)} outputs"
    floats = f"; floating point: {game.floats}" if game.floats else ""
    if game.barred:
        return leave_open(f"not refuted, but {game.barred}")
    return Judgment(Verdict.PASS, "outputs", f"{reason}{floats}", scope=(resolved, *game.scope))


def _factor_of(claim: Any, resolved: Sequence[tuple[Point, float]]) -> float:
    """Return the factor of the parameter from which the resolutions at all points tell a claim along a curve."""
    if not claim.is_curve:
        return 1.0
    return max(float(claim.factor_at(Point(found, point.delta))) for point, found in resolved)


def _advise(case: Case, game: GameLimits, limits: Sequence[tuple[Point, float]] = ()) -> str:
    """Say what would resolve the claim: more outputs, more time, or a tolerance at which these outputs do."""
    need, said = case.evidence.need, list[str]()
    if limit := next((kind for kind in case.evidence.anomalies if kind.startswith(LIMITED)), ""):
        said.append(limit.removeprefix(LIMITED))
    if need:
        takes = f", which takes about {float(f'{need[1]:.2g}'):,g} s" if len(need) > 1 and not said else ""
        said.append(f"{case.advise_budget(need[0])}{takes}")
    if not said and limits and not _is_resolvable(case, limits):
        said.append(f"no budget up to {MOST_BUDGET:,} does; give the mechanism a `law`")
    least = max((found - point.epsilon for point, found in limits), default=math.inf)
    if math.isfinite(least) and case.terms.wider() is not None:
        least = _factor_of(case.terms.claim, limits) - 1
    others = ["a stated law"] if case.terms.claim.is_curve else []
    if math.isfinite(least):
        wider = f"{math.ceil(100 * least) / 100:g}"
        terms = case.terms._replace(tolerance=float(wider))
        if _judge_resolution(replace(case, terms=terms), game).verdict is Verdict.PASS:
            others.insert(0, f"tolerance={wider}")
    return " or ".join([" and ".join(said or ["use a larger budget"]), *others])


def _is_resolvable(case: Case, limits: Sequence[tuple[Point, float]]) -> bool:
    """Return whether a budget resolves all points of a claim."""
    allowed, level = case.terms.allowed_epsilon, case.significance * (1 - SCAN_SHARE)
    needs = (runs_to_resolve(at.epsilon, allowed(at), at.delta, level) for at, _ in limits)
    return all(runs is not None and Split.budget_for(runs, 1) < MOST_BUDGET for runs in needs)
