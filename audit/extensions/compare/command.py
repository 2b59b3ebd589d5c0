"""The command `compare`: implementations of one claim, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from audit.api import cli


@click.command("compare", epilog="Example: dp-audit compare mylib.comparisons --out comparison")
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option(
    "--out",
    type=cli.FOLDER,
    help="Folder for comparison.json and .md, and the certificate of the verdicts; without it, none is written.",
)
@cli.with_settings
def compare_command(targets: Sequence[str], out: Path | None, **settings: Any) -> int:
    """Compare implementations of the same claim.

    A TARGET is a package or module that Python can import from here, with a list COMPARISONS. Without one, the
    reference comparisons of `mechanisms.comparisons` are run.
    """
    from audit.api import terminal
    from audit.extensions.compare.comparison import collect, compare, print_comparisons

    targets = targets or ("mechanisms.comparisons",)
    comparisons = collect(targets)
    with terminal.LiveProgress(sum(len(comparison.implementations) for comparison in comparisons)) as progress:
        settings |= {"progress": progress.show_result, "announce": progress.show_start, "targets": targets}
        found = compare(comparisons, **settings)
    print_comparisons(terminal.output_console(), found.table)
    if out is not None:
        click.echo(f"comparison: {found.save(out)}, .md; evidence of the verdicts: {out / 'certificate.json'}")
    return found.verdict.exit_status
