"""Draw what a call returns only when it matters, where the law of such calls can be found by itself.

A call whose arguments cannot change, in surroundings that are as they were, returns by one law, which is found by
enumerating the call alone. Then it need not be made again: what it returns is one draw from that law, and a comparison
splits its values in two instead of telling all of them apart. For this a function gets other code while a law is
enumerated: code that hands out such draws, and calls the function's own code where there is no law.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from audit.extensions.enumeration.conversions import set_code
from audit.extensions.enumeration.deferred import UNCLEAR, Deferred, Draw, three_parts
from audit.extensions.enumeration.following import Branches, Follower, Node, Step
from audit.extensions.enumeration.frames import function_of
from audit.extensions.enumeration.identities import identity
from audit.extensions.enumeration.stated_graph import CALL, CallGraph
from audit.extensions.enumeration.states import State, StateReader, is_generator
from audit.extensions.enumeration.surroundings import STAND_INS
from audit.extensions.enumeration.watching import Watch, is_own

_OFTEN = 4  # calls of a function, and calls with the same arguments, after which a law is looked for
_OFTEN_ALIKE = 4  # calls in one state, after which their law is found
_FEWEST = 8  # values of a call that are worth a draw: fewer are told apart at once


@dataclass
class Calls:
    """Remember the laws of calls, by the state of their frames when they first draw."""

    known: dict[int, Branches | None] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)
    wanted: list[tuple[int, list[Step], int]] = field(default_factory=list)  # state, the choices before, frame

    def law_of(
        self, state: State, begun: set[int], outermost: int, lazy: LazyCalls, script: list[Step]
    ) -> Branches | None:
        """Return the law of the outermost call that has just begun, if it is known; count calls that are not."""
        for index in reversed(range(outermost)):
            part, frame = state.parts[index], state.frames[index]
            if part is None or identity(frame) in begun or lazy.is_in_between(frame) or is_generator(frame):
                continue
            if (law := self.known.get(part)) is not None:
                return law
            if part not in self.known and self.counts[part] < _OFTEN_ALIKE and not lazy.minds(frame):
                self.counts[part] += 1
                if self.counts[part] == _OFTEN_ALIKE:
                    self.wanted.append((part, list(script), index))
        return None


class Returned(Draw):
    """One draw from the law of a call; its points are the numbers of the values in their order."""

    __slots__ = ("before", "values")

    def __init__(self, follower: Follower, name: str, values: list[int], before: list[int]) -> None:
        super().__init__(follower, range(len(values)), float)
        self.kind: Any = name
        self.values, self.before = values, before

    def value(self, point: int) -> Any:
        """Return the value at a point."""
        return self.values[point]

    def pieces(self, name: str, number: Deferred, known: Callable[[Any], Any], other: Any) -> list[tuple[Any, range]]:
        """Return the points left of a threshold, at it and right of it, with what a comparison says there."""
        parts = three_parts(number, other)
        return [(known(number.at(part[0])), part) for part in parts if part]

    def _branches(self, compute: Callable[[], list[tuple[Any, range]]]) -> Branches:
        pieces = [(result, piece) for result, piece in compute() if piece]
        return Branches(pieces, [self._weight(piece) for _, piece in pieces], self._weight(self.support), UNCLEAR)

    def _weight(self, piece: range) -> int:
        return self.before[piece.stop] - self.before[piece.start]


class CallLaw(NamedTuple):
    """The law of a call: its values in their order, and the weight of the values before each one."""

    number: int
    values: list[int]
    before: list[int]
    total: int
    lost: str
    graph: CallGraph | None = None


class Wanted(NamedTuple):
    """A call whose law is to be found."""

    key: Any
    own: FunctionType
    call: partial[Any]


class LazyCalls:
    """Hand out draws in place of calls, during one enumeration."""

    def __init__(self, follower: Follower, reader: StateReader, watch: Watch) -> None:
        self._follower, self._reader, self._watch = follower, reader, watch
        self._begun: Counter[CodeType] = Counter()  # how often frames of this code were begun
        self._undecided: set[CodeType] = set()  # code of functions of whose calls it is not known if they have a law
        self._in_between: set[CodeType] = set()  # code that takes the place of a function's own
        self._undo: dict[CodeType, Callable[[], None]] = {}  # by the function's own code
        self._laws: dict[Any, CallLaw | None] = {}  # by function and arguments; None where there is none
        self._calls: Counter[Any] = Counter()
        self.wanted: list[Wanted] = []
        self.learned = 0  # laws that were found
        self.stated: dict[str, CallLaw] = {}  # by function and arguments, where laws are stated by others
        self.met: dict[str, Callable[[], Any]] = {}  # those of them that the code has called

    def is_in_between(self, frame: FrameType) -> bool:
        """Test whether a frame is that of the code that takes the place of a function's own."""
        return frame.f_code in self._in_between

    def minds(self, frame: FrameType) -> bool:
        """Test whether a call may be one draw once its law is known: then no other law of it is looked for."""
        return frame.f_code in self._undecided

    def begins(self, frame: FrameType) -> None:
        """Take note that a call has begun that draws."""
        code = frame.f_code
        self._begun[code] += 1
        is_own_module = is_own(frame.f_globals.get("__name__"))
        if self._begun[code] == _OFTEN and code not in self._in_between and not is_own_module:
            self._take_place_of(frame)

    def learn(self, wanted: Wanted, law: list[tuple[Any, Any, int]], total: int, nodes: list[Node], lost: str) -> None:
        """Draw such calls from a law, if they return many integers; else leave the function alone."""
        self._laws[wanted.key] = None
        self._undecided.discard(wanted.own.__code__)
        if len(law) < _FEWEST or any(type(value) is not int for value, _, _ in law):
            if not any(found for (code, _), found in self._laws.items() if code == wanted.key[0]):
                self._undo[wanted.own.__code__]()
            return
        self.learned += 1
        law = sorted(law, key=lambda entry: entry[0])
        values, texts, weights = (list(part) for part in zip(*law, strict=True))
        name = _name_of(wanted.own, wanted.call.args, wanted.call.keywords)  # type: ignore[arg-type]
        graph = CallGraph(name, nodes, texts, weights, total)
        self._laws[wanted.key] = call_law(len(self._laws), values, weights, total, lost, graph)

    def follow(self, stated: dict[str, CallLaw]) -> None:
        """Draw calls from laws that others state, where a script says so; raise LookupError for an unknown function."""
        self.stated = stated
        for name in {name.partition("(")[0] for name in stated}:
            module, _, qualified = name.partition(":")
            function: Any = sys.modules[module]
            for part in qualified.split("."):
                function = getattr(function, part, None)
            if type(function) is not FunctionType or function.__closure__:
                raise LookupError(name)
            self._ask_first(function)

    def _take_place_of(self, frame: FrameType) -> None:
        """Let the function of a frame ask `_enter` for the code to run, from its next call on."""
        function = function_of(frame)
        if type(function) is not FunctionType or function.__code__ is not frame.f_code or function.__closure__:
            return  # what a closure holds may change between two calls
        self._ask_first(function)

    def _ask_first(self, function: FunctionType) -> None:
        own = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        own.__kwdefaults__ = function.__kwdefaults__

        def enter(arguments: tuple[Any, ...], named: dict[str, Any]) -> Callable[..., Any]:
            return self._enter(own, arguments, named)

        code = _code_that_asks(enter)
        self._in_between.add(code)
        self._undecided.add(own.__code__)
        self._undo[own.__code__] = undo = set_code(function, code)
        self._watch.undo_at_end(undo)

    def _enter(self, own: FunctionType, arguments: tuple[Any, ...], named: dict[str, Any]) -> Callable[..., Any]:
        """Return what to call in place of a function: its own code, or what gives a draw."""
        held = self._reader.unchangeable((arguments, *sorted(named.items())))
        if held is None or self._follower.compound:
            self._undecided.discard(own.__code__)
            return own
        key = identity(own.__code__), held
        law = self._stated_law(own, arguments, named) if self.stated else self._laws.get(key)
        is_drawn = self._is_drawn(law)
        self._follower.entered.append(is_drawn)
        if law is not None and is_drawn:
            value = self._draw(law)
            return lambda *arguments, **named: value
        if self._follower.known is None:
            self._calls[key] += 1
            if self._calls[key] == _OFTEN:
                self.wanted.append(Wanted(key, own, partial(own, *arguments, **named)))
        return own

    def _stated_law(self, own: FunctionType, arguments: tuple[Any, ...], named: dict[str, Any]) -> CallLaw | None:
        name = _name_of(own, arguments, named)
        if name in self.stated:
            self.met.setdefault(name, partial(own, *arguments, **named))
        return self.stated.get(name)

    def _is_drawn(self, law: CallLaw | None) -> bool:
        follower = self._follower
        if follower.known is not None:
            return next(follower.entered_before, False)
        if law is None or follower.position < len(follower.script):
            ahead = follower.script[follower.position :][:1]
            return law is not None and ahead[0][0].signature == (CALL, law.number)
        return self._reader.is_readable()

    def _draw(self, law: CallLaw) -> Any:
        """Choose to draw from the law of a call; return the draw."""
        follower, branches = self._follower, Branches([None], law.before[-1:], law.total, law.lost, law.graph)
        follower.choose((CALL, law.number), lambda: branches)
        if follower.known is not None:
            return follower.next_known()
        return Deferred(Returned(follower, f"call {law.number}", law.values, law.before))


def call_law(
    number: int, values: list[int], weights: list[int], total: int, lost: str = "", graph: CallGraph | None = None
) -> CallLaw:
    """Return a law by its values in their order, and their weights."""
    return CallLaw(number, values, list(accumulate(weights, initial=0)), total, lost, graph)


def _name_of(own: FunctionType, arguments: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return a call as text: where its function is, and what it is called with."""
    texts = [*map(_text_of, arguments), *(f"{name}={_text_of(value)}" for name, value in sorted(named.items()))]
    return f"{own.__globals__.get('__name__')}:{own.__code__.co_qualname}({', '.join(texts)})"


def _text_of(value: Any) -> str:
    return type(value).__name__ if isinstance(value, STAND_INS) else repr(value)


def _in_between(*args: Any, **kwargs: Any) -> Any:
    choose: Any = "what says what to call"  # a constant, since the names that the function sees are its own
    return choose(args, kwargs)(*args, **kwargs)


def _code_that_asks(enter: Callable[..., Any]) -> CodeType:
    """Return code that calls what `enter` returns for its arguments."""
    code = _in_between.__code__
    constants = tuple(enter if type(entry) is str and " " in entry else entry for entry in code.co_consts)
    return code.replace(co_consts=constants, co_filename="<in between>")
