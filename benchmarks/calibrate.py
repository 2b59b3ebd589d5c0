"""False alarms at the edge of every kind of claim, with an exact interval, and power beyond it, for every method.

    python -m benchmarks.calibrate --out docs/calibration.md
    python -m benchmarks.calibrate --out docs/calibration.md --decoys

The first counts, for `--minutes` minutes, alarms in every cell of the table. The second audits all checks of
`mechanisms` that are expected to PASS, over and over. Both write the page and the same table as data.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
from pathlib import Path
from typing import Any

from benchmarks.calibration import decoys
from benchmarks.calibration.cases import CASES
from benchmarks.calibration.measure import cells_of, measure
from benchmarks.calibration.page import data_of, holds, page_of

DATA = Path(__file__).parent / "calibration" / "calibration.json"


def main() -> int:
    """Count, print the page, and write it where asked; 1 when a row does not hold or a decoy failed."""
    options = _options()
    known = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"rows": []}
    data = _catalogue(options, known) if options.decoys else _table(options, known)
    page = page_of(data)
    print(page)
    if options.out is not None:
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        options.out.write_text(page, encoding="utf-8")
    wrong = [row for row in data["rows"] if not holds(row, data["significance"])]
    return 1 if wrong or (data.get("catalogue") or {}).get("fails") else 0


def _table(options: argparse.Namespace, known: dict[str, Any]) -> dict[str, Any]:
    cells = cells_of([case for case in CASES if fnmatch.fnmatchcase(case.key, options.select)])
    measure(cells, options.audits, options.minutes)
    return {**data_of(cells), "catalogue": known.get("catalogue")}


def _catalogue(options: argparse.Namespace, known: dict[str, Any]) -> dict[str, Any]:
    found = decoys.repeat(decoys.innocent(), options.audits, options.minutes)
    print(dict(found.verdicts), *found.failed, sep="\n", flush=True)
    return {**data_of([]), **known, "catalogue": found.to_dict()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audits", type=int, default=10_000, help="most audits of a cell, or of the catalogue")
    parser.add_argument("--minutes", type=float, default=12.0)
    parser.add_argument("--select", default="*", metavar="GLOB", help="only these cells, e.g. 'fixed | pure*'")
    parser.add_argument("--decoys", action="store_true", help="audit the catalogue in place of the table")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.out is not None and options.select != "*":
        parser.error("--out takes the whole table: leave out --select")
    return options


if __name__ == "__main__":
    raise SystemExit(main())
