"""Say where the audited code stands: file, line and digest of its source, and the distribution that it is from."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from audit.subjects.subject import PerCall

_SHOWN_DIGITS = 16  # of a digest, on a page


def source_of(subject: Any) -> dict[str, Any]:
    """Return what is known of the source of a callable: file, line, SHA-256 of the file, distribution and version."""
    inner = _unwrapped(subject)
    found: dict[str, Any] = {}
    top = str(getattr(inner, "__module__", "")).partition(".")[0]
    names = list(_distributions().get(top, ()))
    with suppress(Exception):  # code without a file: built in, written at a prompt, or hostile
        file = Path(inspect.getsourcefile(inner) or "")
        found = {"file": _shown(file), "digest": _digest(file)}
        found["line"] = inspect.getsourcelines(inner)[1]
        folders = [folder for folder in _checkouts() if file.is_relative_to(folder)]
        names += [_checkouts()[folder] for folder in sorted(folders, key=lambda folder: -len(folder.parts))]
    if names:
        found |= {"distribution": names[0], "version": metadata.version(names[0])}
    return found


def code_of(sources: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the audited code in words: distributions with their versions, files, and one digest of all files."""
    named = {(part["distribution"], part["version"]) for part in sources.values() if "distribution" in part}
    words = [f"{name} {version}" for name, version in sorted(named)]
    files = {part["file"]: part["digest"] for part in sources.values() if "file" in part}
    if files:
        listed = "".join(f"{digest}  {file}\n" for file, digest in sorted(files.items()))
        digest = hashlib.sha256(listed.encode()).hexdigest()
        words.append(f"{len(files)} {'files' if len(files) > 1 else 'file'} with the digest {digest[:_SHOWN_DIGITS]}")
    return ", ".join(words)


def _unwrapped(subject: Any) -> Any:
    while isinstance(subject, (partial, PerCall)):
        subject = subject.func if isinstance(subject, partial) else subject.function
    with suppress(Exception):
        subject = inspect.unwrap(subject)
    is_code = inspect.isroutine(subject) or inspect.isclass(subject)
    return subject if is_code else type(subject)


def _shown(file: Path) -> str:
    """Return a path below the current folder, or below the folder of packages, where readers can find it."""
    for folder in (*(parent for parent in file.parents if parent.name == "site-packages"), Path.cwd()):
        if file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return file.name


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _distributions() -> Mapping[str, list[str]]:
    """Return the distributions by the packages that they install; reading them takes a tenth of a second."""
    with suppress(Exception):
        return metadata.packages_distributions()
    return {}


@cache
def _checkouts() -> Mapping[Path, str]:
    """Return the distributions that are installed from a folder in which they can be edited, by that folder."""
    found = {}
    for distribution in metadata.distributions():
        with suppress(Exception):
            origin = json.loads(distribution.read_text("direct_url.json") or "{}")
            if origin.get("dir_info", {}).get("editable"):
                found[Path(url2pathname(urlparse(origin["url"]).path))] = distribution.metadata["Name"]
    return found
