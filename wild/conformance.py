"""`python -m wild.conformance --library NAME`: a library's table of answers, in the library's own environment.

`wild/<library>/conformance.py` holds an `audit.conformance.Library`. The environment's own packages come first; the
auditor and what it needs come after them. Every quotation must occur in the text of the installed distribution. The
tables accuse, so they are kept in `drafts/conformance`, with the drafts; `--summary` prints their numbers.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from audit.conformance.findings import RESOLVED, Finding
from audit.faces.conformance.matrix import counts_of, load
from wild.environments import CATALOGUE, libraries, pin_of, prepare, python_of
from wild.texts import place_of, site_of, texts_of

TABLES = Path("drafts/conformance")
_START = (
    "import sys; sys.path[:0] = [{root!r}]; sys.path.append({packages!r}); from audit.faces.command_line import main"
)
_NOT_ASKED = ("not offered", "does not apply")

Table = tuple[dict[str, Any], list[Finding]]


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


def summary(tables: Sequence[Table]) -> str:
    """Return what was asked of each library, and the counts of all of them, in Markdown; no finding is named."""
    fine, lines = f"resolved within {RESOLVED:g} times the claim", []
    for head, found in tables:
        asked = [each for each in found if each.status not in _NOT_ASKED]
        pairs = f"{sum(each.pairs for each in asked):,}", f"{sum(each.resolved for each in asked):,}"
        queries = len({each.query for each in asked})
        lines.append(f"| {head['library']} {head['version']} | {queries} | {len(asked)} | {' | '.join(pairs)} |")
    every = [each for _, found in tables for each in found]
    counts: Counter[str] = Counter(counts_of(every))
    told = ", ".join(f"{count:,} {status}" for status, count in counts.items() if status not in _NOT_ASKED)
    pairs, seconds = sum(each.pairs for each in every), sum(each.seconds for each in every)
    total = f"{len(tables)} libraries, {pairs:,} pairs in {seconds / 60:.0f} minutes. Cells: {told}."
    head = ["| release | queries | cells | pairs | of them, " + fine + " |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*head, *lines, "", total])


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--library", "chosen", multiple=True, help="Only this one; may be repeated.")
@click.option("--summary", "only_summary", is_flag=True, help="Print the numbers of the saved tables.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(chosen: tuple[str, ...], only_summary: bool, options: tuple[str, ...]) -> None:
    """Ask the libraries that have a table of answers; further OPTIONS are those of `dp-audit conformance`."""
    if only_summary:
        click.echo(summary([load(path) for path in sorted(TABLES.glob("*.json"))]))
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
