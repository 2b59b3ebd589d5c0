"""Causes of failing cells as data, and the letters to the maintainers of libraries about those that are drafts.

`drafts/conformance/causes.toml` says what was read in a library's code. A draft without a finding of its own has, in
`drafts/conformance/<library>/`, a script of at most 15 lines that calls the library alone, and the letter beside it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from audit.extensions.conformance.findings import Finding
from audit.extensions.conformance.matrix import load
from wild.environments import pin_of, python_of
from wild.findings import ROOT
from wild.markdown import fenced, filled
from wild.scripts import run_script

TABLES = Path("drafts/conformance")
Cause = Mapping[str, Any]
Table = tuple[dict[str, Any], list[Finding]]


class CauseMissing(Exception):
    """A cell fails that no cause is about: it must not be counted before somebody has read the library's code."""


class Accused(NamedTuple):
    """Hold a cause, a library that has it, as the head of its table, and the cells that fail by it."""

    cause: Cause
    head: Mapping[str, Any]
    cells: list[Finding]

    @property
    def library(self) -> str:
        """The folder of `wild`."""
        return str(self.head["library"])

    @property
    def worst(self) -> Finding:
        """The cell that shows it most plainly."""
        return max(self.cells, key=lambda cell: cell.bound or 0.0)

    @property
    def script(self) -> Path:
        """The script that shows it; the letter is beside it."""
        own = self.cause["name"].removeprefix(f"{self.library}: ").lower()
        return TABLES / self.library / (re.sub(r"\W+", "_", own) + ".py")

    @property
    def has_letter_here(self) -> bool:
        """Return whether it is a draft without a finding that has a folder of its own."""
        return "address" not in self.cause and "finding" not in self.cause


def tables() -> list[Table]:
    """Return the saved tables."""
    return [load(path) for path in sorted(TABLES.glob("*.json"))]


def causes() -> list[Cause]:
    """Return what was found in the libraries' code for cells that fail."""
    return list(tomllib.loads((TABLES / "causes.toml").read_text(encoding="utf-8"))["cause"])


def cause_of(found: Finding, known: Sequence[Cause]) -> Cause:
    """Return the first cause that is about a failing cell.

    Raises
    ------
    CauseMissing
        When there is none.
    """
    for cause in known:
        queries, cases = cause.get("queries", ["*"]), cause.get("cases", ["*"])
        about = found.library in cause["libraries"] and any(fnmatch(found.query, query) for query in queries)
        if about and any(fnmatch(found.case, case) for case in cases):
            return cause
    raise CauseMissing(f"{found.library}, {found.query}, {found.case} fails, and causes.toml says nothing of it")


def accused(saved: Sequence[Table], known: Sequence[Cause]) -> list[Accused]:
    """Return every library with every cause by which cells of it fail."""
    found: dict[tuple[str, str], Accused] = {}
    for head, cells in saved:
        for cell in cells:
            if cell.fails:
                cause = cause_of(cell, known)
                found.setdefault((cause["name"], head["library"]), Accused(cause, head, [])).cells.append(cell)
    return list(found.values())


def letters(everybody: Sequence[Accused]) -> dict[Path, str]:
    """Return the letter for each cause that is a draft without a finding of its own, by path."""
    return {each.script.with_suffix(".md"): letter(each) for each in everybody if each.has_letter_here}


def letter(each: Accused) -> str:
    """Return the text that goes to the maintainers of a library about one cause."""
    cell, quotes = each.worst, each.head["quotes"]
    file, line, code = each.cause["where"][each.library].split(":", 2)
    return filled(
        "letter_of_cells.md",
        release=f"{pin_of(each.library).package} {each.head['version']}",
        title=each.cause["name"].removeprefix(f"{each.library}: "),
        quote=quotes.get(cell.query, each.head["quote"]),
        file=file,
        line=line,
        code=code.strip(),
        read=each.cause["read"],
        claimed=cell.claimed,
        reason=cell.reason,
        query=cell.query,
        case=cell.case,
        pair=fenced(f"left = {cell.left}\nright = {cell.right}"),
        script=fenced((ROOT / each.script).read_text(encoding="utf-8").rstrip()),
        count=len(each.cells),
        cells="; ".join(f"{one.query}, {one.case}" for one in each.cells),
    )


def problems(everybody: Sequence[Accused]) -> Iterator[str]:
    """Yield which letters do not hold: a line that the release does not have, or a script that does not show it."""
    for each in everybody:
        if not each.has_letter_here:
            continue
        file, line, code = each.cause["where"][each.library].split(":", 2)
        (path,) = python_of(each.library).parents[1].glob(f"lib/python*/site-packages/{file}")
        if code.strip() not in path.read_text(encoding="utf-8").splitlines()[int(line) - 1]:
            yield f"{each.library}: {file} has no {code.strip()!r} in line {line}"
        shown = run_script(ROOT / each.script, each.library)
        if not shown.holds:
            yield f"{each.script} does not show it: {shown.printed}"
