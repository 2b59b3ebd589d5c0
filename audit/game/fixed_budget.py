"""Run the fixed-budget audit: train on one part of the budget, certify on the rest.

For every pair, some outputs are drawn to choose events. The pair with the largest estimated bound is certified on
fresh outputs. Nothing that the choice saw is used again, so the one test at the end carries the whole significance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from audit.game import tuning
from audit.game.events import EventPair
from audit.game.guesses import GameCounts
from audit.subjects import Block, Outputs, Side, Stream, Subject, concatenate, map_blocks
from audit.subjects.pool import Place

TRAINING, COINS, CERTIFYING, VIRTUAL, MORE = range(5)  # children of a stream; each further step has one from MORE on
LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class Split:
    """Divide a budget."""

    training: int  # training outputs per dataset for each pair
    more: tuple[int, ...]  # outputs that also train, step by step, while the events found are rare
    runs: int  # certifying runs, both sides together, when no more outputs train

    @classmethod
    def of(cls, budget: int, pairs: int, spent: int, width: int = 1) -> Split:
        """Divide `budget` outputs per dataset, of `width` numbers, among `pairs`; `spent` (both sides) are gone."""
        most = max(1, tuning.MOST_NUMBERS // width)
        first, more_share = tuning.FIRST_SHARE * budget, tuning.MORE_SHARE
        if first < tuning.FEWEST_FIRST:  # too few to choose events by: take more at once, and no more later
            first, more_share = min(tuning.FEWEST_SHARE * budget, tuning.FEWEST_FIRST), 0.0
        training = max(1, min(int(first), tuning.MOST_FIRST, most) // pairs)
        room = min(int(more_share * budget), most)
        step = tuning.MOST_MORE
        steps = (step, step) if room >= 2 * step else (min(step, room),)
        more = tuple(size // pairs for size in steps if size >= pairs)
        return cls(training, more, max(0, 2 * budget - 2 * training * pairs - spent))

    def with_more(self, wanted: float) -> Split:
        """Let one more step train, or all steps needed to come near `wanted` times the outputs."""
        sizes = np.cumsum((self.training, *self.more))
        taken = int(np.clip(np.searchsorted(sizes, wanted / tuning.OVERSTATED * self.training), 1, len(self.more)))
        return replace(self, training=int(sizes[taken]), more=self.more[taken:])


def draw_training(
    subject: Subject, pairs: Sequence[tuple[Any, Any]], size: int, stream: Stream, stage: int = TRAINING
) -> tuple[list[tuple[Outputs, Outputs]], Counter[str]]:
    """Draw `size` training outputs on both sides of every pair."""
    anomalies: Counter[str] = Counter()

    def one_side(dataset: Any, key: Stream) -> Outputs:
        drawn = [subject.draw(block) for block in Side(dataset, size, key).blocks()]
        anomalies.update(chain.from_iterable(counter.elements() for _, counter in drawn))
        return concatenate([outputs for outputs, _ in drawn])

    keys = [stream.child(stage, index) for index in range(len(pairs))]
    outputs = [
        (one_side(left, key.child(LEFT)), one_side(right, key.child(RIGHT)))
        for (left, right), key in zip(pairs, keys, strict=True)
    ]
    return outputs, anomalies


def play(
    subject: Subject, pair: tuple[Any, Any], events: EventPair, runs: int, stream: Stream, place: Place
) -> tuple[GameCounts, Counter[str]]:
    """Play the guess game: a fair coin decides the side of each run, the events decide the guess."""
    on_left = int(stream.child(COINS).rng().binomial(runs, 0.5))
    sizes = (on_left, runs - on_left)
    sides = [Side(pair[side], sizes[side], stream.child(CERTIFYING, side)) for side in (LEFT, RIGHT)]
    tallies = np.zeros((2, 3), dtype=np.int64)
    anomalies: Counter[str] = Counter()
    for side, (tally, found) in map_blocks(_Guesser(subject, events), sides, place):
        tallies[side] += tally
        anomalies.update(found)
    return GameCounts(*map(int, tallies.ravel())), anomalies


@dataclass(frozen=True)
class _Guesser:
    """Draw blocks and count their guesses: outputs never leave the worker."""

    subject: Subject
    events: EventPair

    def __call__(self, group: Iterable[Block]) -> tuple[np.ndarray, Counter[str]]:
        tally, anomalies = np.zeros(3, dtype=np.int64), Counter[str]()
        for block in group:
            outputs, found = self.subject.draw(block)
            guesses = self.events.guess(outputs)
            plus, minus = (int(np.count_nonzero(guesses == sign)) for sign in (1, -1))
            tally += (plus, minus, len(guesses) - plus - minus)
            anomalies.update(found)
        return tally, anomalies
