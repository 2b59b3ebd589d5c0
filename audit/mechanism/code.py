"""Say which code a process has: of Python, of packages and of modules, and whether it is that of another process."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import platform
import socket
import sys
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

from audit.errors import OtherCode

_SHOWN = 3  # differences between two codes that the message names


def loaded_code(names: Iterable[str]) -> dict[str, str]:
    """Return what this process has of each: "Python", "package NAME" (its version) or "module NAME" (its digest)."""
    return {name: _loaded(*name.split()) for name in names}


def loaded_modules(is_wanted: Callable[[str, str], bool]) -> list[str]:
    """Return "module NAME" for each loaded source file for which `is_wanted(top-level package, file)` holds."""
    files = {name: str(getattr(module, "__file__", None)) for name, module in sorted(sys.modules.items())}
    return [
        f"module {name}"
        for name, file in files.items()
        if file.endswith(".py") and name not in ("__main__", "__mp_main__") and is_wanted(name.partition(".")[0], file)
    ]


def code_of_package(name: str) -> str:
    """Return the digest of all source files of a package, whichever of them are loaded."""
    (folder,) = importlib.import_module(name).__path__
    files = sorted(Path(folder).rglob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


@functools.lru_cache(maxsize=2)
def require_code(expected: tuple[tuple[str, str], ...]) -> None:
    here = loaded_code(name for name, _ in expected)
    differences = [f"{name} ({value} expected)" for name, value in expected if here[name] != value]
    if differences:
        more = f" and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
        shown = ", ".join(differences[:_SHOWN])
        raise OtherCode(f"a worker on {socket.gethostname()} has other code: {shown}{more}")


def _loaded(kind: str, name: str = "") -> str:
    try:
        if kind == "package":
            return metadata.version(name)
        if kind == "module":
            loaded = getattr(sys.modules.get(name), "__file__", None)
            file = loaded or getattr(importlib.util.find_spec(name), "origin", None)
            return hashlib.sha256(Path(str(file)).read_bytes()).hexdigest()[:12]
    except (ImportError, OSError, ValueError):  # also a package that is not installed
        return "missing"
    return platform.python_version()
