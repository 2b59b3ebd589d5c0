"""`python -m wild.conformance --library NAME`: a library's table of answers, in the library's own environment.

`wild/<library>/conformance.py` holds an `audit.conformance.Library`. The environment's own packages come first; the
auditor and what it needs come after them. Every quotation must occur in the text of the installed distribution. The
tables accuse, so they are kept in `drafts/conformance`, with the drafts. `--publish` writes what may be public of them
to `docs/libraries.json`, of which `make docs` makes a page, and `--summary` prints its totals.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import click

from audit.faces.conformance.matrix import load
from audit.report.certificate import write_whole
from wild.environments import CATALOGUE, libraries, pin_of, prepare, python_of
from wild.matrix import Table, public_data, totals
from wild.texts import place_of, site_of, texts_of

TABLES, PUBLIC = Path("drafts/conformance"), Path("docs/libraries.json")
_START = (
    "import sys; sys.path[:0] = [{root!r}]; sys.path.append({packages!r}); from audit.faces.command_line import main"
)


def answering(catalogue: Path = CATALOGUE) -> list[str]:
    """Return the libraries that have a table of answers."""
    return [name for name in libraries(catalogue) if (catalogue / name / "conformance.py").is_file()]


def command_of(library: str, options: list[str]) -> list[str]:
    """Return the command that asks a library in its environment."""
    start = _START.format(root=str(CATALOGUE.parent), packages=sysconfig.get_path("purelib"))
    asked = ["conformance", f"wild.{library}.conformance", *options]
    return [str(python_of(library).absolute()), "-W", "ignore", "-c", f"{start}; main({asked!r})"]


def quotations(table: Table) -> set[str]:
    """Return what a table quotes from the documentation: of queries, and of inputs that are excluded."""
    head, found = table
    said = [head["quote"], *head["quotes"].values(), *(each.reason for each in found if each.status == "excluded")]
    return {part for text in said for part in re.findall(r'"([^"]+)"', text)}


def tables() -> list[Table]:
    """Return the saved tables."""
    return [load(path) for path in sorted(TABLES.glob("*.json"))]


def causes() -> list[dict[str, Any]]:
    """Return what was found in the libraries' code for cells that fail."""
    found: list[dict[str, Any]] = tomllib.loads((TABLES / "causes.toml").read_text(encoding="utf-8"))["cause"]
    return found


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--library", "chosen", multiple=True, help="Only this one; may be repeated.")
@click.option("--summary", "only_summary", is_flag=True, help="Print the numbers of the published tables.")
@click.option("--publish", is_flag=True, help="Write what may be public of the saved tables.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(chosen: tuple[str, ...], only_summary: bool, publish: bool, options: tuple[str, ...]) -> None:
    """Ask the libraries that have a table of answers; further OPTIONS are those of `dp-audit conformance`."""
    if publish:
        write_whole(PUBLIC, json.dumps(public_data(tables(), causes()), separators=(",", ":")) + "\n")
    if publish or only_summary:
        click.echo(totals(json.loads(PUBLIC.read_text(encoding="utf-8"))))
        return
    status = 0
    for library in chosen or answering():
        prepare(library)
        command = command_of(library, ["--out", str(TABLES), *options])
        status = max(status, subprocess.run(command, check=False).returncode)
        texts = texts_of(pin_of(library), site_of(library))
        for quotation in sorted(quotations(load(TABLES / f"{library}.json"))):
            if place_of(quotation, texts) is None:
                click.echo(f"{library}: {quotation!r} does not occur in its distribution", err=True)
                status = max(status, 1)
    sys.exit(status)


if __name__ == "__main__":
    main()
