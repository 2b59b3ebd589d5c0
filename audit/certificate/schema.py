"""Make the JSON Schema of certificates from the types of their parts."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal

from audit.certificate.form import Document, record_forms
from audit.certificate.record import TEXTS, is_registry, types_of
from audit.limits import Count, Limits

Schema = dict[str, Any]


def schema() -> Schema:
    """Return the JSON Schema of certificates, draft 2020-12; a class is a definition of its name."""
    named: dict[str, Schema] = {}
    records = [_form(form, named) for form in record_forms().values()]
    _form(Document, named)
    document = named.pop(Document.__name__)
    document["properties"]["checks"]["items"] = {"oneOf": records}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "dp-audit certificate"}
    return {**head, **document, "$defs": dict(sorted(named.items()))}


def _form(kind: Any, named: dict[str, Schema], limits: Limits | None = None) -> Schema:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if origin is Annotated:
        return _form(parts[0], named, next(part for part in parts[1:] if isinstance(part, Limits)))
    if origin in (typing.NotRequired, typing.Required):
        return _form(parts[0], named)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [{"type": "null"} if part is type(None) else _form(part, named) for part in parts]}
    if origin is tuple:
        return _tuple(parts, named, limits)
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _form(parts[1], named)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [option.value for option in kind]}
    if is_registry(kind):
        return {"anyOf": [_form(kind.find(way), named) for way in kind.list_ways()] or [{"not": {}}]}
    if typing.is_typeddict(kind) or dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _object(kind, named)
    return _scalar(kind, limits)


def _tuple(parts: tuple[Any, ...], named: dict[str, Schema], limits: Limits | None) -> Schema:
    if parts[1:] == (Ellipsis,):
        said = limits.schema("Items") if limits else {}
        return {"type": "array", "items": _form(parts[0], named), **said}
    prefix = [_form(part, named) for part in parts]
    return {"type": "array", "prefixItems": prefix, "minItems": len(parts), "maxItems": len(parts)}


def _object(kind: Any, named: dict[str, Schema]) -> Schema:
    """Return a reference to the definition of a class, made where it is met first."""
    name = kind.__name__
    if named.get(name, {}).get("$comment", kind.__module__) != kind.__module__:
        raise TypeError(f"two classes of records are called {name}: rename that of {kind.__module__}")
    if name not in named:
        named[name] = {"$comment": kind.__module__}  # a class may hold itself
        parts, way = types_of(kind), getattr(kind, "way", None)
        properties = {key: _form(part, named) for key, part in parts.items()}
        required = list(getattr(kind, "__required_keys__", parts))
        if way:
            properties, required = {"way": {"enum": [way]}, **properties}, ["way", *required]
        said = {"description": " ".join(kind.__doc__.split())} if _says_more(kind) else {}
        shape = {
            "type": "object",
            "properties": properties,
            "required": sorted(required),
            "additionalProperties": False,
        }
        named[name] |= {**said, **shape}
    return {"$ref": f"#/$defs/{name}"}


def _says_more(kind: Any) -> bool:
    """Return whether a class has a docstring of its own; that of a dataclass may be made from its fields."""
    return bool(kind.__doc__) and not kind.__doc__.startswith((f"{kind.__name__}(", "dict("))


def _scalar(kind: Any, limits: Limits | None) -> Schema:
    if kind is int:
        return {"type": "integer", **(limits or Count.__metadata__[0]).schema()}  # type: ignore[attr-defined]
    if kind is float:
        texts = [text for text, value in TEXTS.items() if limits is None or limits.admits(value)]
        number = {"type": "number", **(limits.schema() if limits else {})}
        return {"anyOf": [number, {"enum": texts}]} if texts else number
    said = limits.schema() if limits else {}
    return {"type": {str: "string", bool: "boolean"}[kind], **said}
