"""`python -m wild.osv`: write what is public of classes A to D as records of the Open Source Vulnerability format.

`docs/osv/` has a record for each public finding, and for each public thread that cells of the tables show again. A
record names the releases that were audited and refuted, not a range: nobody looked at those between. Drafts have none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.certificate.document import write_whole
from wild.audited import Audited, all_audited
from wild.causes import Accused, accused, causes, tables
from wild.environments import Pin, pin_of
from wild.ledger import distinct
from wild.releases import over_releases

FOLDER = Path("docs/osv")
CLASSES = "ABCD"
FORMAT = "1.6.0"


def records() -> dict[str, dict[str, Any]]:
    """Return every record by its identifier."""
    found = [*_of_findings(all_audited()), *_of_cells(accused(tables(), causes()))]
    return {each["id"]: each for each in found}


def _of_findings(libraries: Sequence[Audited]) -> Iterator[dict[str, Any]]:
    for finding in distinct(libraries):
        if finding.is_public and finding.letter in CLASSES:
            shown = [each.pin for each in libraries if any(run.finding == finding for run in each.findings)]
            yield _record(
                f"{finding.library}-{finding.folder.name}",
                f"{shown[0].package}: {finding.title}",
                " ".join(finding.cause.split()),
                max(search.date for search in finding.searches).isoformat(),
                shown,
                finding.address,
                [finding.letter],
            )


def _of_cells(everybody: Sequence[Accused]) -> Iterator[dict[str, Any]]:
    by_thread: dict[str, list[Accused]] = {}
    for each in everybody:
        if "address" in each.cause:
            by_thread.setdefault(each.cause["address"], []).append(each)
    told = over_releases(everybody)
    for address, found in by_thread.items():
        first = found[0]
        shown = {Pin(pin_of(each.library).package, each.head["version"]): None for each in found}
        for each in found:
            statuses: Mapping[str, str] = told.get((each.library, each.cause["name"]), {})
            failing = [version for version, status in statuses.items() if status.startswith("FAIL")]
            shown |= dict.fromkeys(Pin(pin_of(each.library).package, version) for version in failing)
        yield _record(
            f"{first.library}-{address.rsplit('/', 1)[-1]}",
            f"{next(iter(shown)).package}: {first.cause['name']}",
            "; ".join(dict.fromkeys(each.cause["read"] for each in found)),
            max(each.cause["verified"] for each in found).isoformat(),
            list(shown),
            address,
            sorted({cell.status[-1] for each in found for cell in each.cells}),
        )


def _record(
    name: str, summary: str, details: str, date: str, pins: Sequence[Pin], address: str, letters: Sequence[str]
) -> dict[str, Any]:
    versions: dict[str, list[str]] = {}
    for pin in pins:
        versions.setdefault(pin.package, []).append(pin.version)
    return {
        "schema_version": FORMAT,
        "id": f"DPAUDIT-{name.replace('_', '-')}",
        "modified": f"{date}T00:00:00Z",
        "summary": summary,
        "details": details,
        "affected": [
            {"package": {"ecosystem": "PyPI", "name": package}, "versions": sorted(found)}
            for package, found in versions.items()
        ],
        "references": [{"type": "REPORT", "url": address}] if address.startswith("https://") else [],
        "database_specific": {"classes": list(letters)},
    }


def main() -> None:
    """Write the records, and remove those of findings that are gone."""
    written = {FOLDER / f"{name}.json": json.dumps(record, indent=1) + "\n" for name, record in records().items()}
    for stale in set(FOLDER.glob("*.json")) - set(written):
        stale.unlink()
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
        print(path)


if __name__ == "__main__":
    main()
