"""Check a privacy claim about one mechanism: the check, its result, and the function `check_privacy`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np

from audit.base.arguments import positive
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.base.errors import InvalidArgument
from audit.base.verdict import Verdict
from audit.checks.base import Allowance, Check, Evidence, Result, checked
from audit.checks.plain import from_plain, to_plain
from audit.checks.privacy.gather import SEARCH, Session, gather_at_fixed_budget, gather_sequentially
from audit.checks.privacy.judge import PrivacyEvidence, PrivacyTerms, judge
from audit.claims import Claim, Point, claim_of, claim_record, require_claim, require_neighboring
from audit.game.guesses import GameCounts, game_delta_lower_bound
from audit.game.scorers import SCORERS, Scorer
from audit.subjects import BadLength, Subject, SubjectFailed, encode
from audit.subjects.subject import Shown, code_of, show

if TYPE_CHECKING:  # what searches no pair does without Hypothesis, which takes long to import
    from hypothesis.strategies import SearchStrategy

Method = Literal["auto", "fixed", "sequential", "exact"]
_WITNESS_LENGTH = 4000  # a certificate keeps a witness as code that can be pasted up to this many characters


@dataclass(frozen=True)
class Witness:
    """Hold an event, a pair and a direction that break a claim."""

    pair: tuple[Any, Any]
    direction: str  # "left" or "right": the dataset whose outputs the event catches more often than the claim allows
    # outputs -> bool array: those on which the auditor guesses that dataset; None when the event is another process's
    event: Callable[[Any], np.ndarray] | None
    text: str  # the event in words
    counts: GameCounts  # of the certifying runs


@dataclass(frozen=True, repr=False)
class PrivacyResult(Result):
    """The outcome of one privacy or precision check.

    `str(result)` is the text that a failing pytest test prints. `repr(result)` is one line. A notebook shows the check
    as its certificate does.

    Parameters
    ----------
    check : PrivacyCheck
        The check; where it searched for its pair, with the pair that it found.
    budget : int
        Outputs per dataset of a pair that it was allowed to draw, training and certifying together.
    significance : float
        Probability that a true claim is judged FAIL.
    evidence, judgment
        What was observed, and what follows from it; the properties say both.
    seconds : float
        Duration.

    Examples
    --------
    >>> import numpy as np
    >>> import audit
    >>> pairs = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]
    >>> result = audit.check_privacy(lambda data, size, rng: data.sum() + rng.laplace(size=size),
    ...                              audit.PrivacyClaim(0.5), pairs, budget=10_000, name="noisy sum")
    >>> result.verdict, round(result.epsilon_lower_bound, 1), result.samples <= 20_000
    (<Verdict.FAIL: 'FAIL'>, 1.0, True)
    >>> result.witness.direction, result.witness.text.split()[:2]
    ('right', ['output', '>='])
    >>> result  # doctest: +ELLIPSIS
    <PrivacyResult noisy sum: FAIL, ... guesses were right: epsilon >= ...>
    """

    @property
    def epsilon_lower_bound(self) -> float:
        """Certified lower bound of epsilon at the tested delta, which is the claim's if it has one; 0.0 if none."""
        return float(self.judgment.epsilon_lower_bound)

    @property
    def delta_lower_bound(self) -> float:
        """Certified lower bound of delta at the tested epsilon, by the game at a fixed budget; 0.0 if none.

        Exceeds the true delta with probability at most `significance`, the same that serves `epsilon_lower_bound`.
        """
        game = self.evidence.game
        if game is None or self.evidence.is_dependent:
            return 0.0
        counts, at, level = game.counts, self.tested, self.significance
        totals = counts.correct, counts.correct + counts.wrong, counts.abstained
        inflation = game.inflation(at.delta, level)
        return game_delta_lower_bound(*totals, at.epsilon, level, game.coin_seed(), game.one_sided, inflation)

    @property
    def exact_epsilon(self) -> float | None:
        """Epsilon at the tested delta by the stated laws (upper bound, worst pair), or None."""
        return self.judgment.exact_epsilon

    @property
    def resolution(self) -> float:
        """Smallest epsilon that would have been refuted with power 0.8."""
        return float(self.judgment.resolution)

    @property
    def blind_spot(self) -> float:
        """Events rarer than this were not examined."""
        return float(self.judgment.blind_spot)

    @property
    def tested(self) -> Point:
        """The (epsilon, delta) that was tested: the claim's own, or a point of the curve that it implies."""
        return self.evidence.tested or self.check.claim.point

    @property
    def witness(self) -> Witness | None:
        """Event, pair and direction that break the claim, where a guess game refuted it."""
        game, events = self.evidence.game, self.evidence.events
        if self.verdict is not Verdict.FAIL or game is None:
            return None
        counts = game.counts
        left_leads = counts.left_plus - counts.right_plus >= counts.right_minus - counts.left_minus
        sign = 1 if left_leads else -1

        def event(outputs: Any) -> np.ndarray:
            """Return whether each output makes the auditor guess the witness's side."""
            return np.asarray(events is not None and events.guess(encode(outputs, len(outputs))) == sign)

        direction, text = ("left", game.plus) if left_leads else ("right", game.minus)
        return Witness(self.check.pairs[game.pair], direction, None if events is None else event, text, counts)

    def recorded_inputs(self) -> dict[str, Any]:
        """Return pairs and witness as plain data."""
        plain = None
        if (witness := self.witness) is not None:
            left, right = (show(side, _WITNESS_LENGTH) for side in witness.pair)
            pair, direction = self.evidence.game.pair, witness.direction
            plain = {"pair": pair, "left": left, "right": right, "direction": direction, "event": witness.text}
        pairs = [{"left": show(left), "right": show(right)} for left, right in self.check.pairs]
        return {"pairs": pairs, "witness": plain}

    def details(self) -> Iterator[str]:
        """Yield the witness."""
        if (witness := self.witness) is not None:
            left, right = witness.pair
            yield f"left  = {code_of(left)}"
            yield f"right = {code_of(right)}"
            yield f"event: {witness.text}, likelier on {witness.direction}"


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
    claim : PrivacyClaim, GaussianClaim, TradeOffClaim, RenyiClaim or ZeroConcentratedClaim
        What is claimed. All but the first imply a whole curve of (epsilon, delta): the stated law is judged on all
        of it, the guess game tests the point of it with the largest estimated excess on training outputs.
    pairs : sequence of (left, right)
        Neighboring datasets; every pair is examined, the one with the largest estimated bound is certified.
    datasets : hypothesis SearchStrategy, optional
        In place of `pairs`: datasets (records under Local) among whose neighbors the worst pair is searched,
        shrunk, and certified on fresh outputs. The search draws beyond the budget; the result counts it.
    expected : Verdict
        PASS for a mechanism that should keep its claim; FAIL for a fault that the audit must convict, or for
        a claim known to be false. A run counts an expected FAIL as met.
    budget : int >= 2, optional
        Outputs per dataset of a pair, training and certifying together; None takes the run's budget.
    method : {"auto", "fixed", "sequential", "exact"}
        "exact" judges the stated law and tests the sampler against it; "fixed" plays the guess game at a fixed
        budget; "sequential" plays it on one pair until the claim is refuted or the tolerance is reached; "auto"
        does the first two where a law is stated.
    tolerance : float > 0, optional
        A statistical PASS needs a resolution within claim + tolerance; None means max(0.05, epsilon / 4). Where the
        claim implies a curve, every point of `claim.points` must be resolved so.
    timeout : float > 0, optional
        Seconds after which the check is stopped and is INCONCLUSIVE; None takes the run's limit.

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
    claim: Claim
    pairs: Sequence[tuple[Any, Any]] = ()
    datasets: SearchStrategy[Any] | None = None
    method: Method = "auto"
    tolerance: float | None = None

    kind: ClassVar[str] = "privacy"
    evidence_type: ClassVar[type[Evidence]] = PrivacyEvidence
    result_type: ClassVar[type[Result]] = PrivacyResult

    def _validate(self) -> None:
        if not callable(self.mechanism):
            raise InvalidArgument.of("mechanism", "be callable as (dataset, size, rng)", self.mechanism)
        require_claim(self.claim)
        if self.method not in get_args(Method):
            raise InvalidArgument.of("method", f"be one of {', '.join(get_args(Method))}", self.method)
        if self.tolerance is not None:
            object.__setattr__(self, "tolerance", positive(self.tolerance, "tolerance"))
        if self.datasets is None:
            object.__setattr__(self, "pairs", _checked_pairs(self.pairs, self.claim))
        else:
            from hypothesis.strategies import SearchStrategy

            if not isinstance(self.datasets, SearchStrategy):
                raise InvalidArgument.of("datasets", "be a Hypothesis strategy", self.datasets)
            if self.pairs:
                raise InvalidArgument("`pairs` must be left out when `datasets` are searched")

    @property
    def subject(self) -> Any:
        """The mechanism."""
        return self.mechanism

    @property
    def stated(self) -> str:
        """The claim in words."""
        return str(self.claim)

    @property
    def scorers(self) -> Sequence[Scorer]:
        """The scorers that compete for the events."""
        return SCORERS

    def gather(self, allowance: Allowance) -> PrivacyEvidence:
        """Search for a pair where asked, then probe, train, compare with the stated law, certify."""
        if self.datasets is not None:
            from audit.checks.privacy.pair_search import PairSearch

            apart = replace(allowance, stream=allowance.stream.child(SEARCH))
            search = PairSearch(self.mechanism, self.claim, self.datasets, apart)
            pair = search.find()
            evidence = replace(self, pairs=[pair], datasets=None).gather(allowance)
            return replace(evidence, samples=evidence.samples + search.samples, found_pair=pair)
        session = self.session(allowance)
        try:
            session.open()
            return gather_sequentially(session) if self.method == "sequential" else gather_at_fixed_budget(session)
        except (SubjectFailed, BadLength) as failure:
            return PrivacyEvidence(session.samples, anomalies=session.noted(), failure=f"the mechanism {failure}")

    def session(self, allowance: Allowance) -> Session:
        """Return what the stages of gathering share, at their beginning."""
        return Session(Subject(self.mechanism), self.terms(), self.pairs, self.method, allowance, self.scorers)

    def nothing(self, failure: str, cause: str = "error") -> PrivacyEvidence:
        """Return the evidence of a check that observed nothing."""
        return PrivacyEvidence(0, anomalies={cause: 1}, failure=failure)

    def sent(self, evidence: PrivacyEvidence) -> dict[str, Any]:
        """Return evidence as plain data, with the pair that was found as text."""
        found = evidence.found_pair
        texts = None if found is None else [[show(side), show(side, _WITNESS_LENGTH), code_of(side)] for side in found]
        return {**to_plain(evidence), "found_pair": texts}

    def received(self, data: Any) -> PrivacyEvidence:
        """Return the evidence that `sent` made plain; the events stay where they were chosen."""
        parts = dict(data)
        texts = parts.pop("found_pair")
        evidence = from_plain(PrivacyEvidence, parts)
        if texts is None:
            return evidence
        left, right = (Shown(*map(str, side)) for side in texts)
        return replace(evidence, found_pair=(left, right))

    def completed(self, evidence: PrivacyEvidence) -> Self:
        """Return the check with the pair that its search found."""
        if evidence.found_pair is None:
            return self
        found = copy.copy(self)  # the search has looked at the relation
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
        return claim_record(self.claim)

    def recorded_settings(self) -> dict[str, Any]:
        """Return method and tolerance."""
        return {"method": self.method, "tolerance": self.tolerance}


def _checked_pairs(pairs: Any, claim: Claim) -> tuple[tuple[Any, Any], ...]:
    try:
        listed = tuple((left, right) for left, right in pairs)
    except (TypeError, ValueError):
        raise InvalidArgument.of("pairs", "be a sequence of (left, right)", pairs) from None
    if not listed:
        raise InvalidArgument("`pairs` must hold at least one pair, got none")
    for index, (left, right) in enumerate(listed):
        require_neighboring(claim.relation, left, right, f"pairs[{index}]")
    return listed


def check_privacy(
    mechanism: Any,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]] = (),
    *,
    datasets: SearchStrategy[Any] | None = None,
    method: Method = "auto",
    tolerance: float | None = None,
    expected: Verdict = Verdict.PASS,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
    workers: int | None = None,
) -> PrivacyResult:
    """Test one privacy claim about one mechanism.

    Parameters
    ----------
    mechanism, claim, pairs, datasets, method, tolerance
        See `audit.PrivacyCheck`.
    expected : Verdict
        What `result.met` compares the verdict with.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.
    budget : int >= 2
        Outputs per dataset of a pair, training and certifying together.
    significance : float in (0, 1)
        Probability of a wrong FAIL.
    seed : int >= 0
        The same seed gives the same evidence, for any number of workers.
    timeout : float > 0, optional
        Run in a process of its own and stop it after this many seconds: for mechanisms that may hang or die.
    workers : int >= 0, optional
        Processes of this machine that share the certifying outputs if drawing takes long: by default one for each
        available core. 0 means this process.

    Returns
    -------
    PrivacyResult

    Raises
    ------
    AuditError
        For arguments outside their admissible sets, a pair that is not neighboring, and a mechanism that does
        not return as many outputs as it was asked for; before the budget is spent.

    References
    ----------
    See `audit.PrivacyCheck`.

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
    return checked(PrivacyCheck, locals())
