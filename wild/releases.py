"""Since and until when a cause makes cells fail: the failing cells of the newest release, asked of the older ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from packaging.version import Version

from audit.conformance.findings import Finding
from audit.faces.conformance.matrix import load
from wild.causes import TABLES, Accused, accused, causes, tables
from wild.environments import libraries, pin_of

RELEASES = TABLES / "releases"


def folder_of(version: str) -> Path:
    """Return where the tables of a release that is not the newest go."""
    return RELEASES / version


def older_releases(library: str) -> list[str]:
    """Return the other releases of a library's package that `wild` has a folder or a table of, the oldest first."""
    package, newest = pin_of(library)
    pinned = {pin_of(each).version for each in libraries() if pin_of(each).package == package}
    return sorted({*pinned, *(path.parent.name for path in RELEASES.glob(f"*/{library}.json"))} - {newest}, key=Version)


def failing_cells(library: str) -> list[list[str]]:
    """Return options that ask for the worst cell of each cause, a list for each query."""
    worst = [each.worst for each in accused(tables(), causes()) if each.library == library]
    asked: dict[str, list[str]] = {}
    for cell in worst:
        asked.setdefault(cell.query, ["--query", cell.query]).extend(["--case", cell.case])
    return list(asked.values())


def over_releases(everybody: Sequence[Accused]) -> dict[tuple[str, str], dict[str, str]]:
    """Return the status of the worst cell of each cause by release, of libraries of which several were asked."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for each in everybody:
        told = {version: status for version in older_releases(each.library) if (status := _status(each, version))}
        if told:
            found[each.library, each.cause["name"]] = {**told, str(each.head["version"]): each.worst.status}
    return found


def _status(each: Accused, version: str) -> str | None:
    path = folder_of(version) / f"{each.library}.json"
    cells: list[Finding] = load(path)[1] if path.is_file() else []
    wanted = (each.worst.query, each.worst.case)
    return next((cell.status for cell in cells if (cell.query, cell.case) == wanted), None)


def since(told: Mapping[str, Any]) -> str:
    """Return since when a cause holds, from statuses by release, the newest last; a release may not have answered.

    Examples
    --------
    >>> since({"1.0": "PASS", "1.1": "FAIL D", "1.2": "FAIL D"})
    '1.1'
    >>> since({"1.0": "raises on both", "1.1": "FAIL D", "1.2": "FAIL D"})
    '1.1 or before'
    """
    newest_first = list(reversed(told.items()))
    failing = [version for version, _ in takewhile(lambda item: item[1].startswith("FAIL"), newest_first)]
    before = newest_first[len(failing) :]
    return failing[-1] + ("" if before and before[0][1] in ("PASS", "screened") else " or before")
