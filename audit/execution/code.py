"""Describe the code of a process: its Python, versions of packages, and digests of source files."""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path


def describe_code(names: Iterable[str]) -> dict[str, str]:
    """Return what this process has of each: "Python", "package NAME" (its version) or "code NAME" (its digest).

    The digest is that of all source files of a top-level package, or of the file of a module.
    """
    return {name: _read_version(*name.split()) for name in names}


def _read_version(kind: str, name: str = "") -> str:
    try:
        if kind == "Python":
            return platform.python_version()
        return metadata.version(name) if kind == "package" else _hash_code(name)
    except (ImportError, OSError, ValueError):  # also a package that is not installed
        return "missing"


def _hash_code(name: str) -> str:
    module = sys.modules.get(name)
    folders = getattr(module, "__path__", None)
    file = getattr(module, "__file__", None)
    if module is None and (spec := importlib.util.find_spec(name)) is not None:
        folders, file = spec.submodule_search_locations, spec.origin
    files = sorted(path for folder in folders or () for path in Path(folder).rglob("*.py")) or [Path(str(file))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:12]
