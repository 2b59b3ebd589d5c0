"""Read the frames of running code whole: local variables, cells, and the values of half-evaluated expressions.

Python shows the variables of a frame and not its value stack, where the iterator of a loop and the left operand of a
sum wait. They are read from memory, in the layouts of CPython 3.11 to 3.13. Each reading compares two words of the
frame with what Python says of them. On other interpreters nothing is read, and no states are merged.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from builtins import id  # the code under audit is given another one
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple

from audit.enumeration.bytecode import IS_KNOWN

_FRAME = 24  # offset of the inner frame in a frame object
_ENTRIES_ARE_FRAMES = sys.version_info >= (3, 12)  # C code calls by a frame of its own, below that of the function
_TOP, _ENTRY, _OWNER, _SLOTS = 64, 68, 70, 72  # offsets in the inner frame, in bytes
_FUNCTION, _GLOBALS, _LOCALS, _CODE, _PREVIOUS = (2, 3, 5, 0, 1) if _ENTRIES_ARE_FRAMES else (0, 1, 3, 4, 6)  # in words
_OF_C = 3  # the owner of the frames by which C code calls
_IS_USUAL_BUILD = not (hasattr(sys, "gettotalrefcount") or sysconfig.get_config_var("Py_GIL_DISABLED"))
IS_READABLE = IS_KNOWN and _IS_USUAL_BUILD and ctypes.sizeof(ctypes.c_void_p) == 8


class _Unbound:
    def __repr__(self) -> str:
        return "unbound"


UNBOUND = _Unbound()


class Slots(NamedTuple):
    """The parts of a frame."""

    address: int
    inner: int  # address of the inner frame
    caller: int  # address of the inner frame that goes on when this one has returned
    variables: int  # number of local variables, cells and free variables
    top: int  # number of values on the stack that the frame has put aside; -1 where C code was called
    is_entry: bool  # whether C code called it
    is_plain: bool  # whether it is that of a function, and not of a class or a module

    def read(self, first: int, last: int) -> list[Any]:
        """Return the variables and stack values from one number to another."""
        words = _objects(last - first).from_address(self.address + 8 * first)
        try:
            return words[:]
        except ValueError:  # of a null pointer
            return [_entry(words, number) for number in range(last - first)]


def _entry(words: Any, number: int) -> Any:
    try:
        return words[number]
    except ValueError:
        return UNBOUND


@lru_cache
def _objects(number: int) -> Any:
    return ctypes.py_object * number


_WORDS = ctypes.c_void_p * 8
_variables: dict[CodeType, int] = {}


def function_of(frame: FrameType) -> Any:
    """Return the function that runs in a frame; None where it cannot be read."""
    inner = _inner(frame)
    return None if inner is None else ctypes.py_object.from_address(inner + 8 * _FUNCTION).value


def _inner(frame: FrameType) -> int | None:
    """Return the address of the inner frame."""
    inner = ctypes.c_void_p.from_address(id(frame) + _FRAME).value if IS_READABLE else None
    if not inner:
        return None
    words = _WORDS.from_address(inner)
    is_it = words[_CODE] == id(frame.f_code) and words[_GLOBALS] == id(frame.f_globals)
    return inner if is_it else None


def slots_of(frame: FrameType) -> Slots | None:
    """Return the parts of a frame; None where they cannot be read."""
    inner = _inner(frame)
    if inner is None:
        return None
    words, code = _WORDS.from_address(inner), frame.f_code
    number = _variables.get(code)
    if number is None:
        cells = sum(name not in code.co_varnames for name in code.co_cellvars)
        number = _variables[code] = code.co_nlocals + cells + len(code.co_freevars)
    top = ctypes.c_int.from_address(inner + _TOP).value
    caller, entry = words[_PREVIOUS] or 0, False
    if not _ENTRIES_ARE_FRAMES:
        entry = ctypes.c_bool.from_address(inner + _ENTRY).value
    elif caller and ctypes.c_byte.from_address(caller + _OWNER).value == _OF_C:
        caller, entry = _WORDS.from_address(caller)[_PREVIOUS] or 0, True
    return Slots(inner + _SLOTS, inner, caller, number, -1 if top < 0 else top - number, entry, not words[_LOCALS])
