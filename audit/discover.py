"""Find the modules below a folder that list checks, as pytest finds tests: without running any of them."""

from __future__ import annotations

import ast
import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from audit.errors import AuditError, UnknownTarget

_SKIPPED = ("build", "dist", "node_modules", "__pycache__", "tests", "test")  # folders that hold other people's code


def discover_targets(root: Path) -> tuple[str, ...]:
    """Return the modules below a folder that assign `CHECKS` at their top level; the package stands for its modules.

    Raises
    ------
    UnknownTarget
        If there is none.
    """
    found: list[str] = []
    for path in _list_files(root):
        target = name_module(path.relative_to(root))
        is_covered = any(target.startswith(f"{package}.") for package in found)
        if target and not is_covered and _lists_checks(path):
            found.append(target)
    if not found:
        raise UnknownTarget(
            f"no module below {root} has a list CHECKS; write one, or name the module, as in dp-audit run mylib.audits"
        )
    return tuple(found)


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


def read_list(target: str, name: str) -> list[Any]:
    """Return the list `name` of an importable module; raise `UnknownTarget` if there is no such list."""
    if not (found := getattr(import_target(target), name, None)):
        raise UnknownTarget(f"target {target!r} lists no {name}: write {name} = [...] in it")
    return list(found)


def _explain_import(target: str, error: BaseException) -> str:
    if ":" in target:
        return f"; for one function, type dp-audit check {target} --epsilon E --left JSON --right JSON"
    if not isinstance(error, ModuleNotFoundError) or error.name != target.partition(".")[0]:
        return ""
    if error.name == "mechanisms":
        return "; the catalog is a distribution of its own: in a checkout, type python -m pip install ./mechanisms"
    return "; run dp-audit in the folder from which Python imports it"


def _list_files(folder: Path) -> Iterator[Path]:
    """Yield Python files in order, the file of a package before those of its modules."""
    entries = sorted(os.scandir(folder), key=lambda entry: (entry.name != "__init__.py", entry.is_dir(), entry.name))
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            is_foreign = entry.name.startswith(".") or entry.name in _SKIPPED or (path / "pyvenv.cfg").exists()
            yield from () if is_foreign else _list_files(path)
        elif entry.name.endswith(".py"):
            yield path


def name_module(path: Path) -> str:
    """Return the name under which Python imports a file from the folder, or nothing."""
    parts = [*path.parts[:-1], *([] if path.stem == "__init__" else [path.stem])]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


def _lists_checks(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
        body = ast.parse(text).body if "CHECKS" in text else []
    except (OSError, SyntaxError, ValueError):
        return False
    targets = [target for part in body if isinstance(part, ast.Assign) for target in part.targets]
    targets += [part.target for part in body if isinstance(part, ast.AnnAssign) and part.value is not None]
    return any(isinstance(target, ast.Name) and target.id == "CHECKS" for target in targets)
