"""Tell whether two runs are in the same state, so that all that can follow is the same.

A state is the contents of the frames of the code: its place in each function, the variables that are live there, the
values of half-evaluated expressions, and all that these reach, with the objects that two of them share. Where any of
it cannot be read, or where C code waits in between, there is no state, and runs are not merged.

Values are read as plain data.
"""

from __future__ import annotations

import math
import operator
import struct
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

import numpy as np

from audit.api import walk
from audit.extensions.enumeration.deferred import Deferred
from audit.extensions.enumeration.frames import UNBOUND, Place, Slots, places_of, slots_of
from audit.extensions.enumeration.surroundings import STAND_INS, Surroundings, is_of_python
from audit.extensions.enumeration.watching import HERE, Watch

_PLAIN_KINDS = frozenset((int, str, bytes, bool, type(None), type(...), type(NotImplemented), type(UNBOUND)))
_SEQUENCES: tuple[Any, ...] = (range(1), range(2**70), [], (), "", np.empty(0))
_ITERATORS = (*(type(iter(sequence)) for sequence in _SEQUENCES), type(reversed([])), enumerate, zip, reversed)
_BITS = partial(struct.pack, "d")  # of a NaN the sign and the payload, too
_LASTING = (type, types.ModuleType, types.MethodDescriptorType, types.WrapperDescriptorType)


class NoState(Exception):
    """Says why a state cannot be read."""


class PlainReading:
    """Read values as plain data. Objects that can change are numbered, so that sharing shows."""

    __slots__ = ("around", "numbers")

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.numbers: dict[int, int] = {}

    def of(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN_KINDS:
            return kind, value
        if kind is float:
            return kind, _BITS(value)
        if kind is Deferred:
            return self._read_deferral(value)
        if isinstance(value, STAND_INS):
            return "source", self.around.pin(value), self.of(getattr(value, "gauss_next", None))
        if id(value) in self.around.pinned:
            return "outside", id(value)
        if kind is Fraction and hasattr(value, "_denominator"):  # else it is being made
            return kind, self.of(value._numerator), self.of(value._denominator)
        if isinstance(value, np.generic) and value.dtype != object:
            return kind, value.dtype, value.tobytes()
        if kind is tuple:
            return kind, *map(self.of, value)
        if isinstance(value, _LASTING):
            return "outside", self.around.pin(value)
        if kind is types.BuiltinFunctionType:
            return "function", value.__name__, self.of(value.__self__)
        if kind is types.MethodType:
            return kind, *self._parts(value)
        if kind in (range, complex, slice):
            return kind, repr(value)
        return self._changeable(value, kind)

    def _read_deferral(self, value: Deferred) -> Any:
        draw, steps = value._draw, tuple((name, self.of(other)) for name, _, other in value._steps)
        if (number := self.numbers.get(id(draw))) is not None:
            return Deferred, number, steps
        number = self.numbers[id(draw)] = len(self.numbers)
        return Deferred, number, steps, draw.support, draw.kind

    def _changeable(self, value: Any, kind: type) -> Any:
        number = self.numbers.get(id(value))
        if number is not None:
            return "again", number
        number = self.numbers[id(value)] = len(self.numbers)
        if kind is list:
            if _PLAIN_KINDS.issuperset(map(type, value)):
                return kind, number, *map(type, value), *value
            return (kind, number, *map(self.of, value))
        if kind is types.GeneratorType and value.gi_running:  # its frame is read, and the loop that runs it holds it
            return kind, number
        if kind in _ITERATORS:
            return (kind, number, *map(self.of, value.__reduce__()[1:]))
        if kind is partial:
            return (kind, number, *map(self.of, (value.func, value.args, value.keywords, vars(value))))
        if kind is np.ndarray:
            return self._array(value, number)
        if kind is types.FunctionType:
            return kind, number, self.around.pin(value.__code__), *self._parts(value)
        if is_of_python(kind) and not hasattr(kind, "__del__"):
            self.around.pin(kind)
        elif kind is not dict and kind is not types.CellType:
            raise NoState(f"a {kind.__qualname__} is held, which cannot be read completely")
        return kind, number, *self._parts(value)

    def _parts(self, value: Any) -> Iterator[Any]:
        """Read the parts of a value; classes and code are part of the surroundings."""
        for role, name, part in walk.take_apart(value):
            if role not in (walk.CLASS, walk.CODE):
                yield (name, self.of(part)) if role == walk.FIELD else self.of(part)

    def _array(self, value: np.ndarray, number: int) -> Any:
        if value.base is not None:  # the owner of its memory may be held elsewhere
            raise NoState("an array is held that shares memory")
        content = tuple(map(self.of, value.ravel())) if value.dtype == object else value.tobytes()
        return type(value), number, value.dtype, value.shape, value.strides, value.flags.writeable, content


RUN = "call_once"  # the function of this package that calls the code
# they ask for the number before they do anything else
_WITHOUT_STATE = (int, bool, float, abs, round, math.floor, math.ceil, math.trunc, operator.index, list.pop)
_OPERATORS = ("COMPARE_OP", "BINARY_OP", "BINARY_SUBSCR")
_CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")
_IS_CALLED_FIRST = sys.version_info >= (3, 13)  # the function lies below the object that it is called on
_ASK_THE_TOP = (  # one value of the stack, and leave it there until it has answered
    *("LOAD_ATTR", "LOAD_METHOD"),
    *("POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_FALSE", "UNARY_NOT"),
    *("POP_JUMP_BACKWARD_IF_TRUE", "JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP", "UNARY_NEGATIVE"),
    *("POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "TO_BOOL"),  # since CPython 3.12
)
_COROUTINES = 0x80 | 0x200  # flags of code


def subject_frames() -> list[FrameType]:
    """Return the running frames of the code from the innermost, behind the frame of this package that they called."""
    frame: FrameType | None = sys._getframe(1)
    found: list[FrameType] = []
    is_above = True
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(HERE):
            if not is_above:  # behind the code
                return found if RUN in (code.co_name, frame.f_back and frame.f_back.f_code.co_name) else []
            if code.co_name == RUN:  # the code has returned
                return []
            found = [frame]
        else:
            is_above = False
            found.append(frame)
        frame = frame.f_back
    return []


class StateReader:
    """Read the states of one mechanism's runs."""

    def __init__(self, call: Callable[[], Any], watch: Watch) -> None:
        self.notes: set[str] = set()
        self._follower = watch.follower
        self._numbers: dict[Any, int] = {}
        self.around = Surroundings(self._alone)
        watch.on_code = lambda frame: self.around.add_code(frame.f_code, frame.f_globals)
        for part in call.args if isinstance(call, partial) else ():
            reading = PlainReading(self.around)
            with suppress(NoState):
                reading.of(part)
                if not reading.numbers:  # nothing in it can change
                    self.around.pin(part)

    def _alone(self, value: Any) -> Any:
        """Return the contents of a value; None where it cannot be read."""
        with suppress(NoState):
            return PlainReading(self.around).of(value)

    def state(self, signature: tuple[Any, ...]) -> int | None:
        """Return a number of the state of the code, which is about to choose as `signature` says; None if it has none.

        Equal numbers stand for equal states.
        """
        try:
            if self._follower.compound:
                raise NoState("several numbers are drawn at once")
            if sys.exc_info()[1] is not None:  # no frame holds it, and `raise` alone raises it again
                raise NoState("an exception is handled")
            return self._state(signature, subject_frames())
        except NoState as reason:
            self.notes.add(f"states were not merged: {reason}")
            return None

    def _state(self, signature: Any, frames: list[FrameType]) -> int:
        """Number the state of the frames, from the innermost."""
        reading = PlainReading(self.around)
        if not frames:
            raise NoState("an output holds numbers that are not known yet, or C code or a stand-in calls the code back")
        number = self._number((-1, signature, *self.around.values(reading.of)))
        for above, frame in pairwise(frames):
            number = self._number((number, self._frame(frame, above, reading)))
        return number

    def _number(self, part: Any) -> int:
        return self._numbers.setdefault(part, len(self._numbers))

    def _frame(self, frame: FrameType, above: FrameType, reading: PlainReading) -> Any:
        slots, over = slots_of(frame), slots_of(above)
        if slots is None or over is None:
            raise NoState("frames cannot be read on this interpreter")
        code = slots.code
        if not slots.is_plain or code.co_flags & _COROUTINES:
            raise NoState(f"{code.co_name} is a coroutine, or the body of a class or module")
        place = places_of(code).get(frame.f_lasti)
        if place is None or place.before is None or place.after is None:
            raise NoState(f"the bytecode of {code.co_name} is not understood")
        return (
            id(code),
            frame.f_lasti,
            *_read_frame(slots, place.live, _count_live(place, slots, over, above), reading),
        )


def _read_frame(slots: Slots, live: int, kept: int, reading: PlainReading) -> list[Any]:
    """Read the live variables and cells of a frame, and its stack up to a depth."""
    code = slots.code
    key = id(code), live
    if (numbers := _needed.get(key)) is None:
        is_cell = [name in code.co_cellvars for name in code.co_varnames]
        numbers = _needed[key] = [
            number
            for number in range(slots.variables)
            if number >= code.co_nlocals or live >> number & 1 or is_cell[number]
        ]
    found = slots.read(0, slots.variables + kept)
    return [*(reading.of(found[number]) for number in numbers), *map(reading.of, found[slots.variables :])]


_needed: dict[tuple[int, int], list[int]] = {}  # numbers of variables that are read, by code and live set


def _count_live(place: Place, slots: Slots, over: Slots, above: FrameType) -> int:
    """Return how many values of the stack are still needed when the call that the frame waits for has returned."""
    code, called_code = slots.code, over.code
    assert place.before is not None
    assert place.after is not None
    if over.caller != slots.inner:  # one of the interpreter's own lies in between, such as that of a call of a class
        raise NoState(f"another frame waits between {code.co_name} and {called_code.co_name}")
    if not over.is_entry:
        waits = {"FOR_ITER": place.before, **dict.fromkeys(_CALLS, place.after - 1)}
        if slots.top != waits.get(place.name):
            raise NoState(f"the value stack of {code.co_name} is not understood")
        return slots.top
    own = over.read(0, 1)[0] if called_code.co_argcount else UNBOUND
    base, depth = slots.variables, place.before
    if place.name in _OPERATORS and called_code.co_name not in ("__bool__", "__len__"):  # the operands may be gone
        operands = slots.read(base + depth - 2, base + depth)
        if any(operand is own for operand in operands):
            container = operands[0]
            if place.name != "BINARY_SUBSCR" or type(container) in (list, tuple, str, bytes):
                return depth
    elif place.name == "FOR_ITER":
        iterator = slots.read(base + depth - 1, base + depth)[0]
        if type(iterator) is types.GeneratorType and iterator.gi_frame is above:
            return depth
    elif place.name in _ASK_THE_TOP and slots.read(base + depth - 1, base + depth)[0] is own:
        return depth
    elif place.name in (*_CALLS, "PRECALL"):  # CPython 3.11 calls some functions before it is at the call
        start = place.after - (2 if place.name == "PRECALL" else 1)
        first, second = slots.read(base + start, base + start + 2)
        called = second if first is UNBOUND and not _IS_CALLED_FIRST else first
        end = start + 2 + place.argument
        asks_first = any(called is known for known in _WITHOUT_STATE) and place.name in ("CALL", "PRECALL")
        if asks_first and any(argument is own for argument in slots.read(base + start + 1, base + end)):
            return end
        if place.name == "CALL" and _makes(called, called_code):
            return end  # the class and its arguments: `__init__` is called with them afterwards
        function = getattr(called, "__func__", called)
        if type(function) is types.FunctionType and function.__code__ is called_code:
            return start
    raise NoState(f"C code waits between {code.co_name} and {called_code.co_name}")


def _makes(kind: Any, code: CodeType) -> bool:
    """Test whether a class has this code make its objects, and the usual way of calling a class."""
    if not isinstance(kind, type) or type(kind).__call__ is not type.__call__:
        return False
    return getattr(kind.__new__, "__code__", None) is code
