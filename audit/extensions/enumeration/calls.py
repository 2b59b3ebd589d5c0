"""Find the law of a call once: the result of a function whose arguments cannot change is one draw from that law.

A function without a closure that is called often gets other code while a law is enumerated. That code looks at the
arguments: if they cannot change, and the surroundings are as they were, the call is enumerated by itself, in the middle
of the run that makes it, and from then on it is one draw. Of many integers a comparison splits it in two; other values
that cannot change are told apart at once. The tests of the whole law cover any other dependence of a call.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from audit.api import Raised
from audit.extensions.enumeration.deferred import Deferred, Draw
from audit.extensions.enumeration.exploring import Explorer, Limits
from audit.extensions.enumeration.following import Branches, Follower, Restart
from audit.extensions.enumeration.frames import function_of
from audit.extensions.enumeration.identities import identity
from audit.extensions.enumeration.replaced_code import set_code
from audit.extensions.enumeration.states import is_generator
from audit.extensions.enumeration.watching import is_own

_OFTEN = 4  # numbers of choices before a call of a function that draws: it is called in many places, and asked first
_FEWEST = 8  # integers that are worth a draw: fewer are told apart at once
_FINER = 2.0**-8  # residual of a call, by that of the whole: it may be made many times
_FEWEST_TESTS = 24  # of merges in one call: there may be many calls
_BITS = 256
_LEFT = "the rest that was left over in calls"


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

    def weight(self, piece: range) -> int:
        """Return the weight of the points of a piece."""
        return self.before[piece.stop] - self.before[piece.start]


class CallLaw(NamedTuple):
    """The law of a call: its values with their weights, and whether one draw is worth it."""

    number: int
    branches: Branches
    is_drawn: bool


class Calls:
    """Hand out draws in place of calls, during one enumeration."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._begun: dict[CodeType, set[int]] = defaultdict(set)  # how many choices came before a call of this code
        self._in_between: set[CodeType] = set()  # code that takes the place of a function's own
        self._laws: dict[Any, CallLaw | None] = {}  # by function and arguments; None where there is none
        self._left_alone: set[CodeType] = set()  # of functions that draw once: one draw is no better
        self._wanted: list[FunctionType] = []
        self.explorer: Explorer | None = None
        self._residual = 0.0

    def attend(self, explorer: Explorer) -> None:
        """Take note of the calls of an explorer, whose laws are forgotten: its surroundings are others."""
        self.explorer, explorer.on_begun, explorer.on_end = explorer, self._count, self._begin_anew
        self._residual = explorer.limits.residual * _FINER
        self._laws.clear()

    def _count(self, frame: FrameType) -> None:
        code, before = frame.f_code, self._follower.position
        if before in self._begun[code] or is_own(frame.f_globals.get("__name__")):
            return
        self._begun[code].add(before)
        if len(self._begun[code]) != _OFTEN or code in self._in_between:
            return
        function = function_of(frame)
        is_plain = type(function) is FunctionType and function.__code__ is code and not function.__closure__
        if is_plain and not is_generator(frame):
            self._wanted.append(function)

    def _begin_anew(self) -> None:
        if self._wanted:
            wanted, self._wanted = self._wanted, []
            raise Restart(lambda: [self._ask_first(function) for function in wanted])

    def _ask_first(self, function: FunctionType) -> Callable[[], None]:
        """Let a function ask `_enter` for the code to run; return the undo function."""
        own = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
        own.__kwdefaults__ = function.__kwdefaults__

        def enter(arguments: tuple[Any, ...], named: dict[str, Any]) -> Callable[..., Any]:
            return self._enter(own, arguments, named)

        code = _code_that_asks(enter)
        self._in_between.add(code)
        return set_code(function, code)

    def _enter(self, own: FunctionType, arguments: tuple[Any, ...], named: dict[str, Any]) -> Callable[..., Any]:
        """Return the function to call in place of another: its own code, or one that gives a draw."""
        follower = self._follower
        is_asked = not follower.compound and own.__code__ not in self._left_alone
        if follower.known is not None:  # numbers unknown in the run before are known here
            is_asked = next(follower.entered_before, False)
        law = self._find_law(own, arguments, named) if is_asked else None
        follower.entered.append(law is not None)
        if law is None:
            return own
        value = self._value(law)
        return lambda *arguments, **named: value

    def _find_law(self, own: FunctionType, arguments: tuple[Any, ...], named: dict[str, Any]) -> CallLaw | None:
        """Return the law of a call; None where its arguments, or objects it reaches, can change, or it has none."""
        assert self.explorer is not None
        reader = self.explorer.reader
        held = reader.unchangeable((arguments, *sorted(named.items())))
        if held is None or not reader.is_readable():
            return None
        key = identity(own.__code__), held
        if key not in self._laws:
            self._laws[key] = None  # also where it calls itself
            with self._aside():
                self._laws[key] = self._law_of(partial(own, *arguments, **named), len(self._laws))
        return self._laws[key]

    def _value(self, law: CallLaw) -> Any:
        """Return a value of a call by its law: one that is told apart at once, or one draw."""
        follower, branches = self._follower, law.branches
        if not law.is_drawn:
            return follower.choose(("call", law.number), lambda: branches)
        whole = Branches([None], [sum(branches.weights)], branches.total, branches.lost)
        follower.choose(("call", law.number), lambda: whole)
        if follower.known is not None:
            return follower.next_known()
        before = list(accumulate(branches.weights, initial=0))
        return Deferred(Returned(follower, f"call {law.number}", list(branches.data), before))

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Set aside the run that is under way."""
        assert self.explorer is not None
        watch, outer, kept = self.explorer.watch, self.explorer, dict(vars(self._follower))
        was_open, profile, on_time = watch.gate.is_open, sys.getprofile(), watch.on_time
        watch.stop()
        try:
            yield
        finally:
            vars(self._follower).update(kept)
            self.explorer, watch.on_time = outer, on_time
            watch.gate.is_open = was_open
            sys.setprofile(profile)

    def _law_of(self, call: partial[Any], number: int) -> CallLaw | None:
        """Enumerate a call by itself; return None where its values may change, or are not all known."""
        outer = self.explorer
        assert outer is not None
        limits = Limits(self._residual, outer.limits.states, outer.limits.gate)
        inner = Explorer(call, self._follower, limits, outer.reader, outer.watch)
        inner.fewest_tests, inner.on_begun = _FEWEST_TESTS, self._count
        self.explorer = inner
        inner.explore()
        outer.runs += inner.runs
        if len(inner.nodes) == 1:
            self._left_alone.add(call.func.__code__)
        if inner.stopped_by not in ("", "residual") or len(inner.nodes) < 2:
            return None
        masses, _ = inner.solve()
        values = {text: inner.values[text] for text in masses}
        if any(isinstance(each, Raised) or outer.reader.unchangeable(each) is None for each in values.values()):
            return None
        is_drawn = len(values) >= _FEWEST and all(type(each) is int for each in values.values())
        order = sorted(values, key=values.__getitem__) if is_drawn else list(values)
        weights = [int(masses[text] * 2**_BITS) for text in order]
        return CallLaw(number, Branches([values[text] for text in order], weights, 2**_BITS, _LEFT), is_drawn)


def _in_between(*args: Any, **kwargs: Any) -> Any:
    choose: Any = "the choice of a function"  # a constant, since the names that the function sees are its own
    return choose(args, kwargs)(*args, **kwargs)


def _code_that_asks(enter: Callable[..., Any]) -> CodeType:
    """Return code that calls the function that `enter` returns for its arguments."""
    code = _in_between.__code__
    constants = tuple(enter if type(entry) is str and " " in entry else entry for entry in code.co_consts)
    return code.replace(co_consts=constants, co_filename="<in between>")
