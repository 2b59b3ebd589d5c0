"""Read the objects that code reaches by global names: they are part of a state, beside the contents of frames.

Numbers and texts count by value, functions, classes and modules by identity, and lists, objects and arrays by their
contents. An object reached in another way, such as an attribute of a module or of a class, is left to the
tests of merged states and to outputs of the code.
"""

from __future__ import annotations

import dis
import enum
import logging
import random
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audit.api import walk
from audit.extensions.enumeration.sources import ForkingGenerator, ForkingRandom, ForkingRandomState
from audit.extensions.enumeration.watching import is_own

STAND_INS = (ForkingRandom, ForkingGenerator, ForkingRandomState, random.SystemRandom)
_LASTING = (
    *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType),
    *(types.WrapperDescriptorType, np.dtype, np.ufunc, re.Pattern, logging.Logger, enum.Enum, type(int | str)),
)
_MISSING = object()


def is_of_python(kind: type) -> bool:
    """Test whether instances of a class hold nothing but attributes: all of its bases are written in Python."""
    return kind.__mro__[-1] is object and all(map(walk.is_written_in_python, kind.__mro__[:-1]))


class Surroundings:
    """Objects that code reached by names, and their values when the code was first met."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.pinned: dict[int, Any] = {}  # by identity; the objects stay alive, so that no identity is used again
        self._read = read  # a value by itself; None where it cannot be read
        self._codes: dict[int, types.CodeType] = {}  # by identity: equal code may have other globals
        self._first: dict[tuple[int, str], Any] = {}  # its value, by place and name
        self._places: dict[int, dict[str, Any]] = {}

    def values(self, read: Callable[[Any], Any]) -> list[Any]:
        """Return the values of all names, as a function reads them."""
        return [self._value(place, name, read) for place, name in self._first]

    def _value(self, place: int, name: str, read: Callable[[Any], Any]) -> Any:
        value = self._places[place].get(name, _MISSING)
        return self.pin(value) if value is _MISSING or isinstance(value, _LASTING) else read(value)

    def is_unchanged(self) -> bool:
        """Test whether all that can be read is as it was."""
        return all(
            first in (None, now) for first, now in zip(self._first.values(), self.values(self._read), strict=True)
        )

    def pin(self, thing: Any) -> int:
        """Keep an object alive; return its identity."""
        number = id(thing)
        self.pinned[number] = thing
        return number

    def add_code(self, code: types.CodeType, globals_: dict[str, Any]) -> None:
        """Add the objects that code reaches by names."""
        if id(code) in self._codes or is_own(globals_.get("__name__")):
            return
        self._codes[id(code)] = code
        place = self.pin(globals_)
        self._places[place] = globals_
        for name in _names_of(code):
            if (place, name) not in self._first:
                self._first[place, name] = self._value(place, name, self._read)


def _names_of(code: types.CodeType) -> Iterator[str]:
    """Yield the global names that code and the functions in it use."""
    for instruction in dis.get_instructions(code):
        if instruction.opname.endswith(("_GLOBAL", "_NAME")):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_of(constant)
