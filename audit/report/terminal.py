"""The certificate in a terminal: progress while it runs, a table at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from audit.report.markdown import number
from audit.verdict import Verdict

_STYLES = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow"}


class Finished(Protocol):
    """What the progress line needs of a result."""

    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> Verdict: ...


@contextmanager
def live_progress(console: Console, total: int) -> Iterator[Any]:
    """Yield a callback for finished checks that moves a progress bar."""
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total)

        def tell(result: Finished) -> None:
            progress.update(task, advance=1, description=f"{result.verdict} {result.name}".replace("[", r"\["))

        yield tell


def verdict_text(verdict: str, expected: str) -> Text:
    """The verdict in its colour; an expected FAIL says so."""
    met = verdict == expected
    style = "green" if met else _STYLES[verdict]
    return Text(verdict if expected == "PASS" else f"{verdict} (expected {expected})", style=style)


def print_certificate(console: Console, certificate: Mapping[str, Any]) -> None:
    """Print the table of checks, the reasons of those that are not as expected, and the verdict."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in _COLUMNS:
        table.add_column(title, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for check in certificate["checks"]:
        table.add_row(*_row(check))
    console.print(table)
    for check in certificate["checks"]:
        if check["verdict"] != check["expected"]:
            console.print(Text(f"\n{check['name']}: {check['verdict']}, {check['reason']}"))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in certificate["counts"].items())
    console.print(
        Text(f"\n{certificate['verdict']}", style=_STYLES[certificate["verdict"]]),
        Text(f"  {len(certificate['checks'])} checks: {counts}; {certificate['as_expected']} as expected; "
             f"significance {certificate['settings']['significance']:g} for the whole run"),
    )


_COLUMNS = (
    ("check", "left"),
    ("verdict", "left"),
    ("by", "left"),
    ("claim", "right"),
    ("certified ≥", "right"),
    ("exact", "right"),
    ("resolution", "right"),
    ("outputs", "right"),
)


def _row(check: Mapping[str, Any]) -> tuple[str | Text, ...]:
    claim = check["claim"]
    return (
        Text(check["name"]),
        verdict_text(check["verdict"], check["expected"]),
        check["basis"] if check["basis"] != "none" else "",
        f"({claim['epsilon']:g}, {claim['delta']:g})",
        number(check["epsilon_lower_bound"]),
        number(check["exact_epsilon"]),
        number(check["resolution"]),
        f"{check['evidence']['samples']:,}",
    )
