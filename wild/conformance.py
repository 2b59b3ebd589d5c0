"""`python -m wild.conformance --library NAME`: a library's table of answers, in the library's own environment.

`wild/<library>/conformance.py` holds an `audit.conformance.Library`. The environment's own packages come first; the
auditor and what it needs come after them. Every quotation must occur in the text of the installed distribution. The
tables accuse, so they are kept in `drafts/conformance`, with the drafts. `--publish` writes what may be public of them
to `docs/libraries.json`, of which `make docs` makes a page, and the letters to the maintainers into the drafts;
`--letters` runs their scripts, and `--summary` prints the totals. `NAME==VERSION` asks another release; `--releases`
asks it, or the older releases that were asked or have a folder, for the cells that fail in the newest.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click

from audit.certificate.document import write_whole
from wild.causes import TABLES, Table, accused, causes, letters, problems, tables
from wild.environments import CATALOGUE, OLDER, behind, environment_of, libraries, pin_of, prepare
from wild.matrix import public_data, totals
from wild.releases import failing_cells, folder_of, older_releases, over_releases
from wild.texts import place_of, site_of, texts_of

PUBLIC = Path("docs/libraries.json")


def answering(catalogue: Path = CATALOGUE) -> list[str]:
    """Return the libraries that have a table of answers."""
    return [name for name in libraries(catalogue) if (catalogue / name / "conformance.py").is_file()]


def command_of(library: str, options: list[str], environment: str | None = None) -> list[str]:
    """Return the command that asks a library in its environment, or in that of another release."""
    asked = ["conformance", f"wild.{library}.conformance", *options]
    return behind(environment or library, f"from audit.cli import main; main({asked!r})")


def quotations(table: Table) -> set[str]:
    """Return what a table quotes from the documentation: of queries, and of inputs that are excluded."""
    head, found = table
    said = [head["quote"], *head["quotes"].values(), *(each.reason for each in found if each.status == "excluded")]
    return {part for text in said for part in re.findall(r'"([^"]+)"', text)}


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--library", "chosen", multiple=True, metavar="NAME[==VERSION]", help="Only this; may be repeated.")
@click.option("--releases", is_flag=True, help="Ask the older releases for the cells that fail in the newest.")
@click.option("--summary", "only_summary", is_flag=True, help="Print the numbers of the published tables.")
@click.option("--publish", is_flag=True, help="Write what may be public of the saved tables, and the letters.")
@click.option("--letters", "try_letters", is_flag=True, help="Run the scripts of the letters.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(
    chosen: tuple[str, ...],
    releases: bool,
    only_summary: bool,
    publish: bool,
    try_letters: bool,
    options: tuple[str, ...],
) -> None:
    """Ask the libraries that have a table of answers; further OPTIONS are those of `dp-audit conformance`."""
    if try_letters:
        wrong = list(problems(accused(tables(), causes())))
        click.echo("\n".join(wrong) or "every letter holds")
        sys.exit(bool(wrong))
    if publish:
        _publish()
    if publish or only_summary:
        click.echo(totals(json.loads(PUBLIC.read_text(encoding="utf-8"))))
        return
    asked = [name.partition("==")[::2] for name in chosen or answering()]
    if releases:
        for library, only in asked:
            for version in [only] if only else older_releases(library):
                if "python" not in OLDER.get(pin_of(library).package, {}).get(version, {}):  # the auditor's own
                    for cells in failing_cells(library):
                        _asked(library, version, [*cells, *options])
        return
    sys.exit(max(_asked(library, version, list(options)) for library, version in asked))


def _publish() -> None:
    saved, known = tables(), causes()
    everybody = accused(saved, known)
    data = public_data(saved, known, over_releases(everybody))
    write_whole(PUBLIC, json.dumps(data, separators=(",", ":")) + "\n")
    for path, text in letters(everybody).items():
        write_whole(path, text)


def _asked(library: str, version: str, options: list[str]) -> int:
    """Ask a library, or another release of it, and look its quotations up; return the exit status."""
    environment, folder = library, TABLES
    if version and version != pin_of(library).version:
        environment, folder = environment_of(pin_of(library).package, version), folder_of(version)
    prepare(library)
    status = subprocess.run(command_of(library, ["--out", str(folder), *options], environment), check=False).returncode
    if environment != library:  # what is quoted stands in the newest
        (folder / "matrix.html").unlink(missing_ok=True)
        return status
    texts = texts_of(pin_of(library), site_of(library))
    for quotation in sorted(quotations(table_of(library))):
        if place_of(quotation, texts) is None:
            click.echo(f"{library}: {quotation!r} does not occur in its distribution", err=True)
            status = max(status, 1)
    return status


def table_of(library: str) -> Table:
    """Return the saved table of a library."""
    return next(table for table in tables() if table[0]["library"] == library)


if __name__ == "__main__":
    main()
