"""Prepare the games of a check, and play them: probe, train, choose the test of the certifying runs, count guesses.

For every pair, some outputs are drawn to choose events. The pair with the largest estimated bound is certified on fresh
outputs. Nothing that the choice saw is used again, so the one test at the end carries the whole significance. A claim
that implies a whole curve of (epsilon, delta) is refuted at any point of it, so the point with the largest excess in
standard errors is tested.

All calls have one size. Some of the training calls, chosen by chance, are set aside: the choice does not see them, and
they are the first certifying runs. Comparing them with the later ones finds a mechanism that behaves otherwise in
training.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from audit.claims import Point
from audit.errors import BadLength, InvalidArgument
from audit.events.candidates import EventPair, TestDesign, choose_events
from audit.events.violations import LARGEST, SCAN_MOST, Scanned, scan, training_for
from audit.evidence.base import (
    DRAWN_BEFORE,
    FIRST_SHARE,
    LIMITED,
    MOST_BUDGET,
    OWN_RANDOMNESS,
    STATEFUL,
    TYPES,
    Allowance,
    PrivacyTerms,
)
from audit.execution.sandbox import Drawing, TimedOut, clock, one_thread
from audit.execution.seeds import BLOCK, HERE, Block, Calls, Place, Side, Stream
from audit.execution.workers import map_blocks, pack_without_caches
from audit.mechanism.call import (
    PerCall,
    Subject,
    SubjectFailed,
    advise_on_exception,
    are_identical,
    probe_length,
    states_a_law,
)
from audit.outputs.encode import Outputs, by_column, concatenate
from audit.scorers import CONFIRMING_SCORERS, SCORERS, SLOW_SCORERS, Scorer, Training
from audit.scorers.rows import SCAN_NEEDS
from audit.statistics.bounds import GameCounts, runs_to_resolve
from audit.statistics.independence import (
    COUNTS,
    SPENT,
    CallStatistics,
    Tally,
    compare_calls,
    find_counters,
    find_spending,
)
from audit.text import join_names

# The division of a budget: tuned by `benchmarks.bugs.event_values`, `benchmarks.overhead`
TRAINING_SHARE = 0.125  # of the budget that trains
STATED_SHARE = 0.375  # of the budget that trains, and is compared with the law, where a law is stated
MORE_SHARE = 0.2  # of it that also trains when the events found are rare, so that chance decides which look best
FEWEST_FIRST, FEWEST_SHARE = 300, 0.3  # outputs per dataset that show an event, unless they exceed this share
MOST_FIRST, MOST_MORE = 100_000, 550_000  # outputs per dataset over all pairs, in a step: bounds memory
MOST_NUMBERS = 2**24  # numbers per dataset: bounds memory for wide outputs (128 MiB)
FEWEST_SEEN = 2_100  # training outputs per dataset and pair that show events of probability 0.01, early ones included
OVERSTATED = 4.0  # the outputs needed are overstated by this factor at least: with more of them the estimate rises
TRAINING_CALLS = 32  # calls per dataset in which the first outputs are drawn; seven times as many certify. TIME
FEWEST_TRAINING_CALLS = 8  # of numbers, where memory bounds how many train; others show dependence. TIME
SHORT_CALL, FEWEST_CALLS = 240, 80  # outputs of a call of numbers at least, if that leaves as many calls. TIME
TRAINING_PER_EARLY = 4  # training calls for each one that is set aside and certifies
COMPARED_CALLS = TRAINING_CALLS + TRAINING_CALLS // TRAINING_PER_EARLY  # per dataset, which show dependence
CALLS_PER_ODDS, MOST_CALLS = 8.0, 20_000  # calls per dataset: this many e^epsilon at least, so that calls alone refute

Read = Callable[[list[Outputs]], Any]


def draw(subject: Subject, calls: Calls, read: Read, take: Callable[[Any], None], place: Place = HERE) -> Counter[str]:
    """Make calls, give the values read from consecutive ones to `take`, in order; return their anomalies."""
    work, odd = partial(_draw_group, subject, read), Counter[str]()
    with Drawing(calls.outputs, is_elsewhere=not place.is_here):
        for values, anomalies in map_blocks(work, calls, place):
            odd.update(anomalies)
            for value in values:
                take(value)
    return odd


def _draw_group(subject: Subject, read: Read, group: Iterable[Block]) -> tuple[list[Any], Counter[str]]:
    """Draw consecutive calls, and read about `BLOCK` outputs at once: to read each call by itself would be slow."""
    values, odd = [], Counter[str]()
    drawn: list[Outputs] = []
    waiting = 0
    with Drawing() as now:
        for dataset, size, seed in group:
            outputs, found = subject.draw_within(now, dataset, size, seed)
            if found:  # as a rule there is nothing, and an update takes as long as to draw some outputs
                odd.update(found)
            drawn.append(outputs)
            waiting += size
            if waiting >= BLOCK:
                values.append(read(drawn))
                drawn, waiting = [], 0
    if drawn:
        values.append(read(drawn))
    return values, odd


TRAINING, COINS, CERTIFYING, VIRTUAL, MORE = range(5)  # children of a stream; each further step has one from MORE on
LEFT, RIGHT = 0, 1
Drawn = list[tuple[list[Outputs], list[Outputs]]]  # calls on the left and on the right dataset of each pair


@dataclass(frozen=True)
class Split:
    """Divide a budget."""

    training: int  # training outputs per dataset for each pair; a multiple of `call`
    more: tuple[int, ...]  # outputs that also train, step by step, while the events found are rare
    call: int = 1  # outputs of every call
    early: int = 0  # calls per dataset among the training calls that certify

    @classmethod
    def of(
        cls, budget: int, pairs: int, width: int = 1, epsilon: float = 0.0, stated: bool = False, shows: int = 0
    ) -> Split:
        """Divide `budget` outputs per dataset, of `width` numbers, among `pairs`; `epsilon` is the claim's.

        Where a `stated` law decides, the outputs that train are those that are compared with the law. `shows` is how
        many of one dataset show an interval at an unknown place, where these are many and the budget has them.
        """
        most = max(1, MOST_NUMBERS // width)
        shows = shows if SCAN_NEEDS < shows <= min(most, SCAN_MOST * budget) / pairs else 0
        largest = min(max(MOST_FIRST, FEWEST_SEEN * pairs, shows * pairs), most)
        usual, first, more = _count_training(budget, max(SCAN_NEEDS, shows) * pairs, largest, stated)
        training, calls = max(1, first // pairs), CALLS_PER_ODDS * math.exp(min(epsilon, 50.0))
        is_plain, per_call, compared = width == pairs == 1, min(usual, largest) // TRAINING_CALLS, 0
        if is_plain and usual > largest:  # fewer and longer calls train; as many more of them certify
            per_call, compared = largest // FEWEST_TRAINING_CALLS, TRAINING_CALLS
        elif is_plain and per_call < SHORT_CALL and TRAINING_SHARE * budget >= FEWEST_FIRST:
            per_call, compared = max(per_call, min(SHORT_CALL, budget // FEWEST_CALLS)), COMPARED_CALLS
        size = int(np.clip(min(per_call, budget / min(MOST_CALLS, calls)), 1, min(training, BLOCK)))
        number, room = training // size, min(more, most)
        early = max(number // TRAINING_PER_EARLY, min(compared, budget // size // 2) - number)
        steps = (MOST_MORE, MOST_MORE) if room >= 2 * MOST_MORE else (min(MOST_MORE, room),)
        whole = (step // pairs // size * size for step in steps)  # of every pair, in whole calls
        return cls(number * size, tuple(step for step in whole if step), size, early)

    @staticmethod
    def budget_for(runs: int, pairs: int) -> int:
        """Return the outputs per dataset that leave this many certifying runs, and show rare events of each pair."""
        training = TRAINING_SHARE * (1 + 1 / TRAINING_PER_EARLY) + MORE_SHARE
        certifying = math.ceil(runs / 2 / (1 - training))
        return max(certifying + certifying // 100, math.ceil(FEWEST_SEEN * pairs / TRAINING_SHARE)) + BLOCK

    def with_more(self, wanted: float) -> Split:
        """Let one more step train, or all steps needed to come near `wanted` times the outputs."""
        sizes = np.cumsum((self.training, *self.more))
        taken = int(np.clip(np.searchsorted(sizes, wanted / OVERSTATED * self.training), 1, len(self.more)))
        return replace(self, training=int(sizes[taken]), more=self.more[taken:])


def _count_training(budget: int, scanned: int, largest: int, stated: bool) -> tuple[float, int, int]:
    """Return how many outputs of all pairs show usual events, how many train first, and how many more may train."""
    usual, more = (STATED_SHARE * budget, 0.0) if stated else (TRAINING_SHARE * budget, MORE_SHARE * budget)
    if usual < FEWEST_FIRST:  # too few to choose events by: take more at once, and no more later
        usual, more = max(min(FEWEST_SHARE * budget, FEWEST_FIRST), SCAN_MOST * budget), 0.0
    first = int(min(max(usual, min(scanned, SCAN_MOST * budget, usual + more)), largest))
    return usual, first, int(min(more, usual + more - first))


def bound_call(width: int) -> int:
    """Return an upper bound of the outputs of one call of a game, where each output has `width` numbers."""
    return max(1, min(BLOCK, MOST_NUMBERS // width // TRAINING_CALLS))


def draw_calls(
    subject: Subject, pairs: Sequence[tuple[Any, Any]], calls: int, size: int, stream: Stream
) -> tuple[Drawn, Any]:
    """Draw some calls of one size on both sides of every pair; return them with their anomalies."""
    keys = [stream.child(index, side) for index in range(len(pairs)) for side in (LEFT, RIGHT)]
    datasets = [dataset for pair in pairs for dataset in pair]
    sides = [Side(dataset, calls * size, key, size) for dataset, key in zip(datasets, keys, strict=True)]
    plan = Calls(sides, _order(stream))
    kept: list[Outputs] = []
    odd = draw(subject, plan, list, kept.extend)
    drawn: list[list[Outputs]] = [[] for _ in sides]
    for call, outputs in enumerate(kept):
        drawn[plan.locate(call)[0]].append(outputs)
    return list(zip(drawn[::2], drawn[1::2], strict=True)), odd


def _order(stream: Stream) -> int:
    """Return the seed of the order of the calls."""
    return int(stream.seed().generate_state(1, np.uint64)[0])


def join_calls(drawn: Drawn) -> list[tuple[Outputs, Outputs]]:
    """Return the outputs of all calls on each side of each pair."""
    return [(concatenate(left), concatenate(right)) for left, right in drawn]


def set_aside(drawn: Drawn, early: int, stream: Stream) -> tuple[Drawn, Drawn]:
    """Split the calls at random: those to train on, and `early` on each dataset that are set aside."""
    rng = stream.rng()

    def parts(calls: list[Outputs]) -> list[list[Outputs]]:
        order = rng.permutation(len(calls))
        return [[calls[place] for place in sorted(part)] for part in (order[early:], order[:early])]

    split = [(parts(left), parts(right)) for left, right in drawn]
    return [(left[0], right[0]) for left, right in split], [(left[1], right[1]) for left, right in split]


Seen = tuple[GameCounts, CallStatistics]  # of a game: counts, and dependence in the calls


class PlayedGames(NamedTuple):
    """Hold games that ended at one of the totals of runs that were planned."""

    games: list[Seen]  # of each pair of events
    look: int  # number of the total
    drawn: int  # outputs
    odd: Counter[str]


def play(
    subject: Subject,
    pair: tuple[Any, Any],
    events: Sequence[EventPair],
    totals: Sequence[int],
    stream: Stream,
    place: Place,
    size: int = BLOCK,
    early: tuple[list[Outputs], list[Outputs]] = ([], []),
    has_time_for: Callable[[float], bool] = lambda seconds: True,
    is_decided: Callable[[int, list[Any]], bool] = lambda look, games: False,
) -> PlayedGames:
    """Play the guess game: a fair coin decides the side of each run, the events decide the guess.

    Each pair of events plays a game of its own with the same runs. The runs of a side are its outputs in the order of
    its calls, beginning with the early ones. The last call has the size of all others, and as many of its runs as are
    due are taken at random. `totals` are the runs at which the game may end, increasing; it ends at the last one, or at
    the last that was reached when the time was over, or where the games so far decide. If that was none, `TimedOut`
    is raised.
    """
    read, dues = partial(count_guesses, events), deal_runs(totals, stream)
    tallies = [[Tally(size, due) for _ in events] for due in dues]
    for side in (LEFT, RIGHT):
        if early[side]:
            counted = read(early[side])
            for tally, counts in (pair for games in tallies for pair in zip(games, counted, strict=True)):
                tally.add(side, counts, is_early=True)
    drawn, odd, seconds = [len(early[side]) * size for side in (LEFT, RIGHT)], Counter[str](), 0.0
    before, reached, rest = sum(drawn), -1, stream.child(COINS, 1)
    for look, due in enumerate(dues):
        if look and is_decided(reached, [tally.finish(rest.rng()) for tally in tallies[reached]]):
            break
        if look and not has_time_for(seconds * (totals[look] / totals[look - 1] - 1)):
            break
        left = [max(0, -(-(due[side] - drawn[side]) // size)) * size for side in (LEFT, RIGHT)]
        stage = stream.child(CERTIFYING) if look == 0 else stream.child(CERTIFYING, RIGHT + look)
        plan = Calls([Side(pair[side], left[side], stage.child(side), size) for side in (LEFT, RIGHT)], _order(stage))
        started = time.perf_counter()
        found: list[list[np.ndarray]] = []
        try:
            odd += draw(subject, plan, read, found.append, place)
        except TimedOut:
            if look == 0:
                raise
            break
        _add(found, plan, tallies[look:])
        seconds, reached = seconds + time.perf_counter() - started, look
        drawn = [done + more for done, more in zip(drawn, left, strict=True)]
    return PlayedGames([tally.finish(rest.rng()) for tally in tallies[reached]], reached, sum(drawn) - before, odd)


def list_totals(runs: int, looks: int) -> tuple[int, ...]:
    """Return the totals of runs at which a game may end: each is half of the next."""
    return tuple(sorted({math.ceil(runs / 2**part) for part in range(looks)}))


def deal_runs(totals: Sequence[int], stream: Stream) -> list[tuple[int, int]]:
    """Return the runs on either dataset at each total: a fair coin decides each of them."""
    coins = stream.child(COINS).rng()
    on_left = np.cumsum([coins.binomial(more, 0.5) for more in np.diff(totals, prepend=0)]).tolist()
    return [(count, total - count) for count, total in zip(on_left, totals, strict=True)]


def _add(found: Sequence[list[np.ndarray]], plan: Calls, tallies: Sequence[Sequence[Tally]]) -> None:
    """Add the counts of all calls, in order, to the tallies of all totals that are not reached yet."""
    sides = np.array([plan.locate(call)[0] for call in range(len(plan))])
    for number, counts in enumerate(map(np.concatenate, zip(*found, strict=True))):
        for games, side in itertools.product(tallies, (LEFT, RIGHT)):
            games[number].add(side, counts[sides == side])


@one_thread()
@np.errstate(all="ignore")
def count_guesses(events: Sequence[EventPair], calls: list[Outputs]) -> list[np.ndarray]:
    """Return how often each pair of events guessed "left" and "right" in each call, shape (calls, 2)."""
    kinds = {(type(call.raw), getattr(call.raw, "dtype", None), call.numbers.shape[1:]) for call in calls}
    are_alike = len(kinds) == 1 and isinstance(calls[0].raw, np.ndarray) and all(call.symbols is None for call in calls)
    groups = [calls] if are_alike else [[call] for call in calls]  # to join others might change them
    parts = [(by_column(concatenate(group)), list(map(len, group))) for group in groups]
    return [np.concatenate([_count(pair, *part) for part in parts]) for pair in events]


def _count(events: EventPair, outputs: Outputs, sizes: list[int]) -> np.ndarray:
    starts = np.cumsum([0, *sizes[:-1]])
    return np.stack([np.add.reduceat(each, starts, dtype=np.int64) for each in events.test_events(outputs)], axis=1)


# The division of a budget: tuned by `benchmarks.bugs.event_values`, `benchmarks.overhead`
PROBED = 2  # outputs that show their layout
LONG_SHARE = 6  # a long call on one dataset is made where the budget is this many times its size
LONG_SHARE_STATED = 1  # the same where the law is stated, and the game, whose outputs it takes, decides nothing

# The best interval of any width: tuned by `python -m benchmarks.violations`
SCAN_SHARE = 0.2  # of the significance; the rest is that of the simple events, certified on the same outputs
CHANCE_SCAN = 3.0  # evidence of the best interval that chance seldom reaches on one pair

_FEWEST_OUTPUTS = 500  # per dataset and pair: with fewer, nothing is learned however slow a mechanism is
_SHORTEST_TIMED, _MOST_TIMED = 0.02, 4096  # seconds and outputs of a call that shows the cost
_LONGER, _FALLS = 4, 0.7  # growth of the calls; ratio of the costs of an output in two of them, below which it falls
SLOW_CALL, _SHOWS_SLOW = 50e-6, 64  # seconds for an output above which it is slow; outputs of a call that show it
_SLOW_CALLS, _TIMING_SHARE = 3, 0.1  # calls that show that the time is too short; share of it to find that out
_MOST_TYPES = 4  # of outputs, that a reason names
_HOPELESS = 4  # times the outputs that the time leaves, below which no game resolves the claim
_AMPLE, _SAFE = 0.1, 0.8  # share of a time limit that needs no checkpoints; of the rest of it, that is planned
CHECKPOINTS = 4  # totals of runs, each twice the last one, at which a game may end by the time
LAST_LOOK = 0.7  # share of the significance of the last checkpoint; the others share the rest equally


def plan_outputs(terms: PrivacyTerms, significance: float, pairs: int) -> tuple[int, int]:
    """Return the outputs per dataset, and the certifying runs among them, that resolve a claim at all its points."""
    of_simple_events, points = significance * (1 - SCAN_SHARE), terms.claim.resolved_points
    targets = [(at.epsilon, terms.allowed_epsilon(at), at.delta, of_simple_events) for at in points]
    most = max(runs_to_resolve(*target) or MOST_BUDGET for target in targets)
    shows = math.ceil(pairs * _showing(terms, most, SCAN_SHARE * significance) / SCAN_MOST)
    return min(MOST_BUDGET, max(Split.budget_for(most, pairs), shows)), most


def _showing(terms: PrivacyTerms, runs: int, level: float) -> int:
    """Return the training outputs per dataset that show an interval at an unknown place, at every point of a claim."""
    designs = [TestDesign(*at, FEWEST_SEEN, runs, level) for at in terms.claim.resolved_points]
    return max(training_for(design, 1, LARGEST) for design in designs)


def time_draws(
    subject: Subject, pairs: Sequence[Any], budget: int, seconds: float, stream: Stream
) -> tuple[float, int]:
    """Return the seconds that an output takes, by growing calls, and the outputs that showed it.

    A machine under load measures a higher cost, so that the least of several slow calls of a size counts.
    Evidence depends on timing only if the time limit is short, and where an output takes about `SLOW_CALL`.
    """
    size, drawn, cost, spent, slow = 1, 0, math.inf, 0.0, 0
    is_alike = isinstance(subject.mechanism, PerCall)  # then the outputs of long calls take as long
    while size <= _MOST_TIMED and slow < _SLOW_CALLS and spent <= _TIMING_SHARE * seconds:
        started = time.perf_counter()
        try:
            subject.draw(pairs[0][0], size, stream.child(size, slow).digest())
        except (SubjectFailed, BadLength):
            break
        elapsed, drawn, before = time.perf_counter() - started, drawn + size, cost
        cost, spent = min(cost, elapsed / size), spent + elapsed
        is_shown = is_alike and elapsed > _SHORTEST_TIMED
        falls = elapsed / size < _FALLS * before and not is_shown  # a call takes long, whatever it returns
        if 2 * budget * cost <= seconds and cost <= SLOW_CALL:
            break
        shows_slow = size >= _SHOWS_SLOW and cost > SLOW_CALL  # or it waited for other processes: call it again
        is_short = falls or (elapsed < _SHORTEST_TIMED and not shows_slow)
        size, slow = (size * _LONGER, 0) if is_short else (size, slow + 1)
    return 0.0 if math.isinf(cost) else cost, drawn


_CONFIRMING, _FEWEST_CONFIRMING = 10_000, 100  # outputs per dataset that confirm what another way of looking found
_CONFIRMING_SECONDS = 1.0  # for which they may be drawn
_MOST_CONFIRMING = 2**21  # numbers in them, per dataset


@dataclass
class Session:
    """Hold the state that the stages of one privacy check share: the subject, and the evidence so far."""

    subject: Subject
    terms: PrivacyTerms
    pairs: Sequence[tuple[Any, Any]]
    method: str
    allowance: Allowance
    scorers: Sequence[Scorer] = SCORERS
    is_asked: bool = False  # whether the user asked for another way of looking beside the games
    is_doubted: bool = False  # whether the game may end as soon as it refutes the claim
    confirms: bool = False  # whether the game confirms what another way of looking found
    looks: tuple[int, int] = (0, 0)  # checkpoints of other games, before and after those of the game that goes on
    audits_floats: bool = False  # whether scores of the bits of floating-point numbers compete
    samples: int = 0
    width: int = 1  # numbers in one output
    anomalies: Counter[str] = field(default_factory=Counter)
    need: tuple[float, ...] = ()  # outputs that would resolve the claim, where the budget or its time does not
    cost: float = 0.0  # seconds that an output takes, where the budget is a name or the time is short
    pace: float = 0.0  # the same wherever there is a time limit, from outputs that nothing is judged by
    packed: bytes | str = ""  # the mechanism as it was before its first call; as text, why it cannot be sent
    asked: Any = None  # evidence of new processes about outputs that never vary
    ends: float = math.inf  # seconds of the clock at which this stage should be over

    @property
    def is_stated(self) -> bool:
        """Return whether a stated law decides, and the game beside it does not."""
        return self.method != "fixed" and states_a_law(self.subject.mechanism)

    @property
    def place(self) -> Place:
        """Return where calls are made: here if the mechanism has a generator, whose copies would repeat its noise.

        A game that only confirms is shorter than the start of other processes.
        """
        keeps = self.subject.own_randomness and not getattr(self.subject.mechanism, "is_process", False)
        shows = not self.anomalies.keys().isdisjoint((OWN_RANDOMNESS, STATEFUL))
        return HERE if keeps or shows or self.confirms else self.allowance.place

    @property
    def is_short(self) -> bool:
        """Return whether the time limit leaves far fewer outputs than a PASS needs."""
        is_limited = any(kind.startswith(LIMITED) for kind in self.anomalies)
        return is_limited and _HOPELESS * self.allowance.budget < max(self.need, default=0.0)

    def note(self, found: Counter[str]) -> None:
        for kind, count in found.items():
            shared = kind == "mutated its dataset" and self.subject.calls_share_a_copy
            self.anomalies[kind + " between calls" if shared else kind] += count

    def count_anomalies(self) -> dict[str, int]:
        return dict(sorted(self.anomalies.items()))

    def open(self) -> None:
        """Refuse inputs that cannot be examined, before the budget is spent."""
        budget, pairs = self.allowance.budget, len(self.pairs)
        if budget < 2 * pairs:
            raise InvalidArgument.of("budget", f"be at least {2 * pairs}, 2 outputs for each of {pairs} pairs", budget)
        if self.method == "exact" and not states_a_law(self.subject.mechanism):
            stating = "give the mechanism `law(dataset)` or `privacy_loss(left, right)`"
            raise InvalidArgument(f"method='exact' needs a stated law: {stating}, or use method='auto'")
        self.packed = pack_without_caches(self.subject.mechanism)
        started = time.perf_counter()
        self.width = probe_length(self.subject, self.pairs[0][0], self.allowance.stream.child(Stream.PROBE, 0))
        self.pace, self.samples = (time.perf_counter() - started) / 2, self.samples + PROBED
        if self.allowance.enough is self.allowance.seconds is None and self.method in ("auto", "fixed"):
            due, _ = plan_outputs(self.terms, self.allowance.significance, pairs)
            self.need = (float(due),) if budget < due < MOST_BUDGET else ()
        clock().planned = 4 * budget  # as many again may confirm what is suspected
        ample = math.inf
        if self.allowance.limit is not None:
            now, ample = clock(), _AMPLE * self.allowance.limit
            self.ends = now.elapsed + FIRST_SHARE * now.left  # a search may have come before
        if self.allowance.seconds is not None or 2 * budget * self.pace > ample:  # first calls take longest
            self._fit_in_time()

    def _fit_in_time(self) -> None:
        """Take as small a budget as the time leaves, by the cost of an output."""
        allowance, stream = self.allowance, self.allowance.stream.child(Stream.PROBE, 3)
        budget, seconds, is_named = allowance.budget, allowance.first_seconds, allowance.enough is not None
        cost, drawn = time_draws(self.subject, self.pairs, budget, seconds, stream)
        self.pace, self.cost = cost, cost if is_named else 0.0
        if allowance.enough is not None and len(self.schedule(allowance.enough)) > 1:
            self._allow_for_checkpoints()
            allowance, budget = self.allowance, self.allowance.budget
        if 2 * budget * cost <= seconds:
            return
        few = _FEWEST_OUTPUTS * len(self.pairs)
        if allowance.limit is not None:
            few = min(few, int(FIRST_SHARE * allowance.limit / cost / 2))
        self.samples += drawn  # evidence depends on the time only where it does not suffice
        granted = min(budget, max(int(_SAFE * seconds / cost / 2), few, 2 * len(self.pairs)))
        self.allowance, self.cost = replace(allowance, budget=granted, enough=None), cost
        due, needs = max([float(budget), *self.need]), 2 * cost * budget
        if allowance.seconds is not None and needs > allowance.seconds:
            self.need = (due, float(f"{needs:.2g}"))
        if allowance.limit is not None and needs > FIRST_SHARE * allowance.limit:
            self.note_limit(needs)

    def _allow_for_checkpoints(self) -> None:
        """Take as many outputs as the last checkpoint needs, which has a share of the significance."""
        budget, enough = plan_outputs(self.terms, LAST_LOOK * self.allowance.significance, len(self.pairs))
        self.allowance = replace(self.allowance, budget=budget, enough=enough)

    def doubt(self) -> None:
        """Let the game end at the first checkpoint that refutes the claim, where the budget can allow for that."""
        if self.allowance.enough is not None:
            self.is_doubted = True
            self._allow_for_checkpoints()

    def keep_to_time(self) -> None:
        """Take as small a budget as an early look has left the time for, where the time is short."""
        if self.is_short:
            rest = (self.samples + FIRST_SHARE * self.affordable()) / 2 + 2 * len(self.pairs)
            self.allowance = replace(self.allowance, budget=int(min(self.allowance.budget, rest)))

    def take_few(self) -> None:
        """Take as few outputs as confirm other evidence; none where they are slow."""
        fast = int(_CONFIRMING_SECONDS / 2 / self.cost) if self.cost > 0 else _CONFIRMING
        time_draws = self.samples // 2
        narrow = time_draws + max(_FEWEST_CONFIRMING, _MOST_CONFIRMING // self.width)
        budget = min(self.allowance.budget, fast, _CONFIRMING, narrow)
        self.allowance = replace(self.allowance, budget=budget if budget >= _FEWEST_CONFIRMING else 0, enough=None)
        self.confirms = True
        self.need, self.anomalies = (), Counter({k: n for k, n in self.anomalies.items() if not k.startswith(LIMITED)})

    def note_limit(self, seconds: float) -> None:
        """Note that the time limit ended the drawing, where this many seconds of drawing at first would do."""
        if not any(kind.startswith(LIMITED) for kind in self.anomalies):
            clause = f"an output takes {self.pace:.2g} s, and the time limit ended the drawing: set "
            self.anomalies[f"{LIMITED}{clause}{self.allowance.timeout_for(seconds)}"] = 1

    def schedule(self, runs: int) -> tuple[int, ...]:
        """Return the totals of runs at which a game may end; one where the time is ample and nothing is doubted.

        Which of them is the last one may depend on the time that calls take, and this on the outputs: a mechanism may
        take longer where an event happens, and so choose when its game ends. Therefore the totals are fixed before the
        game, by the cost of outputs that it does not use; each ends a whole block of calls on both sides; and each
        is judged at a share of the significance, as `share_of` has it. At a fixed total the number of right guesses
        has its binomial law, so that the game refutes a true claim at any of them with probability at most the sum of
        the shares, whatever decides between them. Calls beyond the last total that was reached count for nothing.
        """
        limit, (before, after) = self.allowance.limit, self.looks
        if after or (not self.is_doubted and (limit is None or runs * self.pace <= _AMPLE * limit)):
            return (runs,)
        return list_totals(runs, CHECKPOINTS - before)

    def play(
        self, pair: int, events: Sequence[EventPair], totals: Sequence[int], stream: Stream, size: int, **settings: Any
    ) -> PlayedGames:
        """Play a game on a pair where calls are made, and note its outputs; `settings` are those of `play`."""
        game = partial(play, self.subject, self.pairs[pair], events, totals, stream, size=size, **settings)
        try:
            played = game(place=self.place)
        except (ImportError, AttributeError):  # a worker cannot import the mechanism: draw here, from the same seeds
            played = game(place=HERE)
        self.samples += played.drawn
        self.note(played.odd)
        return played

    def has_time_for(self, seconds: float) -> bool:
        """Return whether this stage may take that much longer."""
        now = clock()
        return math.isinf(now.seconds) or now.elapsed + seconds <= self.ends

    def affordable(self) -> float:
        """Return the runs that the rest of the time allows, by the pace so far."""
        now = clock()
        return max(0.0, _SAFE * now.left / now.pace) if now.pace > 0 else math.inf

    def probe(self, drawn: Sequence[Sequence[Outputs]]) -> None:
        """Look for dependence among calls of one size, given for each dataset."""
        found = compare_calls(drawn, self.allowance.stream.child(Stream.PROBE, 1).rng())
        self.anomalies.update(dict.fromkeys(found, 1))
        tables = (calls[0].texts.get("type(output)") for calls in drawn)
        types = sorted({kind for texts in tables if texts is not None for kind in texts.table})
        if 1 < len(types) <= _MOST_TYPES:
            self.anomalies[f"{TYPES}{join_names(types)}"] = 1
        self.anomalies.update({f"{COUNTS}{place}": 1 for place in find_counters(drawn)})
        if (spent := find_spending(drawn)) is not None:
            self.anomalies[f"{SPENT}{spent}"] = 1

    def draw_pair(self, pair: int, calls: int, size: int, stream: Stream) -> tuple[list[Outputs], list[Outputs]]:
        """Draw some calls of one size on both datasets of a pair, and note their anomalies."""
        drawn, odd = draw_calls(self.subject, [self.pairs[pair]], calls, size, stream)
        self.samples += 2 * calls * size
        self.note(odd)
        return drawn[0]

    def probe_pair(self, pair: int, size: int) -> None:
        """Draw calls of one size on a pair, and look for dependence among them."""
        stream = self.allowance.stream.child(Stream.PROBE, 2)
        drawn = self.draw_pair(pair, TRAINING_CALLS, size, stream)
        self.repeat(drawn[LEFT][0], Side(self.pairs[pair][LEFT], size, stream.child(0, LEFT), size))
        self.probe(drawn)

    def repeat(self, first: Outputs, side: Side) -> None:
        """Make the first call on a side again, with the same seed; a subject of its own randomness is not asked."""
        if self.subject.own_randomness or self.samples + side.size > 2 * self.allowance.budget:
            return
        again: list[Outputs] = []
        draw(self.subject, Calls([replace(side, total=side.size)]), list, again.extend)
        self.samples += side.size
        if not are_identical(first, again[0]):
            is_called_once_each = isinstance(self.subject.mechanism, PerCall)  # with `rng`: others are not asked
            self.anomalies[STATEFUL if is_called_once_each else OWN_RANDOMNESS] = 1


@dataclass(frozen=True)
class Choice:
    """Name the test of the certifying runs: a pair, its events, and the (epsilon, delta) to refute."""

    pair: int
    events: EventPair
    point: Point
    runs: int  # certifying runs, both datasets together
    interval: Scanned | None = None  # the interval event that is certified beside them

    @property
    def shared(self) -> list[tuple[EventPair, float]]:
        """The events to certify, and the share of the significance of each: all of it where there is no interval."""
        if self.interval is None or self.interval.evidence == -math.inf:
            return [(self.events, 1.0)]
        return [(self.events, 1 - SCAN_SHARE), (self.interval.events, SCAN_SHARE)]


class Trained(NamedTuple):
    drawn: Sequence[tuple[Outputs, Outputs]]  # to train on
    aside: Drawn  # early certifying calls
    split: Split
    choice: Choice | None  # None when there is nothing to test


def train(session: Session) -> Trained:
    """Draw training outputs, probe, and choose; again with more outputs as long as chance decided on the choice."""
    budget, pairs, stream = session.allowance.budget, session.pairs, session.allowance.stream
    largest = 0.0 if session.confirms else max(point.epsilon for point in session.terms.claim.points)
    shows = 0 if session.is_stated else _showing(session.terms, 2 * budget, SCAN_SHARE * session.allowance.significance)
    split = Split.of(budget, len(pairs), session.width, largest, session.is_stated, shows)
    drawn, aside = _draw(session, split)
    if session.method == "exact":
        return Trained(drawn, aside, split, None)
    choice, stage = _choose(session, drawn, split), MORE
    while choice is not None and choice.events.needs_more > 1 and split.more:
        before, split = split, split.with_more(choice.events.needs_more)
        calls = (split.training - before.training) // split.call
        more, found = draw_calls(session.subject, pairs, calls, split.call, stream.child(stage))
        session.samples += 2 * calls * split.call * len(pairs)
        session.note(found)
        drawn = [
            (concatenate([left, more_left]), concatenate([right, more_right]))
            for (left, right), (more_left, more_right) in zip(drawn, join_calls(more), strict=True)
        ]
        stage += 1
        choice = _choose(session, drawn, split)
    return Trained(drawn, aside, split, choice)


def _draw(session: Session, split: Split) -> tuple[list[tuple[Outputs, Outputs]], Drawn]:
    """Draw training calls, and those set aside; when a whole batch raises, start again with one output per call."""
    pairs, stream = session.pairs, session.allowance.stream.child(TRAINING)
    is_exact = session.method == "exact"  # nothing is certified by a game: all outputs test the sampler
    whole = max(1, (session.allowance.budget - 1) // (len(pairs) * split.call) - 1)
    calls = whole if is_exact else split.training // split.call + split.early
    try:
        drawn, found = draw_calls(session.subject, pairs, calls, split.call, stream)
    except SubjectFailed as failure:
        if failure.kind != "raised":
            raise
        drawn = []
    if not drawn:  # outside of `except`, since exceptions raised there would carry the first one as their context
        session.subject = replace(session.subject, one_by_one=True)
        drawn, found = draw_calls(session.subject, pairs, calls, split.call, stream)
    size = calls * split.call
    session.samples += 2 * size * len(pairs)
    session.note(found)
    first = drawn[0][LEFT][0].keys()[0]
    if all(bool(np.all(call.keys() == first)) for pair in drawn for side in pair for call in side):
        if found["raised"] == 2 * size * len(pairs):
            symbols = drawn[0][0][0].symbols
            said = symbols.table[0] if symbols else "raised"
            advice = advise_on_exception(session.subject.mechanism, said)
            raise SubjectFailed("raised", f"{said}, in every run: {advice}")
        session.anomalies["constant"] += 1
    session.repeat(drawn[0][LEFT][0], Side(pairs[0][LEFT], size, stream.child(0, LEFT), split.call))
    session.probe([side for pair in drawn for side in pair])
    kept, aside = set_aside(drawn, 0 if is_exact else split.early, session.allowance.stream.child(Stream.ASIDE))
    return join_calls(kept), aside


@one_thread()
def _choose(session: Session, drawn: Sequence[tuple[Outputs, Outputs]], split: Split) -> Choice | None:
    """Choose pair, events and point; None when there is nothing left to draw or no scorer reads the outputs."""
    claim = session.terms.claim
    early, room = 2 * split.early * split.call, 2 * (split.call - 1)  # the last call of either side has to be whole
    runs = 2 * session.allowance.budget - session.samples + early - room - long_call(session)
    if runs < 1:
        return None
    runs = min(runs, session.allowance.enough or runs)
    level, certain = session.allowance.significance, session.allowance.confirmation
    if certain is not None and getattr(session.subject.mechanism, "uses", "") == DRAWN_BEFORE:  # no fresh ones follow
        level = min(level, certain)
    level *= 1 - SCAN_SHARE
    more = bool(split.more) and len(drawn) == 1 and not claim.is_curve  # else another candidate may be the best
    designs = [TestDesign(*at, split.training, runs, level, more) for at in claim.points]
    choices: list[tuple[float, Choice, Callable[[], Scanned | None]]] = []
    for index, (outputs, pair) in enumerate(zip(drawn, session.pairs, strict=True)):
        training = Training(*outputs, session.subject.mechanism, pair)
        slow = CONFIRMING_SCORERS if session.confirms else SLOW_SCORERS
        chosen = choose_events(training, designs, session.scorers, slow)  # scores are fitted once
        for point, design, events in zip(claim.points, designs, chosen, strict=True):
            if events is not None:
                excess = _excess(events, point, design, outputs) if claim.is_curve else 0.0
                look: Callable[[], Scanned | None] = partial(scan, training, design, events.reading)
                choices.append((excess, Choice(index, events, point, runs), look))
    if choices:
        excess, best, look = max(choices, key=itemgetter(0))
        if excess > 0:
            return replace(best, interval=look())
    usual = [replace(choice, interval=look()) for _, choice, look in choices if choice.point == claim.point]
    by_bound = max(usual, key=lambda choice: choice.events.estimated_bound, default=None)
    by_interval = max(usual, key=_evidence_of_interval, default=None)
    if by_bound is None or by_interval is None or by_bound.events.estimated_bound > claim.point.epsilon:
        return by_bound
    return by_interval if _evidence_of_interval(by_interval) > CHANCE_SCAN else by_bound


def _evidence_of_interval(choice: Choice) -> float:
    return -math.inf if choice.interval is None else choice.interval.evidence


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


def long_call(session: Session) -> int:
    """Return the size of the call that shows how a mechanism behaves in large ones; 0 for a small budget."""
    share = LONG_SHARE_STATED if session.is_stated else LONG_SHARE
    return BLOCK if session.allowance.budget >= share * BLOCK else 0
