"""Look at a mechanism by the guess game at a fixed budget: certify the events that training outputs chose."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np

from audit.claims import Point, claim_of
from audit.events.candidates import EventPair, TestDesign
from audit.events.violations import (
    COUNTED,
    LARGEST,
    NUMBER,
    SCAN_MOST,
    UNREADABLE,
    Plants,
    event_size,
    plant,
    training_for,
)
from audit.evidence.base import (
    CONFIRMING,
    LIMITED,
    MOST_BUDGET,
    Case,
    Finding,
    GameLimits,
    PrivacyTerms,
    Way,
    estimate_growth,
    leave_open,
)
from audit.evidence.new_processes import look_elsewhere
from audit.evidence.session import (
    CHECKPOINTS,
    LAST_LOOK,
    LONG_SHARE,
    MOST_NUMBERS,
    PROBED,
    SCAN_SHARE,
    SHORT_CALL,
    TRAINING_CALLS,
    VIRTUAL,
    Choice,
    Seen,
    Session,
    Split,
    Trained,
    count_guesses,
    deal_runs,
    draw,
    list_totals,
    long_call,
    plan_outputs,
)
from audit.execution.sandbox import TimedOut, clock, one_thread
from audit.execution.seeds import BLOCK, Calls, Side, Stream
from audit.outputs.encode import Outputs
from audit.records.view import Part
from audit.statistics.bounds import (
    GameCounts,
    game_epsilon_lower_bound,
    game_resolution,
    logit_lower_bound,
    runs_to_confirm,
)
from audit.statistics.independence import LOG_LEVEL, PARTS, CallStatistics, compare_long_call, log_agreement
from audit.text import count
from audit.validate import Limits, Natural


def share_of(look: int, looks: int) -> float:
    """Return the share of the significance of the game that ended at a checkpoint; all of them have 1 together."""
    if looks == 1:
        return 1.0
    return LAST_LOOK if look == looks - 1 else (1 - LAST_LOOK) / (looks - 1)


_FEWEST_FRESH = 20  # runs: fewer confirm nothing
# Of the significance: the share of a game, and of it that of the checkpoint at which it ended; 1 where time was ample
SHARES = {
    part * share: part
    for part in {share_of(look, looks) for looks in range(1, CHECKPOINTS + 1) for look in range(looks)}
    for share in (1.0, SCAN_SHARE, 1.0 - SCAN_SHARE)
}

_DRAW_NOTHING_ELSE = {"guess game", "stated law", "new processes"}
_FLOATS = {"none": "", "real": "not audited", "audited": "PASS"}  # the clause of a PASS about floating-point numbers


@one_thread()
def plants_of(session: Session, trained: Trained, choice: Choice, share: float = 1.0) -> Plants:
    """Return the plants of the chosen pair; the game has that share of the significance."""
    scanned, form, training = choice.interval, choice.events.form, trained.split.training
    if scanned is not None and scanned.screened is not None:
        training = len(scanned.screened.rows[0])
    test = TestDesign(*choice.point, training, choice.runs, share * session.allowance.significance * SCAN_SHARE)
    plants = plant(scanned, form, test, session.allowance.stream.child(Stream.PLANT).seed())
    if plants.kind in (UNREADABLE, COUNTED) or event_size(test, plants.columns) is not None:
        return plants
    number = (LARGEST,) if plants.kind == NUMBER else ()
    training = len(session.pairs) * training_for(test, plants.columns, *number)
    return replace(plants, budget=math.ceil(training / SCAN_MOST) if training * session.width <= MOST_NUMBERS else 0)


@dataclass(frozen=True)
class GuessGame(Way):
    """Hold a guess game at a fixed budget, on the pair that was chosen on training outputs."""

    pair: int
    scorer: str  # the score that won on training outputs
    plants: Plants  # violations planted in the training outputs, and how many the search detected
    plus: str  # the event "guess left" in words
    minus: str  # the event "guess right" in words
    one_sided: bool  # whether one of the two events is empty
    counts: GameCounts
    coins: Annotated[
        tuple[Natural, ...], Limits(shortest=1)
    ]  # entropy, then spawn key, of the uniforms that decide virtual wrong guesses
    training: int  # outputs per dataset for each pair
    estimated_bound: float | None  # of epsilon, from training outputs
    calls: CallStatistics  # signs of dependence
    share: Annotated[float, Limits(above=0, most=1)] = 1.0  # of the significance, beside events that lost
    # floating-point numbers count as "real" numbers, or "audited" by their bits; "none" where there are none
    floats: Annotated[str, Limits(pattern="none|real|audited")] = "none"
    events: EventPair | None = field(default=None, compare=False, repr=False, metadata={"recorded": False})

    way: ClassVar[str] = "guess game"
    spends: ClassVar[str] = "guess game"
    is_witness: ClassVar[bool] = True

    @property
    def unread(self) -> tuple[str, ...]:
        """The places of the output that no score reads."""
        return self.plants.form.unread

    @property
    def sample_size(self) -> int:
        """The outputs of the runs and of the training."""
        return self.counts.runs + (0 if self.is_fresh else 2 * self.training)

    @property
    def is_fresh(self) -> bool:
        """True if it was played on fresh outputs, to confirm another one."""
        return not {CONFIRMING, CONFIRMING + 1}.isdisjoint(self.coins[1:])

    @property
    def is_general(self) -> bool:
        """True when some score that competed sees every difference between large sets of outputs."""
        return self.plants.kind != UNREADABLE

    def finding(self, case: Case) -> Finding:
        """Return FAIL where the certified bound exceeds the claim; INCONCLUSIVE where outputs depend on each other."""
        is_dependent = case.evidence.is_dependent
        lower = 0.0 if is_dependent else self.epsilon_lower_bound(case.point.delta, case.significance)
        refutation = obstacle = None
        if lower > case.point.epsilon:
            counts = self.counts
            at = self._slack(case.point.delta), case.significance * self.share, case.point.epsilon
            if _rest_on_too_few_calls(counts, self.calls, self.coins, *at):
                calls = self.calls.left.calls + self.calls.right.calls
                said = f"nearly all runs ended alike, in {calls} calls: noise shared within a call would explain it"
                obstacle = leave_open(f"refuted if the runs of a call are independent, but {said}")
            else:
                right = f"{counts.correct} of {counts.correct + counts.wrong} guesses were right"
                refutation = case.refute(lower, right)
        elif (dependence := self.calls.explain_dependence()) is not None:
            obstacle = leave_open(dependence)
        return Finding(
            refutation,
            None if refutation else obstacle,
            lower_bound=lower,
            resolution=self._resolution(case, case.point),
            trained_on=self.training,
        )

    def limits(self, case: Case) -> GameLimits:
        """Return the resolution at each point of the claim, and the plants that the scan detected."""
        numbers = ", read as real numbers; set floats='audit'" if self.floats == "real" else ""
        level = self._of_checkpoint * case.significance * SCAN_SHARE
        test = TestDesign(*case.point, self.plants.count_searched_rows(self.training), self.counts.runs, level)
        return GameLimits(
            tuple((point, self._resolution(case, point)) for point in case.terms.claim.resolved_points),
            trained_on=self.training,
            is_general=self.is_general,
            gaps=self.unread,
            barred=_describe_lacking(self.plants, test, case),
            floats=_FLOATS[self.floats],
            scope=(f"in calls of {self.calls.size:,} outputs{numbers}", *self.plants.scope(test)),
            most_certified=logit_lower_bound(
                self.counts.runs, self.counts.runs, case.significance * self._of_checkpoint
            ),
        )

    @classmethod
    def show_parts(cls, way: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the counts of the events on fresh outputs."""
        counts, events = way["counts"], {"plus": f"guess left: {way['plus']}", "minus": f"guess right: {way['minus']}"}
        rows = [
            (said, *(count(counts[f"{side}_{key}"]) for side in ("left", "right")))
            for key, said in {**events, "abstain": "abstain"}.items()
        ]
        title = f"The guess game on pair {way['pair']}, certified on fresh outputs"
        yield Part(title, head=("event", "left", "right"), rows=rows)

    def unlike(self, fresh: GuessGame) -> str | None:
        """Return the change where the same events are not as frequent in a later game as in this one, or None."""
        shared = max(1.0, self.calls.dispersion()[0], fresh.calls.dispersion()[0])
        if log_agreement(self.counts, fresh.counts) > LOG_LEVEL * shared:
            return None
        first, again = (f"{each.correct} of {each.correct + each.wrong}" for each in (self.counts, fresh.counts))
        return (
            f"{first} guesses were right in the first draws, {again} in fresh ones: its outputs depend on the time or "
            "on earlier calls, like noise that a clock seeds or a cache keeps; draw the noise from `rng`"
        )

    def epsilon_lower_bound(self, delta: float, significance: float) -> float:
        """Return the bound of epsilon at `delta`, with the design effect of the calls."""
        return self.bound_and_inflation(delta, significance)[0]

    def bound_and_inflation(self, delta: float, significance: float) -> tuple[float, float]:
        """Return the bound of epsilon, and by how much dependence within calls inflates the variance there."""
        level = significance * self.share
        return _bound_and_inflation(self.counts, self.calls, self.coins, self._slack(delta), level)

    def _slack(self, delta: float) -> float:
        """Return the slack that one run may use: only half of the runs are guessed where one event is empty."""
        return delta / 2 if self.one_sided else delta

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield where the parts of the game do not fit each other, or the settings of its check."""
        asked = "audited" if record["settings"].get("floats") == "audit" else "real"
        if self.floats != (asked if self.plants.form.fractional else "none"):
            yield f"its game says {self.floats!r} of floating-point numbers, which its settings and outputs do not"
        repeats = [*self.plants.form.texts.values(), *filter(None, [self.plants.form.values])]
        if any(each.outputs != 2 * self.training for each in repeats):
            yield "its game read other outputs than trained it"
        if self.plants.apart + self.plants.dropped != self.plants.form.columns:
            yield "its plants have other columns than its outputs"
        if not self.calls.agree_with(self.counts):
            yield "its game counts other guesses than its calls"
        is_scanned = not self.is_fresh and (self.plants.kind == NUMBER or bool(self.plants.families))
        if self.share not in SHARES or self.training % self.calls.size or (is_scanned and self.is_whole):
            yield "its game has a share or a number of training outputs that no plan gives"
        stream, looks = Stream(self.coins[0], self.coins[1:-1]), range(1, CHECKPOINTS + 1)
        totals = [list_totals(self.counts.runs, look) for look in looks]  # at each it may have ended
        if self.counts.runs_on_left not in [deal_runs(each, stream)[-1][0] for each in totals]:
            yield "its coins gave other runs on left"
        evidence = record["evidence"]
        is_limited = any(kind.startswith(LIMITED) for kind in evidence["anomalies"])
        is_timed = is_limited or len(evidence["need"]) > 1  # by outputs that nothing else counts
        is_alone = record["kind"] == "privacy" and {way["way"] for way in evidence["ways"]} <= _DRAW_NOTHING_ELSE
        if is_alone and not self.is_fresh and not is_timed:
            yield from self._check_numbers(record)
        is_due = self.counts.runs >= 2 * LONG_SHARE * BLOCK and not self.is_fresh
        if self.calls.long[1:2] != (BLOCK,) and (self.calls.long or (is_due and not is_limited)):
            yield f"its game had the budget for a long call of {BLOCK:,} outputs, which is missing"

    def _resolution(self, case: Case, point: Point) -> float:
        """Return the smallest epsilon beyond the point that the game would have refuted."""
        part = 1.0 if self.is_whole and self.plants.form.is_counted else 1.0 - SCAN_SHARE
        level = case.significance * self._of_checkpoint * part
        return game_resolution(point.epsilon, point.delta, self.counts.runs, level)

    def _check_numbers(self, record: Mapping[str, Any]) -> Iterator[str]:
        """Yield where outputs and runs are not as many as the budget gives."""
        samples, settings, pairs = record["evidence"]["samples"], record["settings"], len(record["pairs"])
        size, ends = self.calls.size, (self.counts.runs_on_left, self.counts.runs - self.counts.runs_on_left)
        early = sum(self.calls.parts[0][::3]) if len(self.calls.parts) > PARTS else 0
        whole = sum(math.ceil(runs / size) * size for runs in ends)
        others = 2 * self.training * pairs + early * (pairs - 1) + sum(self.calls.long[1:2])
        if samples - whole - others - PROBED not in (0, size):  # one call is made again where it takes a generator
            yield "its training and its runs took other outputs than were drawn"
        terms, budget = PrivacyTerms(claim_of(record["claim"]), settings["tolerance"]), settings["budget"]
        due = float(plan_outputs(terms, settings["significance"], pairs)[0])
        is_stated = any(way["way"] == "stated law" for way in record["evidence"]["ways"])  # which decides
        if not is_stated and record["evidence"]["need"] != [due] * (budget < due < MOST_BUDGET):
            yield "its claim and tolerance need another budget"
        if self.counts.runs != 2 * budget - 2 * (size - 1) - (samples - whole):
            shares = (plan_outputs(terms, share * settings["significance"], pairs) for share in (1, LAST_LOOK))
            if self.counts.runs not in [enough for _, enough in shares]:
                yield "its budget gives another number of runs"

    @property
    def is_whole(self) -> bool:
        """True if no interval event is certified beside it."""
        return self.share == self._of_checkpoint

    @property
    def _of_checkpoint(self) -> float:
        """The share of the checkpoint at which the game ended; that of the game where none is planned so."""
        return SHARES.get(self.share, self.share)


def _describe_lacking(plants: Plants, test: TestDesign, case: Case) -> str:
    """Return why the detected plants are too few for a PASS; empty if they are enough."""
    if plants.kind == COUNTED:
        return ""
    family, size = plants.lacking(), event_size(test, plants.columns)
    more = "no budget does: give the mechanism a `law`" if size is None else "use a larger budget"
    advice = case.advise_budget(plants.budget) if plants.budget else more
    if size is None or (family is not None and not family.planted):
        return f"too few training outputs to find an interval of probability {LARGEST:g} at an unknown place: {advice}"
    if family is None:
        return ""
    found = f"the search detected {family.found} of {family.planted} planted violations of the family"
    return f"{found} {family.name!r} ({plants.describe_size(family, test)}): {advice}"


@lru_cache(maxsize=8)  # every question of one judgment asks for it
def _bound_and_inflation(
    counts: GameCounts, calls: CallStatistics, coins: tuple[int, ...], share: float, significance: float
) -> tuple[float, float]:
    """Return the bound of epsilon, all counts divided by the inflation, and the inflation, at the bound without it."""
    seed = Stream(coins[0], coins[1:]).seed()
    found = game_epsilon_lower_bound(counts, share, significance, seed)
    inflation = calls.design_effect(found, significance)
    if inflation == 1.0:
        return found, inflation
    return game_epsilon_lower_bound(counts, share, significance, seed, inflation), inflation


def _rest_on_too_few_calls(
    counts: GameCounts, calls: CallStatistics, coins: tuple[int, ...], share: float, significance: float, epsilon: float
) -> bool:
    """Return whether all runs ended alike, and the calls, as units, do not refute epsilon."""
    if not calls.is_uniform:
        return False
    seed = Stream(coins[0], coins[1:]).seed()
    return game_epsilon_lower_bound(counts, share, significance, seed, calls.size) <= epsilon


def certify(
    session: Session, trained: Trained, choice: Choice, plants: Plants | None = None, long: int | None = None
) -> GuessGame:
    """Return the game with more evidence against the claim, of those with the chosen events on fresh outputs.

    Each has its share of the significance. `plants` are those of the training outputs; they are planted now unless
    given, in a game of as many runs as the time left. `long` is the size of a long call, 0 for none.
    """
    stream, split = session.allowance.stream, trained.split
    before, after = session.looks
    totals = session.schedule(choice.runs)
    coins, significance = (stream.entropy, *stream.child(VIRTUAL).key), session.allowance.significance

    def share_at(look: int) -> float:
        return share_of(before + look, before + len(totals) + after)

    def is_refuted(look: int, games: list[Seen]) -> bool:
        if not session.is_doubted:
            return False
        level, (epsilon, delta) = share_at(look) * significance, choice.point
        each = [
            (*seen, coins, events.delta_share(delta), share * level)
            for (events, share), seen in zip(choice.shared, games, strict=True)
        ]
        bounds = [_bound_and_inflation(*game)[0] for game in each]
        return max(bounds) > epsilon and not _rest_on_too_few_calls(*each[int(np.argmax(bounds))], epsilon)

    limits = {"early": trained.aside[choice.pair], "has_time_for": session.has_time_for, "is_decided": is_refuted}
    played = session.play(choice.pair, [events for events, _ in choice.shared], totals, stream, split.call, **limits)
    part = share_at(played.look)
    is_limited = played.look < len(totals) - 1 and not is_refuted(played.look, played.games)
    if is_limited:
        session.note_limit(2 * session.allowance.budget * session.pace)
    plants = plants or plants_of(session, trained, replace(choice, runs=totals[played.look]), part)
    games = [
        _game(session, trained, choice.pair, plants, events, part * share, seen)
        for (events, share), seen in zip(choice.shared, played.games, strict=True)
    ]
    bounds = [each.epsilon_lower_bound(choice.point.delta, significance) for each in games]
    decisive = games[int(np.argmax(bounds))]  # the usual events where neither certifies anything
    if not is_limited and (size := long_call(session) if long is None else long):
        try:
            called = _call_long(session, decisive, size)
            decisive = replace(decisive, calls=replace(decisive.calls, long=called))
        except TimedOut:
            session.note_limit(2 * session.allowance.budget * session.pace)
    if trained.drawn and not decisive.counts.wrong:
        session.asked = look_elsewhere(session, choice.pair, trained.drawn[choice.pair])
    return decisive


def _game(
    session: Session, trained: Trained, pair: int, plants: Plants, events: EventPair, share: float, seen: Seen
) -> GuessGame:
    plus, minus = events.describe()
    return GuessGame(
        pair=pair,
        scorer=events.score.name,
        plants=plants,
        plus=plus,
        minus=minus,
        one_sided=events.thresholds.used < 2,
        counts=seen[0],
        coins=(session.allowance.stream.entropy, *session.allowance.stream.child(VIRTUAL).key),
        training=trained.split.training,
        estimated_bound=events.estimated_bound if np.isfinite(events.estimated_bound) else None,
        calls=seen[1],
        share=share,
        floats="none" if not plants.form.fractional else "audited" if session.audits_floats else "real",
        events=events,
    )


def _call_long(session: Session, game: GuessGame, size: int) -> tuple[int, ...]:
    """Make one long call on one dataset; return the side, its outputs and guesses. It is not part of the game."""
    assert game.events is not None
    stream, outputs = session.allowance.stream.child(Stream.LONG), list[Outputs]()
    side = int(stream.child(0).rng().integers(2))
    calls = Calls([Side(session.pairs[game.pair][side], size, stream.child(1), size)])
    session.note(draw(session.subject, calls, lambda drawn: drawn, outputs.extend))
    session.samples += size
    session.anomalies.update(dict.fromkeys(compare_long_call(outputs[0], stream.child(2).rng()), 1))
    return side, size, *map(int, count_guesses([game.events], outputs)[0][0])


def play_again(session: Session, first: Any, level: float) -> Iterator[Any]:
    """Play the game of `first` on fresh outputs: in as many runs as its guesses need, then in as many as any may."""
    game: GuessGame = first.game
    events = game.events
    assert events is not None
    point, size = first.tested or session.terms.claim.point, game.calls.size
    share, significance = events.delta_share(point.delta), session.allowance.significance
    unit = size if game.calls.is_uniform else game.bound_and_inflation(point.delta, significance)[1]
    most = max(session.allowance.budget, math.ceil(estimate_growth(significance, level) * game.counts.runs))
    is_joined = size <= SHORT_CALL and len(session.pairs) == 1 and game.plants.form.columns < 2
    fewest = size * (TRAINING_CALLS if is_joined else 2 * TRAINING_CALLS)  # fewer calls show no dependence, unless long
    due = runs_to_confirm(game.counts, point.epsilon, share, LAST_LOOK * level, most)
    few = max(fewest, math.ceil(unit * due))
    stream = session.allowance.stream
    session.pace = clock().pace
    session.ends = math.inf if session.allowance.limit is None else session.allowance.limit
    for look, wanted in enumerate((few, most) if 2 * few < most else (most,)):
        runs = int(min(wanted, session.affordable()))  # by the pace of outputs that are not fresh
        if runs < min(few, _FEWEST_FRESH):
            raise TimedOut
        session.allowance = replace(session.allowance, stream=stream.child(CONFIRMING + look), significance=level)
        looks = min(CHECKPOINTS, 1 + int(math.log2(max(1.0, runs / fewest))))  # at the first one as many calls
        session.is_doubted, session.looks = looks > 1, (CHECKPOINTS - looks if looks > 1 else 0, 0)
        session.samples, session.anomalies = 0, Counter(first.anomalies)
        if runs < wanted:
            session.note_limit(clock().elapsed + wanted * session.pace)
        trained = Trained([], [([], [])] * len(session.pairs), Split(game.training, (), size), None)
        found = certify(session, trained, Choice(game.pair, events, point, runs), game.plants, long=0)
        ways = tuple(found if way is game else way for way in first.ways)
        yield replace(first, samples=session.samples, ways=ways, anomalies=session.count_anomalies())
