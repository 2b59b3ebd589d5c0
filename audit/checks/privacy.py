"""Check a privacy claim about one mechanism: the check, its result, and the function `check_privacy`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

from audit import plugins
from audit.checks.base import UNNAMED, Check, Result, document_from, run_alone
from audit.checks.judge import PrivacyEvidence, PrivacyJudgment, judge
from audit.checks.result import WITNESS_LENGTH, PrivacyResult, PrivacyView
from audit.claims import Claim, Point, claim_of, claim_record, require_claim, require_neighboring
from audit.defaults import DEFAULT_BUDGET, DEFAULT_CONFIRMATION, DEFAULT_SIGNIFICANCE
from audit.errors import BadLength, InvalidArgument, NotNeighboring
from audit.evidence.base import (
    USUAL_SHARE,
    Allowance,
    AnyMethod,
    Case,
    CoreMethod,
    Evidence,
    Floats,
    Judgment,
    ListedPairs,
    Method,
    PrivacyTerms,
    usual_tolerance,
)
from audit.evidence.guess_game import certify, play_again
from audit.evidence.session import CHECKPOINTS, SLOW_CALL, Session, bound_call, plan_outputs, train
from audit.evidence.stated_law import UNEVALUATED, compare_with_law
from audit.execution.sandbox import one_thread
from audit.execution.seeds import Stream
from audit.mechanism.call import Shown, Subject, SubjectFailed, require_mechanism, show, states_a_law, write_code
from audit.records.plain import to_plain
from audit.records.view import RecordView
from audit.scorers import SCORERS, Scorer
from audit.scorers.counts import Residues
from audit.validate import Budget, Effort, positive
from audit.verdict import Verdict

if TYPE_CHECKING:  # what searches no pair does without Hypothesis, which takes long to import
    from hypothesis.strategies import SearchStrategy

# Short games on a claim in doubt: outputs per dataset at least, parts of a large budget, seconds of a first one at most
_SHORT, _SHORT_PARTS, _SHORT_SECONDS = 2_500, (64, 12), 2.0


@dataclass(frozen=True, kw_only=True)
class PrivacyCheck(Check):
    """A privacy claim about one mechanism, on given pairs of neighboring datasets.

    Parameters
    ----------
    name : str
        Unique within a run; `--select` matches it.
    mechanism : callable
        `(dataset, size, rng) -> array-like` whose first axis has length `size`. Optional methods:
        `law(dataset)` (an `audit.laws` law), `log_likelihood(dataset, outputs)`, `privacy_loss(left, right)`.
    claim : PrivacyClaim, GaussianClaim, RenyiClaim or ZeroConcentratedClaim
        The claim. All but the first kind imply a whole curve of (epsilon, delta): the stated law is judged on all
        of it, the guess game tests the point of it with the largest estimated excess on training outputs.
    pairs : sequence of (left, right)
        Neighboring datasets; every pair is examined, the one with the largest estimated bound is certified.
    datasets : hypothesis SearchStrategy or sequence, optional
        In place of `pairs`: datasets (records under Local) among whose neighbors the worst pair is searched,
        shrunk, and certified on fresh outputs. The search draws beyond the budget; the result counts it. With method
        "enumerate", a finite list of datasets, of which every neighboring pair is judged.
    parameters : mapping of names to hypothesis SearchStrategy, optional
        Parameters of the mechanism, which is then called as `(dataset, size, rng, **setting)`; a class is made as
        `mechanism(**setting)`. The worst setting is searched in the same way. `claim`, `pairs` and `datasets` may be
        functions of the setting, called as `claim(**setting)`. Strategies draw plain data: numbers, text, None, and
        lists of them.
    expected : Verdict
        PASS for a mechanism that should keep its claim; FAIL for a fault that the audit must convict, or for
        a claim known to be false. A run counts an expected FAIL as met.
    budget : {"auto", "quick", "deep"} or int >= 2, optional
        Outputs per dataset of a pair, training and certifying together; None takes the run's budget.
    method : {"auto", "fixed", "sequential", "exact", "enumerate"} or Enumeration
        "exact" judges the stated law and tests the sampler against it; "fixed" plays the guess game at a fixed
        budget; "sequential" plays it on one pair until the claim is refuted or the tolerance is reached; "auto"
        does the first two where a law is stated. "enumerate" follows every random choice (`audit.enumerate_law`): the
        verdict rests on the law of the code, and no budget is needed; `audit.Enumeration(...)` says how far, and from
        which source.
    tolerance : float > 0, optional
        A statistical PASS needs a resolution within claim + tolerance; None means max(0.05, epsilon / 4). For a
        claim along a curve it is a share of rho, mu or the Renyi epsilon, 0.25 unless given, and every point of
        `claim.points` must be resolved against the wider claim.
    timeout : float > 0, optional
        Seconds after which the drawing ends, and the outputs so far are judged; None takes the run's limit.
    floats : {"real", "audit"}
        "real" takes floating-point numbers as real ones, and a PASS says so. With "audit" events on their bits compete
        too: textbook noise in double precision is then refuted.

    Raises
    ------
    InvalidArgument
        For a parameter outside its admissible set.
    NotNeighboring
        For a pair that is not neighboring under the claim's relation.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), The composition theorem for differential privacy, theorem 2.1: the tests between
    neighbors that a private mechanism leaves. Dong, Roth and Su (2022), Gaussian differential privacy: the curves.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import PrivacyCheck, PrivacyClaim, run
    >>> check = PrivacyCheck(
    ...     name="noisy sum", mechanism=lambda data, size, rng: data.sum() + rng.laplace(size=size),
    ...     claim=PrivacyClaim(0.5), pairs=[(np.zeros(3), np.array([1.0, 0.0, 0.0]))])
    >>> print(run([check], budget=10_000, workers=0).verdict)
    FAIL
    """

    mechanism: Any
    claim: Any  # a claim, or what returns one for a setting of the parameters
    pairs: Any = ()
    datasets: SearchStrategy[Any] | Any | None = None
    method: AnyMethod = "auto"
    tolerance: float | None = None
    parameters: Mapping[str, SearchStrategy[Any]] | Any | None = None
    floats: Floats = "real"

    kind: ClassVar[str] = "privacy"
    evidence_type: ClassVar[type[Evidence]] = PrivacyEvidence
    judgment_type: ClassVar[type[Judgment]] = PrivacyJudgment
    input_names: ClassVar[tuple[str, ...]] = ("pairs", "witness")
    setting_names: ClassVar[tuple[str, ...]] = ("method", "tolerance", "floats")
    result_type: ClassVar[type[Result]] = PrivacyResult
    record_view: ClassVar[type[RecordView]] = PrivacyView

    def _validate(self) -> None:
        if self.parameters is not None:
            object.__setattr__(self, "parameters", plugins.find_search().make_strategy(self.parameters))
            _ = self.example  # raises where parts do not fit together
            return
        require_mechanism(self.mechanism)
        require_claim(self.claim)
        object.__setattr__(self, "method", _find_method(self.method))
        if self.floats not in get_args(Floats):
            raise InvalidArgument.of("floats", f"be one of {', '.join(get_args(Floats))}", self.floats)
        if self.floats == "audit":
            _ = self.scorers  # raises where no extension scores bits
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", positive(self.tolerance, "tolerance"))
        if self.datasets is not None and self.pairs and not isinstance(self.pairs, ListedPairs):
            raise InvalidArgument("give `pairs` or `datasets`, not both: among `datasets` a search finds the pair")
        if self.datasets is None:
            object.__setattr__(self, "pairs", _check_pairs(self.pairs, self.claim))
        elif isinstance(self.method, Method):
            object.__setattr__(self, "pairs", ListedPairs(self.method.list_pairs(self.datasets, self.claim)))
        else:
            plugins.find_search().require_datasets(self.datasets)

    @cached_property
    def example(self) -> Self:
        """The check at the simplest setting of its parameters: it stands for all where one claim is shown."""
        return self.at(plugins.find_search().find_simplest(self.parameters))

    def at(self, setting: Mapping[str, Any]) -> Self:
        """Return the check of the mechanism with these values of its parameters."""
        if self.parameters is None:
            return self
        bound: Self = plugins.find_search().bind_check(self, setting)
        return bound

    @property
    def subject(self) -> Any:
        """The mechanism."""
        return self.mechanism

    @property
    def stated(self) -> str:
        """The claim in words."""
        return str(self.claim) if self.parameters is None else f"{self.example.claim}, and so for each setting"

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The scorers that compete for the events."""
        known = (*SCORERS, *plugins.list_scorers())
        if self.floats != "audit":
            return known
        finer = plugins.list_float_scorers(self.claim.point.epsilon)  # of the same digits
        return *(scorer for scorer in known if not isinstance(scorer, Residues)), *finer

    @property
    def played_method(self) -> str:
        """The method of the package by which games are played; empty where a method of an extension plays none."""
        return self.method.plays if isinstance(self.method, Method) else str(self.method)

    @property
    def first_methods(self) -> Sequence[Method]:
        """The methods of extensions that are tried first; none where a law is stated, or bits are read."""
        is_plain = self.method == "auto" and self.kind == PrivacyCheck.kind and self.floats == "real"
        return plugins.list_first() if is_plain and not states_a_law(self.mechanism) else ()

    def plan_effort(self, effort: Effort, allowance: Allowance) -> tuple[Self, Allowance]:
        """Plan as many outputs as resolve the claim within the effort's tolerance, or test a stated law."""
        if self.parameters is not None:  # its claim is known when the worst setting is
            return self, replace(allowance, budget=effort.draws, seconds=effort.seconds, effort=effort)
        check = self
        if self.tolerance is None and effort.tolerance != 1:
            check = copy.copy(self)
            usual = USUAL_SHARE if self.terms().wider() is not None else usual_tolerance(self.claim.point.epsilon)
            object.__setattr__(check, "tolerance", effort.tolerance * usual)
        budget, enough, terms = effort.stated, None, check.terms()
        if isinstance(self.method, Method) and (due := self.method.plan_budget(terms, allowance.significance)):
            budget = due
        elif self.played_method == "fixed" or (self.played_method == "auto" and not states_a_law(self.mechanism)):
            budget, enough = plan_outputs(terms, allowance.significance, max(1, len(self.pairs)))
        return check, replace(allowance, budget=budget, enough=enough, seconds=effort.seconds)

    def gather(self, allowance: Allowance) -> PrivacyEvidence:
        """Search for a pair where asked, then probe, train, compare with the stated law, certify."""
        found: PrivacyEvidence
        if self.parameters is not None or (self.datasets is not None and not isinstance(self.method, Method)):
            found = plugins.find_search().gather(self, allowance)
        elif isinstance(self.method, Method):
            self.method.require_claim(self.claim)
            found = self.method.gather(self, allowance)
        else:
            found = self.gather_by_game(allowance, self.first_methods)
        return replace(found, tested=found.tested or self.complete(found).claim.point)

    def gather_by_game(self, allowance: Allowance, first: Sequence[Method] = ()) -> PrivacyEvidence:
        """Look by some methods, then play the games: with few outputs where one of those has kept the claim."""
        return self.gather_by(allowance, partial(_gather_in_session, first=first))

    def gather_by(self, allowance: Allowance, play: Callable[[Session], PrivacyEvidence]) -> PrivacyEvidence:
        """Return the evidence of a session; a mechanism that fails ends it."""
        session = self.session(allowance)
        try:
            return play(session)
        except (SubjectFailed, BadLength) as failure:
            return PrivacyEvidence(
                session.samples, anomalies=session.count_anomalies(), failure=f"the mechanism {failure}"
            )

    def confirm(self, evidence: PrivacyEvidence, allowance: Allowance, level: float) -> Iterator[PrivacyEvidence]:
        """Yield the game on fresh outputs, with the events of the first one; a sequential game learns anew."""
        found = self.complete(evidence)
        if evidence.game is None:
            yield from super(PrivacyCheck, found).confirm(evidence, allowance, level)
            return
        session = found.session(allowance)
        session.subject = replace(session.subject, one_by_one=evidence.one_by_one)
        try:
            yield from play_again(session, evidence, level)
        except (SubjectFailed, BadLength) as failure:
            said = f"the mechanism {failure}, when it was asked for fresh outputs"
            yield PrivacyEvidence(session.samples, anomalies=session.count_anomalies(), failure=said)

    def session(self, allowance: Allowance) -> Session:
        """Return the state that the stages of gathering share, at their beginning."""
        shared = Subject(self.mechanism), self.terms(), self.pairs, self.played_method, allowance, self.scorers
        return Session(*shared, is_asked=isinstance(self.method, Method), audits_floats=self.floats == "audit")

    def observe_nothing(self, failure: str, cause: str = "error") -> PrivacyEvidence:
        """Return the evidence of a check that observed nothing."""
        return PrivacyEvidence(0, anomalies={cause: 1}, failure=failure)

    def pack_evidence(self, evidence: PrivacyEvidence) -> dict[str, Any]:
        """Return evidence as plain data, with the pair of the search as text."""
        found = evidence.found_pair
        shown = [(show(side), show(side, WITNESS_LENGTH), write_code(side)) for side in found or ()]
        return {**to_plain(evidence), "found_pair": shown or None}

    def unpack_evidence(self, data: Any) -> PrivacyEvidence:
        """Return the evidence that `pack_evidence` made plain; the events stay where they were chosen."""
        parts = dict(data)
        texts = parts.pop("found_pair")
        evidence: PrivacyEvidence = self.evidence_of(parts)
        if texts is None:
            return evidence
        left, right = (Shown(*map(str, side)) for side in texts)
        return replace(evidence, found_pair=(left, right))

    def complete(self, evidence: PrivacyEvidence) -> Self:
        """Return the check with the setting and the pair that its search found."""
        searched, found = evidence.searched, copy.copy(self)  # the search has looked at the relation
        if searched is not None:
            found = replace(self.at(searched.setting), tolerance=searched.tolerance)
        elif self.parameters is not None:  # the search has no result
            found = self.example
        if evidence.found_pair is None:
            return found
        object.__setattr__(found, "pairs", (evidence.found_pair,))
        object.__setattr__(found, "datasets", None)
        return found

    judge = staticmethod(judge)

    def terms(self) -> PrivacyTerms:
        """Return claim and tolerance."""
        return PrivacyTerms(self.claim, self.tolerance)

    @classmethod
    def recorded_terms(cls, record: Mapping[str, Any]) -> PrivacyTerms:
        """Return the claim and the tolerance of a record."""
        return PrivacyTerms(claim_of(record["claim"]), record["settings"]["tolerance"])

    def recorded_claim(self) -> dict[str, Any]:
        """Return the claim as plain data."""
        return claim_record(self.claim if self.parameters is None else self.example.claim)

    def recorded_settings(self) -> dict[str, Any]:
        """Return the method with its settings, and the tolerance."""
        settings: dict[str, Any] = {"method": to_plain(self.method), "tolerance": self.tolerance}
        return settings | ({"floats": self.floats} if self.floats == "audit" else {})


@one_thread()
def _gather_in_session(session: Session, first: Sequence[Method]) -> PrivacyEvidence:
    """Probe, then look in the ways of the session's method; early where calls are slow."""
    session.open()
    ways = tuple(way for method in first if (way := method.look_first(session)) is not None)
    terms, seen = session.terms, PrivacyEvidence(session.samples)
    case = Case(terms, terms.claim.point, seen, session.allowance.significance)
    findings = [(way, way.finding(case)) for way in ways]
    passing = [way for way, finding in findings if finding.exact and finding.exact.verdict is Verdict.PASS]
    largest = max([way.largest_call for way in passing], default=0)
    is_long = session.subject.calls_share_a_copy or largest >= bound_call(session.width)  # else longer calls may differ
    if passing and is_long:
        session.take_few()
        found = (
            _play_at_fixed_budget(session) if session.allowance.budget else collect_evidence(session, [], case.point)
        )
    else:
        if any(finding.doubt for _, finding in findings):
            session.doubt()
        found = _play(session)
    return replace(found, ways=(*found.ways, *ways))


def _play_short(session: Session) -> PrivacyEvidence | None:
    """Play games of few outputs on a claim in doubt, at the first shares of the significance; None if it stays open."""
    whole, noted = session.allowance, session.anomalies.copy()
    first = max(_SHORT, whole.budget // _SHORT_PARTS[0])
    games = [few for few in (first, whole.budget // _SHORT_PARTS[1]) if few == first or few >= 2 * first]
    if not session.is_doubted or 2 * first * session.cost > _SHORT_SECONDS or whole.budget < 4 * first:
        return None
    for look, few in enumerate(games):
        session.allowance = replace(whole, budget=few + session.samples // 2, enough=None)
        session.looks = look, CHECKPOINTS - 1 - look
        training = train(session)
        if (choice := training.choice) is None:
            continue
        game = certify(session, training, choice)
        found = collect_evidence(session, [game], choice.point)
        if game.finding(Case(session.terms, choice.point, found, whole.significance)).refutation:
            return found
    session.allowance, session.looks, session.anomalies = whole, (len(games), 0), noted
    return None


def _play(session: Session) -> PrivacyEvidence:
    is_plain = session.method == "auto" and not session.is_stated and not session.terms.claim.is_curve
    look_early = plugins.find_early_look() if is_plain and session.cost > SLOW_CALL else None
    looked = look_early and look_early(session)
    session.keep_to_time()
    if looked is not None and any(way.is_final for way in looked[0]):
        return collect_evidence(looked[1], looked[0], session.terms.claim.point)
    found = _play_short(session) or _play_at_fixed_budget(session)
    if looked is None:
        return found
    early, own = looked
    return replace(found, samples=found.samples + own.samples, ways=(*early, *found.ways))


def _play_at_fixed_budget(session: Session) -> PrivacyEvidence:
    """Train, compare with the stated law, certify."""
    training = train(session)
    choice, claim, mechanism = training.choice, session.terms.claim, session.subject.mechanism
    point, failure, ways = claim.point if choice is None else choice.point, None, list[Any]()
    if session.is_stated:
        stream, level = session.allowance.stream.child(Stream.FIT), session.allowance.significance
        try:
            ways.append(compare_with_law(mechanism, claim, session.pairs, training.drawn, point, stream, level))
        except Exception as error:  # the statement is the mechanism's code; an error in it bars a PASS
            failure = f"{UNEVALUATED}: {type(error).__name__}: {error}"
    if choice is not None:
        before = session.samples
        test_curve = plugins.find_curve_test() if claim.is_curve and not session.is_stated else None
        tested = test_curve and test_curve(session, training)
        rest = 2 * session.allowance.budget - session.samples
        if session.samples > before and rest < choice.runs:
            choice = replace(choice, runs=max(1, rest))
        ways.append(tested or certify(session, training, choice))
    return collect_evidence(session, ways, point, failure)


def collect_evidence(session: Session, ways: list[Any], point: Point, failure: str | None = None) -> PrivacyEvidence:
    """Return the evidence of a session, by some ways of looking that tested a point."""
    return PrivacyEvidence(
        session.samples,
        (*ways, *([] if session.asked is None else [session.asked])),
        session.count_anomalies(),
        tested=point if session.terms.claim.is_curve else None,
        need=session.need,
        one_by_one=session.subject.one_by_one,
        uses=getattr(session.subject.mechanism, "uses", "outputs"),
        failure=failure,
    )


def _check_pairs(pairs: Any, claim: Claim) -> tuple[tuple[Any, Any], ...]:
    try:
        listed = tuple((left, right) for left, right in pairs)
    except (TypeError, ValueError):
        instead = "for one pair, write pairs=[(left, right)]"
        raise InvalidArgument.of("pairs", "be a sequence of (left, right)", pairs, instead) from None
    if not listed:
        raise InvalidArgument("`pairs` must hold at least one pair, got none: write pairs=[(left, right)]")
    for index, (left, right) in enumerate(listed):
        try:
            require_neighboring(claim.relation, left, right, f"pairs[{index}]")
        except NotNeighboring as error:
            if len(listed) == 2 and claim.relation.why_not(*pairs) is None:
                raise InvalidArgument("`pairs` is one pair: write pairs=[(left, right)]") from error
            raise
    return listed


@document_from(PrivacyCheck)
def check_privacy(
    mechanism: Any,
    claim: Claim | Callable[..., Claim],
    pairs: Sequence[tuple[Any, Any]] | Callable[..., Any] = (),
    *,
    datasets: SearchStrategy[Any] | Sequence[Any] | Callable[..., Any] | None = None,
    method: AnyMethod = "auto",
    tolerance: float | None = None,
    parameters: Mapping[str, SearchStrategy[Any]] | None = None,
    floats: Floats = "real",
    expected: Verdict = Verdict.PASS, name: str | None = None, budget: Budget = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE, confirmation: float | None = DEFAULT_CONFIRMATION, seed: int = 0,
    timeout: float | None = None, workers: int | None = None,
) -> PrivacyResult:  # fmt: skip
    """Test one privacy claim about one mechanism.

    Examples
    --------
    >>> import numpy as np
    >>> from audit import PrivacyClaim, check_privacy
    >>> def noisy_sum(data, size, rng):
    ...     return data.sum() + rng.laplace(size=size)
    >>> pairs = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]
    >>> check_privacy(noisy_sum, PrivacyClaim(1.5), pairs, budget=50_000).verdict
    <Verdict.PASS: 'PASS'>
    """
    return run_alone(
        PrivacyCheck(
            name=name or UNNAMED, mechanism=mechanism, claim=claim, pairs=pairs, datasets=datasets, method=method,
            tolerance=tolerance, parameters=parameters, floats=floats, expected=expected, timeout=timeout,
        ),
        budget=budget, significance=significance, confirmation=confirmation, seed=seed, workers=workers,
    )  # fmt: skip


def _find_method(method: Any) -> CoreMethod | Method:
    """Return a method by its name, or as it was given."""
    if method in get_args(CoreMethod) if isinstance(method, str) else isinstance(method, Method):
        known: CoreMethod | Method = method
        return known
    if isinstance(method, str) and (found := plugins.find_method(method)) is not None:
        made: Method = found()
        return made
    names = ", ".join([*get_args(CoreMethod), *plugins.list_keys("methods")])
    raise InvalidArgument.of("method", f"be one of {names}, or such an object", method)
