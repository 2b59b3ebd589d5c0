"""Read values as plain data, so that two states of the code can be compared: what is shared in them shows as well."""

from __future__ import annotations

import struct
import sys
import types
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from audit.api import CLASS, CODE, FIELD, take_apart
from audit.extensions.enumeration.answers import Symbol
from audit.extensions.enumeration.deferred import Deferred
from audit.extensions.enumeration.frames import UNBOUND
from audit.extensions.enumeration.identities import identity
from audit.extensions.enumeration.replaced_code import own_code
from audit.extensions.enumeration.surroundings import STAND_INS, Surroundings, is_of_python

_PLAIN_KINDS = frozenset((int, str, bytes, bool, type(None), type(...), type(NotImplemented), type(UNBOUND)))
_SEQUENCES: tuple[Any, ...] = (range(1), range(2**70), [], (), "", np.empty(0))
_ITERATORS = (*(type(iter(sequence)) for sequence in _SEQUENCES), type(reversed([])), enumerate, zip, reversed)
_OVER_ROWS: tuple[type, ...] = (type(iter([])), type(iter(np.empty(0))))
_BITS = partial(struct.pack, "d")  # of a NaN the sign and the payload, too
_LASTING = (type, types.ModuleType, types.MethodDescriptorType, types.WrapperDescriptorType)


class NoState(Exception):
    """Says why a state cannot be read."""


def _rest_of(iterator: Any) -> Any:
    """Return what an iterator holds; of a row that nothing else holds only what is still to come."""
    made: Any = iterator.__reduce__()
    if type(iterator) in _OVER_ROWS and len(made) == 3 and type(made[1][0]) is list:
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
            return self._deferred(value)
        if kind is Symbol:
            return kind, self.of(value.offset)
        if isinstance(value, STAND_INS):
            return "source", self.around.pin(value), self.of(getattr(value, "gauss_next", None))
        if identity(value) in self.around.pinned:
            return "outside", identity(value)
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

    def _deferred(self, value: Deferred) -> Any:
        draw, steps = value._draw, tuple((name, self.of(other)) for name, _, other in value._steps)
        if (number := self.numbers.get(identity(draw))) is not None:
            return Deferred, number, steps
        number = self.numbers[identity(draw)] = len(self.numbers)
        return Deferred, number, steps, draw.support, draw.kind

    def _changeable(self, value: Any, kind: type) -> Any:
        number = self.numbers.get(identity(value))
        if number is not None:
            return "again", number
        number = self.numbers[identity(value)] = len(self.numbers)
        if kind is list:
            if _PLAIN_KINDS.issuperset(map(type, value)):
                return kind, number, *map(type, value), *value
            return (kind, number, *map(self.of, value))
        if kind is types.GeneratorType and value.gi_running:  # its frame is read, and the loop that runs it holds it
            return kind, number
        if kind in _ITERATORS:
            return (kind, number, *map(self.of, _rest_of(value)))
        if kind is partial:
            return (kind, number, *map(self.of, (value.func, value.args, value.keywords, vars(value))))
        if kind is np.ndarray:
            return self._array(value, number)
        if kind is types.FunctionType:
            return kind, number, self.around.pin(own_code(value)), *self._parts(value)
        if is_of_python(kind) and not hasattr(kind, "__del__"):
            self.around.pin(kind)
        elif kind is not dict and kind is not types.CellType:
            raise NoState(f"a {kind.__qualname__} is held, which cannot be looked at whole")
        return kind, number, *self._parts(value)

    def _parts(self, value: Any) -> Iterator[Any]:
        """Read what a value consists of; classes and code are part of the surroundings."""
        for role, name, part in take_apart(value):
            if role not in (CLASS, CODE):
                yield (name, self.of(part)) if role == FIELD else self.of(part)

    def _array(self, value: np.ndarray, number: int) -> Any:
        if value.base is not None:  # what it shares memory with may be held elsewhere
            raise NoState("an array is held that shares memory")
        content = tuple(map(self.of, value.ravel())) if value.dtype == object else value.tobytes()
        return type(value), number, value.dtype, value.shape, value.strides, value.flags.writeable, content


_ALONE = _references()
