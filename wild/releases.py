"""`python -m wild.releases`: since and until when findings show, from what was recorded of older releases.

The failing cells of the newest release are asked of the older ones, and the scripts of findings are run there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile, takewhile
from pathlib import Path

from audit.extensions.conformance.findings import Finding
from audit.extensions.conformance.matrix import load
from wild.causes import TABLES, Accused, accused, causes, tables
from wild.environments import libraries, pin_of, versions_of
from wild.findings import all_findings
from wild.scripts import SHOWS, SILENT, releases_of

RELEASES = TABLES / "releases"
HOLDS = ("PASS", "screened", SILENT)


def folder_of(version: str) -> Path:
    """Return where the tables of a release that is not the newest go."""
    return RELEASES / version


def older_releases(library: str) -> list[str]:
    """Return the other releases of a library's package that are audited or asked, the oldest first."""
    package, newest = pin_of(library)
    return [version for version in versions_of(package) if version != newest]


def failing_cells(library: str) -> list[list[str]]:
    """Return options that ask for the worst cell of each cause, a list for each query; usual inputs if none fails."""
    worst = [each.worst for each in accused(tables(), causes()) if each.library == library]
    asked: dict[str, list[str]] = {}
    for cell in worst:
        asked.setdefault(cell.query, ["--query", cell.query]).extend(["--case", cell.case])
    return list(asked.values()) or [["--case", "ordinary"]]


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


def since(told: Mapping[str, str]) -> str:
    """Return since when something holds, from statuses by release, the oldest first; a release may not have answered.

    Examples
    --------
    >>> since({"1.0": "PASS", "1.1": "FAIL D", "1.2": "FAIL D"})
    '1.1'
    >>> since({"1.0": "raises on both", "1.1": "shows", "1.2": "does not show"})
    '1.1 or before'
    """
    showing = _showing(told)
    first = next(iter(showing), "")
    before = list(told.values())[: list(told).index(first)] if first else []
    return first + ("" if not first or (before and before[-1] in HOLDS) else " or before")


def until(told: Mapping[str, str]) -> str:
    """Return the last release in which something holds; empty where the newest one has it, or none does.

    Examples
    --------
    >>> until({"1.0": "shows", "1.1": "shows", "1.2": "does not show"}), until({"1.0": "FAIL B"})
    ('1.1', '')
    >>> until({"1.0": "shows", "1.1": "does not run: ImportError"})
    '1.0 or after'
    """
    after = list(told.values())
    while after and not _shows(after[-1]):
        after.pop()
    if len(after) in (0, len(told)):
        return ""
    versions, statuses = list(told), list(told.values())
    return versions[len(after) - 1] + ("" if statuses[len(after)] in HOLDS else " or after")


def by_status(told: Mapping[str, str]) -> str:
    """Return the releases by what was said of them.

    Examples
    --------
    >>> by_status({"1.0": "does not run: ImportError", "1.1": "shows", "1.2": "shows"})
    'shows: 1.1, 1.2; does not run (ImportError): 1.0'
    """
    found: dict[str, list[str]] = {}
    for version, status in sorted(told.items(), key=lambda item: item[1], reverse=True):
        found.setdefault(re.sub(": (.*)", r" (\1)", status), []).append(version)
    return "; ".join(f"{status}: {', '.join(versions)}" for status, versions in found.items())


def _showing(told: Mapping[str, str]) -> list[str]:
    """Return the last run of releases in which something shows, the oldest first."""
    newest_first = dropwhile(lambda version: not _shows(told[version]), reversed(told))
    return list(takewhile(lambda version: _shows(told[version]), newest_first))[::-1]


def _shows(status: str) -> bool:
    return status.startswith("FAIL") or status == SHOWS


def asked() -> dict[str, set[tuple[str, str]]]:
    """Return the releases, as package and version, by how they were asked: all checks, failing cells, or scripts."""
    cells = {(pin_of(path.stem).package, path.parent.name) for path in RELEASES.glob("*/*.json")}
    scripts = {
        (pin_of(finding.library).package, version)
        for finding in all_findings()
        for version, status in releases_of(finding).items()
        if status in (SHOWS, SILENT)
    }
    return {"checks": {tuple(pin_of(each)) for each in libraries()}, "cells": cells, "scripts": scripts}


def main() -> None:
    """Print how many releases were asked in which way, and since and until when each finding shows."""
    found = asked()
    each = ", ".join(f"{len(releases)} by {how}" for how, releases in found.items())
    print(f"{len(set().union(*found.values()))} releases: {each}")
    for finding in all_findings():
        if told := releases_of(finding):
            print(f"{finding.name}: since {since(told) or 'no release'}{until(told) and f', until {until(told)}'}")
    for (library, cause), told in over_releases(accused(tables(), causes())).items():
        print(f"{library}, {cause.removeprefix(f'{library}: ')}: since {since(told)}")


if __name__ == "__main__":
    main()
