"""Read the frames of running code whole: local variables, cells, and the values of half-evaluated expressions.

Python shows the variables of a frame and not its value stack, where the iterator of a loop and the left operand of a
sum wait. They are read from memory, in the layouts of CPython 3.11 to 3.13. Each reading compares two words of the
frame with what Python says of them. On other interpreters nothing is read, and no states are merged.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any, NamedTuple

from audit.extensions.enumeration.bytecode import IS_KNOWN
from audit.extensions.enumeration.identities import address, identity

_FRAME = 24  # offset of the inner frame in a frame object
_ENTRIES_ARE_FRAMES = sys.version_info >= (3, 12)  # C code calls by a frame of its own, below that of the function
_STATE, _SLOTS = 8, 9  # in words: how deep the stack is (32 bits), whether C code called (8), the owner (8 after 8)
_FUNCTION, _GLOBALS, _LOCALS, _CODE, _PREVIOUS = (2, 3, 5, 0, 1) if _ENTRIES_ARE_FRAMES else (0, 1, 3, 4, 6)  # in words
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


def function_of(frame: FrameType) -> Any:
    """Return the function that runs in a frame; None where it cannot be read."""
    found = _inner(frame, frame.f_code)
    if found is None:
        return None
    _OBJECTS_AT.value = found[0]
    return _OBJECTS[_FUNCTION]


def _inner(frame: FrameType, code: CodeType) -> tuple[int, list[int]] | None:
    """Return the address of the inner frame, and its first words."""
    inner = _words(address(frame) + _FRAME, 1)[0] if IS_READABLE else 0
    if not inner:
        return None
    words = _words(inner, _SLOTS)
    is_it = words[_CODE] == address(code) and words[_GLOBALS] == address(frame.f_globals)
    return (inner, words) if is_it else None


def slots_of(frame: FrameType) -> Slots | None:
    """Return the parts of a frame; None where they cannot be read."""
    code = frame.f_code
    if (read := _inner(frame, code)) is None:
        return None
    inner, words = read
    if (found := _variables.get(identity(code))) is None:
        cells = sum(name not in code.co_varnames for name in code.co_cellvars)
        found = _variables[identity(code)] = code, code.co_nlocals + cells + len(code.co_freevars)
    number = found[1]
    state, caller, entry = words[_STATE], words[_PREVIOUS], False
    top = state & 0xFFFFFFFF
    if not _ENTRIES_ARE_FRAMES:
        entry = bool(state >> 32 & 0xFF)
    elif caller and (outer := _words(caller, _SLOTS))[_STATE] >> 48 & 0xFF == _OF_C:
        caller, entry = outer[_PREVIOUS], True
    top = -1 if top >> 31 else top - number
    return Slots(code, inner + 8 * _SLOTS, inner, caller, number, top, entry, not words[_LOCALS])
