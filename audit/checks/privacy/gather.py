"""Gather the evidence of a privacy check: probe, train, choose, compare with the stated law, certify.

For every pair, some outputs are drawn to choose events. The pair with the largest estimated bound is certified on fresh
outputs. Nothing that the choice saw is used again, so the one test at the end carries the whole significance. A claim
that implies a whole curve of (epsilon, delta) is refuted at any point of it, so the point with the largest excess in
standard errors is tested. The sequential method tests one pair at the claim's usual point, and ends when it can.

The trade-off function of a pair follows from the profile of its stated law: every epsilon gives two lines below it
(`audit.laws.privacy_loss`, Dong, Roth & Su 2022, proposition 2.12), so that nothing else needs to be recorded.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from audit.base.errors import InvalidArgument
from audit.checks.base import Allowance
from audit.checks.privacy.judge import (
    ExactEvidence,
    GameEvidence,
    LossCurve,
    PrivacyEvidence,
    PrivacyTerms,
    SequentialEvidence,
)
from audit.claims import CurveClaim, Point
from audit.game.events import EventPair, choose_events_for_each
from audit.game.fixed_budget import MORE, VIRTUAL, Split, draw_training, play
from audit.game.guesses import steps_to_resolve
from audit.game.scorers import SCORERS, Scorer, Training
from audit.game.scorers.base import LikelihoodRatio, stated_log_likelihood
from audit.game.scorers.cells import atom_keys
from audit.game.sequential import play_sequentially
from audit.game.thresholds import TestDesign, critical_value
from audit.laws import ARITHMETIC_TOLERANCE
from audit.subjects import Block, Outputs, Stream, Subject, SubjectFailed, concatenate
from audit.subjects.pool import HERE
from audit.subjects.subject import probe_cost, probe_independence, probe_length

PROBE, FIT, SEARCH, SEQUENTIAL = 8, 9, 10, 11  # children of a check's stream, beside those of the fixed-budget game
_POINTS = 25  # a certificate holds this many for each check, whatever the number of pairs
_BEYOND = 1.5  # the curve goes on to this multiple of the claimed and of the found epsilon
_FARTHEST = 40.0  # nothing can be audited beyond
_LOSS_GRID = 512  # thresholds at which the law of the loss is compared
_ABOVE = 1e-7  # a threshold lies this far above a loss value, so that rounding does not move an atom across it
Drawn = Sequence[tuple[Outputs, Outputs]]  # on the left and on the right dataset of each pair


@dataclass
class Session:
    """Share between the stages of one privacy check what is audited, and what was seen so far."""

    subject: Subject
    terms: PrivacyTerms
    pairs: Sequence[tuple[Any, Any]]
    method: str
    allowance: Allowance
    scorers: Sequence[Scorer] = SCORERS
    samples: int = 0
    width: int = 1  # numbers in one output
    anomalies: Counter[str] = field(default_factory=Counter)

    def note(self, found: Counter[str]) -> None:
        for kind, count in found.items():
            shared = kind == "mutated its dataset" and self.subject.calls_share_a_copy
            self.anomalies[kind + " between calls" if shared else kind] += count

    def noted(self) -> dict[str, int]:
        return dict(sorted(self.anomalies.items()))

    def open(self) -> None:
        """Refuse what cannot be examined, before the budget is spent."""
        budget, pairs = self.allowance.budget, len(self.pairs)
        if budget < 2 * pairs:
            raise InvalidArgument.of("budget", f"be at least 2 for each of {pairs} pairs", budget)
        if self.method == "exact" and not states_a_law(self.subject.mechanism):
            raise InvalidArgument.of("method", "not be 'exact' for a mechanism without law or privacy_loss", "exact")
        if self.method == "sequential" and pairs != 1:  # which of them to test would have to be learned first
            raise InvalidArgument.of("pairs", "be a single pair for method 'sequential'", pairs)
        self.width = probe_length(self.subject, self.pairs[0][0], self.allowance.stream.child(PROBE, 0))
        self.samples += 2

    def probe(self) -> None:
        """Look for dependence between runs, where the budget can spare the outputs."""
        if probe_cost(self.allowance.budget):
            found, drawn = probe_independence(self.subject, self.pairs[0][0], self.allowance.stream.child(PROBE, 1))
            self.samples += drawn
            self.anomalies.update(found)


@dataclass(frozen=True)
class Choice:
    """Name what the certifying runs test: a pair, its events, and the (epsilon, delta) to refute."""

    pair: int
    events: EventPair
    point: Point
    runs: int  # certifying runs, both datasets together


class Trained(NamedTuple):
    drawn: Drawn
    split: Split
    choice: Choice | None  # None when there is nothing to test


def gather_at_fixed_budget(session: Session) -> PrivacyEvidence:
    """Probe, train, compare with the stated law, certify."""
    drawn, split, choice = train(session)
    claim, mechanism = session.terms.claim, session.subject.mechanism
    point = claim.point if choice is None else choice.point
    exact: tuple[ExactEvidence, ...] = ()
    failure = None
    if session.method != "fixed" and states_a_law(mechanism):
        try:
            exact = _compare_with_law(session, drawn, point)
        except Exception as error:  # the statement is the mechanism's code; what cannot be evaluated bars a PASS
            failure = f"the law that the mechanism states cannot be evaluated: {type(error).__name__}: {error}"
    game = None if choice is None else _certify(session, split, choice)
    return PrivacyEvidence(
        session.samples,
        exact,
        game,
        session.noted(),
        tested=point if claim.is_curve else None,
        curve=_trace_curve(session, point, exact) if exact else None,
        events=None if choice is None else choice.events,
        failure=failure,
    )


def train(session: Session) -> Trained:
    """Draw training outputs, probe, and choose; again with more outputs as long as chance decided on the choice."""
    budget, pairs, stream = session.allowance.budget, session.pairs, session.allowance.stream
    split = Split.of(budget, len(pairs), session.samples + probe_cost(budget), session.width)
    drawn = _draw(session, split)
    session.probe()
    choice = None if session.method == "exact" else _choose(session, drawn, split)
    stage = MORE
    while choice is not None and choice.events.needs_more > 1 and split.more:
        before, split = split, split.with_more(choice.events.needs_more)
        size = split.training - before.training
        more, found = draw_training(session.subject, pairs, size, stream, stage)
        session.samples += 2 * size * len(pairs)
        session.note(found)
        drawn = [
            (concatenate([left, more_left]), concatenate([right, more_right]))
            for (left, right), (more_left, more_right) in zip(drawn, more, strict=True)
        ]
        stage += 1
        choice = _choose(session, drawn, split)
    return Trained(drawn, split, choice)


def _draw(session: Session, split: Split) -> Drawn:
    """Draw training outputs; when a whole batch raises, start again with one output per call."""
    size, pairs, stream = split.training, session.pairs, session.allowance.stream
    if session.method == "exact":  # nothing is certified by a game: all outputs test the sampler
        size += split.runs // (2 * len(pairs))
    try:
        drawn, found = draw_training(session.subject, pairs, size, stream)
    except SubjectFailed as failure:
        if failure.kind != "raised":
            raise
        session.subject = replace(session.subject, one_by_one=True)
        drawn, found = draw_training(session.subject, pairs, size, stream)
    session.samples += 2 * size * len(pairs)
    session.note(found)
    keys = [atom_keys(side) for pair in drawn for side in pair]
    if all(bool(np.all(part == keys[0][0])) for part in keys):
        if found["raised"] == 2 * size * len(pairs):
            symbols = drawn[0][0].symbols
            raise SubjectFailed("raised", f"{symbols.table[0] if symbols else 'raised'}, in every run")
        session.anomalies["constant"] += 1
    return drawn


def _choose(session: Session, drawn: Drawn, split: Split) -> Choice | None:
    """Choose pair, events and point; None when there is nothing left to draw or no scorer reads the outputs."""
    claim = session.terms.claim
    runs = min(split.runs, 2 * session.allowance.budget - session.samples)
    if runs < 1:
        return None
    critical = critical_value(session.allowance.significance)
    more = bool(split.more) and len(drawn) == 1 and not claim.is_curve  # else another candidate may be the best
    designs = [TestDesign(at.delta, critical, 2 * split.training, runs, at.epsilon, more) for at in claim.points]
    choices: list[tuple[float, Choice]] = []
    for index, (outputs, pair) in enumerate(zip(drawn, session.pairs, strict=True)):
        training = Training(*outputs, session.subject.mechanism, pair)
        chosen = choose_events_for_each(training, designs, session.scorers)  # scores are fitted once
        for point, design, events in zip(claim.points, designs, chosen, strict=True):
            if events is not None:
                excess = _excess(events, point, design, outputs) if claim.is_curve else 0.0
                choices.append((excess, Choice(index, events, point, runs)))
    excess, best = max(choices, key=itemgetter(0), default=(0.0, None))
    if excess > 0:
        return best
    usual = [choice for _, choice in choices if choice.point == claim.point]
    return max(usual, key=lambda choice: choice.events.estimated_bound, default=None)


def _excess(events: EventPair, point: Point, design: TestDesign, outputs: tuple[Outputs, Outputs]) -> float:
    """Return the standard errors of one run by which C - e^epsilon W - delta exceeds 0 at the point.

    The estimated bound t solves C - t W - delta = kappa sqrt(V(t)) and has paid for training noise: it stands for C,
    which the outputs that trained the events may flatter. W only sets the scale.
    """
    if not math.isfinite(events.estimated_bound):
        return -math.inf
    kappa = design.standard_errors(penalty=1.0)
    left, right = (events.guess(side) for side in outputs)
    wrong_share = (np.mean(left == -1) + np.mean(right == 1)) / 2 + kappa**2 / 2
    right_share = (np.mean(left == 1) + np.mean(right == -1)) / 2
    estimated, claimed = math.exp(events.estimated_bound), math.exp(point.epsilon)

    def deviation(ratio: float) -> float:
        return math.sqrt(right_share + ratio**2 * wrong_share + ratio * events.delta_share(point.delta))

    return float((kappa * deviation(estimated) + (estimated - claimed) * wrong_share) / deviation(claimed))


def _certify(session: Session, split: Split, choice: Choice) -> GameEvidence:
    stream, events, pair = session.allowance.stream, choice.events, session.pairs[choice.pair]
    try:
        counts, found = play(session.subject, pair, events, choice.runs, stream, session.allowance.place)
    except (ImportError, AttributeError):  # a worker cannot import the mechanism: draw here, from the same seeds
        counts, found = play(session.subject, pair, events, choice.runs, stream, HERE)
    session.samples += counts.runs
    session.note(found)
    plus, minus = events.describe()
    return GameEvidence(
        pair=choice.pair,
        scorer=events.score.name,
        complete=events.complete,
        plus=plus,
        minus=minus,
        one_sided=events.thresholds.used < 2,
        counts=counts,
        coins=(stream.entropy, *stream.child(VIRTUAL).key),
        training=split.training,
        estimated_bound=events.estimated_bound if np.isfinite(events.estimated_bound) else None,
    )


def gather_sequentially(session: Session) -> PrivacyEvidence:
    """Play the sequential game on the check's pair; probe for dependence between runs afterwards."""
    claim, allowance = session.terms.claim, session.allowance
    (epsilon, delta), goal = claim.point, session.terms.allowed_epsilon(claim.point)
    source = _Source(session)
    stated = stated_log_likelihood(session.subject.mechanism)
    outcome = play_sequentially(
        source.draw,
        epsilon,
        delta,
        allowance.significance,
        most_steps=allowance.budget - 1,
        resolution_steps=steps_to_resolve(epsilon, goal, delta, allowance.significance),
        score=None if stated is None else LikelihoodRatio(stated, session.pairs[0], complete=False),
    )
    session.samples += 2 * outcome.steps
    session.probe()
    if source.is_constant:
        session.anomalies["constant"] += 1
    sequential = SequentialEvidence(0, source.is_numeric, outcome)
    tested = claim.point if claim.is_curve else None
    return PrivacyEvidence(session.samples, anomalies=session.noted(), sequential=sequential, tested=tested)


class _Source:
    """Draw outputs for the sequential game, each call from a seed of its own, and remember what kind they were."""

    def __init__(self, session: Session) -> None:
        self._session, self._calls = session, [0, 0]
        self._first_key: np.uint64 | None = None
        self.is_constant = self.is_numeric = True

    def draw(self, side: int, size: int) -> Outputs:
        session = self._session
        seed = session.allowance.stream.child(SEQUENTIAL, side, self._calls[side]).seed()
        self._calls[side] += 1
        outputs, found = session.subject.draw(Block(session.pairs[0][side], size, seed))
        session.note(found)
        keys = atom_keys(outputs)
        self._first_key = keys[0] if self._first_key is None else self._first_key
        self.is_constant = self.is_constant and bool(np.all(keys == self._first_key))
        self.is_numeric = self.is_numeric and outputs.is_scalar and outputs.symbols is None
        return outputs


def states_a_law(mechanism: Any) -> bool:
    """Return whether a mechanism states its law or its privacy loss, so that an exact audit of it is possible."""
    return any(callable(getattr(mechanism, name, None)) for name in ("privacy_loss", "law"))


def stated_loss(mechanism: Any, left: Any, right: Any) -> Any:
    """Return the privacy-loss object of a pair: `privacy_loss(left, right)`, or derived from `law`."""
    if callable(getattr(mechanism, "privacy_loss", None)):
        return mechanism.privacy_loss(left, right)
    return mechanism.law(left).loss_against(mechanism.law(right))


def _compare_with_law(session: Session, drawn: Drawn, point: Point) -> tuple[ExactEvidence, ...]:
    """Bracket the divergence of every pair by its stated law, and test the drawn outputs against that law."""
    mechanism, claim = session.subject.mechanism, session.terms.claim
    stream, significance = session.allowance.stream.child(FIT), session.allowance.significance
    compared = []
    for index, (pair, outputs) in enumerate(zip(session.pairs, drawn, strict=True)):
        loss, size = stated_loss(mechanism, *pair), min(map(len, outputs))
        judged = claim.judge_exactly(loss) if isinstance(claim, CurveClaim) else None
        compared.append(
            ExactEvidence(
                pair=index,
                epsilon_upper_bound=float(loss.epsilon(min(1.0, point.delta * (1 + ARITHMETIC_TOLERANCE)))),
                epsilon_lower_bound=float(loss.epsilon_lower_bound(point.delta)),
                delta_upper_bound=float(loss.delta(point.epsilon)),
                delta_lower_bound=float(loss.delta_lower_bound(point.epsilon)),
                total_variation=float(loss.total_variation()),
                mass_at_infinity=max(float(loss.mass_at_infinity(side)) for side in ("left", "right")),
                fit_pvalue=_fit(mechanism, loss, pair, outputs, stream.child(index)),
                fit_outputs=size,
                # of the Dvoretzky-Kiefer-Wolfowitz-Massart test, in distribution
                fit_resolution=float(np.sqrt(np.log(4 / significance) / (2 * size))) if size else None,
                keeps=judged.keeps if judged else None,
                detail=judged.detail if judged else "",
            )
        )
    return tuple(compared)


def _fit(
    mechanism: Any, loss: Any, pair: tuple[Any, Any], outputs: tuple[Outputs, Outputs], stream: Stream
) -> float | None:
    """Return a finite-sample p-value over both datasets, twice the smaller one; None if nothing can be compared."""
    if callable(getattr(mechanism, "law", None)):
        values = [
            mechanism.law(data).fit_pvalue(_as_array(side.raw), stream.child(number).rng())
            for number, (data, side) in enumerate(zip(pair, outputs, strict=True))
        ]
    elif any(side.symbols is not None and side.numbers.size and side.symbolic.any() for side in outputs):
        return None
    elif (stated := stated_log_likelihood(mechanism)) is not None:
        values = [_loss_fit(stated, loss, pair, *case) for case in zip(outputs, ("left", "right"), strict=True)]
    else:
        return None
    return float(min(1.0, 2 * min(values)))


def _loss_fit(log_likelihood: Any, loss: Any, pair: tuple[Any, Any], outputs: Outputs, side: str) -> float:
    """Compare the observed privacy losses with their stated law (Dvoretzky-Kiefer-Wolfowitz-Massart)."""
    left, right = (np.asarray(log_likelihood(data, outputs.raw), dtype=float) for data in pair)
    observed = np.sort(left - right if side == "left" else right - left)
    if np.isnan(observed).any():
        return 0.0
    thresholds = np.unique(observed[np.linspace(0, len(observed) - 1, _LOSS_GRID).astype(int)])
    thresholds = thresholds[np.isfinite(thresholds)] + _ABOVE
    empirical = np.searchsorted(observed, thresholds, side="right") / len(observed)
    stated = np.array([1.0 - loss.tails(t, side)[0] for t in thresholds])
    distance = float(np.max(np.abs(empirical - stated), initial=0.0))
    return float(min(1.0, 2 * np.exp(-2 * len(observed) * distance**2)))


def _as_array(raw: Any) -> np.ndarray:
    try:
        return np.asarray(raw)
    except ValueError:  # ragged
        array = np.empty(len(raw), dtype=object)
        array[:] = raw
        return array


def _trace_curve(session: Session, point: Point, exact: Sequence[ExactEvidence]) -> LossCurve | None:
    """Return the curve of the pair with the largest epsilon; None when its law gives none."""
    worst = max(exact, key=lambda part: part.epsilon_upper_bound)
    claimed, found = point.epsilon, worst.epsilon_upper_bound
    kept = {claimed, min(found, _FARTHEST)}  # on the grid: curves bend there
    regular = np.linspace(0.0, _BEYOND * max(*kept, 0.1), _POINTS - 2)
    try:
        loss = stated_loss(session.subject.mechanism, *session.pairs[worst.pair])
        profile = tuple(
            (epsilon, _rounded(loss.delta(epsilon, "left")), _rounded(loss.delta(epsilon, "right")))
            for epsilon in sorted({0.0, *kept, *map(_rounded, regular)})
        )
    except Exception:  # the statement is the subject's code; its verdict was reached without a curve
        return None
    tightness = _rounded(found / claimed) if claimed > 0 and np.isfinite(found) else None
    return LossCurve(worst.pair, profile, tightness)


def _rounded(value: float) -> float:  # enough digits to draw, and the same on other machines
    return float(f"{value:.6g}")
