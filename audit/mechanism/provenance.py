"""Say which code is audited: file and line of the mechanism, and the distributions that it is from, with digests.

It is asked in the process that runs the code, since another one may have other versions. Where the code runs in a
process of its own, such as a program behind pipes, that process names its source.

The digest of an installed distribution is that of the lines "SHA-256  path" of its files, sorted by path, as its RECORD
has them. Files of an installer, and lines that name an interpreter, are left out, so that everybody who installs the
same wheel gets the same digest.

This file imports nothing but the standard library: the environment of an audited library can run it by itself.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import inspect
import json
import os
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

# The needs of this package, with the extra `utility`; `provenance.packages` of a certificate has their versions
_OWN_NEEDS = frozenset({"audit", "numpy", "scipy", "statsmodels", "pandas"})
_MADE_OF = ("function", "build", "mechanism", "release")  # attributes of `PerCall` and of adapters
_LONGEST = 200  # characters of the statement of another process
_OF_INSTALLER = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
_MOST_FILES = 20_000  # of a folder without RECORD: beyond, it is not one package
_CODE = (".py", ".so", ".pyd", ".dylib", ".json", ".js", ".mjs")
_NO_SOURCES = ("__pycache__", "node_modules")
_PACKAGES = {"site-packages", "dist-packages"}

Description = dict[str, Any]  # distribution, version, files, subject


@dataclass(frozen=True)
class Distribution:
    """Hold the source of the code that a process has of one distribution, or of a folder."""

    distribution: str = ""  # its name; empty for code that is of none
    version: str = ""
    files: int = 0  # behind `subject`
    subject: str = ""  # SHA-256 of the list of its files with their digests, see above


@dataclass(frozen=True)
class Source(Distribution):
    """Hold where a mechanism stands, and the distribution that was audited."""

    file: str = ""
    digest: str = ""  # SHA-256 of the file
    line: int = 0
    libraries: tuple[Distribution, ...] = ()  # that the mechanism names, but for those that this package needs itself
    said_by: str = "process"  # that ran the mechanism; "program" for one behind it, in which the code ran


def find_source(subject: Any) -> Source:
    """Return the known source of a callable; parts that cannot be read are empty."""
    inner, said = _unwrap(subject), _ask_program(subject)
    known: dict[str, Any] = {}
    with suppress(Exception):  # code without a file: built in, written at a prompt, or hostile
        known = _locate(inner)
    with suppress(Exception):
        known["libraries"] = tuple(_list_libraries(inner))
    if said is not None:
        known |= {**said, "said_by": "program"}
    return Source(**known)


def _locate(inner: Any) -> dict[str, Any]:
    top = str(getattr(inner, "__module__", "")).partition(".")[0]
    try:
        file = Path(inspect.getsourcefile(inner) or "")
        digest = hashlib.sha256(file.read_bytes()).hexdigest()  # of an existing file only
        known: dict[str, Any] = {"file": _shorten(file), "digest": digest, "line": inspect.getsourcelines(inner)[1]}
    except (OSError, TypeError):  # compiled: its module may have a file all the same
        file = Path(str(getattr(sys.modules.get(top), "__file__", "")))
        known = {}
    return {**_read_file(file, top), **known}


def _read_file(file: Path, top: str) -> dict[str, Any]:
    """Return the distribution of a file: of its wheel, else of the package's folder, else of the file alone."""
    name = find_distribution(file, top) if top else None
    known = (describe_distribution(name) if name else None) or {}
    if "subject" in known or not file.is_file():
        return known
    folder = next((str(parent) for parent in file.parents if parent.name == top), None)
    if folder is None:
        return {**known, "files": 1, "subject": _hash_file(str(file))}
    return {**known, **describe_folder(folder)}


def _ask_program(subject: Any) -> dict[str, Any] | None:
    """Return the statement of the program behind a mechanism about the distribution that it audits."""
    while isinstance(subject, partial):  # the mechanism at a setting of its parameters
        subject = subject.func
    with suppress(Exception):
        said = subject.audited
        if isinstance(said, Mapping):
            known = {part.name: part.type for part in fields(Distribution)}
            return {
                name: min(int(said[name]), 2**53) if kind == "int" else str(said[name])[:_LONGEST]
                for name, kind in known.items()
                if name in said
            }
    return None


def _list_libraries(inner: Any) -> Iterator[Distribution]:
    """Yield the distributions of the names in the code of a mechanism."""
    module = getattr(inner, "__module__", None)
    own = str(module).partition(".")[0]
    named: dict[str, None] = {}
    seen, waiting = [inner], [inner]
    while waiting:
        for value in _list_names(waiting.pop()):
            place = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            named[str(place).partition(".")[0]] = None
            if place == module and not any(value is known for known in seen):  # a helper beside it calls the library
                seen.append(value)
                waiting.append(value)
    for top in named:
        if top in _OWN_NEEDS or top == own or top in sys.stdlib_module_names:
            continue
        file = getattr(sys.modules.get(top), "__file__", None)
        known = _read_file(Path(file), top) if file else describe_distribution(top)
        if known and known.get("distribution"):
            yield Distribution(**known)


def _list_names(inner: Any) -> Iterator[Any]:
    """Yield the modules, classes and functions that the code of a function or a class names."""
    inner = inspect.unwrap(inner)  # such as one whose results are remembered
    functions = (
        [inner] if inspect.isfunction(inner) else [part for part in vars(inner).values() if inspect.isfunction(part)]
    )
    for function in functions:
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            codes += [constant for constant in code.co_consts if inspect.iscode(constant)]
            held = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
            values = [function.__globals__.get(name) for name in code.co_names]
            values += [cell.cell_contents for cell in held.values()]
            yield from (each for each in values if isinstance(each, types.ModuleType | type) or inspect.isroutine(each))


def _unwrap(subject: Any) -> Any:
    """Return the function or the class of the author: what `partial`, `per_call` and the adapters are made of."""
    while True:
        made = type(subject).__module__.startswith(("audit.", "functools"))
        held = getattr(subject, "__dict__", {})
        inner = next((held[name] for name in _MADE_OF if made and name in held), None)
        if isinstance(subject, partial):
            inner = subject.func
        if not callable(inner):
            break
        subject = inner
    with suppress(Exception):
        subject = inspect.unwrap(subject)
    is_code = inspect.isroutine(subject) or inspect.isclass(subject)
    return subject if is_code else type(subject)


def _shorten(file: Path) -> str:
    """Return a path below the current folder, or below the folder of packages, where readers can find it."""
    for folder in (*(parent for parent in file.parents if parent.name == "site-packages"), Path.cwd()):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return file.name


@lru_cache(maxsize=64)
def describe_distribution(name: str) -> Description | None:
    """Return the source of a distribution; None where none of that name is installed.

    One that is installed from a folder in which it can be edited has no list of its files.
    """
    try:
        wheel = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None
    said = {"distribution": wheel.metadata["Name"], "version": wheel.version}
    record = wheel.read_text("RECORD")
    if record is None or _find_checkout(wheel) is not None:
        return said
    root, listed = str(wheel.locate_file("")), []
    for path, hashed, _ in csv.reader(record.splitlines()):
        if path.startswith("..") or "__pycache__" in path or path.rpartition("/")[2] in _OF_INSTALLER:
            continue
        place = os.path.join(root, path)
        coded = hashed.removeprefix("sha256=") if hashed.startswith("sha256=") else ""
        digest = base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).hex() or _hash_file(place)
        listed.append((path, digest))
    return {**said, "files": len(listed), "subject": _hash_listing(listed)}


@lru_cache(maxsize=64)
def describe_folder(folder: str) -> Description:
    """Return the digest of the source files below a folder, which has no RECORD to compare with."""
    listed: list[tuple[str, str]] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".") and each not in _NO_SOURCES]
        paths = [os.path.join(place, file) for file in files if file.endswith(_CODE)]
        listed += [(os.path.relpath(path, folder).replace(os.sep, "/"), _hash_file(path)) for path in paths]
        if len(listed) > _MOST_FILES:
            return {}
    return {"files": len(listed), "subject": _hash_listing(listed)}


def find_distribution(file: Path, top: str) -> str | None:
    """Return the name of the distribution that a file of the top-level package `top` is from; None if of none."""
    if not _PACKAGES.isdisjoint(file.parts):
        if _owns(top, file):
            return top
        names = metadata.packages_distributions().get(top, ())  # reads all distributions
        return next((name for name in names if _owns(name, file)), None)
    folders = [folder for folder in list_checkouts() if file.is_relative_to(folder)]
    return list_checkouts()[max(folders, key=lambda folder: len(folder.parts))] if folders else None


@lru_cache(maxsize=1)
def list_checkouts() -> dict[Path, str]:
    """Return the distributions that are installed from a folder in which they can be edited, by that folder."""
    folders = {}
    for place in map(Path, sys.path):
        for origin in sorted(place.glob("*.dist-info/direct_url.json")) if place.name in _PACKAGES else ():
            distribution = metadata.Distribution.at(origin.parent)
            folder = _find_checkout(distribution)
            if folder is not None:
                folders[folder] = distribution.metadata["Name"]
    return folders


def _find_checkout(distribution: metadata.Distribution) -> Path | None:
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
        wheel = metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return False
    after = 1 + max(index for index, part in enumerate(file.parts) if part in _PACKAGES)
    own, record = "/".join(file.parts[after:]), wheel.read_text("RECORD") or ""
    return f"\n{own}," in f"\n{record}"


def _hash_file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return "missing"


def _hash_listing(listed: list[tuple[str, str]]) -> str:
    lines = "".join(f"{digest}  {path}\n" for path, digest in sorted(listed))
    return hashlib.sha256(lines.encode()).hexdigest()
