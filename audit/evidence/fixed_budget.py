"""Run the fixed-budget audit: train on one part of the budget, certify on the rest.

For every pair, some outputs are drawn to choose events. The pair with the largest estimated bound is certified on
fresh outputs. Nothing that the choice saw is used again, so the one test at the end carries the whole significance.

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
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from audit.events.candidates import EventPair
from audit.events.violations import SCAN_MOST
from audit.execution.batches import BLOCK, Calls, Side, map_blocks
from audit.execution.deadline import TimedOut, drawing, one_thread
from audit.execution.seeds import HERE, Block, Place, Stream
from audit.mechanism.call import Subject
from audit.outputs.encode import Outputs, by_column
from audit.outputs.schema import concatenate
from audit.scorers.directions import SCAN_NEEDS
from audit.statistics.guess_game import GameCounts
from audit.statistics.independence import CallStatistics, Tally

# The division of a budget: tuned by `benchmarks.bugs.event_values`, `benchmarks.overhead`
FIRST_SHARE = 0.125  # of the budget that trains
STATED_SHARE = 0.375  # of the budget that trains, and is compared with the law, where a law is stated
MORE_SHARE = 0.2  # of it that also trains when the events found are rare, so that chance decides which look best
FEWEST_FIRST, FEWEST_SHARE = 300, 0.3  # outputs per dataset that show an event, unless they exceed this share
MOST_FIRST, MOST_MORE = 100_000, 550_000  # outputs per dataset over all pairs, in a step: bounds memory
MOST_NUMBERS = 2**24  # numbers per dataset: bounds memory for wide outputs (128 MiB)
FEWEST_SEEN = 2_100  # training outputs per dataset and pair that show events of probability 0.01, early ones included
OVERSTATED = 4.0  # the outputs needed are overstated by this factor at least: with more of them the estimate rises
TRAINING_CALLS = 32  # calls per dataset in which the first outputs are drawn; seven times as many certify. TIME
FEWEST_TRAINING_CALLS = 8  # of numbers, where memory bounds how many train; others show dependence. TIME
TRAINING_PER_EARLY = 4  # training calls for each one that is set aside and certifies
CALLS_PER_ODDS, MOST_CALLS = 8.0, 20_000  # calls per dataset: this many e^epsilon at least, so that calls alone refute

_FEW_CALLS = 64  # calls up to which guesses are counted one call after the other. TIME
_FEWEST_JOINED = 4  # calls that are joined to be read: fewer are long. TIME

Read = Callable[[list[Outputs]], Any]


def draw(subject: Subject, calls: Calls, read: Read, take: Callable[[Any], None], place: Place = HERE) -> Counter[str]:
    """Make calls, give the values read from consecutive ones to `take`, in order; return their anomalies."""
    work, odd = partial(_draw_group, subject, read), Counter[str]()
    with drawing(calls.outputs, is_elsewhere=not place.is_here):
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
    for block in group:
        outputs, found = subject.draw(block)
        if found:  # as a rule there is nothing, and an update takes as long as to draw some outputs
            odd.update(found)
        drawn.append(outputs)
        waiting += len(outputs)
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
        is_long = width == pairs == 1 and usual > largest  # fewer and longer calls train; as many more of them certify
        per_call = min(usual, largest) // (FEWEST_TRAINING_CALLS if is_long else TRAINING_CALLS)
        training = max(1, first // pairs)
        size = _size_calls(per_call, budget, epsilon, training)
        number = training // size
        early = max(number // TRAINING_PER_EARLY, is_long * (TRAINING_CALLS - number))
        return cls(number * size, _plan_steps(min(more, most), pairs, size), size, early)

    @staticmethod
    def budget_for(runs: int, pairs: int) -> int:
        """Return the outputs per dataset that leave this many certifying runs, and show rare events of each pair."""
        training = FIRST_SHARE * (1 + 1 / TRAINING_PER_EARLY) + MORE_SHARE
        certifying = math.ceil(runs / 2 / (1 - training))
        return max(certifying + certifying // 100, math.ceil(FEWEST_SEEN * pairs / FIRST_SHARE)) + BLOCK

    def with_more(self, wanted: float) -> Split:
        """Let one more step train, or all steps needed to come near `wanted` times the outputs."""
        sizes = np.cumsum((self.training, *self.more))
        taken = int(np.clip(np.searchsorted(sizes, wanted / OVERSTATED * self.training), 1, len(self.more)))
        return replace(self, training=int(sizes[taken]), more=self.more[taken:])


def _count_training(budget: int, scanned: int, largest: int, stated: bool) -> tuple[float, int, int]:
    """Return how many outputs of all pairs show usual events, how many train first, and how many more may train."""
    usual, more = (STATED_SHARE * budget, 0.0) if stated else (FIRST_SHARE * budget, MORE_SHARE * budget)
    if usual < FEWEST_FIRST:  # too few to choose events by: take more at once, and no more later
        usual, more = max(min(FEWEST_SHARE * budget, FEWEST_FIRST), SCAN_MOST * budget), 0.0
    first = int(min(max(usual, min(scanned, SCAN_MOST * budget, usual + more)), largest))
    return usual, first, int(min(more, usual + more - first))


def bound_call(width: int) -> int:
    """Return an upper bound of the outputs of one call of a game, where each output has `width` numbers."""
    return max(1, min(BLOCK, MOST_NUMBERS // width // TRAINING_CALLS))


def _size_calls(per_call: float, budget: int, epsilon: float, training: int) -> int:
    """Return the outputs of a call: at most `per_call`, and so few that the calls alone refute."""
    calls = min(MOST_CALLS, CALLS_PER_ODDS * math.exp(min(epsilon, 50.0)))
    return int(np.clip(min(per_call, budget / calls), 1, min(training, BLOCK)))


def _plan_steps(room: int, pairs: int, size: int) -> tuple[int, ...]:
    """Return the outputs that each further step trains on: of every pair, in whole calls."""
    steps = (MOST_MORE, MOST_MORE) if room >= 2 * MOST_MORE else (min(MOST_MORE, room),)
    return tuple(part // pairs // size * size for part in steps if part // pairs >= size)


def draw_calls(
    subject: Subject, pairs: Sequence[tuple[Any, Any]], calls: int, size: int, stream: Stream
) -> tuple[Drawn, Any]:
    """Draw some calls of one size on both sides of every pair; return them with their anomalies."""
    keys = [stream.child(index, side) for index in range(len(pairs)) for side in (LEFT, RIGHT)]
    datasets = [dataset for pair in pairs for dataset in pair]
    sides = [Side(dataset, calls * size, key, size) for dataset, key in zip(datasets, keys, strict=True)]
    plan = Calls(sides, _order(stream))
    kept: list[Outputs] = []
    odd = draw(subject, plan, _kept, kept.extend)
    drawn: list[list[Outputs]] = [[] for _ in sides]
    for call, outputs in enumerate(kept):
        drawn[plan.locate(call)[0]].append(outputs)
    return list(zip(drawn[::2], drawn[1::2], strict=True)), odd


def _order(stream: Stream) -> int:
    """Return the seed of the order of the calls."""
    return int(stream.seed().generate_state(1, np.uint64)[0])


def _kept(calls: list[Outputs]) -> list[Outputs]:
    return calls


def joined(drawn: Drawn) -> list[tuple[Outputs, Outputs]]:
    """Return the outputs of all calls on each side of each pair."""
    return [(concatenate(left), concatenate(right)) for left, right in drawn]


def set_aside(drawn: Drawn, early: int, stream: Stream) -> tuple[Drawn, Drawn]:
    """Split the calls at random: those to train on, and `early` on each dataset that are set aside."""
    rng = stream.rng()

    def parts(calls: list[Outputs]) -> tuple[list[Outputs], list[Outputs]]:
        held = set(rng.permutation(len(calls))[:early].tolist())
        return (
            [call for place, call in enumerate(calls) if place not in held],
            [call for place, call in enumerate(calls) if place in held],
        )

    split = [(parts(left), parts(right)) for left, right in drawn]
    return [(left[0], right[0]) for left, right in split], [(left[1], right[1]) for left, right in split]


class PlayedGames(NamedTuple):
    """Hold games that ended at one of the totals of runs that were planned."""

    games: list[tuple[GameCounts, CallStatistics]]  # of each pair of events: counts, and dependence in the calls
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
    read, dues = partial(_guesses_of_each, events), deal_runs(totals, stream)
    tallies = [[Tally.of(size, due) for _ in events] for due in dues]
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
def _guesses_of_each(events: Sequence[EventPair], calls: list[Outputs]) -> list[np.ndarray]:
    """Return how often each pair of events guessed "left" and "right" in each call, shape (calls, 2)."""
    kinds = {(type(call.raw), getattr(call.raw, "dtype", None), call.numbers.shape[1:]) for call in calls}
    are_alike = len(kinds) == 1 and isinstance(calls[0].raw, np.ndarray) and all(call.symbols is None for call in calls)
    if are_alike and len(calls) >= _FEWEST_JOINED:
        whole, sizes = by_column(concatenate(calls)), list(map(len, calls))
        return [_count(pair, whole, sizes) for pair in events]
    alone = [by_column(call) for call in calls]  # to join others might change them
    return [np.concatenate([_count(pair, call, [len(call)]) for call in alone]) for pair in events]


def guesses_of_calls(events: EventPair, calls: list[Outputs]) -> np.ndarray:
    """Return how often "left" and "right" were guessed in each call, shape (calls, 2)."""
    return _guesses_of_each([events], calls)[0]


def _count(events: EventPair, outputs: Outputs, sizes: list[int]) -> np.ndarray:
    left, right = events.guessed(outputs)
    ends = list(itertools.accumulate(sizes, initial=0))
    if len(sizes) <= _FEW_CALLS:
        parts = itertools.starmap(slice, itertools.pairwise(ends))
        return np.array([(np.count_nonzero(left[part]), np.count_nonzero(right[part])) for part in parts])
    return np.stack([np.add.reduceat(each, ends[:-1], dtype=np.int64) for each in (left, right)], axis=1)
