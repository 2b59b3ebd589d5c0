"""Talk to an object that answers: the transcript of one conversation is the output of a mechanism.

An analyst is deterministic given the answers, so that all that it knows is in the transcript. Its conversations are
then private exactly if their transcripts are (Vadhan and Wang 2021, definition 2; Haney and others 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from audit import SubjectFailed
from audit.api import InvalidArgument, PerCall, laws, sandbox, text, validate, walk

_LONGEST = 10_000  # moves of one conversation: an analyst that asks on is taken for one that never ends
_AS_THEY_ARE = frozenset({float, int, bool, type(None), np.float64})  # types of answers that no look is wasted on

_HOSTILE: dict[str, Any] = {  # arguments that are tried in the place of usual ones
    "<NaN>": np.nan, "<inf>": np.inf, "<-inf>": -np.inf, "<0>": 0, "<-0.0>": -0.0, "<-1>": -1, "<True>": True,
    "<text>": "0.1", "<1e-300>": 1e-300,
}  # fmt: skip
DATA = (str, bytes, float, int, tuple, list, dict, np.ndarray, type(None))  # types of answers that nobody asks

Turns = Generator[Any, Any, Any]


class Refusal(str):
    """An exception of the object under audit, as the analyst receives it: its type and its text.

    Parameters
    ----------
    text : str
        The text of the exception. A refusal differs from other texts by its type.

    Examples
    --------
    >>> from audit import Refusal
    >>> answer = Refusal("PermissionError: the budget is spent")
    >>> isinstance(answer, Refusal), answer.startswith("PermissionError")
    (True, True)
    """


@dataclass(frozen=True)
class Conversation(PerCall):
    """A mechanism whose output is the transcript: the answers of an object to an analyst, in order.

    `function` opens the object, as (dataset, rng) or (dataset).
    """

    analyst: Any = ()  # moves, or a function that returns a generator of moves
    handles: tuple[type, ...] = ()  # types of answers that are objects to be asked, and tell nothing by themselves

    def open(self, dataset: Any, rng: np.random.Generator) -> Any:
        """Return a new object under audit."""
        return self.function(dataset, rng) if self.takes_rng else self.function(dataset)

    def turns(self, opened: Any) -> Iterator[tuple[Any, Any]]:
        """Yield each move with its answer."""
        if isinstance(self.analyst, tuple):
            yield from ((move, answer_to(opened, move)) for move in self.analyst)
            return
        talk, answer = _next(self.analyst), None
        for _ in range(_LONGEST):
            move = _next(partial(talk.send, answer))
            if move is OVER:
                return
            answer = answer_to(opened, move)
            yield move, answer
        raise SubjectFailed("raised", f"was asked more than {_LONGEST:,} times in one conversation: end the analyst")

    def transcript(self, dataset: Any, rng: np.random.Generator) -> Any:
        """Return the answers of one conversation; the exception of `make` where the object could not be opened."""
        try:
            opened = self.open(dataset, rng)
        except BaseException as error:
            if isinstance(error, SubjectFailed) or not sandbox.is_of_subject(error):
                raise
            return walk.Raised(error)
        return tuple(
            answer if type(answer) in _AS_THEY_ARE else self.read(answer, opened) for _, answer in self.turns(opened)
        )

    def read(self, answer: Any, opened: Any) -> Any:
        """Return the content of an answer: itself, the text of a refusal, the type of an object asked in turn."""
        if isinstance(answer, Refusal):
            return str(answer)
        if isinstance(answer, (type(opened), *self.handles)) and not isinstance(answer, (str, float, int, tuple)):
            return f"<{type(answer).__name__}>"
        return answer

    def bind(self, dataset: Any, rng: np.random.Generator) -> Callable[[], Any]:
        """Return a call for the transcript of one conversation."""
        return partial(self.transcript, dataset, rng)


@dataclass(frozen=True)
class StatedConversation(Conversation):
    """A list of moves whose answers are independent and have stated laws: the transcript has their product."""

    stated: Callable[[Any, Any], laws.Law] | None = None  # (dataset, moves), the last move unanswered

    def law(self, dataset: Any) -> laws.Law:
        """Return the law of the transcript; raise `InvalidArgument` for an analyst that adapts to answers."""
        assert self.stated is not None
        if not isinstance(self.analyst, tuple):
            rule = 'have an analyst that is a list of moves; type method="enumerate" for one that reads answers'
            raise InvalidArgument.of("law", rule, self.stated)
        return laws.Product(tuple(self.stated(dataset, self.analyst[: turn + 1]) for turn in range(len(self.analyst))))

    def log_likelihood(self, dataset: Any, outputs: Any) -> np.ndarray:
        """Return the log-density of transcripts."""
        return self.law(dataset).log_likelihood(np.array(list(outputs), dtype=object))


@dataclass(frozen=True)
class Plan:
    """An analyst that makes listed moves."""

    steps: tuple[tuple[Any, ...], ...]

    def __call__(self) -> Turns:
        answers: list[Any] = []
        for step in self.steps:
            move = move_of(step, answers)
            if move is not OVER:
                answers.append((yield move))


def move_of(step: Sequence[Any], answers: list[Any]) -> Any:
    """Return a move whose arguments may be names of hostile ones; `OVER` if nobody can make it.

    A name that begins with a dot is a method of the object that was answered last.
    """
    name, *arguments = step
    given = [_HOSTILE.get(each, each) if isinstance(each, str) else each for each in arguments]
    if not name.startswith("."):
        return (name, *given)
    objects = [answer for answer in answers if not isinstance(answer, DATA)]
    return (objects[-1], name[1:], *given) if objects else OVER


@dataclass(frozen=True)
class Moves:
    """Moves that an analyst may make: the auditor searches for the conversation that breaks the claim.

    Half of the conversations that it tries are those of a checklist: NaN, infinities, 0, -0.0, -1, True, text and
    1e-300 in the place of each usual argument, the first of its list; and each move again and again, alone, in turn
    with another, and before as many of another.

    Parameters
    ----------
    table : mapping of names to sequences of arguments
        A method of the object, and for each of its arguments the values to try: a list of numbers and texts. A name
        that begins with a dot is a method of the object that was answered last.
    length : int >= 1
        Most moves of one conversation.

    Raises
    ------
    InvalidArgument
        For a table that is empty or whose arguments are not listed, or a length below 1.

    References
    ----------
    MacIver and Hatfield-Dodds (2019), Hypothesis: stateful testing, whose rules are the rows of this table.

    Examples
    --------
    >>> from audit import Moves
    >>> moves = Moves({"ask": ["ab", [0.1, 0.5]], "close": []}, length=4)
    >>> [["ask", "a", 0.1], ["close"]] * 2 in moves.checklist()
    True
    """

    table: Any
    length: int = 8

    def __post_init__(self) -> None:
        validate.integer(self.length, "length", at_least=1)
        if not (isinstance(self.table, Mapping) and self.table):
            raise InvalidArgument.of("table", "map methods to the values of their arguments", self.table)
        if wrong := [name for name, given in self.table.items() if not _are_listed(given)]:
            rule = f"list the values of each argument of {wrong[0]!r}"
            raise InvalidArgument.of("table", rule, self.table[wrong[0]], '{"ask": [[0, 1], [0.1]]}')

    def checklist(self) -> list[list[list[Any]]]:
        """Return conversations of two moves in turn, of one after another, and of hostile arguments in each place."""
        usual = [[name, *(values[0] for values in given)] for name, given in self.table.items()]
        places = [(one, at) for one in usual for at in range(1, len(one))]
        listed = [[*one[:at], value, *one[at + 1 :]] for one, at in places for value in self.table[one[0]][at - 1][1:]]
        ways, half = list[list[list[Any]]](), self.length // 2
        for one, other in product([*usual, *listed], repeat=2):
            if one in usual or other in usual:
                ways += [([one, other] * self.length)[: self.length], [one] * half + [other] * (self.length - half)]
        for one, at in places:
            for said in _HOSTILE:
                hostile = [*one[:at], said, *one[at + 1 :]]
                ways += [[hostile] + [each] * (self.length - 1) for each in (one, hostile)]
        return [[list(move) for move in way] for way in ways]

    def strategy(self) -> Any:
        """Return a Hypothesis strategy of lists of moves: of the checklist, or drawn."""
        from hypothesis import strategies as st

        steps = [
            st.tuples(st.just(name), *(st.sampled_from(values) for values in given)).map(list)
            for name, given in self.table.items()
        ]
        drawn = st.lists(st.one_of(steps), min_size=1, max_size=self.length)
        return st.one_of(drawn, st.sampled_from(self.checklist()))


def _are_listed(given: Any) -> bool:
    return isinstance(given, Sequence) and all(isinstance(values, Sequence) and values for values in given)


def analyst_of(analyst: Any) -> Any:
    """Return a checked analyst: a tuple of moves, a generator function, or `Moves`."""
    if isinstance(analyst, (Moves, Plan)) or callable(analyst):
        return analyst
    if isinstance(analyst, Sequence) and analyst and all(map(_is_move, analyst)):
        return tuple(analyst)
    rule = "be a generator function that yields moves, a list of moves, or audit.Moves"
    raise InvalidArgument.of("analyst", rule, analyst, 'a move is ("method", argument, ...)')


def _is_move(move: Any) -> bool:
    return callable(move) or (type(move) is tuple and bool(move))


OVER: Any = object()  # the move of an analyst that has ended


def _next(step: Callable[[], Any]) -> Any:
    """Return the next move, or that there is none; an analyst that raises cannot ask."""
    try:
        return step()
    except StopIteration:
        return OVER
    except Exception as error:
        said = f"could not be asked: the analyst raised {type(error).__name__}: {text.describe_error(error)}"
        raise SubjectFailed("raised by the analyst", said) from error


def answer_to(opened: Any, move: Any) -> Any:
    """Return the answer to a move: (method, argument, ...), (object, method, argument, ...), or a callable."""
    target = name = None
    try:
        if type(move) is not tuple:
            return move(opened)
        target, name, *arguments = (opened, *move) if isinstance(move[0], str) else move
        return getattr(target, name)(*arguments)
    except BaseException as error:
        if not sandbox.is_of_subject(error):
            raise
        if target is None and not _is_move(move):
            raise SubjectFailed("raised by the analyst", f"could not be asked: {move!r} is no move") from None
        if isinstance(error, AttributeError) and error.obj is target and error.name == name is not None:
            raise SubjectFailed("raised by the analyst", f"could not be asked: it has no method {name!r}") from None
        return Refusal(f"{type(error).__name__}: {text.describe_error(error)}")
