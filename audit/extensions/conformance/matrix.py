"""Save the tables of libraries, and show them on one page: libraries against queries, and the cases of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.api import InvalidArgument, environment, printable_data, write_whole
from audit.extensions.conformance.cases import CASES
from audit.extensions.conformance.findings import STATUSES, Finding, as_rows
from audit.extensions.conformance.library import Library
from audit.extensions.conformance.queries import QUERIES

FORMAT = "conformance 1"


def worst(findings: Sequence[Finding]) -> str:
    """Return the status that a query is shown with: accusations first, then passes."""
    statuses = {found.status for found in findings}
    return next((status for status in STATUSES if status in statuses), "not offered")


def page_of(tables: Sequence[tuple[Mapping[str, Any], Sequence[Finding]]]) -> str:
    """Return the page of some libraries as HTML, which loads nothing."""
    libraries = []
    for head, findings in tables:
        by_query = {query: [found for found in findings if found.query == query] for query in QUERIES}
        parts = {query: (worst(part), [found._asdict() for found in part]) for query, part in by_query.items()}
        libraries.append({**head, "queries": parts, "counts": counts_of(findings)})
    words = {"libraries": printable_data(libraries), "queries": list(QUERIES), "meanings": STATUSES}
    return environment("audit.extensions.conformance").get_template("matrix.html.j2").render(words)


def counts_of(findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many cells have each status, the worst first."""
    counts: Counter[str] = Counter(found.status for found in findings)
    return {status: counts[status] for status in STATUSES if counts[status]}


def write_page(folder: Path) -> Path:
    """Write `matrix.html` from the saved tables of a folder, and return its path."""
    path = folder / "matrix.html"
    write_whole(path, page_of([load(each) for each in sorted(folder.glob("*.json"))]))
    return path


def save(path: Path, library: Library, findings: Iterable[Finding]) -> None:
    """Write the table of a library as JSON; of the same release, cells that were not asked again are kept."""
    found = [each for each in findings if each.case]
    if path.is_file():
        head, earlier = load(path)
        asked = {(each.query, each.case) for each in found}
        kept = [each for each in earlier if (each.query, each.case) not in asked and each.case]
        if head["version"] == library.version:
            found += [each for each in kept if each.query in library.answers]
    missing = (query for query in QUERIES if query not in library.answers)
    found += [Finding(library.name, query, "", "not offered", "") for query in missing]
    order = {name: place for place, name in enumerate((*QUERIES, *CASES))}
    rows = list(as_rows(sorted(found, key=lambda each: (order[each.query], order.get(each.case, -1)))))
    head = {"format": FORMAT, "library": library.name, "version": library.version, "relation": library.relation}
    quotes = {name: answer.quote for name, answer in library.answers.items() if answer.quote != library.quote}
    write_whole(path, json.dumps({**head, "quote": library.quote, "quotes": quotes, "cells": rows}, indent=1) + "\n")


def load(path: Path) -> tuple[dict[str, Any], list[Finding]]:
    """Read a saved table: its subject, and its findings.

    Raises
    ------
    InvalidArgument
        For a file of another format.
    """
    saved = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise InvalidArgument(f"{path} holds no table: type dp-audit conformance TARGET --out DIR")
    try:
        rows = [Finding(**{"reason": "", "case": "", **row}) for row in saved.pop("cells")]
    except (KeyError, TypeError) as error:
        raise InvalidArgument(f"{path} holds cells of another form ({error}): ask the library again") from None
    return saved, rows
