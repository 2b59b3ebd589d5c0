"""The command `conformance`: ask libraries the questions of the suite, and write the table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from audit.api import cli, discover, errors, text

if TYPE_CHECKING:
    from audit.extensions.conformance.findings import Finding
    from audit.extensions.conformance.library import Library


@click.command("conformance", epilog="Example: dp-audit conformance mylib.conformance --query sum --out conformance")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--query", "queries", multiple=True, metavar="NAME", help="Only this query; may be repeated.")
@click.option("--case", "cases", multiple=True, metavar="NAME", help="Only this case; may be repeated.")
@cli.setting("--out", None, "Folder for the tables, one a library.", type=click.Path(file_okay=False, path_type=Path))
@cli.setting("--draws", 60_000, "Most outputs per dataset.", type=click.IntRange(2))
@cli.setting("--timeout", 60.0, "Seconds for one cell at one setting.", type=click.FloatRange(0, min_open=True))
@cli.setting("--seed", 0, "Seed of the draws that take the audit's generator.", type=click.IntRange(0))
@click.option("--workers", type=click.IntRange(1), help="Processes at a time.  [default: (number of cores)]")
def conformance_command(
    targets: Sequence[str],
    queries: Sequence[str],
    cases: Sequence[str],
    out: Path | None,
    draws: int,
    timeout: float,
    seed: int,
    workers: int | None,
) -> int:
    """Ask the libraries of each TARGET the questions of the suite.

    A TARGET is a module that holds an `audit.conformance.Library`. Exit status 1 says that a cell fails, 2 that one
    could not be decided.
    """
    from audit.extensions.conformance.findings import count_statuses, save
    from audit.extensions.conformance.running import conform

    findings: list[Finding] = []
    for library in [library for target in targets for library in _libraries(target)]:
        table = out / f"{library.name}.json" if out else None

        def tell(cell: Finding, library: Library = library, table: Path | None = table) -> None:
            _tell(cell)
            if table is not None:
                save(table, library, [cell])

        found = conform(
            library,
            queries=queries,
            cases=cases,
            seed=seed,
            workers=workers,
            timeout=timeout,
            draws=draws,
            progress=tell,
        )
        counts = ", ".join(f"{count} {status}" for status, count in count_statuses(found).items())
        pairs = sum(cell.pairs for cell in found)
        click.echo(text.printable(f"{library.name} {library.version}".strip() + f": {counts}; {pairs:,} pairs"))
        findings += found
        if table is not None:
            save(table, library, found)
            click.echo(f"written: {table}")
    if any(cell.fails for cell in findings):
        return 1
    return 2 if any(cell.is_open for cell in findings) else 0


def _tell(cell: Finding) -> None:
    """Print a finding that accuses a library, or is not decided."""
    if cell.fails or cell.is_open:
        click.echo(text.printable(f"{cell.status}  {cell.query}, {cell.case}: {cell.reason}"))


def _libraries(target: str) -> list[Library]:
    """Return the libraries that a module holds."""
    from audit.extensions.conformance.library import Library

    found = [value for value in vars(discover.import_target(target)).values() if isinstance(value, Library)]
    if not found:
        raise errors.UnknownTarget(
            f"target {target!r} holds no library: write library = audit.conformance.Library(...) in it"
        )
    return found
