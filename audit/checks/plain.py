"""Frozen dataclasses as plain data and back: a certificate stores what a judge needs, and nothing that is code.

A class with a name `way` is recorded with it: a field may be of one of several such classes. The metadata of a field
may say more: `key`, its name in records; `digits`, to which a number is rounded; `since`, for a field that older
records lack; `recorded=False`, for one that no record holds.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from audit.base.errors import AuditError, InvalidCertificate

T = TypeVar("T")
_TEXTS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_plain(value: Any) -> Any:
    """Return dataclasses as dicts, tuples as lists, and numbers that JSON does not know as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        tag = {"way": value.way} if hasattr(value, "way") else {}
        return tag | {key: _field_to_plain(part, getattr(value, part.name)) for key, part in _recorded(value).items()}
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
    """Return the dataclass that `to_plain` turned into `data`; fields, types and nesting must fit."""
    try:
        return _build(kind, data)
    except (AuditError, KeyError, TypeError, ValueError) as error:
        said = f"a part of the record does not have the form of {kind.__name__}: {error!r}"
        raise InvalidCertificate(said) from error


def _recorded(kind: Any) -> dict[str, dataclasses.Field[Any]]:
    parts = (part for part in dataclasses.fields(kind) if part.metadata.get("recorded", True))
    return {str(part.metadata.get("key", part.name)): part for part in parts}


def _field_to_plain(part: dataclasses.Field[Any], value: Any) -> Any:
    digits = part.metadata.get("digits")
    return to_plain(value if digits is None else float(f"{value:.{digits}g}"))


def _build(kind: Any, data: Any) -> Any:
    if kind is Any:  # whoever knows more builds it
        return data
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        fields = _recorded(kind).items()
        data = {key: part for key, part in data.items() if key != "way"} if hasattr(kind, "way") else data
        names = {key: part.name for key, part in fields if "since" not in part.metadata or key in data}
        return kind(**_build_fields(kind, names, data))
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return None if data is None else _build(_member(parts, data), data)
    if origin is tuple:
        if not isinstance(data, (list, tuple)):
            raise TypeError(f"{data!r} is not a list")
        kinds = parts[:1] * len(data) if len(parts) == 2 and parts[1] is Ellipsis else parts
        return tuple(_build(part, entry) for part, entry in zip(kinds, data, strict=True))
    if hasattr(kind, "_fields"):
        return kind(**_build_fields(kind, dict.fromkeys(kind._fields), data))
    if origin is not None and issubclass(origin, Mapping):
        return {_build(parts[0], key): _build(parts[1], entry) for key, entry in data.items()}
    return _scalar(kind, data)


def _member(kinds: tuple[Any, ...], data: Any) -> Any:
    """Return the member of a union that the data is of: the one with their tag, or the only one beside None."""
    members = [kind for kind in kinds if kind is not type(None)]
    if len(members) == 1:
        return members[0]
    return {kind.way: kind for kind in members}[data["way"]]


def _build_fields(kind: Any, names: Mapping[str, str | None], data: Any) -> dict[str, Any]:
    """Return the arguments for `kind`; `names` maps the keys of the data to the names of the fields."""
    if not isinstance(data, Mapping):
        raise TypeError(f"{data!r} is not a mapping")
    if set(names) != set(data):
        raise ValueError(f"fields {sorted(data)} in place of {sorted(names)}")
    hints = typing.get_type_hints(kind)
    return {name or key: _build(hints[name or key], data[key]) for key, name in names.items()}


def _scalar(kind: Any, data: Any) -> Any:
    if kind is float:
        number = _TEXTS.get(data, data) if isinstance(data, str) else data
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise TypeError(f"{data!r} is not a number")
        return float(number)
    if type(data) is not kind:
        raise TypeError(f"{data!r} is not of type {kind.__name__}")
    if kind is int and data < 0:
        raise ValueError(f"{data!r} is not a count, an index or a size")
    return data
