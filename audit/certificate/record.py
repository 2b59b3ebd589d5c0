"""Frozen dataclasses as plain data and back: a certificate stores what a judge needs, and nothing that is code.

The type of a field says what is read: numbers and texts within their limits, enums and literals, tuples, mappings,
named tuples, typed dictionaries and dataclasses. `Any` is read as it is, and `Self` is the class itself. A class with a
name `way` is recorded with it, and a field may be of any such class that plugins register. The metadata of a field may
say more: `digits`, to which a number is rounded; `recorded=False`, for a field that no record holds.

A judge needs these objects. To read them tests every field, so that a record needs no other validation.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import cache
from itertools import repeat
from typing import Annotated, Any, Literal, Self, TypeVar

from audit.errors import AuditError, InvalidCertificate
from audit.limits import Count, Limits

T = TypeVar("T")
Read = Callable[[Any], Any]
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
        parts = recorded_fields(type(value))
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
        found: T = reader(typing.cast(Any, kind))(data)
        return found
    except FormError as error:
        said = f"a part of the record does not have the form of {kind.__name__}: {error}"
        raise InvalidCertificate(said) from error


@cache
def recorded_fields(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    """Return the fields of a class that is a dataclass: those that its records hold."""
    return tuple(part for part in dataclasses.fields(kind) if part.metadata.get("recorded", True))


def types_of(kind: Any) -> dict[str, Any]:
    """Return the types of the recorded fields of a class, `Self` resolved."""
    hints = typing.get_type_hints(kind, include_extras=True)
    known = {part.name for part in recorded_fields(kind)} if hasattr(kind, "__dataclass_fields__") else hints.keys()
    return {name: _resolved(hint, kind) for name, hint in hints.items() if name in known}


def _resolved(hint: Any, kind: Any) -> Any:
    if typing.get_origin(hint) in _UNIONS and Self in typing.get_args(hint):
        return kind | None
    return hint


def _field_to_plain(part: dataclasses.Field[Any], value: Any) -> Any:
    digits = part.metadata.get("digits")
    return to_plain(value if digits is None else float(f"{value:.{digits}g}"))


@cache
def reader(kind: Any) -> Read:
    """Return the function that reads plain data as a type, and raises `FormError` for data of another form."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return lambda data: data
    if origin is Annotated:
        return _limited(parts[0], [part for part in parts[1:] if isinstance(part, Limits)])
    if origin is Literal:
        return _one_of({option: option for option in parts})
    if origin in _UNIONS:
        return _union([part for part in parts if part is not type(None)], type(None) in parts)
    if origin is tuple:
        return _tuple(parts)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(reader(parts[0]), reader(parts[1]))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _one_of({option.value: option for option in kind})
    if is_registry(kind):
        return _registered(kind)
    if typing.is_typeddict(kind):
        return _fields(kind, dict, kind.__required_keys__)
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _fields(kind, kind, types_of(kind).keys())
    return reader(Count) if kind is int else _scalar(kind)


def is_registry(kind: Any) -> bool:
    """Return whether a class stands for all that plugins register below it, of which each has a name `way`."""
    return hasattr(kind, "list_ways") and not hasattr(kind, "way")


def _registered(kind: Any) -> Read:
    def registered(data: Any) -> Any:
        way = data.get("way") if isinstance(data, Mapping) else None
        found = kind.find(way) if isinstance(way, str) else None
        if found is None:
            raise FormError(f"its way is {str(way)[:80]!r}, not one of {', '.join(map(repr, kind.list_ways()))}")
        return reader(found)(data)

    return registered


def _limited(kind: Any, limits: list[Limits]) -> Read:
    read, (limit,) = _scalar(kind) if kind is int else reader(kind), limits
    least, most = (-math.inf if limit.least is None else limit.least), (math.inf if limit.most is None else limit.most)
    usual = kind if kind in (int, float) and limit == Limits(limit.least, limit.most) else None

    def limited(data: Any) -> Any:
        if type(data) is usual and least <= data <= most:  # most numbers
            return data
        value = read(data)
        if not limit.admits(value):
            raise FormError(f"{str(data)[:80]!r} is beyond the limits: {limit}")
        return value

    return limited


def _one_of(options: Mapping[Any, Any]) -> Read:
    def one_of(data: Any) -> Any:
        if not isinstance(data, str) or data not in options:
            raise FormError(f"{str(data)[:80]!r} is not one of {', '.join(map(repr, options))}")
        return options[data]

    return one_of


def _union(kinds: list[Any], optional: bool) -> Read:
    def union(data: Any) -> Any:
        if optional and data is None:
            return None
        for kind in kinds[:-1]:
            try:
                return reader(kind)(data)
            except FormError:
                continue
        return reader(kinds[-1])(data)

    return union


def _tuple(kinds: tuple[Any, ...]) -> Read:
    endless = len(kinds) == 2 and kinds[1] is Ellipsis
    reads = [reader(kind) for kind in kinds if kind is not Ellipsis]

    def listed(data: Any) -> Any:
        if not isinstance(data, (list, tuple)):
            raise FormError(f"{str(data)[:80]!r} is not a list")
        if not endless and len(data) != len(reads):
            raise FormError(f"{len(data)} entries in place of {len(reads)}")
        found: list[Any] = []  # what was read when an error ends it says where
        try:
            if endless:
                found.extend(map(reads[0], data))
            else:
                found.extend(read(entry) for read, entry in zip(reads, data, strict=True))
        except FormError as error:
            error.path.append(f"[{len(found)}]")
            raise
        return tuple(found)

    return listed


def _mapping(read_key: Read, read: Read) -> Read:
    def mapping(data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise FormError(f"{str(data)[:80]!r} is not an object")
        return {read_key(key): part for key, part in _parts(data, zip(data, repeat(read), strict=False)).items()}

    return mapping


def _parts(data: Mapping[str, Any], reads: Iterable[tuple[str, Read]]) -> dict[str, Any]:
    """Read the parts of an object that are there; an error says which of them it is in."""
    found, name = dict[str, Any](), ""
    try:
        for name, read in reads:
            if name in data:
                found[name] = read(data[name])
    except FormError as error:
        error.path.append(f".{name}")
        raise
    return found


def _fields(kind: Any, make: Callable[..., Any], required: typing.Collection[str]) -> Read:
    """Return what reads an object with named parts: a dataclass, a named tuple or a typed dictionary."""
    way = getattr(kind, "way", None)
    due = {*required, "way"} if way else set(required)
    reads: dict[str, Read] = {}

    def fields(data: Any) -> Any:
        if not reads:  # a type may hold itself
            reads.update((name, reader(_bare(hint))) for name, hint in types_of(kind).items())
        if type(data) is not dict and not isinstance(data, Mapping):  # the first is the faster question
            raise FormError(f"{str(data)[:80]!r} is not an object")
        if data.keys() != due:
            _require_parts(data, due, reads)
        if way and data["way"] != way:
            raise FormError(f"its way is {str(data['way'])[:80]!r}, not {way!r}")
        found = _parts(data, reads.items())
        try:
            return make(**found)
        except (AuditError, TypeError, ValueError) as error:
            raise FormError(str(error)) from error

    return fields


def _require_parts(data: Mapping[str, Any], due: set[str], known: typing.Collection[str]) -> None:
    """Raise unless an object has all parts that are due, and no others than these and the known ones."""
    if lacking := due - data.keys():
        raise FormError(f"lacks {', '.join(sorted(lacking))}")
    if more := data.keys() - due - set(known):
        raise FormError(f"has {', '.join(sorted(more))[:80]}, which it should not")


def _bare(hint: Any) -> Any:
    """Return the type of a part of a typed dictionary that may be missing."""
    is_optional = typing.get_origin(hint) in (typing.NotRequired, typing.Required)
    return typing.get_args(hint)[0] if is_optional else hint


def _scalar(kind: Any) -> Read:
    def number(data: Any) -> float:
        if type(data) is float:  # most of them
            return data
        value = TEXTS.get(data, data) if isinstance(data, str) else data
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise FormError(f"{str(data)[:80]!r} is not a number")
        return float(value)

    def exactly(data: Any) -> Any:
        if type(data) is not kind:
            raise FormError(f"{str(data)[:80]!r} is not of type {kind.__name__}")
        return data

    return number if kind is float else exactly
