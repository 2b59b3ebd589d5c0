"""Gather the evidence of a privacy check at a fixed budget: probe, train, choose, compare with the stated law, certify.

What the certifying runs test (a pair, its events, a point of the claim) is chosen on training outputs. An
(epsilon, delta) claim has one point. A claim that implies a whole curve of them is refuted at any one, so the point
with the largest excess in standard errors is taken.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from audit.base.errors import InvalidArgument
from audit.checks.base import Allowance
from audit.checks.privacy.evidence import ExactEvidence, GameEvidence, PrivacyEvidence
from audit.checks.privacy.stated_law import compare_with_law, trace_curve
from audit.claims import Claim, Point
from audit.game.events import EventPair, choose_events_for_each
from audit.game.fixed_budget import MORE, VIRTUAL, Split, choose_pair, draw_training, play
from audit.game.scorers import SCORERS, Scorer, Training
from audit.game.scorers.atoms import atom_keys
from audit.game.thresholds import TestDesign
from audit.subjects import Outputs, Stream, Subject, SubjectFailed, concatenate
from audit.subjects.subject import probe_cost, probe_independence, probe_length

PROBE, FIT, SEARCH, SEQUENTIAL = 8, 9, 10, 11  # children of a check's stream, beside those of the fixed-budget game
Drawn = Sequence[tuple[Outputs, Outputs]]


@dataclass
class Session:
    """What the stages of one privacy check share."""

    subject: Subject
    claim: Claim
    pairs: Sequence[tuple[Any, Any]]
    method: str
    tolerance: float | None
    allowance: Allowance
    scorers: Sequence[Scorer] = SCORERS
    samples: int = 0
    width: int = 1
    anomalies: Counter[str] = field(default_factory=Counter)

    @property
    def mechanism(self) -> Any:
        """The code under audit."""
        return self.subject.mechanism

    @property
    def budget(self) -> int:
        """Outputs per dataset."""
        return self.allowance.budget

    @property
    def stream(self) -> Stream:
        """Source of all seeds."""
        return self.allowance.stream

    def note(self, odd: Counter[str]) -> None:
        """Add what was odd about some outputs."""
        for kind, count in odd.items():
            shared = kind == "mutated its dataset" and self.subject.calls_share_a_copy
            self.anomalies[kind + " between calls" if shared else kind] += count

    def noted(self) -> dict[str, int]:
        """Return all that was odd, with counts."""
        return dict(sorted(self.anomalies.items()))

    def open(self) -> None:
        """Refuse what cannot be examined, before the budget is spent.

        Raises
        ------
        InvalidArgument
            For a budget that does not reach for every pair, or an exact audit without a stated law.
        WrongLength
            If a first small call does not return as many outputs as it was asked for.
        """
        if self.budget < 2 * len(self.pairs):
            raise InvalidArgument.of("budget", f"be at least 2 for each of {len(self.pairs)} pairs", self.budget)
        if self.method == "exact" and not states_a_law(self.mechanism):
            raise InvalidArgument.of("method", "not be 'exact' for a mechanism without law or privacy_loss", "exact")
        self.width = probe_length(self.subject, self.pairs[0][0], self.stream.child(PROBE, 0))
        self.samples += 2

    def probe(self) -> None:
        """Look for dependence between runs, where the budget can spare the outputs."""
        if probe_cost(self.budget) == 0:
            return
        found, drawn = probe_independence(self.subject, self.pairs[0][0], self.stream.child(PROBE, 1))
        self.samples += drawn
        self.anomalies.update(found)


@dataclass(frozen=True)
class Choice:
    """What the certifying runs test.

    Parameters
    ----------
    pair : int
        Index of the pair.
    events : EventPair
        The guesses.
    point : Point
        The (epsilon, delta) to refute.
    runs : int
        Certifying runs, both sides together.
    excess : float
        By how many standard errors of one run the training outputs exceed the point; an estimate.
    """

    pair: int
    events: EventPair
    point: Point
    runs: int
    excess: float = math.nan


class Trained(NamedTuple):
    """What training leaves for the certifying runs; no choice when there is nothing to test."""

    drawn: Drawn
    split: Split
    choice: Choice | None


def gather_at_fixed_budget(session: Session) -> PrivacyEvidence:
    """Probe, train, compare with the stated law, certify.

    Raises
    ------
    SubjectFailed, BadLength
        If the mechanism gives no outputs.
    """
    drawn, split, choice = train(session)
    point = session.claim.point if choice is None else choice.point
    exact, failure = _compare(session, drawn, point)
    game = None if choice is None else _certify(session, split, choice)
    return PrivacyEvidence(
        session.samples,
        exact,
        game,
        session.noted(),
        tested=point if session.claim.is_curve else None,
        curve=trace_curve(session.mechanism, point, session.pairs, exact) if exact else None,
        events=None if choice is None else choice.events,
        failure=failure,
    )


def train(session: Session) -> Trained:
    """Draw training outputs, probe, and choose; again with more outputs as long as chance decided on the choice.

    Raises
    ------
    SubjectFailed, BadLength
        If the mechanism gives no outputs.
    """
    spent = session.samples + probe_cost(session.budget)
    split = Split.of(session.budget, len(session.pairs), spent, session.width)
    drawn = _draw(session, split)
    session.probe()
    choice = None if session.method == "exact" else _choose(session, drawn, split)
    stage = MORE
    while choice is not None and choice.events.needs_more > 1 and split.more:
        before, split = split, split.with_more(choice.events.needs_more)
        drawn, stage = _draw_more(session, split.training - before.training, drawn, stage), stage + 1
        choice = _choose(session, drawn, split)
    return Trained(drawn, split, choice)


def _choose(session: Session, drawn: Drawn, split: Split) -> Choice | None:
    """Choose pair, events and point; None when there is nothing left to draw or no scorer reads the outputs."""
    claim, runs = session.claim, min(split.runs, 2 * session.budget - session.samples)
    if runs < 1:
        return None
    if not claim.is_curve:
        design = _design(session, split, runs, claim.point)
        found = choose_pair(drawn, session.pairs, session.mechanism, design, session.scorers)
        return None if found is None else Choice(*found, claim.point, runs)
    choices = list(_candidates(session, drawn, split, runs))
    best = max(choices, key=lambda choice: choice.excess, default=None)
    if best is not None and best.excess > 0:
        return best
    usual = [choice for choice in choices if choice.point == claim.point]
    return max(usual, key=lambda choice: choice.events.estimated_bound, default=None)


def _design(session: Session, split: Split, runs: int, point: Point) -> TestDesign:
    alone = len(session.pairs) == 1 and not session.claim.is_curve  # else another candidate may be the best
    more = alone and bool(split.more)
    return TestDesign(point.delta, session.allowance.significance, 2 * split.training, runs, point.epsilon, more)


def _candidates(session: Session, drawn: Drawn, split: Split, runs: int) -> Iterator[Choice]:
    """Yield, for every pair, with scores fitted once, the best events at every point of the claim."""
    points = session.claim.points
    for index, ((left, right), pair) in enumerate(zip(drawn, session.pairs, strict=True)):
        training = Training(left, right, session.mechanism, pair)
        designs = [_design(session, split, runs, point) for point in points]
        chosen = choose_events_for_each(training, designs, session.scorers)
        for point, at, events in zip(points, designs, chosen, strict=True):
            if events is not None:
                yield Choice(index, events, point, runs, _excess(events, point, at, (left, right)))


def _excess(events: EventPair, point: Point, design: TestDesign, outputs: tuple[Outputs, Outputs]) -> float:
    """Return the standard errors of one run by which C - e^epsilon W - delta exceeds 0 at the point.

    The estimated bound t solves C - t W - delta = kappa sqrt(V(t)) and has paid for training noise: it stands for C,
    which the outputs that trained the events may flatter. W only sets the scale.
    """
    if not math.isfinite(events.estimated_bound):
        return -math.inf
    kappa = design.standard_errors(penalty=1.0)
    guesses = [events.guess(side) for side in outputs]
    wrong = (np.mean(guesses[0] == -1) + np.mean(guesses[1] == 1)) / 2 + kappa**2 / 2
    right = (np.mean(guesses[0] == 1) + np.mean(guesses[1] == -1)) / 2
    share = events.delta_share(point.delta)

    def deviation(ratio: float) -> float:
        return math.sqrt(right + ratio**2 * wrong + ratio * share)

    estimated, claimed = math.exp(events.estimated_bound), math.exp(point.epsilon)
    return float((kappa * deviation(estimated) + (estimated - claimed) * wrong) / deviation(claimed))


def _compare(session: Session, drawn: Drawn, point: Point) -> tuple[tuple[ExactEvidence, ...], str | None]:
    """Hold the stated laws against claim and sampler; a statement that cannot be evaluated bars a PASS."""
    if session.method == "fixed" or not states_a_law(session.mechanism):
        return (), None
    significance, stream = session.allowance.significance, session.stream.child(FIT)
    try:
        exact = compare_with_law(session.mechanism, session.claim, point, session.pairs, drawn, significance, stream)
        return exact, None
    except Exception as error:  # the statement is the mechanism's code
        return (), f"the law that the mechanism states cannot be evaluated: {type(error).__name__}: {error}"


def _draw(session: Session, split: Split) -> Drawn:
    """Draw training outputs; when a whole batch raises, start again with one output a call."""
    size = split.training
    if session.method == "exact":  # nothing is certified by a game: all outputs test the sampler
        size += split.runs // (2 * len(session.pairs))
    stream, pairs = session.stream, session.pairs
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
        session.anomalies["constant"] += 1
    return drawn


def _draw_more(session: Session, size: int, drawn: Drawn, stage: int) -> Drawn:
    more, odd = draw_training(session.subject, session.pairs, size, session.stream, stage)
    session.samples += 2 * size * len(more)
    session.note(odd)
    return [
        (concatenate([left, more_left]), concatenate([right, more_right]))
        for (left, right), (more_left, more_right) in zip(drawn, more, strict=True)
    ]


def _constant(drawn: Drawn) -> bool:
    keys = [atom_keys(side) for pair in drawn for side in pair]
    return all(bool(np.all(part == keys[0][0])) for part in keys)


def _certify(session: Session, split: Split, choice: Choice) -> GameEvidence:
    stream, events = session.stream, choice.events
    pair = session.pairs[choice.pair]
    counts, odd = play(session.subject, pair, events, choice.runs, stream, session.allowance.place)
    session.samples += counts.runs
    session.note(odd)
    plus, minus = events.describe()
    return GameEvidence(
        pair=choice.pair,
        scorer=events.score.name,
        complete=events.complete,
        plus=plus,
        minus=minus,
        one_sided=events.plus_is_empty or events.minus_is_empty,
        counts=counts,
        coins=(stream.entropy, *stream.child(VIRTUAL).key),
        training=split.training,
        estimated_bound=events.estimated_bound if np.isfinite(events.estimated_bound) else None,
    )


def states_a_law(mechanism: Any) -> bool:
    """Return whether a mechanism states its law or its privacy loss, so that an exact audit of it is possible."""
    return any(callable(getattr(mechanism, name, None)) for name in ("privacy_loss", "law"))
