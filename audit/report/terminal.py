"""The certificate in a terminal: progress while it runs, a table at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from audit.claim_kinds import claim_label
from audit.report.markdown import bounds, by_table, number, tally
from audit.verdict import Verdict

_STYLES = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow"}


_PIPED_WIDTH = 140  # a log has no terminal to fit


def output_console() -> Console:
    """The console for results: as wide as the terminal, wide enough for the table when there is none."""
    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_WIDTH)


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
    for columns, rows in _tables(certificate):
        console.print(_table(columns, rows, console.width))
    for check in certificate["checks"]:
        if check["verdict"] != check["expected"]:
            console.print(Text(f"\n{check['name']}: {check['verdict']}, {check['reason']}"))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in certificate["counts"].items())
    console.print(
        Text(f"\n{certificate['verdict']}", style=_STYLES[certificate["verdict"]]),
        Text(
            f"  {len(certificate['checks'])} checks: {counts}; {certificate['as_expected']} as expected; "
            f"significance {certificate['settings']['significance']:g} for the whole run"
        ),
    )


def _tables(certificate: Mapping[str, Any]) -> list[tuple[Sequence[_Column], list[Mapping[str, Any]]]]:
    """The checks of each table, with its columns; a table without rows is left out."""
    return [(_COLUMNS[table], rows) for table, rows in by_table(certificate["checks"]).items() if rows]


def _table(columns: Sequence[_Column], rows: Sequence[Mapping[str, Any]], width: int) -> Table:
    """All columns where there is room; a narrow terminal keeps the ones that decide."""
    kept = [column for column in columns if width >= column.least_width]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in kept:
        table.add_column(column.title, justify=column.justify, overflow="fold", no_wrap=not column.wraps)
    for check in rows:
        table.add_row(*(column.cell(check) for column in kept))
    return table


@dataclass(frozen=True)
class _Column:
    """One column of the table."""

    title: str
    cell: Callable[[Mapping[str, Any]], str | Text]
    justify: Literal["left", "right"] = "right"
    least_width: int = 0
    wraps: bool = False


def _by(check: Mapping[str, Any]) -> str:
    """What the verdict rests on; a precision check says that it looked at bits."""
    basis = check["basis"] if check["basis"] != "none" else ""
    return f"{basis}, bits".removeprefix(", ") if check["kind"] == "precision" else basis


def _claim(check: Mapping[str, Any]) -> str:
    return claim_label(check["claim"])


_NAME = _Column("check", lambda check: Text(check["name"]), "left", wraps=True)
_VERDICT = _Column("verdict", lambda check: verdict_text(check["verdict"], check["expected"]), "left")
_PRIVACY_COLUMNS = (
    _NAME,
    _VERDICT,
    _Column("by", _by, "left", 100),
    _Column("claim", _claim),
    _Column("certified ≥", lambda check: number(check["epsilon_lower_bound"])),
    _Column("exact", lambda check: number(check["exact_epsilon"]), "right", 80),
    _Column("resolution", lambda check: number(check["resolution"]), "right", 100),
    _Column("outputs", lambda check: f"{check['evidence']['samples']:,}", "right", 110),
)
_UTILITY_COLUMNS = (
    _NAME,
    _VERDICT,
    _Column("by", lambda check: check["evidence"]["uses"], "left", 100),
    _Column("claim", lambda check: Text(check["claim"]["summary"]), "left", 80, wraps=True),
    _Column("found", lambda check: Text(bounds(check["found"], most=1)), "left", 0, wraps=True),
    _Column("losses", lambda check: f"{check['evidence']['samples']:,}", "right", 110),
)
_RANDOMNESS_COLUMNS = (
    _NAME,
    _VERDICT,
    _Column("claim", lambda check: Text(check["claim"]["statement"]), "left", 100, wraps=True),
    _Column("found", lambda check: Text(tally(check["evidence"])), "left", 0, wraps=True),
    _Column("outputs", lambda check: f"{check['evidence']['samples']:,}", "right", 110),
)
_COLUMNS = {"privacy": _PRIVACY_COLUMNS, "randomness": _RANDOMNESS_COLUMNS, "utility": _UTILITY_COLUMNS}
