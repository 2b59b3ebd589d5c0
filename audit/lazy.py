"""Import the names of a stub when they are first used: of `audit`, and of `audit.api`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lazy_loader

from audit.errors import MissingExtension

_HERE = Path(__file__).parent
_LINE = re.compile(r"^from audit\.([\w.]+) import (\w+) as \w+$", re.MULTILINE)
_EXTENSION = re.compile(r"extensions(?:\.(\w+))?.*")


def attach(stub: Path) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a module by its stub, one line a name.

    A name whose extension is not there is not listed; to ask for it raises `MissingExtension`.
    """
    modules: dict[str, list[str]] = {}
    absent: dict[str, str] = {}
    for module, name in _LINE.findall(stub.read_text(encoding="utf-8")):
        match = _EXTENSION.fullmatch(module)
        extension = match and (match[1] or name)
        if extension and not (_HERE / "extensions" / extension / "plugin.py").is_file():
            absent[name] = extension
        else:
            modules.setdefault(module, []).append(name)
    namespaces = modules.pop("extensions", [])  # folders that are public names themselves
    get, listed, public = lazy_loader.attach("audit", (), modules)

    def __getattr__(name: str) -> Any:
        if name in absent:
            missing = f"the extension {absent[name]}, whose folder audit/extensions/{absent[name]} is missing"
            raise MissingExtension(f"`audit.{name}` needs {missing}")
        if name in namespaces:
            import importlib

            return importlib.import_module(f"audit.extensions.{name}")
        return get(name)

    return __getattr__, lambda: sorted([*listed(), *namespaces]), sorted([*public, *namespaces])
