"""Frozen dataclasses as plain data and back: a certificate stores the data that a judge needs, and no code.

The type of a field sets the values that it admits: numbers and texts within their limits, enums and literals, tuples,
mappings, named tuples and dataclasses. `Any` is read as it is, and `Self` is the class itself. A class with a
name `way` is recorded with it, and a field may be of any such class that plugins register. The metadata of a field may
say more: `digits`, to which a number is rounded; `recorded=False`, for a field that no record holds.

A judge needs these objects. To read them tests every field, so that a record needs no other validation.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

from audit.errors import AuditError, InvalidCertificate
from audit.validate import Count, Limits

T = TypeVar("T")
TEXTS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}  # numbers that JSON does not know
_UNIONS = (types.UnionType, typing.Union)


class FormError(Exception):
    """Data do not have the form of a type; the path leads to the place, from the inside out."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"${''.join(reversed(self.path))}: {self.args[0]}"


def to_plain(value: Any) -> Any:
    """Return dataclasses as dicts, tuples as lists, and numbers that JSON does not know as text."""
    if value is None or type(value) in (str, int, bool):  # most values
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        tag = {"way": value.way} if hasattr(value, "way") else {}
        parts = list_fields(type(value))
        return tag | {part.name: _field_to_plain(part, getattr(value, part.name)) for part in parts}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key: to_plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(entry) for entry in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def from_plain(kind: type[T], data: Any) -> T:
    """Return the dataclass that `to_plain` turned into `data`; fields, types, limits and nesting must fit."""
    try:
        found: T = _read(kind, data)
        return found
    except FormError as error:
        said = f"a part of the record does not have the form of {kind.__name__}: {error}"
        raise InvalidCertificate(said) from error


@cache
def list_fields(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    """Return the fields of a class that is a dataclass: those that its records hold."""
    return tuple(part for part in dataclasses.fields(kind) if part.metadata.get("recorded", True))


@cache
def list_types(kind: Any) -> dict[str, Any]:
    """Return the types of the recorded fields of a class, `Self` resolved."""
    hints = typing.get_type_hints(kind, include_extras=True)
    known = {part.name for part in list_fields(kind)} if hasattr(kind, "__dataclass_fields__") else hints.keys()
    return {name: _resolve(hint, kind) for name, hint in hints.items() if name in known}


def _resolve(hint: Any, kind: Any) -> Any:
    if typing.get_origin(hint) in _UNIONS and Self in typing.get_args(hint):
        return kind | None
    return hint


def _field_to_plain(part: dataclasses.Field[Any], value: Any) -> Any:
    digits = part.metadata.get("digits")
    return to_plain(value if digits is None else float(f"{value:.{digits}g}"))


def _read(kind: Any, data: Any) -> Any:
    """Return plain data as a type; raise `FormError` for data of another form."""
    if kind is Any or type(data) is kind is float:
        return data
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _read_within(parts[0], parts[1], data)
    if origin is Literal:
        return _choose({option: option for option in parts}, data)
    if origin in _UNIONS:
        return _read_any_of(parts, data)
    if origin is tuple:
        return _read_list(parts, data)
    if origin is not None and issubclass(origin, Mapping):
        _require(isinstance(data, Mapping), data, "an object")
        return {_read(parts[0], key): _read_part(f".{key}", parts[1], entry) for key, entry in data.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choose({option.value: option for option in kind}, data)
    if hasattr(kind, "list_ways") and not hasattr(kind, "way"):  # any class below it, each of which has a name
        way = data.get("way") if isinstance(data, Mapping) else None
        if (found := kind.find(way) if isinstance(way, str) else None) is None:
            raise FormError(f"its way is {str(way)[:80]!r}, not one of {', '.join(map(repr, kind.list_ways()))}")
        return _read_fields(found, data)
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _read_fields(kind, data)
    return _read_within(int, Count.__metadata__[0], data) if kind is int else _read_scalar(kind, data)  # type: ignore[attr-defined]


def _require(holds: bool, data: Any, what: str) -> None:
    if not holds:
        raise FormError(f"{str(data)[:80]!r} is not {what}")


def _read_part(place: str, kind: Any, data: Any) -> Any:
    """Read a part of an object or a list; an error says in which place it is."""
    try:
        return _read(kind, data)
    except FormError as error:
        error.path.append(place)
        raise


def _read_within(kind: Any, limit: Limits, data: Any) -> Any:
    value = _read_scalar(kind, data) if kind in (int, float) else _read(kind, data)
    if not limit.admits(value):
        raise FormError(f"{str(data)[:80]!r} is beyond the limits: {limit}")
    return value


def _choose(options: Mapping[Any, Any], data: Any) -> Any:
    known = isinstance(data, str) and data in options
    _require(known, data, f"one of {', '.join(map(repr, options))}")
    return options[data]


def _read_any_of(kinds: Sequence[Any], data: Any) -> Any:
    if data is None and type(None) in kinds:
        return None
    *others, last = (kind for kind in kinds if kind is not type(None))
    for kind in others:
        with suppress(FormError):
            return _read(kind, data)
    return _read(last, data)


def _read_list(kinds: Sequence[Any], data: Any) -> tuple[Any, ...]:
    _require(isinstance(data, (list, tuple)), data, "a list")
    if kinds[1:] == (Ellipsis,):
        kinds = [kinds[0]] * len(data)
    elif len(data) != len(kinds):
        raise FormError(f"{len(data)} entries in place of {len(kinds)}")
    return tuple(_read_part(f"[{place}]", *each) for place, each in enumerate(zip(kinds, data, strict=True)))


def _read_fields(kind: Any, data: Any) -> Any:
    """Read an object with named parts: a dataclass or a named tuple."""
    way, hints = getattr(kind, "way", None), list_types(kind)
    due = hints.keys() | ({"way"} if way else set())
    _require(isinstance(data, Mapping), data, "an object")
    if lacking := sorted(due - data.keys()):
        raise FormError(f"lacks {', '.join(lacking)}")
    if more := sorted(data.keys() - due):
        raise FormError(f"has {', '.join(more)[:80]}, which it should not")
    if way and data["way"] != way:
        raise FormError(f"its way is {str(data['way'])[:80]!r}, not {way!r}")
    found = {name: _read_part(f".{name}", hint, data[name]) for name, hint in hints.items()}
    try:
        return kind(**found)
    except (AuditError, TypeError, ValueError) as error:
        raise FormError(str(error)) from error


def _read_scalar(kind: Any, data: Any) -> Any:
    if kind is not float:
        _require(type(data) is kind, data, f"of type {kind.__name__}")
        return data
    value = TEXTS.get(data, data) if isinstance(data, str) else data
    _require(isinstance(value, (int, float)) and not isinstance(value, bool), data, "a number")
    return float(value)
