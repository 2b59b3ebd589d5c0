"""What a target holds: a package or module that Python can import, with a list of a given name."""

from __future__ import annotations

import importlib
from typing import Any

from audit.base.errors import AuditError, UnknownTarget


def listed_in(target: str, name: str) -> list[Any]:
    """The list `target.name`.

    Raises
    ------
    UnknownTarget
        When the target cannot be imported, or has no such list, or an empty one.
    """
    try:
        module = importlib.import_module(target)
    except AuditError:
        raise
    except Exception as error:
        raise UnknownTarget(f"target {target!r} cannot be imported: {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not found:
        raise UnknownTarget(f"target {target!r} has no {name}, or none in them")
    return list(found)
