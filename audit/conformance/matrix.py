"""The page of the table: libraries against queries, and the cases of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.base.text import printable_data
from audit.conformance.cells import STATUSES, Finding
from audit.conformance.queries import QUERIES
from audit.conformance.running import load
from audit.report.certificate import write_whole
from audit.report.renderers import environment

_WORST_FIRST = (
    "FAIL A", "FAIL B", "FAIL C", "FAIL D", "undecided", "does not return", "PASS", "screened", "excluded",
    "raises on both", "refused", "waived", "does not apply", "not offered",
)  # fmt: skip


def worst(findings: Sequence[Finding]) -> str:
    """Return the status that a query is shown with: what accuses first, then what was found to hold."""
    return min((found.status for found in findings), key=_WORST_FIRST.index, default="not offered")


def page_of(tables: Sequence[tuple[Mapping[str, Any], Sequence[Finding]]]) -> str:
    """Return the page of some libraries as HTML, which loads nothing."""
    libraries = []
    for head, findings in tables:
        by_query = {query: [found for found in findings if found.query == query] for query in QUERIES}
        parts = {query: (worst(part), [found._asdict() for found in part]) for query, part in by_query.items()}
        libraries.append({**head, "queries": parts, "counts": counts_of(findings)})
    words = {"libraries": printable_data(libraries), "queries": list(QUERIES), "meanings": STATUSES}
    return environment("audit.conformance").get_template("matrix.html.j2").render(words)


def counts_of(findings: Sequence[Finding]) -> dict[str, int]:
    """Return how many cells have each status, the worst first."""
    counts: Counter[str] = Counter(found.status for found in findings)
    return {status: counts[status] for status in _WORST_FIRST if counts[status]}


def write_page(folder: Path) -> Path:
    """Write `matrix.html` from the saved tables of a folder, and return its path."""
    path = folder / "matrix.html"
    write_whole(path, page_of([load(each) for each in sorted(folder.glob("*.json"))]))
    return path
