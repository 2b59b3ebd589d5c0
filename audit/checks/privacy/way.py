"""Define a way of looking at a privacy claim: the four questions that its judge may answer, and its numbers.

Each way is a frozen dataclass in a file with its gatherer and its judge: a stated law, an early look, a guess game, a
sequential game, an enumeration, a search. A judge is a pure function of the way and of the `Case`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from audit.base.errors import InvalidCertificate
from audit.base.text import listed
from audit.base.verdict import Verdict
from audit.checks.base import Judgment, undecided
from audit.claims import Claim, Point
from audit.game import tuning
from audit.game.exchangeability import OF_CALLS, STATE
from audit.game.fixed_budget import Split
from audit.game.plants import COUNTED, LARGEST, Claimed, Plants, event_size
from audit.game.resolution import EVENT_PROBABILITY, blind_spot, runs_to_resolve
from audit.subjects.unread import COUNTS, SPENT

MOST_BUDGET = 10**9  # outputs per dataset: far beyond what any time limit allows
LIMITED = "time limit: "  # begins an anomaly that says how the limit ended the drawing, and what limit would do
AS_NUMBERS = {  # what a PASS says of floating-point numbers
    "none": "",
    "real": ", as real numbers (floating point: not audited; set floats='audit')",
    "audited": " (floating point: PASS)",
}
NO_GENERAL = (
    "not refuted, but no score that competed sees every difference between outputs of this kind; give the mechanism a "
    "`law` or a `log_likelihood`, or audit parts of its outputs"
)


def claimed(point: Point, training: int, runs: int, significance: float) -> Claimed:
    """Return what decides the size of plants; interval events have a share of the significance."""
    return Claimed(point.epsilon, point.delta, training, runs, significance * tuning.SCAN_SHARE)


def lacking(plants: Plants, test: Claimed) -> str:
    """Return why what was found of the plants bars a PASS; empty if enough was."""
    if plants.kind == COUNTED:
        return ""
    family, size = plants.lacking(), event_size(test, plants.columns)
    more = "no budget does: give the mechanism a `law`" if size is None else "use a larger budget"
    advice = f"use budget={plants.budget}" if plants.budget else more
    if size is None or (family is not None and not family.planted):
        return f"too few training outputs to find an interval of probability {LARGEST:g} at an unknown place: {advice}"
    if family is None:
        return ""
    found = f"{family.found} of {family.planted} planted violations were found of the family"
    return f"{found} {family.name!r} ({family.size}): {advice}"


def examined(plants: Plants, test: Claimed) -> str:
    """Return in one clause what would be found, and what was not examined."""
    size = event_size(test, plants.columns)
    return "every value was counted" if plants.kind == COUNTED or size is None else plants.scope(size)


def unread_reason(places: Sequence[str]) -> str:
    """Return why there is no PASS where some places of the output were not read, and what to do."""
    few = [place for place in places if "takes about" in place]
    if few:
        said = "values that the other dataset does not give: draw the noise from more random bits"
        return f"not refuted, but the noise is coarse in {listed(few)}, {said}"
    said = "return its numbers as numbers, and leave out what is not released"
    return f"not refuted, but no score reads what is in {listed(places)}: {said}"


def pointed_reason(anomalies: Iterable[str]) -> str | None:
    """Return which part of the outputs depends on earlier calls, and what to do; None where nothing points at one."""
    found = list(anomalies)
    if places := [kind.removeprefix(COUNTS) for kind in found if kind.startswith(COUNTS)]:
        return f"{listed(places)} counts the calls or tells the time: leave it out of what is audited"
    if spent := [kind.removeprefix(SPENT) for kind in found if kind.startswith(SPENT)]:
        fresh = "make the object anew in each call, as in audit.per_call(lambda data: make().release(data))"
        return f"{spent[0]}, as an object does whose budget is spent: {fresh}"
    return None


STATEFUL = "own state"  # of a function with a parameter `rng` that is called once for each output
DEPENDENCE = ("mutated its dataset between calls", *OF_CALLS)  # runs were not independent: no game counts
_CAUSES = {
    "mutated its dataset between calls": "it changed its dataset, which later calls of the same block saw",
    **{kind: f"its outputs are not independent: {said}" for kind, said in OF_CALLS.items()},
    STATE: "its outputs depend on earlier calls or share noise within a call, so that its runs are not independent",
    "mutated its dataset": "it changed the dataset it was given",
    "own randomness": "the same seed gave different outputs: it keeps state or does not draw from `rng` "
    "(audit.per_call of a function without a parameter `rng` declares randomness of its own)",
    STATEFUL: "the same seed gave different outputs: it keeps state between calls, or draws from something else than "
    "`rng`; make what holds the state anew in each call: audit.per_call(lambda data, rng: make().release(data, rng))",
    "nan": "it returned NaN",
    "raised": "it raised",
}
CONSTANT = "its output never varied, so nothing random was exercised"


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


@dataclass(frozen=True)
class Case:
    """Hold what every way is judged by: the claim, what the whole check observed, and the significance."""

    terms: PrivacyTerms
    evidence: Any  # a `PrivacyEvidence`
    significance: float

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.terms.claim

    @cached_property
    def point(self) -> Point:
        """The (epsilon, delta) that was tested. To refute one that the claim does not imply would say nothing."""
        tested = self.evidence.tested
        if tested is not None and not self.claim.implies(tested):
            raise InvalidCertificate(f"the evidence tested {tested}, which does not follow from {self.claim.short}")
        return self.claim.point if tested is None else tested

    def refuted(self, lower: float, found: str) -> Judgment:
        """Return FAIL by a certified bound of epsilon, with what was found."""
        epsilon, delta = self.point
        claimed = f"{self.claim.short} implies {epsilon:.4g}" if self.claim.is_curve else f"claimed {epsilon:g}"
        reason = f"{found}: epsilon >= {lower:.4g} at delta = {delta:.6g}, {claimed}"
        return Judgment(Verdict.FAIL, "statistical", f"{reason} (error probability {self.significance:.2g})")

    def obstacle(self) -> Judgment | None:
        """Return INCONCLUSIVE if the check ended early, or its mechanism did what no verdict can be given on."""
        evidence = self.evidence
        if evidence.failure:
            return undecided(evidence.failure)
        if pointed := pointed_reason(evidence.anomalies):
            return undecided(pointed)
        for kind, cause in _CAUSES.items():
            if count := evidence.anomalies.get(kind):
                counted = f" ({count} times in {evidence.samples} outputs)" if kind in ("nan", "raised") else ""
                return undecided(cause + counted)
        return None


@dataclass(frozen=True)
class Way:
    """Hold what one way of looking observed; what it does not answer is left to the other ways."""

    way: ClassVar[str]  # its name in records

    def refutation(self, case: Case) -> Judgment | None:
        """Return FAIL if outputs that were counted refute the claim; nothing prevents that."""
        return None

    def obstacle(self, case: Case) -> Judgment | None:
        """Return INCONCLUSIVE if what was observed prevents every other verdict."""
        return None

    def exact(self, case: Case) -> Judgment | None:
        """Return what an exact law decides."""
        return None

    def statistical(self, case: Case) -> Judgment | None:
        """Return what can be said of a claim that was neither refuted nor decided by an exact law."""
        return None

    def lower_bound(self, case: Case) -> float:
        """Return a certified lower bound of epsilon; 0.0 if none."""
        return 0.0

    def upper_bound(self, case: Case) -> float | None:
        """Return an upper bound of epsilon by an exact law, if there is one."""
        return None

    def resolution(self, case: Case, point: Point) -> float:
        """Return the smallest epsilon beyond the point that would have been refuted."""
        return math.inf

    @property
    def trained_on(self) -> float:
        """Outputs per dataset from which events were learned; inf if every event was examined."""
        return 0


@dataclass(frozen=True)
class Game(Way, ABC):
    """Hold a game on one pair; a subclass says how it is played."""

    pair: int

    @property
    @abstractmethod
    def is_general(self) -> bool:
        """True if some score that competed sees every difference between large sets of outputs."""

    @property
    def gaps(self) -> tuple[str, ...]:
        """Places of the output that nothing read."""
        return ()

    def barred(self, case: Case) -> str:
        """Return what bars a PASS although the claim is resolved; empty if nothing does."""
        return ""

    def scope(self, case: Case) -> str:
        """Return what a PASS speaks of, beyond the resolution."""
        return ""

    def statistical(self, case: Case) -> Judgment | None:
        """Decide on a claim that was not refuted: a PASS needs the game to resolve each of its points.

        At a fixed budget the training outputs choose among the points, as they choose among events, so that a violation
        at any of them would have been certified there. A sequential game plays one point.
        """
        if "constant" in case.evidence.anomalies:
            return undecided(CONSTANT)
        if self.gaps:
            return undecided(unread_reason(self.gaps))
        if self.is_general:
            return self.limit(case) or self._by_resolution(case)
        # more outputs may bring such a score
        decision = self._by_resolution(case) if case.evidence.need else undecided(NO_GENERAL)
        return undecided(NO_GENERAL) if decision.verdict is Verdict.PASS else decision

    def limit(self, case: Case) -> Judgment | None:
        """Return INCONCLUSIVE for a claim that no game of this kind resolves."""
        return None

    def _by_resolution(self, case: Case) -> Judgment:
        claim, allowed = case.claim, case.terms.allowed_epsilon
        limits = [(each, self.resolution(case, each)) for each in claim.points]
        coarse = [(each, found) for each, found in limits if found > allowed(each)]
        worst, found = max(coarse or limits, key=lambda limit: limit[1] - allowed(limit[0]))
        unseen = blind_spot(self.trained_on)
        events = EVENT_PROBABILITY if case.terms.tolerance is None else max(EVENT_PROBABILITY, unseen)
        resolved = f"resolution {found:.4g} on events of probability {events:.3g}"
        if coarse:
            at = f" at {worst}, a point of {claim.short}" if claim.is_curve else ""
            if math.isinf(found):
                most = f"which certify at most epsilon {self.most_certified(case):.3g} on any event"
                resolved = f"none is seen on events of probability {events:.3g} by these outputs, {most}"
            apart = f"too few outputs to tell epsilon {worst.epsilon:.4g} from {allowed(worst):.4g}{at} ({resolved})"
            return undecided(f"not refuted, but {apart}: {self._advice(case, limits)}")
        if unseen > (EVENT_PROBABILITY if case.terms.tolerance is None else LARGEST):
            unseen_said = f"training saw no events of probability below {unseen:.3g}"
            return undecided(f"not refuted, but {unseen_said}: {self._advice(case)}")
        if claim.is_curve:
            tested = f"of which {case.point} was tested; between them none was"
            resolved = f"{resolved} at each of {', '.join(map(str, claim.points))}, {tested}"
        if barred := self.barred(case):
            return undecided(f"not refuted, but {barred}")
        return Judgment(Verdict.PASS, "statistical", f"not refuted; {resolved}{self.scope(case)}")

    def _advice(self, case: Case, limits: Sequence[tuple[Point, float]] = ()) -> str:
        """Say what would resolve the claim: more outputs, more time, or a tolerance at which these outputs do."""
        need, said = case.evidence.need, list[str]()
        if limit := next((kind for kind in case.evidence.anomalies if kind.startswith(LIMITED)), ""):
            said.append(limit.removeprefix(LIMITED))
        if need:
            takes = f", which takes about {float(f'{need[1]:.2g}'):,g} s" if len(need) > 1 and not said else ""
            said.append(f"use budget={need[0]:.0f}{takes}")
        if not said and limits and not _is_resolvable(case, limits):
            said.append(f"no budget up to {MOST_BUDGET:,} does; give the mechanism a `law`")
        least = max((found - point.epsilon for point, found in limits), default=math.inf)
        others = [f"tolerance={_rounded_up(least)}"] if math.isfinite(least) and self._passes_at(case, least) else []
        others += ["a stated law"] if case.claim.is_curve else []
        return " or ".join([" and ".join(said or ["use a larger budget"]), *others])

    def _passes_at(self, case: Case, tolerance: float) -> bool:
        """Return whether these outputs give a PASS to who names this tolerance."""
        terms = case.terms._replace(tolerance=float(_rounded_up(tolerance)))
        return self._by_resolution(replace(case, terms=terms)).verdict is Verdict.PASS

    def most_certified(self, case: Case) -> float:
        """Return the largest epsilon that as many runs certify, whatever they show."""
        return math.inf


def _is_resolvable(case: Case, limits: Sequence[tuple[Point, float]]) -> bool:
    """Return whether a budget resolves all points of a claim."""
    allowed, level = case.terms.allowed_epsilon, case.significance * (1 - tuning.SCAN_SHARE)
    needs = (runs_to_resolve(at.epsilon, allowed(at), at.delta, level) for at, _ in limits)
    return all(runs is not None and Split.budget_for(runs, 1) < MOST_BUDGET for runs in needs)


def _rounded_up(tolerance: float) -> str:
    return f"{math.ceil(100 * tolerance) / 100:g}"
