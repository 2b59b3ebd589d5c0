"""Read the frames of running code whole: local variables, cells, and the values of half-evaluated expressions.

Python shows the variables of a frame and not its value stack, where the iterator of a loop and the left operand of a
sum wait. They are read from memory, in the layouts of CPython 3.11 to 3.13. Each reading compares two words of the
frame with Python's own values. On other interpreters nothing is read, and no states are merged.

A variable is live where some path from there reads it before it is written (the usual backward analysis). Handlers of
exceptions count as paths from every instruction that they cover. Instructions that are not known make all variables
live. Depths follow from the effect of each instruction.
"""

from __future__ import annotations

import ctypes
import dis
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any, NamedTuple

IS_KNOWN = sys.implementation.name == "cpython" and sys.version_info[:2] in ((3, 11), (3, 12), (3, 13))
_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT"}
_ENDS |= {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
_READS, _WRITES = {"LOAD_FAST", "LOAD_CLOSURE", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "DELETE_FAST"}, {"STORE_FAST"}
_PAIRS = {"LOAD_FAST_LOAD_FAST": "rr", "STORE_FAST_LOAD_FAST": "wr", "STORE_FAST_STORE_FAST": "ww"}  # of CPython 3.13
_JUMPS = {*dis.hasjrel, *dis.hasjabs}


class Place(NamedTuple):
    """Facts known at one instruction."""

    name: str
    argument: int
    live: int  # the set of local variables that are live after it, as bits
    before: int | None  # depth of the value stack; None where no path leads
    after: int | None


_places: dict[int, tuple[CodeType, dict[int, Place]]] = {}  # by the identity of code, which stays alive


def places_of(code: CodeType) -> dict[int, Place]:
    """Return the facts known at each offset; the caches behind an instruction belong to it."""
    if (found := _places.get(id(code))) is None:
        found = _places[id(code)] = code, _places_of(code)
    return found[1]


def _places_of(code: CodeType) -> dict[int, Place]:
    instructions = list(dis.get_instructions(code))
    index = {instruction.offset: number for number, instruction in enumerate(instructions)}
    handlers: list[tuple[int, int] | None] = [None] * len(instructions)
    for entry in dis._parse_exception_table(code):  # type: ignore[attr-defined]
        for number, instruction in enumerate(instructions):
            if entry.start <= instruction.offset < entry.end:
                handlers[number] = index[entry.target], entry.depth + 1 + bool(entry.lasti)
    onward = [_onward(number, instruction, index) for number, instruction in enumerate(instructions)]
    live = _live(code, instructions, onward, handlers)
    depth = _depths(instructions, onward, handlers)
    places: dict[int, Place] = {}
    for number, instruction in enumerate(instructions):
        end = instructions[number + 1].offset if number + 1 < len(instructions) else len(code.co_code)
        before = depth[number]
        after = None if before is None else before + _effect(instruction, False)
        place = Place(instruction.opname, instruction.arg or 0, live[number], before, after)
        places.update(dict.fromkeys(range(instruction.offset, end, 2), place))
    return places


def _onward(number: int, instruction: dis.Instruction, index: dict[int, int]) -> list[tuple[int, bool]]:
    """Return the instructions that may come next, and whether by a jump."""
    found = [] if instruction.opname in _ENDS else [(number + 1, False)]
    if instruction.opcode in _JUMPS:
        found.append((index[instruction.argval], True))
    return found


def _live(code: CodeType, instructions: list[dis.Instruction], onward: Any, handlers: Any) -> list[int]:
    """Return the variables that are live after each instruction."""
    everything = (1 << code.co_nlocals) - 1
    if "super" in code.co_names or "__class__" in code.co_freevars:  # it reads the first argument from the frame
        return [everything] * len(instructions)
    before, after = [0] * len(instructions), [0] * len(instructions)
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(instructions))):
            instruction, handler = instructions[number], handlers[number]
            caught = before[handler[0]] if handler else 0
            after[number] = caught
            for other, _ in onward[number]:
                after[number] |= before[other]
            now = _read_before(after[number], instruction, everything) | caught
            if now != before[number]:
                before[number], changed = now, True
    return [bits & everything for bits in after]


def _read_before(after: int, instruction: dis.Instruction, everything: int) -> int:
    """Return the variables that are live before an instruction and its handlers, from those that are live after it."""
    name, argument = instruction.opname, instruction.arg or 0
    if name in _READS:
        return after | 1 << argument
    if name in _WRITES:
        return after & ~(1 << argument)
    if name in _PAIRS:
        for step, variable in zip(reversed(_PAIRS[name]), (argument & 15, argument >> 4), strict=True):
            after = after | 1 << variable if step == "r" else after & ~(1 << variable)
        return after
    return everything if "FAST" in name else after


def _depths(instructions: list[dis.Instruction], onward: Any, handlers: Any) -> list[int | None]:
    depth: list[int | None] = [None] * len(instructions)
    waiting = [(0, 0)]
    while waiting:
        number, now = waiting.pop()
        if depth[number] is not None:
            if depth[number] != now:  # not a program of the compiler: nothing is known about its stack
                return [None] * len(instructions)
            continue
        depth[number] = now
        waiting += [(other, now + _effect(instructions[number], jumps)) for other, jumps in onward[number]]
        if handlers[number]:
            waiting.append(handlers[number])
    return depth


def _effect(instruction: dis.Instruction, jumps: bool) -> int:
    argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(instruction.opcode, argument, jump=jumps)


_FRAME = 24  # offset of the inner frame in a frame object
_ENTRIES_ARE_FRAMES = sys.version_info >= (3, 12)  # C code calls by a frame of its own, below that of the function
_STATE, _SLOTS = 8, 9  # in words: how deep the stack is (32 bits), whether C code called (8), the owner (8 after 8)
_GLOBALS, _LOCALS, _CODE, _PREVIOUS = (3, 5, 0, 1) if _ENTRIES_ARE_FRAMES else (1, 3, 4, 6)  # in words
_OF_C = 3  # the owner of the frames by which C code calls
_IS_USUAL_BUILD = sys.byteorder == "little" and not (
    hasattr(sys, "gettotalrefcount") or sysconfig.get_config_var("Py_GIL_DISABLED")
)
IS_READABLE = IS_KNOWN and _IS_USUAL_BUILD and ctypes.sizeof(ctypes.c_void_p) == 8


class _Unbound:
    def __repr__(self) -> str:
        return "unbound"


UNBOUND = _Unbound()


class Slots(NamedTuple):
    """The parts of a frame."""

    code: CodeType
    address: int
    inner: int  # address of the inner frame
    caller: int  # address of the inner frame that goes on when this one has returned
    variables: int  # number of local variables, cells and free variables
    top: int  # number of values on the stack that the frame has put aside; -1 where C code was called
    is_entry: bool  # whether C code called it
    is_plain: bool  # whether it is that of a function, and not of a class or a module

    def read(self, first: int, last: int) -> list[Any]:
        """Return the variables and stack values from one number to another."""
        _OBJECTS_AT.value = start = self.address + 8 * first
        words = _words(start, last - first)
        if all(words):
            return _OBJECTS[: last - first]
        return [_OBJECTS[number] if word else UNBOUND for number, word in enumerate(words)]


# pointers that are set to where something is read: no object is made, and no event of an audit is raised
_WORDS, _OBJECTS = ctypes.POINTER(ctypes.c_size_t)(), ctypes.POINTER(ctypes.py_object)()
_WORDS_AT, _OBJECTS_AT = ctypes.c_void_p.from_buffer(_WORDS), ctypes.c_void_p.from_buffer(_OBJECTS)


def _words(address: int, number: int) -> list[int]:
    _WORDS_AT.value = address
    return _WORDS[:number]


_variables: dict[int, tuple[CodeType, int]] = {}  # by the identity of code, which is slow to hash


def _inner(frame: FrameType, code: CodeType) -> tuple[int, list[int]] | None:
    """Return the address of the inner frame, and its first words."""
    inner = _words(id(frame) + _FRAME, 1)[0] if IS_READABLE else 0
    if not inner:
        return None
    words = _words(inner, _SLOTS)
    is_it = words[_CODE] == id(code) and words[_GLOBALS] == id(frame.f_globals)
    return (inner, words) if is_it else None


def slots_of(frame: FrameType) -> Slots | None:
    """Return the parts of a frame; None where they cannot be read."""
    code = frame.f_code
    if (read := _inner(frame, code)) is None:
        return None
    inner, words = read
    if (found := _variables.get(id(code))) is None:
        cells = sum(name not in code.co_varnames for name in code.co_cellvars)
        found = _variables[id(code)] = code, code.co_nlocals + cells + len(code.co_freevars)
    number = found[1]
    state, caller, entry = words[_STATE], words[_PREVIOUS], False
    top = state & 0xFFFFFFFF
    if not _ENTRIES_ARE_FRAMES:
        entry = bool(state >> 32 & 0xFF)
    elif caller and (outer := _words(caller, _SLOTS))[_STATE] >> 48 & 0xFF == _OF_C:
        caller, entry = outer[_PREVIOUS], True
    top = -1 if top >> 31 else top - number
    return Slots(code, inner + 8 * _SLOTS, inner, caller, number, top, entry, not words[_LOCALS])
