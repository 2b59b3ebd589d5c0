"""Say which distribution a process has: its name, its version, and one digest of its files.

This file imports nothing but the standard library, so that the environment of an audited library can run it by itself.

The digest of an installed distribution is that of the lines "SHA-256  path" of its files, sorted by path, as its RECORD
has them. What an installer writes and what names an interpreter is left out, so that everybody who installs the same
wheel gets the same digest. A file of another size than RECORD says, or a loaded source file of another content, counts
as altered.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import os
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

_OF_INSTALLER = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
_MOST_FILES = 20_000  # of a folder without RECORD: beyond, it is not one package
_CODE = (".py", ".so", ".pyd", ".dylib", ".json", ".js", ".mjs")
_NO_SOURCES = ("__pycache__", "node_modules")
_PACKAGES = ("site-packages", "dist-packages")

Description = dict[str, Any]  # distribution, version, files, subject, altered


@lru_cache(maxsize=64)
def describe(name: str) -> Description | None:
    """Return what a distribution is; None where none of that name is installed.

    One that is installed from a folder in which it can be edited has no list of its files.
    """
    try:
        found = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None
    said = {"distribution": found.metadata["Name"], "version": found.version}
    record = found.read_text("RECORD")
    if record is None or _checkout(found) is not None:
        return said
    root, loaded = str(found.locate_file("")), _loaded_sources()
    listed, altered = [], 0
    for path, hashed, size in csv.reader(record.splitlines()):
        if path.startswith("..") or "__pycache__" in path or path.rpartition("/")[2] in _OF_INSTALLER:
            continue
        place = os.path.join(root, path)
        digest = _hex(hashed.partition("=")[2]) if hashed.startswith("sha256=") else _digest(place)
        altered += _is_altered(place, size, digest, place in loaded)
        listed.append((path, digest))
    return {**said, "files": len(listed), "subject": _listing(listed), "altered": altered}


@lru_cache(maxsize=64)
def describe_folder(folder: str) -> Description:
    """Return the digest of the source files below a folder, which has no RECORD to compare with."""
    listed: list[tuple[str, str]] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".") and each not in _NO_SOURCES]
        paths = [os.path.join(place, file) for file in files if file.endswith(_CODE)]
        listed += [(os.path.relpath(path, folder).replace(os.sep, "/"), _digest(path)) for path in paths]
        if len(listed) > _MOST_FILES:
            return {}
    return {"files": len(listed), "subject": _listing(listed), "altered": 0}


def distribution_of(file: Path, top: str) -> str | None:
    """Return the name of the distribution that a file of the top-level package `top` is from; None if of none."""
    if is_installed(file):
        if _owns(top, file):
            return top
        names = metadata.packages_distributions().get(top, ())  # reads all distributions
        return next((name for name in names if _owns(name, file)), None)
    folders = [folder for folder in checkouts() if file.is_relative_to(folder)]
    return checkouts()[max(folders, key=lambda folder: len(folder.parts))] if folders else None


def is_installed(file: Path | str) -> bool:
    """Test whether a file lies where distributions are installed."""
    return any(part in _PACKAGES for part in Path(file).parts)


@lru_cache(maxsize=1)
def checkouts() -> dict[Path, str]:
    """Return the distributions that are installed from a folder in which they can be edited, by that folder."""
    found = {}
    for place in map(Path, sys.path):
        for origin in sorted(place.glob("*.dist-info/direct_url.json")) if place.name in _PACKAGES else ():
            distribution = metadata.Distribution.at(origin.parent)
            folder = _checkout(distribution)
            if folder is not None:
                found[folder] = distribution.metadata["Name"]
    return found


def _checkout(distribution: metadata.Distribution) -> Path | None:
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        if not origin.get("dir_info", {}).get("editable"):
            return None
        from urllib.request import url2pathname  # with ssl and all: a replay does not need it

        return Path(url2pathname(urlparse(origin["url"]).path))
    except (ValueError, LookupError, AttributeError):
        return None


def _owns(name: str, file: Path) -> bool:
    try:
        found = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return False
    after = 1 + max(index for index, part in enumerate(file.parts) if part in _PACKAGES)
    own, record = "/".join(file.parts[after:]), found.read_text("RECORD") or ""
    return f"\n{own}," in f"\n{record}"


def _loaded_sources() -> set[str]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return {file for file in files if isinstance(file, str) and file.endswith(".py")}


def _is_altered(place: str, size: str, digest: str, is_loaded: bool) -> bool:
    try:
        if size and os.stat(place).st_size != int(size):
            return True
        return is_loaded and _digest(place) != digest
    except (OSError, ValueError):
        return True


def _hex(value: str) -> str:
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return "missing"


def _listing(listed: list[tuple[str, str]]) -> str:
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(listed))
    return hashlib.sha256(lines.encode()).hexdigest()
