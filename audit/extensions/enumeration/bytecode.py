"""Read bytecode: which local variables are still needed after an instruction, and how deep the value stack is.

A variable is live where some path from there reads it before it is written (the usual backward analysis). Handlers of
exceptions count as paths from every instruction that they cover. Instructions that are not known make all variables
live. Depths follow from the effect of each instruction.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import Any, NamedTuple

from audit.extensions.enumeration.identities import identity

KNOWN = ((3, 11), (3, 12), (3, 13))  # versions of CPython
IS_KNOWN = sys.implementation.name == "cpython" and sys.version_info[:2] in KNOWN
_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT"}
_ENDS |= {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
_READS, _WRITES = {"LOAD_FAST", "LOAD_CLOSURE", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "DELETE_FAST"}, {"STORE_FAST"}
_PAIRS = {"LOAD_FAST_LOAD_FAST": "rr", "STORE_FAST_LOAD_FAST": "wr", "STORE_FAST_STORE_FAST": "ww"}  # of CPython 3.13
_JUMPS = {*dis.hasjrel, *dis.hasjabs}


class Place(NamedTuple):
    """Say what is known at one instruction."""

    name: str
    argument: int
    live: int  # the set of local variables that are live after it, as bits
    before: int | None  # depth of the value stack; None where no path leads
    after: int | None


_places: dict[int, tuple[CodeType, dict[int, Place]]] = {}  # by the identity of code, which stays alive


def places_of(code: CodeType) -> dict[int, Place]:
    """Return what is known at each offset; the caches behind an instruction belong to it."""
    if (found := _places.get(identity(code))) is None:
        found = _places[identity(code)] = code, _places_of(code)
    return found[1]


def _places_of(code: CodeType) -> dict[int, Place]:
    instructions = list(dis.get_instructions(code))
    index = {instruction.offset: number for number, instruction in enumerate(instructions)}
    handlers: list[tuple[int, int] | None] = [None] * len(instructions)
    for entry in _exception_table(code):
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


def _exception_table(code: CodeType) -> list[Any]:
    return list(dis._parse_exception_table(code))  # type: ignore[attr-defined]


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
