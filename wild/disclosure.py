"""`python -m wild.disclosure`: list the findings that are not public, record a report, or publish one.

python -m wild.disclosure
python -m wild.disclosure reported LIBRARY/FINDING DATE
python -m wild.disclosure public LIBRARY/FINDING ADDRESS
"""

from __future__ import annotations

import datetime
import json
import re
import sys
from pathlib import Path

import click

from wild.environments import CATALOGUE
from wild.findings import DATA, DRAFTS, PUBLIC, REPORTED, ROOT, Finding, all_findings, read
from wild.letters import LETTER, PAGE
from wild.register import write_pages

USAGE = 64


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """List the findings that are not public, by class."""
    if context.invoked_subcommand is None:
        for finding in withheld():
            status = f"{finding.status} {finding.reported or ''}".strip()
            click.echo(f"{finding.letter}  {finding.name}  {finding.title}  ({status})")


@main.command()
@click.argument("name", metavar="LIBRARY/FINDING")
@click.argument("date")
def reported(name: str, date: str) -> None:
    """Record that the maintainers were told."""
    try:
        told = datetime.date.fromisoformat(date)
    except ValueError:
        _refuse(f"`date` must be a day as 2026-12-01, got {date!r}")
    _changed(_named(name), status=REPORTED, reported=told.isoformat())
    write_pages()


@main.command()
@click.argument("name", metavar="LIBRARY/FINDING")
@click.argument("address")
def public(name: str, address: str) -> None:
    """Move a finding that is public out of the drafts, and write the register anew."""
    finding = _named(name)
    there = published_folder(finding)
    if (ROOT / there).exists():
        _refuse(f"{there} is there already")
    for written in (PAGE, LETTER):
        (ROOT / finding.folder / written).unlink(missing_ok=True)
    (ROOT / there).parent.mkdir(parents=True, exist_ok=True)
    (ROOT / finding.folder).rename(ROOT / there)
    _set(ROOT / there / DATA, status=PUBLIC, address=address)
    for path in write_pages():
        click.echo(f"wrote {path}")


def withheld() -> list[Finding]:
    """Return the findings that are not public."""
    return [finding for finding in all_findings() if not finding.is_public]


def published_folder(finding: Finding) -> Path:
    """Return where a finding goes once it is public."""
    return CATALOGUE.relative_to(ROOT) / finding.library / "findings" / finding.folder.name


def _named(name: str) -> Finding:
    for finding in withheld():
        if finding.name == name:
            return finding
    _refuse(f"no finding {name!r} in {DRAFTS}/")
    raise AssertionError


def _changed(finding: Finding, **values: str) -> None:
    _set(ROOT / finding.folder / DATA, **values)
    read(finding.folder)  # raises where the new data break a rule


def _set(path: Path, **values: str) -> None:
    """Set top-level keys of a TOML file, and leave the rest as it is."""
    text = path.read_text(encoding="utf-8")
    for key, value in values.items():
        said = value if re.fullmatch(r"\d{4}-\d\d-\d\d", value) else json.dumps(value, ensure_ascii=False)
        text = re.sub(rf"^{key} = .*\n", "", text, flags=re.MULTILINE)
        before, line, after = re.split(r"^(class = .*\n)", text, maxsplit=1, flags=re.MULTILINE)
        text = f"{before}{line}{key} = {said}\n{after}"
    path.write_text(text, encoding="utf-8")


def _refuse(why: str) -> None:
    click.echo(f"error: {why}", err=True)
    sys.exit(USAGE)


if __name__ == "__main__":
    main()
