"""Learn an analyst: the answers so far choose the next move, the one that tells the datasets apart best after them.

Each answer has a score, an estimated log-likelihood ratio, and their sum over a conversation says which dataset is the
likelier one. Turn by turn, conversations that certify nothing make all moves, and for either sign of the sum the move
is kept whose score differs most in mean between the datasets. Two signs for each turn: moves are few, and so are
conversations.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from audit.api import InvalidArgument, Score, Stream
from audit.extensions.interactive.conversation import DATA, OVER, Conversation, Moves, Turns, answer_to, move_of
from audit.extensions.interactive.forks import answer_score, scored

_RUNS = 100  # conversations on each dataset for each move and turn
_MOST_MOVES = 200


class Choice(NamedTuple):
    """Hold what is asked after answers that are likelier on one dataset, and the score of the answer."""

    step: tuple[Any, ...]
    score: Score | None
    gain: float  # difference of the mean scores


@dataclass(frozen=True)
class LearnedPlan:
    """An analyst whose next move depends on the sum of the scores of the answers so far."""

    choices: tuple[tuple[Choice, Choice], ...]  # of each turn: where the sum is below 0, and where it is not
    functions: Mapping[str, Any]

    def __call__(self) -> Turns:
        answers: list[Any] = []
        total = 0.0
        for turn in self.choices:
            choice = turn[total >= 0]
            move = move_of(choice.step, answers, self.functions)
            if move is not OVER:
                answers.append((yield move))
                total += _score(choice, answers[-1])

    def asked(self, talk: Conversation, data: Any, step: Any, rng: np.random.Generator) -> tuple[bool, Any]:
        """Return the answer to one more move, and whether the sum of scores before it was at least 0."""
        opened, answers, total = talk.open(data, rng), list[Any](), 0.0
        for turn in (*self.choices, None):
            choice = Choice(step, None, 0.0) if turn is None else turn[total >= 0]
            move = move_of(choice.step, answers, self.functions)
            answer = "" if move is OVER else answer_to(opened, move)
            if turn is None:
                return total >= 0, _said(answer)
            if move is not OVER:
                answers.append(answer)
                total += _score(choice, answer)
        raise AssertionError


def _said(answer: Any) -> Any:
    return answer if isinstance(answer, DATA) else f"<{type(answer).__name__}>"


def _score(choice: Choice, answer: Any) -> float:
    return float(scored(choice.score, [_said(answer)])[0])


def learned(talk: Conversation, pairs: Sequence[tuple[Any, Any]], moves: Moves, stream: Stream) -> tuple[Any, int]:
    """Return the analyst that learns most, over all pairs, and the conversations opened.

    Raises
    ------
    InvalidArgument
        If arguments are not lists, or there are too many moves.
    """
    if wrong := [v for values in moves.table.values() for v in values if not isinstance(v, Sequence)]:
        raise InvalidArgument.of("table", "list all arguments of moves that are learned", wrong[0], "[0.1, 0.5]")
    names = {function: text for text, function in moves.functions.items()}
    steps = [
        (name, *(names[value] if callable(value) else value for value in values))
        for name, arguments in moves.table.items()
        for values in itertools.product(*arguments)
    ]
    if len(steps) > _MOST_MOVES:
        raise InvalidArgument.of("table", f"give at most {_MOST_MOVES} moves that are learned", len(steps))
    found = [_learned(talk, pair, moves, steps, stream.child(index)) for index, pair in enumerate(pairs)]
    _, choices = max(found, key=lambda each: each[0])
    return LearnedPlan(choices, moves.functions), 2 * _RUNS * len(steps) * moves.length * len(pairs)


def _learned(talk: Conversation, pair: Any, moves: Moves, steps: list[Any], stream: Stream) -> tuple[float, Any]:
    """Return what the turns tell, and the choices; turns that tell nothing prepare for later ones, or are cut off."""
    choices: list[tuple[Choice, Choice]] = []
    for turn in range(moves.length):
        analyst, seen = LearnedPlan(tuple(choices), moves.functions), dict[Any, tuple[list[Any], list[Any]]]()
        for side, data in enumerate(pair):
            rng = stream.child(turn, side).rng()
            for number in range(_RUNS * len(steps)):
                sign, answer = analyst.asked(talk, data, steps[number % len(steps)], rng)
                seen.setdefault((sign, number % len(steps)), ([], []))[side].append(answer)
        usual = Choice(steps[turn % len(steps)], None, 0.0)
        best = [usual, usual]
        for (sign, number), sides in seen.items():
            score = answer_score(sides)
            gain = float(scored(score, sides[0]).mean() - scored(score, sides[1]).mean()) if score else 0.0
            if gain > best[sign].gain:
                best[sign] = Choice(steps[number], score, gain)
        choices.append((best[0], best[1]))
    while len(choices) > 1 and not any(choice.gain for choice in choices[-1]):
        choices.pop()
    return sum(choice.gain for turn in choices for choice in turn), tuple(choices)
