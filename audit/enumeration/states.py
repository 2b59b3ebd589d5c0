"""Tell whether two runs are in the same state, so that all that can follow is the same.

A state is what the frames of the code hold: its place in each function, the variables that are live there, the values
of half-evaluated expressions, and all that these reach, with what is shared by two of them. Where any of it cannot be
seen, or where C code waits in between, there is no state, and runs are not merged.
"""

from __future__ import annotations

import math
import operator
import sys
import types
from builtins import id  # the code under audit is given another one
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from audit.enumeration.answers import Symbol
from audit.enumeration.bytecode import Place, iterates_over_sets, places_of
from audit.enumeration.conversions import own_code
from audit.enumeration.deferred import Deferred
from audit.enumeration.drawn_arrays import DrawnArray
from audit.enumeration.frames import UNBOUND, Slots, slots_of
from audit.enumeration.surroundings import STAND_INS, Surroundings, is_of_python
from audit.enumeration.watching import HERE, Watch, is_own
from audit.subjects.identity import fields_of

RUN = "_call_once"  # the function of this package that calls the code
_PLAIN = (int, str, bytes, bool, type(None), type(...), type(NotImplemented), type(UNBOUND))
# they ask for the number before they do anything else
_WITHOUT_STATE = (int, bool, float, abs, round, math.floor, math.ceil, math.trunc, operator.index, list.pop)
_OPERATORS = ("COMPARE_OP", "BINARY_OP", "BINARY_SUBSCR")
_CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")
_IS_CALLED_FIRST = sys.version_info >= (3, 13)  # what is called lies below what it is called on
_TESTS = (
    *("POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE", "UNARY_NOT"),
    *("POP_JUMP_BACKWARD_IF_TRUE", "JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP", "UNARY_NEGATIVE"),
    *("POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "TO_BOOL"),  # since CPython 3.12
)
_SEQUENCES: tuple[Any, ...] = (range(1), range(2**70), [], (), "", np.empty(0))
_ITERATORS = (*(type(iter(sequence)) for sequence in _SEQUENCES), type(reversed([])), enumerate, zip, reversed)
_OVER_ROWS: tuple[type, ...] = (type(iter([])), type(iter(np.empty(0))))
_LASTING = (type, types.ModuleType, types.MethodDescriptorType, types.WrapperDescriptorType)
_GENERATOR, _COROUTINES = 0x20, 0x80 | 0x200  # flags of code


class NoState(Exception):
    """Says why a state cannot be read."""


class State(NamedTuple):
    """Hold a state: equal numbers stand for equal states."""

    number: int
    frames: list[FrameType]  # of the code, from the innermost
    parts: list[int | None]  # the state of the frames up to each one; None where it shares objects with the others


def _is_handling() -> bool:
    """Test whether an exception is handled: no frame holds it, and `raise` alone raises it again."""
    return sys.exc_info()[1] is not None


def subject_frames() -> list[FrameType]:
    """Return the running frames of the code from the innermost, behind the frame of this package that they called."""
    frame: FrameType | None = sys._getframe(1)
    found: list[FrameType] = []
    while frame is not None and frame.f_code.co_filename.startswith(HERE):
        if frame.f_code.co_name == RUN:  # the code has returned
            return []
        found, frame = [frame], frame.f_back
    while frame is not None and not frame.f_code.co_filename.startswith(HERE):
        found.append(frame)
        frame = frame.f_back
    is_whole = frame is not None and RUN in (frame.f_code.co_name, frame.f_back and frame.f_back.f_code.co_name)
    return found if is_whole else []


class StateReader:
    """Read the states of one mechanism's runs."""

    def __init__(self, call: Callable[[], Any], watch: Watch) -> None:
        self.notes: set[str] = set()
        self._follower, self._behind = watch.follower, watch.behind
        self._numbers: dict[Any, int] = {}
        self._codes: dict[int, CodeType] = {}
        self.around = Surroundings(watch.behind)
        watch.on_code = self._on_code
        if isinstance(call, partial):
            for part in (call.func, *call.args):
                self.around.add(part)
        else:  # a function of this package
            for cell in call.__closure__ or ():
                self.around.add(cell.cell_contents)

    def _on_code(self, frame: FrameType) -> None:
        if not is_own(frame.f_globals.get("__name__")) and iterates_over_sets(frame.f_code):
            self._behind.add("the order of a set, which may depend on hash randomization")
        self.around.add_code(frame.f_code, frame.f_globals)

    @staticmethod
    def is_of_code(frame: FrameType) -> bool:
        """Test whether a frame is one of the code under audit, and not of a library or of this package."""
        file, module = frame.f_code.co_filename, frame.f_globals.get("__name__") or ""
        return (
            not file.startswith((HERE, "<in between>")) and not is_own(module) and not module.startswith("namedtuple_")
        )

    def is_unchanged(self) -> bool:
        """Test whether a run has left its surroundings as they were."""
        return self.around.is_unchanged()

    def state(self, signature: tuple[Any, ...]) -> State | None:
        """Return the state of the running code, which is about to choose as `signature` says; None if it has none."""
        try:
            if self._follower.compound:
                raise NoState("several numbers are drawn at once")
            if self.around.blocked:
                raise NoState(min(self.around.blocked))
            if not self.around.is_unchanged():
                raise NoState("it changes what lies outside of its frames")
            if _is_handling():
                raise NoState("an exception is handled")
            return self._state(signature)
        except NoState as reason:
            self.notes.add(f"states were not merged: {reason}")
            return None

    def is_readable(self) -> bool:
        """Test whether states can be compared at all."""
        return not self.around.blocked and self.is_unchanged()

    def returned(self, value: Any) -> Any:
        """Return the state of what a call returns; None where the law of such calls cannot be remembered."""
        return None if value is None or not self.is_readable() else self.unchangeable(value)

    def unchangeable(self, value: Any) -> Any:
        """Return the state of what is known and cannot change; None for anything else."""
        reading = _Reading(self.around)
        try:
            state = reading.of(value)
        except NoState:
            return None
        return None if reading.numbers else state

    def _state(self, signature: tuple[Any, ...]) -> State:
        """Number the states of the innermost frame, of the two innermost ones, and so on."""
        reading, frames = _Reading(self.around), subject_frames()
        if not frames:
            raise NoState("an output holds numbers that are not known yet, or C code or a stand-in calls the code back")
        number, found, ends, lowest = self._number((-1, signature)), [], [], []
        for above, frame in pairwise(frames):
            reading.lowest = sys.maxsize
            number = self._number((number, self._frame(frame, above, reading)))
            found.append(number)
            ends.append(len(reading.numbers))
            lowest.append(reading.lowest)
        least = sys.maxsize
        parts: list[int | None] = list(found)
        for index in reversed(range(len(parts))):
            if least < ends[index]:  # an object of the inner frames is held by an outer one, too
                parts[index] = None
            least = min(least, lowest[index])
        return State(number, frames[1:], parts)

    def _number(self, part: Any) -> int:
        return self._numbers.setdefault(part, len(self._numbers))

    def _frame(self, frame: FrameType, above: FrameType, reading: _Reading) -> Any:
        code = frame.f_code
        slots, over = slots_of(frame), slots_of(above)
        if slots is None or over is None:
            raise NoState("frames cannot be read on this interpreter")
        if not slots.is_plain or code.co_flags & _COROUTINES:
            raise NoState(f"{code.co_name} is a coroutine, or the body of a class or module")
        place = places_of(code).get(frame.f_lasti)
        if place is None or place.before is None or place.after is None:
            raise NoState(f"the bytecode of {code.co_name} is not understood")
        self._codes[id(code)] = code  # stays alive, so that its identity is not used again
        if place.name in _CALLS and above.f_code.co_flags & _GENERATOR:  # perhaps `sum` goes through it
            self._follower.ask_for(frame)
        kept = _kept(place, slots, over, above, code)
        found = slots.read(0, slots.variables)
        live = [
            value if number >= code.co_nlocals or place.live >> number & 1 or type(value) is types.CellType else UNBOUND
            for number, value in enumerate(found)
        ]
        stack = slots.read(slots.variables, slots.variables + kept)
        return (
            id(code),
            frame.f_lasti,
            *(reading.of(value) for value in live),
            *(reading.of(value) for value in stack),
        )


def _kept(place: Place, slots: Slots, over: Slots, above: FrameType, code: CodeType) -> int:
    """Return how many values of the stack are still needed when the call that the frame waits for has returned."""
    assert place.before is not None
    assert place.after is not None
    if over.caller != slots.inner:  # one of the interpreter's own lies in between, such as that of a call of a class
        raise NoState(f"another frame waits between {code.co_name} and {above.f_code.co_name}")
    if not over.is_entry:
        waits = {"FOR_ITER": place.before, **dict.fromkeys(_CALLS, place.after - 1)}
        if slots.top != waits.get(place.name):
            raise NoState(f"the value stack of {code.co_name} is not understood")
        return slots.top
    own = over.read(0, 1)[0] if above.f_code.co_argcount else UNBOUND
    base, depth = slots.variables, place.before
    if place.name in _OPERATORS and above.f_code.co_name not in ("__bool__", "__len__"):  # the operands may be gone
        operands = slots.read(base + depth - 2, base + depth)
        if any(operand is own for operand in operands):
            container = operands[0]
            if place.name != "BINARY_SUBSCR" or type(container) in (list, tuple, str, bytes):
                return depth
    elif place.name == "FOR_ITER":
        iterator = slots.read(base + depth - 1, base + depth)[0]
        if type(iterator) is types.GeneratorType and iterator.gi_frame is above:
            return depth
    elif place.name in _TESTS and slots.read(base + depth - 1, base + depth)[0] is own:
        return depth
    elif place.name in (*_CALLS, "PRECALL"):  # CPython 3.11 calls some functions before it is at the call
        start = place.after - (2 if place.name == "PRECALL" else 1)
        first, second = slots.read(base + start, base + start + 2)
        called = second if first is UNBOUND and not _IS_CALLED_FIRST else first
        if any(called is known for known in _WITHOUT_STATE) and place.name in ("CALL", "PRECALL"):
            end = start + 2 + place.argument
            if any(argument is own for argument in slots.read(base + start + 1, base + end)):
                return end
        function = getattr(called, "__func__", called)
        if type(function) is types.FunctionType and function.__code__ is above.f_code:
            return start
    raise NoState(f"C code waits between {code.co_name} and {above.f_code.co_name}")


def is_generator(frame: FrameType) -> bool:
    """Test whether a frame goes on after it has given a value: what it gave is then not all that is left of it."""
    return bool(frame.f_code.co_flags & _GENERATOR)


def _rest_of(iterator: Any) -> Any:
    """Return what an iterator holds; of a row that nothing else holds only what is still to come."""
    made: Any = iterator.__reduce__()
    if type(iterator) in _OVER_ROWS and len(made) == 3 and type(made[1][0]) in (list, DrawnArray):
        (row,), at = made[1:]
        if sys.getrefcount(row) == _ALONE:
            return list(row)[at:]
    return made[1:]


def _references() -> int:
    """Return how many references there are to a row that only an iterator holds, where `_rest_of` counts them."""
    iterator = iter([0])
    made: Any = iterator.__reduce__()
    (row,), _ = made[1:]
    return sys.getrefcount(row)


class _Reading:
    """Read values as plain data. Objects that can change are numbered, so that sharing shows."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.numbers: dict[int, int] = {}
        self.lowest = sys.maxsize  # number of an object that is met again

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return kind, value
        if kind is float:
            return kind, value.hex()
        if kind is Deferred:
            return self._deferred(value)
        if kind is Symbol:
            return kind, self.of(value.offset)
        if kind is Fraction:
            return kind, self.of(value._numerator), self.of(value._denominator)
        if isinstance(value, np.generic) and value.dtype != object:
            return kind, value.dtype.str, value.tobytes()
        if id(value) in self.around.pinned:
            return "outside", id(value), self._of_source(value)
        if kind is tuple:
            return (kind, *map(self.of, value))
        if isinstance(value, _LASTING):
            self._add(value)
            return "outside", id(value), None
        if kind is types.BuiltinFunctionType:
            return "function", value.__name__, self.of(value.__self__)
        if kind is types.MethodType:
            return kind, self.of(value.__func__), self.of(value.__self__)
        if kind in (range, complex, slice):
            return kind, repr(value)
        return self._changeable(value, kind)

    def _add(self, thing: Any) -> None:
        """Add a class, or what lasts as long, to the surroundings; one that a call has made ends with the call."""
        if isinstance(thing, type) and "<locals>" in thing.__qualname__ and id(thing) not in self.around.pinned:
            raise NoState("a class is held that a call has made")
        self.around.add(thing)

    def _of_source(self, value: Any) -> Any:
        return self.of(value.gauss_next) if isinstance(value, STAND_INS) and hasattr(value, "gauss_next") else None

    def _deferred(self, value: Deferred) -> Any:
        draw, steps = value._draw, tuple((name, self.of(other)) for name, _, other in value._steps)
        if (number := self.numbers.get(id(draw))) is not None:
            self.lowest = min(self.lowest, number)
            return Deferred, number, steps
        number = self.numbers[id(draw)] = len(self.numbers)
        linked = None
        if (group := draw.group) is not None:  # what is known of the draw is shared with others
            self.lowest = min(self.lowest, self.numbers.get(id(group), sys.maxsize))
            linked = self.numbers.setdefault(id(group), len(self.numbers)), group.region, group.members.index(draw)
        return Deferred, number, steps, draw.support, draw.kind, linked

    def _changeable(self, value: Any, kind: type) -> Any:
        number = self.numbers.get(id(value))
        if number is not None:
            self.lowest = min(self.lowest, number)
            return "again", number
        number = self.numbers[id(value)] = len(self.numbers)
        if kind is list:
            return (kind, number, *map(self.of, value))
        if kind is dict:
            return (kind, number, *((self.of(key), self.of(entry)) for key, entry in value.items()))
        if kind is types.GeneratorType and value.gi_running:  # its frame is read, and the loop that runs it holds it
            return kind, number
        if kind is types.CellType:
            try:
                return kind, number, self.of(value.cell_contents)
            except ValueError:
                return kind, number
        if kind in _ITERATORS:
            return (kind, number, *map(self.of, _rest_of(value)))
        if kind is partial:
            return (kind, number, *map(self.of, (value.func, value.args, value.keywords, vars(value))))
        if kind is np.ndarray or kind is DrawnArray:
            return self._array(value, number)
        if kind is types.FunctionType:
            code = own_code(value)
            self.around.add_code(code, value.__globals__)
            parts = (value.__closure__, value.__defaults__, value.__kwdefaults__, vars(value))
            return (kind, number, id(code), *map(self.of, parts))
        if is_of_python(kind) and not hasattr(kind, "__del__"):
            self._add(kind)
            fields = fields_of(value)
            return (kind, number, *((name, self.of(fields[name])) for name in fields))
        raise NoState(f"a {kind.__qualname__} is held, which cannot be looked at whole")

    def _array(self, value: np.ndarray, number: int) -> Any:
        if value.base is not None:  # what it shares memory with may be held elsewhere
            raise NoState("an array is held that shares memory")
        content = tuple(map(self.of, value.ravel())) if value.dtype == object else value.tobytes()
        return type(value), number, value.dtype.str, value.shape, value.strides, value.flags.writeable, content


_ALONE = _references()
