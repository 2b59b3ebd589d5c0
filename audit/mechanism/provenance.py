"""Say which code is audited: file and line of the mechanism, and the distributions that it is from, with digests.

It is asked in the process that runs the code, since another one may have other versions. Where the code runs in a
process of its own, such as a program behind pipes, that process says what it is.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

from audit.mechanism.distribution import describe, describe_folder, distribution_of, is_installed

# What this package needs itself, with the extra `utility`; `provenance.packages` of a certificate has their versions
_OWN_NEEDS = frozenset({"audit", "numpy", "scipy", "statsmodels", "pandas"})
_MADE_OF = ("function", "build", "mechanism", "release")  # attributes of `PerCall` and of adapters
_LONGEST = 200  # characters of what another process says of itself


@dataclass(frozen=True)
class Distribution:
    """Hold what is known of the code that a process has of one distribution, or of a folder."""

    distribution: str = ""  # its name; empty for code that is of none
    version: str = ""
    files: int = 0  # behind `subject`
    subject: str = ""  # SHA-256 of the list of its files with their digests, as `audit.mechanism.distribution` says
    altered: int = 0  # files that are not those of RECORD


@dataclass(frozen=True)
class Source(Distribution):
    """Hold where a mechanism stands, and the distribution that was audited."""

    file: str = ""
    digest: str = ""  # SHA-256 of the file
    line: int = 0
    libraries: tuple[Distribution, ...] = ()  # that the mechanism names, but for those that this package needs itself
    said_by: str = "process"  # that ran the mechanism; "program" for one behind it, in which the code ran


def source_of(subject: Any) -> Source:
    """Return what is known of the source of a callable; what cannot be read is left empty."""
    inner, said = _unwrapped(subject), _said_by_program(subject)
    found: dict[str, Any] = {}
    with suppress(Exception):  # code without a file: built in, written at a prompt, or hostile
        found = _standing(inner)
    with suppress(Exception):
        found["libraries"] = tuple(_libraries(inner))
    if said is not None:
        found |= {**said, "said_by": "program"}
    return Source(**found)


def _standing(inner: Any) -> dict[str, Any]:
    top = str(getattr(inner, "__module__", "")).partition(".")[0]
    try:
        file = Path(inspect.getsourcefile(inner) or "")
        found: dict[str, Any] = {
            "file": _shown(file),
            "digest": _digest(file),
            "line": inspect.getsourcelines(inner)[1],
        }
    except (OSError, TypeError):  # compiled: its module may have a file all the same
        file = Path(str(getattr(sys.modules.get(top), "__file__", "")))
        found = {}
    return {**_of_file(file, top), **found}


def _of_file(file: Path, top: str) -> dict[str, Any]:
    """Return the distribution of a file: of its wheel, else of the package's folder, else of the file alone."""
    name = distribution_of(file, top) if top else None
    described = (describe(name) if name else None) or {}
    if "subject" in described or not file.is_file():
        return described
    folder = next((str(parent) for parent in file.parents if parent.name == top), None)
    if folder is None:
        return {**described, "files": 1, "subject": _digest(file)}
    return {**described, **describe_folder(folder)}


def read_folders(modules: Iterable[str]) -> None:
    """Read the source folders that modules of this process are from: what is forked from it then need not.

    Installed distributions are left to each process, since what counts as altered depends on what it has loaded.
    """
    for name in set(modules):
        file, top = getattr(sys.modules.get(name), "__file__", None), name.partition(".")[0]
        if isinstance(file, str) and not is_installed(file):
            with suppress(Exception):
                _of_file(Path(file), top)


def _said_by_program(subject: Any) -> dict[str, Any] | None:
    """Return what the program behind a mechanism said of the distribution that it audits."""
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


def _libraries(inner: Any) -> Iterator[Distribution]:
    """Yield the distributions of what the code of a mechanism names."""
    module = getattr(inner, "__module__", None)
    own = str(module).partition(".")[0]
    named: dict[str, None] = {}
    seen, waiting = [inner], [inner]
    while waiting:
        for value in _named(waiting.pop()):
            place = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            named[str(place).partition(".")[0]] = None
            if place == module and not any(value is known for known in seen):  # a helper beside it calls the library
                seen.append(value)
                waiting.append(value)
    for top in named:
        if top in _OWN_NEEDS or top == own or top in sys.stdlib_module_names:
            continue
        file = getattr(sys.modules.get(top), "__file__", None)
        found = _of_file(Path(file), top) if file else describe(top)
        if found and found.get("distribution"):
            yield Distribution(**found)


def _named(inner: Any) -> Iterator[Any]:
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


def _unwrapped(subject: Any) -> Any:
    """Return the function or the class of the author: what `partial`, `per_call` and the adapters are made of."""
    while True:
        made = type(subject).__module__.startswith(("audit.", "functools"))
        inner = next((vars(subject)[name] for name in _MADE_OF if made and name in _own(subject)), None)
        if isinstance(subject, partial):
            inner = subject.func
        if not callable(inner):
            break
        subject = inner
    with suppress(Exception):
        subject = inspect.unwrap(subject)
    is_code = inspect.isroutine(subject) or inspect.isclass(subject)
    return subject if is_code else type(subject)


def _own(subject: Any) -> Mapping[str, Any]:
    try:
        return vars(subject)
    except TypeError:
        return {}


def _shown(file: Path) -> str:
    """Return a path below the current folder, or below the folder of packages, where readers can find it."""
    for folder in (*(parent for parent in file.parents if parent.name == "site-packages"), Path.cwd()):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return file.name


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
