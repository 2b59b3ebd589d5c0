"""The privacy audit of one check: probe, train, compare with the stated law, certify; then judge."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit.arguments import integer, open_probability
from audit.checks import Method, PrivacyCheck
from audit.claims import PrivacyClaim
from audit.empirical.events import EventPair, Stakes
from audit.empirical.fixed import VIRTUAL, Split, choose_pair, draw_training, play
from audit.empirical.game import GameCounts
from audit.empirical.scorers.atoms import atom_keys
from audit.errors import InvalidArgument
from audit.evidence import Evidence, ExactEvidence, GameEvidence
from audit.judge import Judgement, judge
from audit.sampling import BadLength, Outputs, Stream, Subject, SubjectFailed
from audit.sampling.probe import probe_cost, probe_independence, probe_length
from audit.statement import examine_statement, states_a_law
from audit.verdict import Verdict

PROBE, FIT = 8, 9  # children of a check's stream, beside those of the fixed-budget audit

DEFAULT_BUDGET = 100_000
DEFAULT_SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Witness:
    """An event, a pair and a direction that break a claim.

    Parameters
    ----------
    pair : tuple of (left, right)
        The two datasets.
    direction : {"left", "right"}
        The side whose outputs the event catches more often than the claim allows.
    event : callable
        `outputs -> bool array`: the outputs on which the auditor guesses that side.
    text : str
        The event in words.
    counts : GameCounts
        What came of the certifying runs.
    """

    pair: tuple[Any, Any]
    direction: str
    event: Callable[[Any], np.ndarray]
    text: str
    counts: GameCounts


@dataclass(frozen=True)
class PrivacyResult:
    """The outcome of one privacy check; see `audit.judge.Judgement` for the numbers."""

    check: PrivacyCheck
    budget: int
    significance: float
    evidence: Evidence
    judgement: Judgement
    seconds: float
    witness: Witness | None = None

    @property
    def name(self) -> str:
        """Name of the check."""
        return self.check.name

    @property
    def verdict(self) -> Verdict:
        """PASS, FAIL or INCONCLUSIVE."""
        return self.judgement.verdict

    @property
    def reason(self) -> str:
        """Why, in one sentence."""
        return self.judgement.reason

    @property
    def epsilon_lower_bound(self) -> float:
        """Certified lower bound of epsilon at the claim's delta; 0.0 if none."""
        return self.judgement.epsilon_lower_bound

    @property
    def exact_epsilon(self) -> float | None:
        """Epsilon at the claim's delta by the stated laws (upper bound, worst pair), or None."""
        return self.judgement.exact_epsilon

    @property
    def resolution(self) -> float:
        """Smallest epsilon that would have been refuted with power 0.8."""
        return self.judgement.resolution

    @property
    def blind_spot(self) -> float:
        """Events rarer than this were not examined."""
        return self.judgement.blind_spot

    @property
    def samples(self) -> int:
        """Outputs drawn, both sides and all stages together."""
        return self.evidence.samples

    @property
    def met(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict is self.check.expected

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in a certificate."""
        from audit.record import record_of  # the record knows results, not the other way round

        return record_of(self)


@dataclass
class _Session:
    """What the stages of one audit share."""

    subject: Subject
    check: PrivacyCheck
    budget: int
    significance: float
    stream: Stream
    workers: int
    samples: int = 0

    def __post_init__(self) -> None:
        self.oddities: Counter[str] = Counter()

    def note(self, odd: Counter[str]) -> None:
        for kind, count in odd.items():
            shared = kind == "mutated its dataset" and self.subject.calls_share_a_copy
            self.oddities[kind + " between calls" if shared else kind] += count


def check_privacy(
    mechanism: Any,
    claim: PrivacyClaim,
    pairs: Sequence[tuple[Any, Any]],
    *,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    method: Method = "auto",
    tolerance: float | None = None,
    timeout: float | None = None,
    workers: int = 1,
    name: str | None = None,
) -> PrivacyResult:
    """Audit one privacy claim about one mechanism.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> array-like`, first axis of length `size`; see `audit.PrivacyCheck`.
    claim : PrivacyClaim
        What is promised.
    pairs : sequence of (left, right)
        Neighbouring datasets.
    budget : int >= 2
        Outputs a side, training and certifying together.
    significance : float in (0, 1)
        Probability of a wrong FAIL.
    seed : int >= 0
        The same seed gives the same evidence, for any number of workers.
    method : {"auto", "fixed", "exact"}
        See `audit.PrivacyCheck`.
    tolerance : float > 0, optional
        Of a statistical PASS; None means max(0.05, epsilon / 4).
    timeout : float > 0, optional
        Run in a process of its own and stop it after so many seconds: for subjects that may hang or die.
    workers : int >= 1
        Processes that share the blocks of the certifying stage.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets, a pair that is not neighbouring, and a mechanism that does
        not return as many outputs as it was asked for; before the budget is spent.
    """
    check = PrivacyCheck(
        name=name or name_of(mechanism),
        mechanism=mechanism,
        claim=claim,
        pairs=pairs,
        method=method,
        tolerance=tolerance,
        timeout=timeout,
    )
    budget = integer(budget, "budget", at_least=2)
    significance = open_probability(significance, "significance")
    seed = integer(seed, "seed", at_least=0)
    workers = integer(workers, "workers", at_least=1)
    if timeout is not None:
        from audit.isolation import run_isolated

        return run_isolated(check, budget, significance, Stream(seed), timeout)
    return run_check(check, budget, significance, Stream(seed), workers)


def name_of(mechanism: Any) -> str:
    """A short name for any callable."""
    inner = getattr(mechanism, "function", mechanism)
    return str(getattr(inner, "__name__", type(inner).__name__))


def run_check(check: PrivacyCheck, budget: int, significance: float, stream: Stream, workers: int = 1) -> PrivacyResult:
    """Run one check in this process; the check's own budget, when it has one, replaces `budget`."""
    started = time.perf_counter()
    subject = Subject(check.mechanism)
    session = _Session(subject, check, check.budget or budget, significance, stream, workers)
    witness = None
    try:
        evidence, events = _gather(session)
    except (SubjectFailed, BadLength) as failure:
        evidence, events = _ended(session, failure), None
    judgement = judge(check.claim, evidence, significance, check.tolerance)
    if judgement.verdict is Verdict.FAIL and evidence.game and events:
        witness = _witness(check, evidence.game, events)
    return PrivacyResult(
        check, session.budget, significance, evidence, judgement, time.perf_counter() - started, witness
    )


def _gather(session: _Session) -> tuple[Evidence, EventPair | None]:
    """All stages in their order; raises SubjectFailed or BadLength when the mechanism gives no outputs."""
    check = session.check
    if check.method == "exact" and not states_a_law(check.mechanism):
        raise InvalidArgument.of("method", "not be 'exact' for a mechanism without law or privacy_loss", "exact")
    probe_length(session.subject, check.pairs[0][0], session.stream.child(PROBE, 0))
    session.samples += 2
    split = Split.of(session.budget, len(check.pairs), session.samples + probe_cost(session.budget))
    drawn = _train(session, split)
    _probe(session)
    exact, failure = _examine(session, drawn)
    game, events = (None, None) if check.method == "exact" else _certify(session, split, drawn)
    evidence = Evidence(session.samples, exact, game, dict(sorted(session.oddities.items())), failure)
    return evidence, events


def _examine(session: _Session, drawn: list[tuple[Outputs, Outputs]]) -> tuple[tuple[ExactEvidence, ...], str | None]:
    """The stated laws against claim and sampler; a statement that cannot be evaluated bars a PASS."""
    check, stream = session.check, session.stream.child(FIT)
    if check.method == "fixed" or not states_a_law(check.mechanism):
        return (), None
    try:
        return examine_statement(check.mechanism, check.claim, check.pairs, drawn, session.significance, stream), None
    except Exception as error:  # the statement is the subject's code
        return (), f"the law that the mechanism states cannot be evaluated: {type(error).__name__}: {error}"


def _train(session: _Session, split: Split) -> list[tuple[Outputs, Outputs]]:
    """Draw training outputs; when a whole batch raises, start again with one output a call."""
    size = session.budget // len(session.check.pairs) if session.check.method == "exact" else split.training
    stream, pairs = session.stream, session.check.pairs
    try:
        drawn, odd = draw_training(session.subject, pairs, size, stream)
    except SubjectFailed as failure:
        if failure.kind != "raised":
            raise
        session.subject = replace(session.subject, one_by_one=True)
        drawn, odd = draw_training(session.subject, pairs, size, stream)
    session.samples += 2 * size * len(pairs)
    session.note(odd)
    if odd["raised"] == 2 * size * len(pairs) and _constant(drawn):
        symbols = drawn[0][0].symbols
        raise SubjectFailed("raised", f"{symbols.table[0] if symbols else 'raised'}, in every run")
    if _constant(drawn):
        session.oddities["constant"] += 1
    return drawn


def _constant(drawn: list[tuple[Outputs, Outputs]]) -> bool:
    keys = [atom_keys(side) for pair in drawn for side in pair]
    return all(bool(np.all(part == keys[0][0])) for part in keys)


def _probe(session: _Session) -> None:
    if probe_cost(session.budget) == 0:
        return
    found, drawn = probe_independence(session.subject, session.check.pairs[0][0], session.stream.child(PROBE, 1))
    session.samples += drawn
    session.oddities.update(found)


def _certify(
    session: _Session, split: Split, drawn: list[tuple[Outputs, Outputs]]
) -> tuple[GameEvidence | None, EventPair | None]:
    check, stream = session.check, session.stream
    runs = min(split.runs, 2 * session.budget - session.samples)
    if runs < 1:
        return None, None
    stakes = Stakes(check.claim.delta, session.significance, 2 * split.training, runs)
    choice = choose_pair(drawn, check.pairs, check.mechanism, stakes)
    if choice is None:
        return None, None
    index, events = choice
    counts, odd = play(session.subject, check.pairs[index], events, runs, stream, session.workers)
    session.samples += counts.runs
    session.note(odd)
    plus, minus = events.describe()
    game = GameEvidence(
        pair=index,
        scorer=events.score.name,
        complete=events.complete,
        plus=plus,
        minus=minus,
        one_sided=events.plus_is_empty or events.minus_is_empty,
        counts=counts,
        coins=(stream.entropy, *stream.child(VIRTUAL).key),
        training=split.training,
        promise=events.promise if np.isfinite(events.promise) else None,
    )
    return game, events


def _ended(session: _Session, failure: Exception) -> Evidence:
    return Evidence(
        session.samples, oddities=dict(sorted(session.oddities.items())), failure=f"the mechanism {failure}"
    )


def _witness(check: PrivacyCheck, game: GameEvidence, events: EventPair) -> Witness:
    counts = game.counts
    left_leads = counts.left_plus - counts.right_plus >= counts.right_minus - counts.left_minus
    sign = 1 if left_leads else -1

    def event(outputs: Any) -> np.ndarray:
        """Whether each output makes the auditor guess the witness's side."""
        from audit.sampling import encode

        return np.asarray(events.guess(encode(outputs, len(outputs))) == sign)

    text = game.plus if left_leads else game.minus
    return Witness(check.pairs[game.pair], "left" if left_leads else "right", event, text, counts)
