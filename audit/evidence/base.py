"""Define ways of looking at a privacy claim, and methods, the allowance of a check, and the confirmation of a FAIL.

Each way is a frozen dataclass in a file with its gatherer: a stated law, a guess game, an enumeration. The conclusion
is a pure function of the way and of the `Case`; `judge.py` decides by them.

The first outputs are judged at the significance. Where they refute the claim, the check gathers evidence again, from
outputs that nothing has seen, and this evidence is judged at a level so small that both tests together refute a true
claim with the probability `confirmation`. They are independent, so that their error probabilities multiply. There may
be two looks at fresh outputs, a short one and a long one, which share the level. Evidence that cannot be drawn
again, such as a training run that is over, is judged at `confirmation` at once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

from scipy import special

from audit import plugins
from audit.claims import Claim, Point
from audit.defaults import DEFAULT_CONFIRMATION
from audit.errors import InvalidArgument
from audit.execution.sandbox import clock
from audit.execution.seeds import BLOCK, HERE, Place, Stream
from audit.records.plain import to_plain
from audit.records.view import Part
from audit.statistics.bounds import POWER
from audit.statistics.independence import OF_CALLS
from audit.validate import Budget, Effort, Name, integer, open_probability, read_budget
from audit.verdict import Verdict

DRAWING_SHARE, FIRST_SHARE = 0.8, 0.6  # of a time limit, for drawing; of that, for the stages before fresh outputs

CONFIRMING = 50  # child of a check's stream, for the first look at fresh outputs; the next one is for the second
LOOKS = 2  # at fresh outputs, at most
DOUBTFUL = 0.001  # level at which fresh outputs bar a PASS, although they do not confirm a FAIL
CONFIRMING_POWER = 0.99  # with which a violation that the first outputs detect with power 0.8 is confirmed


@dataclass(frozen=True)
class Allowance:
    """Bound the costs of one check."""

    budget: Any  # outputs per dataset of a pair, draws in all for other kinds; a name before the check has planned them
    significance: float  # probability that a true claim is suspected, and tested again on fresh outputs
    stream: Stream  # source of all seeds
    confirmation: float | None = None  # probability of a wrong FAIL; None: the significance is
    place: Place = HERE  # where blocks of outputs are drawn when they take long; the evidence does not depend on it
    enough: int | None = None  # runs of a guess game that resolve the claim; None: all that the budget has
    seconds: float | None = None  # for which outputs may be drawn, where the budget is a name
    limit: float | None = None  # seconds until all drawing ends, that of fresh outputs too
    setting: str = "timeout={:g}"  # how the user sets the time limit
    effort: Effort | None = None  # by which a check plans that has to search for its claim first

    @classmethod
    def of(
        cls,
        budget: Budget,
        significance: float,
        seed: int,
        workers: int | None = 0,
        confirmation: float | None = DEFAULT_CONFIRMATION,
    ) -> Allowance:
        """Return the allowance of a check that runs alone; raise for a value outside its admissible set."""
        return cls(
            budget=read_budget(budget),
            significance=open_probability(significance, "significance"),
            stream=Stream(integer(seed, "seed", at_least=0)),
            confirmation=None if confirmation is None else open_probability(confirmation, "confirmation"),
            place=Place(workers=workers),
        )

    def limit_time(self, timeout: float) -> Allowance:
        """Return the allowance within a time limit of a check, in seconds; a part is for other work than drawing."""
        return replace(self, limit=DRAWING_SHARE * timeout)

    @property
    def first_seconds(self) -> float:
        """Seconds for outputs before there is a suspicion that fresh ones have to confirm."""
        limit = math.inf if self.limit is None else FIRST_SHARE * min(self.limit, clock().left)
        return min(limit, math.inf if self.seconds is None else self.seconds)

    def timeout_for(self, seconds: float) -> str:
        """Return the time limit to set, in the user's words, for that many seconds of drawing at first."""
        wanted = max(1.2 * seconds / FIRST_SHARE, 2 * (self.limit or 0.0)) / DRAWING_SHARE
        return self.setting.format(float(f"{wanted:.2g}"))

    def out_of_time(self, noun: str) -> str:
        """Return the reason of a check whose drawing the limit ended: whose time it was, and a sufficient limit."""
        now, timeout = clock(), (self.limit or 0.0) / DRAWING_SHARE
        is_own = 2 * now.called < now.elapsed
        said = f"{'the audit' if is_own else noun} took longer than {timeout:g} s"
        wanted = now.planned * now.pace + (now.elapsed - now.called if is_own else 0.0)
        enough = float(f"{max(2 * timeout, 1.2 * wanted / DRAWING_SHARE):.2g}")
        took = f"{now.called:.2g} of {now.elapsed:.2g} s in its calls, which gave {now.outputs:,} outputs"
        return f"{said} ({took}): set {self.setting.format(enough)}"

    def share(self, checks: int) -> Allowance:
        """Return the allowance of each of some checks that share both probabilities equally."""
        confirmation = None if self.confirmation is None else self.confirmation / checks
        return replace(self, significance=self.significance / checks, confirmation=confirmation)


def find_confirming_level(significance: float, confirmation: float | None, spent: float = 0.0) -> float | None:
    """Return the level of one look at fresh outputs; None where the first outputs decide alone.

    `spent` is the share of the confirmation that earlier looks had.
    """
    if confirmation is None or confirmation >= significance:
        return None
    return (1 - spent) * confirmation / significance / LOOKS


def estimate_growth(significance: float, level: float) -> float:
    """Return how many times as many outputs confirm a violation as show it: at `level` with power 0.99.

    It is shown at `significance` with power 0.8. By the normal approximation, which only plans a budget.
    """
    shown = special.ndtri(POWER) - special.ndtri(significance)
    return float(max(1.0, ((special.ndtri(CONFIRMING_POWER) - special.ndtri(level)) / shown) ** 2))


def list_fresh_allowances(allowance: Allowance, level: float) -> Iterator[Allowance]:
    """Yield the budget of each look at fresh outputs: the same one, then one that surely confirms."""
    for look, times in enumerate((1.0, estimate_growth(allowance.significance, level))):
        budget, stream = math.ceil(times * allowance.budget), allowance.stream.child(CONFIRMING + look)
        yield replace(allowance, budget=budget, significance=level, confirmation=None, stream=stream)


def judge_confirmed(
    kind: Any, terms: Any, evidence: Any, significance: float, confirmation: float | None, first: Any = None
) -> Any:
    """Judge the evidence of a kind of check, unless it is judged; where it refutes the claim, fresh outputs decide."""
    first, fresh = first or kind.judge(terms, evidence, significance), evidence.confirmation
    level = find_confirming_level(significance, confirmation, evidence.spent)
    if level is None or not is_refuted(first):
        return first if fresh is None else _open(first, "fresh outputs were drawn where nothing was refuted")
    if evidence.is_final:
        return _judge_once(kind, terms, evidence, first, confirmation or level)
    if fresh is None:
        return _open(first, f"refuted at first, but no fresh outputs were drawn to confirm it: {first.reason}")
    second = kind.judge(terms, fresh, level)
    if is_refuted(second):
        both = f"confirmed on fresh draws, error probability together {significance * LOOKS * level:.2g}"
        return replace(first, reason=f"{first.reason}; {both}")
    if is_refuted(again := kind.judge(terms, fresh, DOUBTFUL)):
        return _open(again, f"refuted twice, but not for certain: {first.reason}; on fresh draws: {again.reason}")
    ended = "and fresh ones could not be drawn" if fresh.failure else "fresh ones did not"
    if said := evidence.unlike(fresh):
        return _open(second, said)
    doubt = f"the first draws seemed to refute the claim (error probability {significance:.2g}), {ended}"
    usual = second if second.verdict is Verdict.PASS else kind.judge(terms, fresh, significance)
    if usual.verdict is Verdict.PASS:  # that of followed noise needs more runs at the other level
        return replace(usual, scope=(*usual.scope, doubt))
    return replace(second, reason=f"{second.reason}; {doubt}")


def _judge_once(kind: Any, terms: Any, evidence: Any, first: Any, confirmation: float) -> Any:
    """Judge suspected evidence that nothing fresh can confirm: FAIL at `confirmation`, INCONCLUSIVE in doubt.

    The reason reports the first judgment at the significance beside the certain one.
    """
    if (certain := kind.judge(terms, evidence, confirmation)).verdict is Verdict.FAIL:
        return _join_bounds(certain, first)
    if is_refuted(doubtful := kind.judge(terms, evidence, DOUBTFUL)):
        why = f"a finished run cannot be repeated, and a FAIL needs an error probability of {confirmation:.2g}"
        return _open(_join_bounds(doubtful, first), f"refuted, but not for certain: {doubtful.reason}; {why}")
    said = f"suspected, but not for certain: {first.reason}"
    if doubtful.verdict is Verdict.PASS:
        return _join_bounds(replace(doubtful, scope=(*doubtful.scope, said)), first)
    return _join_bounds(replace(doubtful, reason=f"{doubtful.reason}; {said}"), first)


def _join_bounds(judgment: Any, first: Any) -> Any:
    told = {part.quantity for part in judgment.found}
    return replace(judgment, found=(*judgment.found, *(part for part in first.found if part.quantity not in told)))


def _open(judgment: Any, reason: str) -> Any:
    return replace(judgment, verdict=Verdict.INCONCLUSIVE, basis="none", reason=reason)


def is_refuted(judgment: Any) -> bool:
    """Return whether statistics refute the claim; a value computed without noise needs no second look."""
    return judgment.verdict is Verdict.FAIL and judgment.basis == "outputs"


USUAL_SHARE = 0.25  # tolerance of a claim along a curve: a share of rho, mu or the Renyi epsilon
_LEAST_APART = 1e-6  # a point that a wider claim implies, too, is resolved by no budget
MOST_BUDGET = 10**9  # outputs per dataset: far beyond what any time limit allows
LIMITED = "time limit: "  # begins an anomaly that says how the limit ended the drawing, and a sufficient limit
TYPES = "outputs of several types: "  # begins an anomaly that names them
OWN_RANDOMNESS = "own randomness"
DRAWN_BEFORE = "outputs drawn before"  # what a check uses that cannot draw more
STATEFUL = "own state"  # of a function with a parameter `rng` that is called once for each output
DEPENDENCE = ("mutated its dataset between calls", *OF_CALLS)  # runs were not independent: no game counts


@dataclass(frozen=True)
class Evidence:
    """Hold the observations of a check: frozen plain data, from which the verdict is computed, live or from a file."""

    samples: int  # outputs, losses or trials drawn, or values computed
    # the ground of the verdict: "outputs", "simulation" of losses, or what is computed without noise: an "evaluator"
    uses: str = field(default="outputs", kw_only=True)
    failure: str | None = field(default=None, kw_only=True)  # why the check ended early
    # evidence of the same kind from fresh outputs, where this one refutes the claim
    confirmation: Self | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.samples < 0:
            raise InvalidArgument.of("samples", "be >= 0", self.samples)

    def unlike(self, fresh: Self) -> str | None:
        """Return how fresh outputs contradict these, so that neither speaks for the mechanism, or None."""
        return None

    @property
    def is_final(self) -> bool:
        """True if nothing fresh can be drawn to confirm it."""
        return False

    def least_confirmation(self, record: Mapping[str, Any]) -> float:
        """Return the error probability below which such evidence refutes the claim of a record in no case."""
        return 0.0

    @property
    def spent(self) -> float:
        """Share of the confirmation that went to looks before this evidence; fresh outputs have the rest."""
        return 0.0

    @property
    def is_drawn(self) -> bool:
        """True if the budget bounds it; a computation has a size of its own."""
        return self.uses not in ("evaluator", "stated values")

    @property
    def spends(self) -> tuple[str, ...]:
        """The tests that had the significance of the check, by name; none where nothing was left to chance."""
        return (self.uses,) if self.is_drawn else ()

    @property
    def searched(self) -> Any:
        """The end of a search over the inputs of the check; None if there was none."""
        return None

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield how it contradicts itself or the record that holds it; for `verify`, where a replay misses it."""
        return iter(())


@dataclass(frozen=True)
class Interval:
    """Bounds of a quantity; those of one check hold together with probability at least 1 - significance."""

    quantity: str
    lower: float = field(metadata={"digits": 6})  # a replay may differ in further digits
    upper: float = field(metadata={"digits": 6})  # equal to `lower` when the value is exact

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.quantity} = {self.lower:.4g}"
        if self.upper == math.inf:
            return f"{self.quantity} >= {self.lower:.4g}"
        return f"{self.quantity} in [{self.lower:.4g}, {self.upper:.4g}]"


Found = tuple[Interval, ...]


@dataclass(frozen=True)
class Judgment:
    """Hold a verdict, its basis, its reason in one sentence, and the bounds of the evidence."""

    verdict: Verdict
    basis: str  # a key of `audit.verdict.BASES`
    reason: Name
    found: Found = field(default=(), kw_only=True)
    scope: tuple[str, ...] = field(default=(), kw_only=True)  # clauses about a PASS, beyond its reason

    def record(self) -> dict[str, Any]:
        """Return the judged part of a record."""
        return dict(to_plain(self))


def leave_open(reason: str, found: Found = ()) -> Judgment:
    """Return INCONCLUSIVE, for a reason."""
    return Judgment(Verdict.INCONCLUSIVE, "none", reason, found=found)


def conclude(
    basis: str, found: Found, *, broken: str | None, why_open: str | None, kept: str, scope: tuple[str, ...] = ()
) -> Judgment:
    """Return FAIL if something breaks the claim, else INCONCLUSIVE if something bars a PASS, else PASS."""
    if broken:
        return Judgment(Verdict.FAIL, basis, broken, found=found)
    return leave_open(why_open, found) if why_open else Judgment(Verdict.PASS, basis, kept, found=found, scope=scope)


class PrivacyTerms(NamedTuple):
    """State the claim of a check, and the tolerance of a statistical PASS, for the judge."""

    claim: Claim
    tolerance: float | None = None

    def allowed_epsilon(self, point: Point) -> float:
        """Return the resolution that a statistical PASS needs."""
        if (wider := self.wider()) is not None and math.isfinite(epsilon := wider.epsilon_at(point.delta)):
            return float(max(epsilon, point.epsilon + _LEAST_APART))
        return point.epsilon + (usual_tolerance(point.epsilon) if self.tolerance is None else self.tolerance)

    def wider(self, share: float | None = None) -> Any:
        """Return a claim along a curve with a parameter larger by a share; None where the tolerance is of epsilon.

        By default it is the claim that a PASS has to tell from this one.
        """
        claim: Any = self.claim
        if not claim.is_curve:
            return None
        usual = USUAL_SHARE if self.tolerance is None else self.tolerance
        return claim.scale(1 + (usual if share is None else share))


def usual_tolerance(epsilon: float) -> float:
    """Return the tolerance of a check that states none."""
    return max(0.05, 0.25 * epsilon)


class Finding(NamedTuple):
    """Hold the conclusion of one way of looking; the other ways judge the points that it leaves open."""

    refutation: Judgment | None = None  # FAIL if outputs that were counted refute the claim; nothing prevents that
    obstacle: Judgment | None = None  # INCONCLUSIVE if what was observed prevents every other verdict
    exact: Judgment | None = None  # the decision of an exact law
    lower_bound: float = 0.0  # of epsilon, certified
    upper_bound: float | None = None  # of epsilon, by an exact law
    resolution: float = math.inf  # smallest epsilon beyond the tested point that would have been refuted
    trained_on: float = 0  # outputs per dataset from which events were learned; inf if every event was examined
    doubt: str = ""  # why rarer outputs than a game counts may break the claim


@dataclass(frozen=True)
class GameLimits:
    """Name the claims that a game would have refuted, and the obstacles to a PASS that is resolved."""

    resolved: tuple[tuple[Point, float], ...] = ()  # each point of the claim, and the smallest epsilon beyond it
    trained_on: float = 0
    is_general: bool = True  # some score that competed sees every difference between large sets of outputs
    gaps: tuple[str, ...] = ()  # places of the output that nothing read
    unresolvable: str = ""  # why no game of this kind resolves the claim
    barred: str = ""  # why there is no PASS even if the claim is resolved
    floats: str = ""  # a clause of a PASS about floating-point numbers; empty where the outputs have none
    scope: tuple[str, ...] = ()  # clauses about a PASS, beyond the resolution
    most_certified: float = math.inf  # largest epsilon that as many runs certify, whatever they show


@dataclass(frozen=True)
class Case:
    """Hold the claim, the observations of the whole check, and the significance: every way is judged by them."""

    terms: PrivacyTerms
    point: Point  # the (epsilon, delta) that was tested
    evidence: Any  # a `PrivacyEvidence`
    significance: float

    def advise_budget(self, budget: float) -> str:
        """Return the setting to type for so many outputs per dataset; of given ones the coins use only a part."""
        if self.evidence.uses != DRAWN_BEFORE:
            return f"use budget={budget:.0f}"
        given = 1.05 * budget + BLOCK
        digits = 10.0 ** math.floor(math.log10(given) - 1)
        return f"give {math.ceil(given / digits) * digits:,.0f} outputs of each dataset"

    def refute(self, lower: float, found: str) -> Judgment:
        """Return FAIL by a certified bound of epsilon, with the refutation in words."""
        (epsilon, delta), claim = self.point, self.terms.claim
        claimed = f"{claim.short} implies {epsilon:.4g}" if claim.is_curve else f"claimed {epsilon:g}"
        bound = f">= {lower:.4g}" if f"{lower:.4g}" != f"{epsilon:.4g}" else f"> {epsilon:.4g}"
        reason = f"{found}: epsilon {bound} at delta = {delta:.6g}, {claimed}"
        cause = "".join(way.cause for way in self.evidence.ways)
        if types := next((kind for kind in self.evidence.anomalies if kind.startswith(TYPES)), ""):
            cause += f"; its outputs are of several types, {types.removeprefix(TYPES)}"
            alike = all(kind.startswith(("numpy.", "int", "float")) for kind in types.removeprefix(TYPES).split(", "))
            cause += ": convert them, if callers do" if alike else ""
        return Judgment(Verdict.FAIL, "outputs", f"{reason} (error probability {self.significance:.2g}){cause}")


@dataclass(frozen=True)
class Way:
    """Hold the observations of one kind; nothing follows unless a subclass says so."""

    way: ClassVar[str]  # its name in records
    find: ClassVar[Any] = staticmethod(plugins.find_evidence)  # a record is read by the name that it holds
    list_ways: ClassVar[Any] = staticmethod(lambda: plugins.list_keys("evidence"))
    spends: ClassVar[str] = ""  # the test that has the significance of the check; none if it is empty
    spent: ClassVar[float] = 0.0  # share of the confirmation that it had
    is_witness: ClassVar[bool] = False  # whether it has an event that breaks a refuted claim

    def finding(self, case: Case) -> Finding:
        """Return the finding."""
        return Finding()

    def find_event(self, point: Point) -> tuple[int, str, str] | None:
        """Return the pair, the direction and the words of an event that breaks the claim by itself; None for most."""
        return None

    @property
    def cause(self) -> str:
        """The addition to the reason of a FAIL; empty for most."""
        return ""

    @property
    def is_final(self) -> bool:
        """True if it refutes the claim at a share of the confirmation, so that nothing fresh has to confirm it."""
        return False

    @property
    def largest_call(self) -> int:
        """The outputs of the largest call; 0 if unknown."""
        return 0

    @property
    def sample_size(self) -> int:
        """The outputs that it took, at least."""
        return 0

    def limits(self, case: Case) -> GameLimits | None:
        """Return the limits of the game for a claim that nothing else decides; None if no game was played."""
        return None

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield how it contradicts itself or the record of its check."""
        return iter(())

    @classmethod
    def show_facts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the text of the page of it, names and texts; `way` is its part of the record of a check."""
        return iter(())

    @classmethod
    def show_parts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Part]:
        """Yield its parts of the section on the page."""
        return iter(())


CoreMethod = Literal["auto", "fixed", "exact"]
Floats = Literal["real", "audit"]


class ListedPairs(tuple[tuple[Any, Any], ...]):
    """The pairs that a method lists for the datasets of a check."""


class Method(ABC):
    """A method that an extension adds: a frozen dataclass whose fields are its settings, which a record holds.

    A user writes the object, `method=audit.Enumeration(states=100)`, or its name, "enumerate", for usual settings.
    """

    way: ClassVar[str]  # its name
    plays: ClassVar[str] = ""  # the method of the package whose evidence it brings as well
    find: ClassVar[Any] = staticmethod(plugins.find_method)
    list_ways: ClassVar[Any] = staticmethod(lambda: plugins.list_keys("methods"))

    @property
    @abstractmethod
    def words(self) -> str:
        """The method in words, as a page shows it."""

    def require_claim(self, claim: Claim) -> None:  # noqa: B027
        """Raise `InvalidArgument` for a claim that the method cannot judge."""

    def list_pairs(self, datasets: Any, claim: Claim) -> Sequence[tuple[Any, Any]]:
        """Return the pairs that `datasets` stands for; raise `InvalidArgument` where it stands for none."""
        raise InvalidArgument.of("datasets", "be searched with method='auto'", datasets)

    def plan_budget(self, terms: Any, significance: float) -> int | None:
        """Return the outputs per dataset that resolve a claim; None where its method of the package decides."""
        return None

    @abstractmethod
    def gather(self, check: Any, allowance: Allowance) -> Any:
        """Return the `PrivacyEvidence` of a check."""

    def look_first(self, session: Any) -> Any:
        """Return a `Way` of looking before the game of a session; None where there is none.

        Where it keeps the claim, and looked at calls as long as those of a game, few outputs follow, which confirm it.
        `session` has the pairs, the claim and the time.
        """
        return None

    def find_epsilon(self, mechanism: Any, pair: tuple[Any, Any], delta: float) -> float:
        """Return the epsilon of one pair, from below or estimated; a search climbs it. NaN where there is none."""
        return math.nan


AnyMethod = CoreMethod | Method | str  # what a check is given: the name of a method, or one
