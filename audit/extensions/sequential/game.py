"""Look at a mechanism by sequential games: until the claim is refuted or resolved, or early where calls are slow.

A gross violation shows in a hundredth of the outputs that a PASS needs. The look costs a true claim a few outputs and
no power, since its error probability comes out of the confirmation and not out of the significance. With significance
s, confirmation c and e = `EARLY_SHARE`: the wealth against a true claim ever reaches 1 / level with probability at
most level (Ville's inequality), whenever one stops. So a game at the level e c / pairs on each pair refutes a true
claim with probability at most e c, and is final. Later looks suspect with probability at most s, as without the
look, and each of its `LOOKS` at fresh outputs has the level (1 - e) c / (s LOOKS). Together, by the union bound,

    P(FAIL) <= pairs (e c / pairs) + s LOOKS (1 - e) c / (s LOOKS) = c,

whatever the outputs of the look decide on, since the games that follow it draw outputs of their own.

A game has no event to show. One that tells a refuted pair apart is chosen on half of some further outputs, and counted
on the other half; no verdict rests on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from audit import SubjectFailed
from audit.api import (
    Case,
    EventPair,
    Finding,
    GameLimits,
    Outputs,
    PrivacyEvidence,
    Session,
    Stream,
    TestDesign,
    Way,
    bounds,
    choose_events,
    claims,
    collect_evidence,
    concatenate,
    errors,
    look_elsewhere,
    sandbox,
    scorers,
    validate,
)
from audit.extensions.sequential.experts import Learner, Score
from audit.extensions.sequential.wealth import SequentialOutcome, Wealth, epsilon_grid, time_uniform_lower_bound

PROBED, PROBED_SHARE = 16, 640  # most outputs of a call of the probe; one for this many of the budget
STEPS_PROBED = 128  # one output of each of its calls for this many steps, at which the calls of the game are as large
_LARGEST_DELTA = 1e-4  # beyond, simulated violations were missed more often than the resolution says

LEARNING_COST = 25.0  # log wealth that learning where to bet may cost: see benchmarks/sequential_resolution.py
MOST_STEPS_PLANNED = 10**9  # far beyond what any time limit allows
_FIRST = 256  # calls on a dataset that are kept, to see whether a value varies


# Tuned by `benchmarks.sequential`, `benchmarks.overhead`
BATCH_SHARE = 0.015  # a batch is at most this share of the steps before it
LARGE_PENALTY = 1.0  # total log penalty for delta from which a part of the wealth guesses one side only


@dataclass(frozen=True)
class SequentialGame(Way):
    """Hold a sequential game on one pair."""

    pair: int
    general: bool  # whether the experts see every difference between two laws of outputs of this kind
    outcome: SequentialOutcome

    way: ClassVar[str] = "sequential game"
    spends: ClassVar[str] = "sequential game"

    @property
    def sample_size(self) -> int:
        """Two outputs in each step."""
        return 2 * self.outcome.steps

    def finding(self, case: Case) -> Finding:
        """Return FAIL where the wealth against the claim ever reached the inverse of the significance."""
        outcome, steps = self.outcome, self.outcome.steps
        if case.evidence.is_dependent:
            return Finding(resolution=self._resolution(case, case.point), trained_on=steps)
        refutation, lower = None, time_uniform_lower_bound(outcome, case.significance)
        if outcome.log_wealth >= math.log(1 / case.significance):
            refutation = case.refute(lower, f"a sequential game refuted it after {steps} pairs of outputs")
        resolution = self._resolution(case, case.point)
        return Finding(refutation, lower_bound=lower, resolution=resolution, trained_on=steps)

    def limits(self, case: Case) -> GameLimits:
        """Return the resolution of the game; it plays one point of a curve, and resolves none at a large delta."""
        claim, unresolvable = case.terms.claim, ""
        if claim.is_curve:
            said = f"not refuted at {case.point}, one point of the curve of {claim.short}"
            unresolvable = f"{said}; the others were not tested"
        elif case.point.delta > _LARGEST_DELTA:
            known = f"no resolution of the sequential game is known at delta = {case.point.delta:g}"
            unresolvable = f"not refuted, but {known}"
        return GameLimits(
            tuple((point, self._resolution(case, point)) for point in claim.resolved_points),
            trained_on=self.outcome.steps,  # it learns from all of them
            is_general=self.general,
            unresolvable=unresolvable,
            scope=(
                "numbers were read as real ones",
                "events were learned while it was played, and no violations planted",
            ),
        )

    def _resolution(self, case: Case, point: claims.Point) -> float:
        """Return the smallest epsilon beyond the point that the game would have refuted."""
        return find_resolution(point.epsilon, point.delta, self.outcome.steps, case.significance)


def find_resolution(claimed_epsilon: float, delta: float, steps: int, significance: float) -> float:
    """Return the resolution of a sequential game: to learn its bets costs e^LEARNING_COST in evidence."""
    return bounds.game_resolution(claimed_epsilon, delta, 2 * steps, significance * math.exp(-LEARNING_COST))


def steps_to_resolve(terms: Any, significance: float) -> int | None:
    """Return the fewest steps, up to a factor of 1.1, that resolve a claim at its point; None if none do."""
    (epsilon, delta), target, steps = terms.claim.point, terms.allowed_epsilon(terms.claim.point), 1_000
    while steps < MOST_STEPS_PLANNED:
        if find_resolution(epsilon, delta, steps, significance) <= target:
            return steps
        steps = int(1.1 * steps)
    return None


def play_to_the_end(session: Session) -> PrivacyEvidence:
    """Play the sequential game on the check's pair, then probe for dependence between runs.

    The time may be over before the probe, which bars a PASS.
    """
    session.open()
    allowance, point = session.allowance, session.terms.claim.point
    enough, stream = steps_to_resolve(session.terms, allowance.significance), allowance.stream.child(Stream.SEQUENTIAL)
    outcome, source = play_on(session, 0, stream, allowance.significance, allowance.budget - 1, enough)
    if source.is_constant:
        session.anomalies["constant"] += 1
    if outcome.stopped == "refuted":
        ask_new_processes(session, source)
    failure = None
    try:
        if allowance.confirmation is None or outcome.stopped != "refuted":  # else the game that confirms it is followed
            probe_afterwards(session, 0, outcome.steps)
    except sandbox.TimedOut:
        failure = allowance.out_of_time("the mechanism")
    is_refuted = outcome.stopped == "refuted" and allowance.confirmation is not None
    shown = list_examples(session, 0, outcome.steps) if is_refuted else []
    return collect_evidence(session, [SequentialGame(0, source.is_numeric, outcome), *shown], point, failure)


def play_sequentially(
    draw: Callable[[int, int], Outputs],
    epsilon: float,
    delta: float,
    significance: float,
    most_steps: int,
    resolution_steps: int | None = None,
    score: Score | None = None,
) -> SequentialOutcome:
    """Play until the claim is refuted, enough steps do not refute it, or the budget is spent.

    `log_wealth` reaches ln(1 / significance) with probability at most `significance` if the pair is
    (epsilon, delta)-indistinguishable, over the randomness of the draws, whenever one stops.

    `draw` maps (side, size) to that many fresh outputs; side 0 is left, 1 is right. `most_steps` is the budget per
    dataset, `resolution_steps` the steps without refutation after which to stop. `score` states the log-likelihood
    ratio, left over right, of a batch of outputs.
    """
    grid = epsilon_grid(epsilon)
    wealth = Wealth(grid, delta, one_sided=2 * delta * most_steps > LARGE_PENALTY)
    claim, needed = int(np.searchsorted(grid, epsilon)), -math.log(significance)
    last = most_steps if resolution_steps is None else min(most_steps, resolution_steps)
    learner: Learner | None = None
    steps = 0
    while steps < last and wealth.highest[claim] < needed:
        size = min(last - steps, max(1, int(BATCH_SHARE * steps)))
        try:
            left, right = draw(0, size), draw(1, size)
        except sandbox.TimedOut:  # the wealth may be looked at whenever one stops
            if not steps:
                raise
            break
        learner = learner or Learner(left, score)
        wealth.bet(*learner.predict_and_learn(left, right))
        steps += size
    stopped = "budget" if resolution_steps is None or steps < resolution_steps else "resolved"
    if wealth.highest[claim] >= needed:
        stopped = "refuted"
    return SequentialOutcome(
        steps,
        stopped,
        float(wealth.highest[claim]),
        tuple(map(float, grid)),
        tuple(map(float, wealth.highest)),
        learner.describe() if learner else "none",
    )


def play_on(
    session: Session, pair: int, stream: Stream, level: float, most: int, enough: int | None = None
) -> tuple[SequentialOutcome, _Source]:
    """Play on one pair, with calls whose seeds come from a stream; return the outcome, and the outputs."""
    (epsilon, delta), source = session.terms.claim.point, _Source(session, pair, stream)
    stated = scorers.stated_log_likelihood(session.subject.mechanism)
    score = None if stated is None else scorers.LikelihoodRatio(stated, session.pairs[pair])
    outcome = play_sequentially(source.draw, epsilon, delta, level, most, enough, score)
    session.samples += 2 * outcome.steps
    return outcome, source


def ask_new_processes(session: Session, source: _Source) -> None:
    """Look in new processes where a value never varied among the first outputs on both datasets."""
    if all(source.first):
        session.asked = look_elsewhere(session, source.pair, [concatenate(outputs) for outputs in source.first])


def probe_afterwards(session: Session, pair: int, steps: int) -> None:
    """Draw calls of a pair for the probe, in proportion to the steps and where the budget can spare them."""
    size = min(PROBED, session.allowance.budget // PROBED_SHARE, max(2, steps // STEPS_PROBED))
    if size >= 1:
        session.probe_pair(pair, size)


class _Source:
    """Draw outputs for the sequential game, each call from a seed of its own, and remember what kind they were."""

    def __init__(self, session: Session, pair: int, stream: Stream) -> None:
        self._session, self._calls, self.pair = session, [0, 0], pair
        self.first: tuple[list[Outputs], list[Outputs]] = [], []  # calls on each dataset
        self._datasets, self._stream = session.pairs[pair], stream
        self._first_key: np.uint64 | None = None
        self.is_constant = self.is_numeric = True

    def draw(self, side: int, size: int) -> Outputs:
        session = self._session
        seed = self._stream.child(side, self._calls[side]).seed()
        self._calls[side] += 1
        outputs, found = session.subject.draw(self._datasets[side], size, seed)
        session.note(found)
        keys = outputs.keys()
        self._first_key = keys[0] if self._first_key is None else self._first_key
        self.is_constant = self.is_constant and bool(np.all(keys == self._first_key))
        if len(self.first[side]) < _FIRST:
            self.first[side].append(outputs)
        self.is_numeric = self.is_numeric and outputs.is_scalar and outputs.symbols is None
        return outputs


_MOST = 1_000  # further outputs on each dataset
_SLOW = 0.005  # seconds for an output, above which there are fewer
_FEWEST, _PER_STEP = 60, 4
_CALLS = 5  # for each half
_MANY = 400  # runs that the event is chosen for, however few there are


@dataclass(frozen=True)
class Example(Way):
    """Hold an event that tells a refuted pair apart, and how often it came on either dataset."""

    pair: int
    plus: str  # the event that is likelier on the left dataset, in words
    minus: str
    counts: bounds.GameCounts
    outputs: validate.Number  # on each dataset: half of them chose the events, half are counted
    events: EventPair | None = field(default=None, compare=False, repr=False, metadata={"recorded": False})

    way: ClassVar[str] = "example"
    is_witness: ClassVar[bool] = True


def list_examples(session: Session, pair: int, steps: int) -> list[Way]:
    """Draw some outputs more, and return an event that tells them apart; none where there is no time for them."""
    found = _find_example(session, pair, steps)
    return [] if found is None else [found]


def _find_example(session: Session, pair: int, steps: int) -> Example | None:
    most = max(_FEWEST, _PER_STEP * steps) if session.pace > _SLOW else _MOST
    size = int(min(_MOST, most, session.affordable() / 2)) // (2 * _CALLS)
    if not size:
        return None
    try:
        calls = session.draw_pair(pair, 2 * _CALLS, size, session.allowance.stream.child(Stream.SEQUENTIAL, pair))
    except (SubjectFailed, errors.BadLength, sandbox.TimedOut):
        return None
    first, last = ([concatenate(side[part]) for side in calls] for part in (slice(_CALLS), slice(_CALLS, None)))
    epsilon, delta = session.terms.claim.point
    design = TestDesign(epsilon, delta, _MANY / 2, _MANY, session.allowance.significance)
    training = scorers.Training(first[0], first[1], session.subject.mechanism, session.pairs[pair])
    events = choose_events(training, [design], session.scorers)[0]
    if events is None:
        return None
    guesses = [events.guess(outputs) for outputs in last]
    counts = bounds.GameCounts(*(int(np.sum(guess == sign)) for guess in guesses for sign in (1, -1, 0)))
    if not counts.correct + counts.wrong:
        return None
    return Example(pair, *events.describe(), counts, 2 * _CALLS * size, events)


EARLY_SHARE = 0.5  # of the confirmation
_MOST_STEPS, _OF_BUDGET = 6_000, 8  # pairs of outputs over all pairs of datasets; at most the budget over this
_FEWEST_STEPS = 200  # on each pair of datasets
_FEWEST_IN_ALL = 30  # with fewer, nothing is refuted at such a level, whatever they show
_OF_TIME, _MANY_STEPS = 0.9, 100  # of the time that is left, where the game that follows cannot resolve the claim


@dataclass(frozen=True)
class EarlyLook(Way):
    """Hold the sequential game that came before a guess game, of those on all pairs the one with the most wealth."""

    pair: int
    level: validate.OpenProbability  # at which it refutes the claim, once and for all
    outcome: SequentialOutcome

    way: ClassVar[str] = "early look"
    spends: ClassVar[str] = "early look"
    spent: ClassVar[float] = EARLY_SHARE

    @property
    def is_final(self) -> bool:
        """True if the wealth against the claim ever reached the inverse of the level."""
        return self.outcome.log_wealth >= -math.log(self.level)

    def finding(self, case: Case) -> Finding:
        """Return FAIL where the wealth ever reached the inverse of the level, with the bound of epsilon at that."""
        if case.evidence.is_dependent or not self.is_final:
            return Finding()
        lower = time_uniform_lower_bound(self.outcome, self.level)
        found = f"an early look refuted it after {self.outcome.steps} pairs of outputs"
        return Finding(case.refute(lower, found), lower_bound=lower)


def look_early(session: Session) -> tuple[list[Way], Session] | None:
    """Return the look, with an example of a refuted event, and its observations.

    None where fresh outputs would not confirm a refutation.
    """
    allowance, pairs = session.allowance, len(session.pairs)
    steps, fewest = min(_MOST_STEPS, allowance.budget // _OF_BUDGET) // pairs, _FEWEST_STEPS
    if session.is_short:  # the game that follows cannot resolve the claim
        left = sandbox.clock().left / session.cost / 2
        steps, fewest = int(min(_MOST_STEPS, _OF_TIME * left, max(_MANY_STEPS, left / 5))) // pairs, _FEWEST_IN_ALL
    if allowance.confirmation is None or steps < fewest:
        return None
    level, best = EARLY_SHARE * allowance.confirmation / pairs, None
    own = replace(session, samples=0, anomalies=Counter())
    try:
        for pair in range(pairs):
            stream = allowance.stream.child(Stream.EARLY, pair)
            outcome, source = play_on(own, pair, stream, level, steps)
            best = max(best, EarlyLook(pair, level, outcome), key=_wealth) if best else EarlyLook(pair, level, outcome)
            if best.is_final:
                ask_new_processes(own, source)
                probe_afterwards(own, pair, outcome.steps)
                break
    except (SubjectFailed, errors.BadLength):  # it will fail again in training, where it is recorded
        return None
    if best is None:
        return None
    return [best, *(list_examples(own, best.pair, best.outcome.steps) if best.is_final else [])], own


def _wealth(look: EarlyLook) -> float:
    return look.outcome.log_wealth
