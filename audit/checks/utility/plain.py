"""Frozen dataclasses as plain data and back: what a certificate stores is all that a judge needs."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from audit.base.errors import InvalidCertificate

T = TypeVar("T")
_TEXTS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists, numbers that JSON does not know as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: to_plain(getattr(value, part.name)) for part in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [to_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def from_plain(kind: type[T], data: Any) -> T:
    """Rebuild a dataclass from `to_plain`; fields, types and nesting must fit.

    Raises
    ------
    InvalidCertificate
        When `data` does not have the form of `kind`.
    """
    try:
        built: T = _build(kind, data)
        return built
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidCertificate(f"a part of the record is no {kind.__name__}: {error!r}") from error


def _build(kind: Any, data: Any) -> Any:
    if dataclasses.is_dataclass(kind):
        return _build_dataclass(kind, data)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _build_optional(kind, data)
    if origin is tuple:
        return _build_tuple(typing.get_args(kind), data)
    return _scalar(kind, data)


def _build_dataclass(kind: Any, data: Any) -> Any:
    if not isinstance(data, Mapping):
        raise TypeError(f"{data!r} is no mapping")
    hints = typing.get_type_hints(kind)
    names = {part.name for part in dataclasses.fields(kind)}
    if names != set(data):
        raise ValueError(f"fields {sorted(data)} in place of {sorted(names)}")
    return kind(**{name: _build(hints[name], data[name]) for name in names})


def _build_optional(kind: Any, data: Any) -> Any:
    inner = [part for part in typing.get_args(kind) if part is not type(None)]
    return None if data is None else _build(inner[0], data)


def _build_tuple(parts: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"{data!r} is no list")
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_build(parts[0], entry) for entry in data)
    return tuple(_build(part, entry) for part, entry in zip(parts, data, strict=True))


def _scalar(kind: Any, data: Any) -> Any:
    if kind is float:
        number = _TEXTS.get(data, data) if isinstance(data, str) else data
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise TypeError(f"{data!r} is no number")
        return float(number)
    if type(data) is not kind:
        raise TypeError(f"{data!r} is no {kind.__name__}")
    return data
