"""Find the module that a target of the command line names."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

from audit.errors import AuditError, UnknownTarget


def find_module_name(target: str) -> str:
    """Return a target as Python imports it from the current folder: a path becomes a dotted name.

    Raises
    ------
    UnknownTarget
        If it is a path, and no module below the current folder has it.
    """
    if not (target.endswith(".py") or "/" in target):
        return target
    path, here = Path(target).resolve(), Path.cwd().resolve()
    if not path.exists():
        raise UnknownTarget(f"there is no {target} here; name a module as Python imports it, as in mylib.audits")
    if not path.is_relative_to(here) or not (name := name_module(path.relative_to(here))):
        raise UnknownTarget(
            f"{target} is not a module below {here}; run dp-audit in the folder that it is imported from"
        )
    return name


def import_target(target: str) -> ModuleType:
    """Return the module that a target names.

    Raises
    ------
    UnknownTarget
        If it cannot be imported; the text names the remedy.
    """
    try:
        return importlib.import_module(find_module_name(target))
    except AuditError:
        raise
    except Exception as error:
        said = f"target {target!r} cannot be imported: {type(error).__name__}: {error}"
        raise UnknownTarget(f"{said}{_explain_import(target, error)}") from error


def _explain_import(target: str, error: BaseException) -> str:
    if ":" in target:
        return f"; for one function, type dp-audit check {target} --epsilon E --left JSON --right JSON"
    if not isinstance(error, ModuleNotFoundError) or error.name != target.partition(".")[0]:
        return ""
    if error.name == "mechanisms":
        return "; the catalog is a distribution of its own: in a checkout, type python -m pip install ./mechanisms"
    return "; run dp-audit in the folder from which Python imports it"


def name_module(path: Path) -> str:
    """Return the name under which Python imports a file from the folder, or nothing."""
    parts = [*path.parts[:-1], *([] if path.stem == "__init__" else [path.stem])]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""
