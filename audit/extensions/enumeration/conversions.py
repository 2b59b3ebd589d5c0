"""Let code convert and add up numbers that are not known yet, where the interpreter insists on known ones.

`float(x)` returns a float of Python whatever the type of x says, and `sum(...)` keeps its total where no frame shows
it. Where code calls one of these by its global name, and a number needs it, the call is renamed in the bytecode: to a
function under a name that no source can write. All else that the code does with the names `float` and `sum`, such as
`isinstance(x, float)`, is as it was. Then the enumeration begins again.
"""

from __future__ import annotations

import builtins
import dis
import gc
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

from audit.extensions.enumeration.deferred import Deferred
from audit.extensions.enumeration.following import Follower, Restart
from audit.extensions.enumeration.identities import identity

T = TypeVar("T")
_MARK = " of draws"  # ends a name that no source can write
_COMPENSATES = sys.version_info >= (3, 12)  # `sum` makes up for the rounding of floats since then
_ARE_DOUBLED = ("LOAD_GLOBAL", "LOAD_ATTR") if sys.version_info >= (3, 12) else ("LOAD_GLOBAL",)  # numbers of names


def _as_float(*arguments: Any) -> Any:
    if len(arguments) == 1 and type(arguments[0]) is Deferred:
        return arguments[0].converted(float)
    return float(*arguments)


class _FloatConversion:
    """Take the place of `np.float64` where it is called, or where something of it is."""

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) == 1 and type(arguments[0]) is Deferred:
            return arguments[0].converted(np.float64)
        return np.float64(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(np.float64, name)

    def __getitem__(self, key: Any) -> Any:
        return np.float64[key]  # type: ignore[misc]


def _total(iterable: Any, /, start: Any = 0) -> Any:
    if isinstance(start, (str, bytes, bytearray)):
        return sum(iterable, start)  # it raises
    total, values = start, iter(iterable)
    for value in values:
        if _COMPENSATES and not isinstance(value, int):
            return sum(chain((value,), values), total)
        total = total + value  # `sum` does not add in place
    return total


# its frames are read as those of the code are
_total.__code__ = _total.__code__.replace(co_filename="<in between>", co_name="sum")
_CALLED = {"float": _as_float, "sum": _total}
_OF_NUMPY = {"float64": _FloatConversion()}


def replacements() -> Iterator[tuple[ModuleType, str, Any]]:
    """Yield what stands under the names that no source can write."""
    yield from ((builtins, name + _MARK, function) for name, function in _CALLED.items())
    yield from ((np, name + _MARK, function) for name, function in _OF_NUMPY.items())


def _places(code: CodeType, globals_: dict[str, Any]) -> Iterator[tuple[dis.Instruction, str]]:
    """Yield the instructions that load one of the functions in order to call it, and for nothing else."""
    before, instructions = None, list(dis.get_instructions(code))
    for number, instruction in enumerate(instructions):
        name = instruction.argval
        if instruction.opname == "LOAD_GLOBAL":
            if _is_called(instruction) and name in _CALLED and name not in globals_:
                yield instruction, name
        elif name in _OF_NUMPY and before is not None and before.opname == "LOAD_GLOBAL":
            after = instructions[number + 1].opname if number + 1 < len(instructions) else ""
            is_called = _is_called(before) or _is_called(instruction) or after == "PUSH_NULL"
            if instruction.opname in ("LOAD_METHOD", "LOAD_ATTR") and is_called and globals_.get(before.argval) is np:
                yield instruction, name
        before = instruction


def _is_called(instruction: dis.Instruction) -> bool:
    """Test whether a global or an attribute is loaded in order to call it: then a null is pushed with it."""
    if instruction.opname in _ARE_DOUBLED:
        return bool((instruction.arg or 0) & 1)
    return instruction.opname == "LOAD_METHOD"


def _converted(code: CodeType, globals_: dict[str, Any], made: dict[CodeType, CodeType]) -> CodeType:
    """Return code in which these calls have other names, also in the functions that it makes."""
    if code in made:
        return made[code]
    names, content = list(code.co_names), bytearray(code.co_code)
    for instruction, name in _places(code, globals_):
        if name + _MARK not in names:
            names.append(name + _MARK)
        number = names.index(name + _MARK)
        number = 2 * number + ((instruction.arg or 0) & 1) if instruction.opname in _ARE_DOUBLED else number
        if number < 256 and (instruction.arg or 0) < 256:
            content[instruction.offset + 1] = number
    constants = tuple(_converted(part, globals_, made) if type(part) is CodeType else part for part in code.co_consts)
    made[code] = code.replace(co_code=bytes(content), co_names=tuple(names), co_consts=constants)
    return made[code]


def _holds(code: CodeType, wanted: CodeType) -> bool:
    return code is wanted or any(_holds(part, wanted) for part in code.co_consts if type(part) is CodeType)


def _ask_for(follower: Follower, frame: FrameType) -> None:
    """Have calls in the code of a frame converted, and begin again; return where there are none."""
    if next(_places(frame.f_code, frame.f_globals), None) is not None:
        follower.stop(Restart(partial(_convert, frame.f_code)))


def with_conversions(follower: Follower, work: Callable[[], T]) -> T:
    """Return what work returns; it is begun again whenever a number needs a call to be converted."""
    undo: list[Callable[[], None]] = []
    follower.ask_for = partial(_ask_for, follower)
    try:
        while True:
            try:
                return work()
            except Restart as restart:
                undo += restart.change()
                if len(undo) > _MOST:
                    follower.ask_for = lambda frame: None
    finally:
        follower.ask_for = lambda frame: None
        for each in reversed(undo):
            each()


_MOST = 200  # functions of one enumeration


def _convert(code: CodeType) -> list[Callable[[], None]]:
    """Put other code in all functions that have this code, or that make functions of it."""
    gc.unfreeze()  # the functions from before a fork count as well
    found = [thing for thing in gc.get_objects() if type(thing) is FunctionType and _holds(thing.__code__, code)]
    made: dict[CodeType, CodeType] = {}
    return [set_code(function, _converted(function.__code__, function.__globals__, made)) for function in found]


_own_codes: dict[int, tuple[CodeType, CodeType]] = {}  # by the identity of code that takes its place for a time


def own_code(function: FunctionType) -> CodeType:
    """Return the code of a function, also while other code takes its place."""
    code = function.__code__
    while (found := _own_codes.get(identity(code))) is not None:  # calls in it may be converted, and its calls drawn
        code = found[1]
    return code


def set_code(function: FunctionType, code: CodeType) -> Callable[[], None]:
    """Put code in the place of a function's own; return what undoes it."""
    own = function.__code__
    _own_codes[identity(code)] = code, own
    function.__code__ = code

    def undo() -> None:
        function.__code__ = own
        _own_codes.pop(identity(code), None)

    return undo
