"""`docs/libraries.md`: libraries against queries, made by `make docs` from `docs/libraries.json`.

The data hold what may be public: a cell that fails without a public thread is in them as one that is open, like a cell
that a brief look left undecided, and counts in the totals only. `python -m wild.conformance --publish` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audit.extensions.conformance.findings import RESOLVED, Finding
from audit.extensions.conformance.matrix import counts_of
from wild.causes import Table, cause_of
from wild.markdown import anchor, filled
from wild.releases import since

NOT_ASKED = ("not offered", "does not apply")
OPEN = "open"  # which fails or was not decided: a reader cannot tell one from the other
HIDDEN = ("screened", "undecided")


def public_data(
    tables: Sequence[Table],
    causes: Sequence[Mapping[str, Any]],
    releases: Mapping[tuple[str, str], Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Return what may be shown of tables: cells by outcome, what fails in public, and the totals of all.

    `releases` has the statuses of causes by release, for (library, name of the cause).
    """
    every = [each for _, found in tables for each in found if each.status not in NOT_ASKED]
    failing = [(each, cause_of(each, causes)) for each in every if each.fails]
    hidden = [cause for _, cause in failing if "address" not in cause]
    return {
        "libraries": [_public_library(head, found, causes) for head, found in tables],
        "counts": counts_of([each for _, found in tables for each in found]),
        "pairs": sum(each.pairs for each in every),
        "resolved": sum(each.resolved for each in every),
        "seconds": round(sum(each.seconds for each in every)),
        "drafts": {"cells": len(hidden), "causes": len({cause["name"] for cause in hidden})},
        "releases": [
            [library, cause["address"], told]
            for (library, name), told in (releases or {}).items()
            for cause in causes
            if cause["name"] == name and "address" in cause
        ],
    }


def _public_library(head: Mapping[str, Any], found: Sequence[Finding], causes: Any) -> dict[str, Any]:
    asked = [each for each in found if each.status not in NOT_ASKED]
    queries: dict[str, dict[str, Any]] = {}
    refuted = []
    for each in asked:
        status = OPEN if each.status in HIDDEN else each.status
        if each.fails:
            address = cause_of(each, causes).get("address")
            status = each.status if address else OPEN
            if address:
                refuted.append([each.query, each.case, each.status, each.claimed, each.bound, address])
        cells = queries.setdefault(each.query, {})
        cells.setdefault(status, []).append(each.case)
        if status == "PASS" and each.resolved == each.pairs:
            cells["resolved"] = cells.get("resolved", 0) + 1
    return {
        **{key: head[key] for key in ("library", "version", "relation")},
        "pairs": sum(each.pairs for each in asked),
        "resolved": sum(each.resolved for each in asked),
        "cells": len(asked),
        "queries": queries,
        "refuted": refuted,
    }


def page(data: Mapping[str, Any], queries: Sequence[str], cases: int) -> str:
    """Return the page, in Markdown; `queries` in the order of its rows."""
    rows = [(query, [_cell(each["queries"].get(query, {})) for each in data["libraries"]]) for query in queries]
    return filled(
        "libraries.md", data=data, cases=cases, rows=rows, totals=totals(data), within=f"{RESOLVED:g}", open=OPEN,
        anchor=anchor, since=since,
    )  # fmt: skip


def totals(data: Mapping[str, Any]) -> str:
    """Return the counts of all libraries in words; no finding is named."""
    counts = {status: count for status, count in data["counts"].items() if status not in NOT_ASKED}
    told = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    not_asked = ", ".join(f"{data['counts'].get(status, 0):,} {status}" for status in NOT_ASKED)
    drafts = data["drafts"]
    return (
        f"{len(data['libraries'])} libraries, {data['pairs']:,} pairs, {data['resolved']:,} of them resolved within "
        f"{RESOLVED:g} times the claim, in {data['seconds'] / 60:.0f} minutes. Cells: {told} (and {not_asked}). "
        f"Of the cells that fail, {drafts['cells']:,} with {drafts['causes']} causes are not public yet."
    )


def _cell(cells: Mapping[str, Any]) -> str:
    fine = f" ({cells['resolved']})" if cells.get("resolved") else ""
    order = sorted(cells, key=lambda status: (not status.startswith("FAIL"), status != "PASS", status != OPEN, status))
    told = [f"{len(cells[status])} {status}{fine * (status == 'PASS')}" for status in order if status != "resolved"]
    return ", ".join(told) or "–"
