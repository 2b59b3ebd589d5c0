"""The command `dp-audit compare`."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.faces.compare.comparison import collect
from audit.faces.compare.html import html_of
from audit.faces.compare.markdown import markdown_of
from audit.faces.compare.run import compare as run_comparisons
from audit.faces.compare.terminal import print_comparisons
from audit.report.files import write_whole
from audit.report.terminal import LiveProgress, output_console
from audit.runs import suite

JSON_NAME = "comparison.json"


@click.command("compare", epilog="Example: dp-audit compare mylib.comparisons --out comparison")
@click.argument("targets", nargs=-1, metavar="TARGET...")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for comparison.json, .md and .html, and the certificate of the verdicts; without it, none is written.",
)
@click.option(
    "--budget",
    type=float,
    default=DEFAULT_BUDGET,
    show_default=True,
    help="Outputs a side for each implementation that states no budget of its own.",
)
@click.option(
    "--significance",
    type=float,
    default=DEFAULT_SIGNIFICANCE,
    show_default=True,
    help="Probability that any true claim is judged FAIL, or any two equal laws are called different.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For what draws from the seed it is given.")
@click.option(
    "--workers", type=int, default=os.cpu_count() or 1, show_default="number of cores", help="Worker processes."
)
@click.option(
    "--timeout",
    type=float,
    default=suite.DEFAULT_TIMEOUT,
    show_default=True,
    help="Seconds after which an implementation is stopped.",
)
def compare(targets: Sequence[str], out: Path | None, **options: Any) -> int:
    """Compare implementations of the same claim.

    A TARGET is a package or module that Python can import from here, and that has a list COMPARISONS; without one,
    the reference comparisons that come with this package are run.
    """
    targets = targets or ("mechanisms.comparisons",)
    comparisons = collect(targets)
    total = sum(len(comparison.implementations) for comparison in comparisons)
    with LiveProgress(Console(stderr=True), total) as progress:
        compared = run_comparisons(
            comparisons, **options, progress=progress.finished, announce=progress.started, targets=targets
        )
    document = compared.document
    print_comparisons(output_console(), document)
    if out is not None:
        write_whole(out / JSON_NAME, json.dumps(document, indent=1, allow_nan=False) + "\n")
        write_whole(out / "comparison.md", markdown_of(document))
        write_whole(out / "comparison.html", html_of(document))
        certificate = compared.report.save(out)
        click.echo(f"comparison: {out / JSON_NAME}, .md, .html; evidence of the verdicts: {certificate}")
    return compared.verdict.exit_status
