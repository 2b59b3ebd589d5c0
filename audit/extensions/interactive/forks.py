"""Fork conversations: at each turn, copy those that are still in an event, so that rare events are seen.

Whole transcripts show the loss of long conversations rarely: ten answers at 0.1 each lie on the same side in one of a
thousand. Events, copies and bet are chosen from whole conversations that certify nothing; `forked.py` has the test and
its proof. An event is a product of events of single answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from audit.api import Allowance, Atoms, CountedCells, InvalidArgument, Outputs, Score, SignedOutput, Training, encode
from audit.extensions.interactive.conversation import OVER, Conversation, answer_to
from audit.extensions.interactive.forked import BranchingProcess, ForkEvidence

Fork = Callable[[Any, dict[int, Any]], Any]
_FORKS = 33  # child of a check's stream
_LENGTHS, _PILOTS, _FORKED = range(3)  # its children
_PILOT, _PILOT_ANSWERS = (0.07, 0.2), 50_000  # least and largest share of the answers that choose events; usual number
_MOST_PILOT = 20_000  # conversations on each dataset
_AT_ONCE = 1_000  # conversations that take a turn together
_PLAIN = frozenset({float, int, bool, np.float64})
_RARITIES = (0.03, 0.1, 0.3, 1.0)  # loss for which a turn gives up one e-fold of its probability
_FEWEST, _NO_GAIN = 20, 1e-9  # survivors that show a ratio; log-ratio that counts as none
_BETS = (0.3, 0.5, 0.7, 0.85, 0.95, 0.999)
# Shares of the likelier dataset that may survive a cut: few, so that chance seldom prefers one, with the half, where
# the ratio of Laplace answers stops rising
_SHARES = np.array([*np.arange(1, 16) / 16, *0.5 ** np.arange(5, 15), *1 - 0.5 ** np.arange(5, 15)])


@dataclass(frozen=True)
class TurnScores:
    """Score the answer to each turn; None where answers tell nothing."""

    parts: tuple[Score | None, ...]

    def of(self, turn: int, answers: Sequence[Any]) -> np.ndarray:
        """Return the score of each answer by itself, 0 where there is none; shape (size,)."""
        return scored(self.parts[turn] if turn < len(self.parts) else None, answers)

    def total(self, rows: Sequence[Sequence[Any]]) -> np.ndarray:
        """Return the sum of the scores of each conversation."""
        found = np.zeros(len(rows))
        for turn in range(len(self.parts)):
            reached = [index for index, row in enumerate(rows) if turn < len(row)]
            found[reached] += self.of(turn, [rows[index][turn] for index in reached])
        return found


def scored(part: Score | None, answers: Sequence[Any]) -> np.ndarray:
    """Return the score of each answer, 0 where there is none; shape (size,)."""
    if part is None:
        return np.zeros(len(answers))
    plain = np.array([type(each) in _PLAIN for each in answers], dtype=bool)
    numbers = np.array([float(each) if is_plain else np.nan for each, is_plain in zip(answers, plain, strict=True)])
    scores = part(Outputs(numbers, numbers))
    for place in np.flatnonzero(~plain).tolist():
        scores[place] = part(encode([answers[place]], 1))[0]
    return np.nan_to_num(scores)


class Plan(NamedTuple):
    """Hold what is fixed before the conversations that certify."""

    bound: float  # expected
    scores: TurnScores
    cuts: np.ndarray  # least score for "left", largest for "right", of each turn; shape (2, turns), inf: all survive
    copies: tuple[int, ...]
    bet: float
    conversations: int


def forked(
    talk: Conversation, pairs: Sequence[tuple[Any, Any]], fork: Fork, allowance: Allowance
) -> tuple[ForkEvidence, int]:
    """Return what survived on the pair that whole conversations choose, and the conversations opened.

    The budget counts answers on each dataset.

    Raises
    ------
    InvalidArgument
        If whole conversations differ in no single answer, or the budget is too small.
    """
    stream, budget, opened = allowance.stream.child(_FORKS), allowance.budget, 0
    share = float(np.clip(_PILOT_ANSWERS / budget, *_PILOT))
    plans: list[tuple[float, int, Plan]] = []
    for index, pair in enumerate(pairs):
        length = max(1, len(_rows(talk, pair[0], 1, stream.child(_LENGTHS, index).rng())[0]))
        size = int(min(_MOST_PILOT, share * budget / len(pairs) / length))
        if size < 40:
            least = int(40 * length * len(pairs) / _PILOT[1]) + 1
            raise InvalidArgument.of("budget", f"be at least {least} answers where conversations are forked", budget)
        sides = [_rows(talk, data, size, stream.child(_PILOTS, index, side).rng()) for side, data in enumerate(pair)]
        opened += 2 * size + 1
        plans += [(at.bound, -index, at) for at in _plans(sides, (1 - share) * budget, allowance.significance)]
    if not plans:
        raise InvalidArgument("`fork` needs answers that differ by themselves between the datasets: leave it out")
    _, index, plan = max(plans, key=lambda each: each[:2])
    counts = Counter[tuple[int, int]]()
    for side, data in enumerate(pairs[-index]):
        for start in range(0, plan.conversations, _AT_ONCE):
            rng = stream.child(_FORKED, side, start).rng()
            number = min(_AT_ONCE, plan.conversations - start)
            found = survivors(talk, data, plan, fork, number, rng)
            counts.update(zip(*found[:: 1 - 2 * side].tolist(), strict=True))
    kept = tuple((right, wrong, number) for (right, wrong), number in sorted(counts.items()) if right or wrong)
    words = f"each of {len(plan.copies)} answers is likelier on that dataset"
    return ForkEvidence(plan.conversations, -index, plan.copies, plan.bet, kept, words), opened + 2 * plan.conversations


def _rows(talk: Conversation, data: Any, size: int, rng: np.random.Generator) -> list[tuple[Any, ...]]:
    rows = (talk.transcript(data, rng) for _ in range(size))
    return [row if isinstance(row, tuple) else () for row in rows]


def _plans(sides: Sequence[list[tuple[Any, ...]]], answers: float, significance: float) -> Iterator[Plan]:
    """Yield the best plans for these conversations, if any answer tells the datasets apart."""
    for scores, rarity in product(_fitted(sides), _RARITIES):
        cuts, chances = _cuts([_columns(scores, side) for side in sides], scores, rarity)
        if not np.isfinite(cuts).any():
            continue
        process = BranchingProcess(chances)
        starts = {process.copies(start) for start in range(len(scores.parts) + 1)}
        bound, bet, copies = max(
            (process.bound(copies, bet, answers, significance), bet, copies) for copies, bet in product(starts, _BETS)
        )
        yield Plan(bound, scores, cuts, copies, bet, max(1, int(answers / process.answers(copies))))


def _fitted(sides: Sequence[list[tuple[Any, ...]]]) -> list[TurnScores]:
    """Fit scores of single answers: of each turn, or one for all, whichever predicts better what it has not seen.

    Where all answers are numbers, they are cut by themselves too.
    """
    turns = max(len(row) for side in sides for row in side)
    halves = [[side[part::2] for side in sides] for part in (0, 1)]
    is_numeric = all(type(each) is float for side in sides for row in side for each in row)
    kinds = [_each, _alike] if is_numeric else [_each]

    def loss(kind: Any) -> float:
        left, right = (kind(halves[0], turns).total(side) for side in halves[1])
        return float(np.logaddexp(0, -left).mean() + np.logaddexp(0, right).mean())

    best = min(kinds, key=loss)
    return [best(sides, turns), *([best(sides, turns, _order)] if is_numeric else [])]


def _each(sides: Sequence[list[tuple[Any, ...]]], turns: int, fit: Any = None) -> TurnScores:
    columns = ([[row[turn] for row in side if turn < len(row)] for side in sides] for turn in range(turns))
    return TurnScores(tuple(map(fit or answer_score, columns)))


def _alike(sides: Sequence[list[tuple[Any, ...]]], turns: int, fit: Any = None) -> TurnScores:
    return TurnScores(((fit or answer_score)([[each for row in side for each in row] for side in sides]),) * turns)


def _order(sides: Sequence[list[float]]) -> Score | None:
    return SignedOutput(1 if np.median(sides[0]) > np.median(sides[1]) else -1) if all(sides) else None


def answer_score(sides: Sequence[list[Any]]) -> Score | None:
    """Return the score of one answer that these ones fit best; None if they tell the datasets apart in no way."""
    if not all(sides):
        return None
    training = Training(_outputs(sides[0]), _outputs(sides[1]))
    if (counted := CountedCells.of(training)) is not None:
        return counted.few(training)
    return next(iter(Atoms().propose(training)), None)


def _outputs(answers: list[Any]) -> Outputs:
    if not all(type(each) in _PLAIN for each in answers):
        return encode(answers, len(answers))
    numbers = np.array(answers, dtype=float)
    return Outputs(numbers, numbers)


def _columns(scores: TurnScores, rows: list[tuple[Any, ...]]) -> list[np.ndarray]:
    return [scores.of(turn, [row[turn] for row in rows if turn < len(row)]) for turn in range(len(scores.parts))]


def _cuts(columns: Sequence[list[np.ndarray]], scores: TurnScores, rarity: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the cuts of both events at each turn, and how often answers of either dataset survive them."""
    turns, one = len(scores.parts), len(set(map(id, scores.parts))) == 1
    cuts, chances = np.array([[-np.inf], [np.inf]]).repeat(turns, axis=1), np.ones((2, 2, turns))
    for turn in range(turns):
        if one and turn:
            cuts[:, turn], chances[:, :, turn] = cuts[:, 0], chances[:, :, 0]
            continue
        sides = [np.concatenate(side) if one else side[turn] for side in columns]
        for event, sign in enumerate((1, -1)):
            own, other = ((sides[0], sides[1]), (-sides[1], -sides[0]))[event]
            found = _best_cut(own, other, rarity)
            if found is not None:
                cuts[event, turn], chances[event, :, turn] = sign * found[0], found[1]
    return cuts, chances


def _best_cut(own: np.ndarray, other: np.ndarray, rarity: float) -> tuple[float, np.ndarray] | None:
    """Return the least score to survive, with the shares that do; None where it is best that all do."""
    values = np.unique(np.concatenate([own, other]))
    if len(values) > len(_SHARES):
        values = np.unique(np.quantile(own, 1 - _SHARES, method="higher"))
    counts = np.array([len(side) - np.searchsorted(np.sort(side), values) for side in (own, other)])
    shares = (counts + 0.5) / (np.array([[len(own)], [len(other)]]) + 0.5)
    error = np.sqrt((1 / np.maximum(counts, 1)).sum(axis=0))  # of the log-ratio: chance favors rare ones
    gains = np.log(shares[0] / shares[1]) - error + rarity * np.log(shares.mean(axis=0))
    gains[counts.min(axis=0) <= _FEWEST] = 0.0
    best = int(np.argmax(gains))
    return (float(values[best]), shares[:, best]) if gains[best] > _NO_GAIN else None


def survivors(
    talk: Conversation, data: Any, plan: Plan, fork: Fork, number: int, rng: np.random.Generator
) -> np.ndarray:
    """Return how many copies of each conversation survive in either event alone, shape (2, number)."""
    alive: list[tuple[Any, list[Any], int, bool, bool]] = []
    for root in range(number):
        try:
            alive.append((talk.open(data, rng), [], root, True, True))
        except Exception:  # what cannot be opened is in no event
            continue
    counts = np.zeros((2, number), dtype=np.int64)
    for turn, copies in enumerate(plan.copies):
        taken: list[tuple[Any, list[Any], int, bool, bool]] = []
        answers: list[Any] = []
        for state in alive:
            for copy in (state, *(_copied(state, fork, rng) for _ in range(copies - 1))):
                move = talk.move_after(copy[1])
                answer = OVER if move is OVER else answer_to(copy[0], move)
                copy[1].append(answer)
                taken.append(copy)
                answers.append("" if answer is OVER else talk.said(answer, copy[0]))
        scores = plan.scores.of(turn, answers)
        left, right = scores >= plan.cuts[0, turn], scores <= plan.cuts[1, turn]
        alive = [
            (opened, said, root, plus and bool(is_left), minus and bool(is_right))
            for (opened, said, root, plus, minus), is_left, is_right in zip(taken, left, right, strict=True)
            if (plus and is_left) or (minus and is_right)
        ]
    for _, _, root, plus, minus in alive:
        if plus != minus:
            counts[int(minus), root] += 1
    return counts


def _copied(state: Any, fork: Fork, rng: np.random.Generator) -> Any:
    """Return a copy that goes on with fresh noise; answers that are objects are copied along."""
    opened, said = fork((state[0], state[1]), {id(rng): rng})
    return (opened, said, *state[2:])
