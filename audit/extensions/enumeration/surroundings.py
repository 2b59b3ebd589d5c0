"""Keep an eye on the surroundings of code: all that it reaches by global names, closures, classes and its arguments.

States of runs are merged only while nothing there differs from what it was when the code was first met. Then a state
is what the frames hold. The standard library and NumPy are trusted to keep nothing that outputs depend on.
"""

from __future__ import annotations

import enum
import logging
import random
import re
import types
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import repeat
from operator import is_
from typing import Any

import numpy as np

from audit.api import is_written_in_python, read_fields
from audit.extensions.enumeration.answers import Symbol
from audit.extensions.enumeration.following import Follower
from audit.extensions.enumeration.identities import identity
from audit.extensions.enumeration.numpy_sources import ForkingGenerator, ForkingRandomState
from audit.extensions.enumeration.replaced_code import own_code
from audit.extensions.enumeration.sources import ForkingBytes, ForkingRandom
from audit.extensions.enumeration.watching import is_own

STAND_INS = (ForkingRandom, ForkingBytes, ForkingGenerator, ForkingRandomState, random.SystemRandom)
_FIXED = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented), Fraction, Decimal, range)
_FIXED_KINDS = (np.generic, np.dtype, np.ufunc, re.Pattern, logging.Logger, enum.Enum, type(int | str))
_WITHOUT_CONTENT = {
    *("getset_descriptor", "member_descriptor", "classmethod_descriptor", "GenericAlias", "mappingproxy", "code"),
    *("itemgetter", "attrgetter", "_ArrayFunctionDispatcher", "cython_function_or_method", "object", "TypeVar"),
}
_MISSING = object()


def is_of_python(kind: type) -> bool:
    """Test whether instances of a class hold nothing but attributes: all of its bases are written in Python."""
    return kind.__mro__[-1] is object and all(map(is_written_in_python, kind.__mro__[:-1]))


class Surroundings:
    """All that code was seen to reach, with what it was then."""

    def __init__(self) -> None:
        self.pinned: dict[int, Any] = {}  # by identity; the objects stay alive, so that no identity is used again
        self.blocked: set[str] = set()  # why states cannot be compared
        self._codes: dict[int, types.CodeType] = {}  # by identity: equal code may have other globals
        self._bindings: dict[int, tuple[dict[str, Any], list[str], list[Any]]] = {}  # by the identity of the place
        self._contents: list[tuple[Callable[[], tuple[Any, ...]], tuple[Any, ...]]] = []

    def is_unchanged(self) -> bool:
        """Test whether all is as it was."""
        for place, names, values in self._bindings.values():
            if not all(map(is_, map(place.get, names, repeat(_MISSING)), values)):
                return False
        for read, before in self._contents:
            now = read()
            if len(now) != len(before) or not all(map(is_, now, before)):
                return False
        return True

    def add_code(self, code: types.CodeType, globals_: dict[str, Any]) -> None:
        """Add what code reaches by names."""
        if identity(code) in self._codes or is_own(globals_.get("__name__")):
            return
        self._codes[identity(code)] = code
        names = set(_names_of(code))
        for name in names:
            value = globals_.get(name, _MISSING)
            self._bind(globals_, name, value)
            if isinstance(value, types.ModuleType) and not is_own(value.__name__):
                self._add_module(value, names, set())
            elif value is not _MISSING:
                self.add(value)

    def _bind(self, place: dict[str, Any], name: str, value: Any) -> None:
        _, names, values = self._bindings.setdefault(identity(place), (place, [], []))
        names.append(name)
        values.append(value)

    def _add_module(self, module: types.ModuleType, names: set[str], seen: set[int]) -> None:
        """Add what has one of the names in a module, in its parts, and so on."""
        seen.add(identity(module))
        for name in names & vars(module).keys():
            value = vars(module)[name]
            self._bind(vars(module), name, value)
            if not isinstance(value, types.ModuleType):
                self.add(value)
            elif not is_own(value.__name__) and identity(value) not in seen:
                self._add_module(value, names, seen)

    def add(self, value: Any) -> None:
        """Add an object, and what it holds."""
        waiting = [value]
        while waiting:
            value = waiting.pop()
            kind = type(value)
            if kind in _FIXED or isinstance(value, _FIXED_KINDS) or identity(value) in self.pinned:
                continue
            self.pinned[identity(value)] = value
            if type(value) is Symbol or isinstance(value, (Follower, *STAND_INS, types.ModuleType)):
                continue
            if kind in (tuple, frozenset):
                waiting += value
            elif isinstance(value, type):
                waiting += self._add_class(value)
            elif kind is types.FunctionType:
                waiting += self._add_function(value)
            elif kind is types.MethodType:
                waiting += value.__func__, value.__self__
            elif isinstance(
                value, (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
            ):
                owner = getattr(value, "__self__", None)
                waiting += [] if owner is None or isinstance(owner, types.ModuleType) else [owner]
            elif isinstance(value, (staticmethod, classmethod)):
                waiting.append(value.__func__)
            elif kind is property:
                waiting += value.fget, value.fset, value.fdel
            elif kind is partial:
                waiting += value.func, value.args, value.keywords
            elif kind is np.ndarray and value.dtype != object:
                self._watch(partial(_interned, value))
            else:
                waiting += self._add_container(value)

    def _add_container(self, value: Any) -> Iterator[Any]:
        kind = type(value)
        if (read := _READERS.get(kind)) is not None:
            yield from self._watch(partial(read, value))
        elif is_of_python(kind):
            yield kind
            yield from self._watch(lambda: _flat(read_fields(value)))
        elif kind.__qualname__ not in _WITHOUT_CONTENT or not is_own(kind.__module__):
            self.blocked.add(f"a {kind.__qualname__} is reached, which cannot be looked at whole")

    def _add_class(self, kind: type) -> Iterator[Any]:
        if is_own(kind.__module__):
            return
        yield from kind.__mro__[1:]
        hidden = ("__dict__", "__weakref__", "__doc__", "__abstractmethods__", "_abc_impl")
        members = self._watch(lambda: _flat({name: part for name, part in vars(kind).items() if name not in hidden}))
        yield from (part for part in members if not isinstance(part, types.MemberDescriptorType))

    def _add_function(self, function: types.FunctionType) -> Iterator[Any]:
        yield from function.__closure__ or ()
        if is_own(function.__module__):
            return
        self.add_code(own_code(function), function.__globals__)
        yield from self._watch(partial(_parts_of, function))[1:]

    def _watch(self, read: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        now = read()
        self._contents.append((read, now))
        return now


def _interned(array: np.ndarray) -> tuple[Any, ...]:
    """Return the content of an array as one object, the same for equal contents."""
    content = (array.tobytes(), array.shape, array.strides, array.dtype.str)
    return (_ARRAYS.setdefault(content, content),)


_ARRAYS: dict[Any, Any] = {}


def _flat(fields: dict[str, Any]) -> tuple[Any, ...]:
    return (*fields.keys(), *fields.values())


def _content(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _parts_of(function: types.FunctionType) -> tuple[Any, ...]:
    code, defaults, named, fields = own_code(function), function.__defaults__, function.__kwdefaults__, vars(function)
    if named is None and not fields:  # most functions
        return code, defaults
    return (code, defaults, *_flat(named or {}), *_flat(fields))


_READERS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    list: tuple,
    set: tuple,
    dict: _flat,
    types.CellType: _content,
    np.ndarray: lambda array: tuple(array.ravel()),
}


def _names_of(code: types.CodeType) -> Iterator[str]:
    """Yield the names that code and the functions in it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_of(constant)
