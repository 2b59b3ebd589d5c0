"""The certificate in a terminal: progress while it runs, a table at the end."""

from __future__ import annotations

import io
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column as TableColumn
from rich.table import Table
from rich.text import Text

from audit.certificate.summary import find_view, tally_text
from audit.checks.base import Check, Result
from audit.claims import claim_of
from audit.execution.sandbox import DRAWN
from audit.text import count_of, number, printable, printable_data
from audit.verdict import Verdict, outcome, standing

_STYLES = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow"}
_PIPED_WIDTH = 140  # a log has no terminal to fit
_PRINTED_LINES = 10  # of the prints of one check; the page has all that was kept
_LOG_EVERY = 30.0  # seconds between lines of progress in a log

Record = Mapping[str, Any]


def output_console() -> Console:
    """Return the console for results: as wide as COLUMNS or the terminal, wide enough for the table without either."""
    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=_PIPED_WIDTH)


class _DrawnColumn(ProgressColumn):
    """Outputs that were drawn since it was made, those of unfinished checks included."""

    def __init__(self) -> None:
        super().__init__()
        self._before = sum(DRAWN)

    def render(self, task: Task) -> Text:
        return Text(f"{sum(DRAWN) - self._before:,} drawn")


class LiveProgress:
    """A line with the checks that run, how many are done, how much they draw, and the time; in a log, some lines."""

    def __init__(self, total: int, done: int = 0, console: Console | None = None, *, quiet: bool = False) -> None:
        self._console, self._total, self._done = console or Console(stderr=True, quiet=quiet), total, done
        self._running: dict[str, None] = {}
        self._before, self._drawn = done, 0
        self._logged = self._begun = time.monotonic()
        columns = (
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            _DrawnColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False, table_column=TableColumn(ratio=1, no_wrap=True)),
        )
        self._bar = Progress(*columns, console=self._console, transient=True, expand=True)  # names get what is left
        self._task = self._bar.add_task("", total=total, completed=done)
        self._lock = threading.Lock()

    def __enter__(self) -> LiveProgress:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def show_start(self, check: Check) -> None:
        with self._lock:
            self._running[check.name] = None
            self._bar.update(self._task, description=printable(", ".join(self._running)))

    def show_result(self, result: Result) -> None:
        """Show that a check has its result; log it at once if it is not as expected, else now and then."""
        with self._lock:
            self._running.pop(result.name, None)
            self._done, self._drawn = self._done + 1, self._drawn + result.samples
            self._bar.update(self._task, completed=self._done, description=printable(", ".join(self._running)))
            now = time.monotonic()
            if self._console.is_terminal or (result.met and now - self._logged < _LOG_EVERY):
                return
            self._logged = now
            left = (now - self._begun) / (self._done - self._before) * (self._total - self._done)
            unmet = "" if result.met else f"; {result.name}: {result.verdict}, {find_view(result.record()).reason}"
            said = f"{self._done} of {self._total} checks, {self._drawn:,} drawn, about {left:.0f} s left{unmet}"
            self._console.print(Text(printable(said)), soft_wrap=True)


def verdict_text(row: Record) -> Text:
    """Return the outcome of a record in its color; one that is not as expected says so."""
    verdict, expected = row["verdict"], row.get("expected", "PASS")
    stands = standing(Verdict(verdict), Verdict(expected))
    return Text(outcome(Verdict(verdict), Verdict(expected)), style=_STYLES[stands.value])


class Column(NamedTuple):
    """One column of a table: its title, its cell in a row of plain data, and the least width that shows it."""

    title: str
    cell: Callable[[Record], str | Text]
    justify: Literal["left", "right"] = "right"
    least_width: int = 0
    wraps: bool = False


def print_table(console: Console, columns: Sequence[Column], rows: Sequence[Record]) -> None:
    """Print all columns where there is room; a narrow terminal keeps the ones that decide."""
    kept = [column for column in columns if console.width >= column.least_width]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in kept:
        table.add_column(column.title, justify=column.justify, overflow="fold", no_wrap=not column.wraps)
    for row in rows:
        cells = [column.cell(row) for column in kept]
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
    console.print(table)


def certificate_text(certificate: Record) -> str:
    """Return the text of `print_certificate` in a log, without colors."""
    text = io.StringIO()
    print_certificate(Console(file=text, width=_PIPED_WIDTH), certificate)
    return text.getvalue()


def print_certificate(console: Console, certificate: Record, verbose: bool = False) -> None:
    """Print the table of checks, the reasons of those that are not as expected (of all: `verbose`), and the verdict."""
    certificate = printable_data(certificate)
    checks = certificate["checks"]
    print_records(console, checks, verbose, certificate.get("printed", {}))
    console.print(
        Text("\n").append(verdict_text({"verdict": certificate["verdict"]})),
        Text(
            f"  {count_of(len(checks), 'check')}: {tally_text(checks)}; {certificate['as_expected']} as expected; "
            f"significance {certificate['settings']['significance']:g} for the whole run"
        ),
    )


def print_records(console: Console, checks: Sequence[Record], verbose: bool, printed: Mapping[str, str]) -> None:
    """Print printable records of checks, and their reasons."""
    for name, columns in _COLUMNS.items():
        if rows := [check for check in checks if find_view(check).table == name]:
            print_table(console, columns, rows)
    for check in checks:
        if verbose or check["verdict"] != check["expected"]:
            reason = "; ".join([check["reason"], *check["scope"]]) if verbose else find_view(check).reason
            console.print(Text("\n" + printable(f"{check['name']}: {check['verdict']}, {reason}")))
            for line in printed.get(check["name"], "").splitlines()[:_PRINTED_LINES]:
                console.print(Text(f"  printed | {line}", style="dim"), soft_wrap=True)
    if printed:
        console.print(Text(f"\n{len(printed)} checks printed something, which their certificate holds", style="dim"))


_NAME = Column("check", lambda check: check["name"], "left", wraps=True)
_VERDICT = Column("verdict", verdict_text, "left")
_BASIS = Column("basis", lambda check: find_view(check).basis, "left", 100)
_FOUND = Column("found", lambda check: find_view(check).main_finding, "left", wraps=True)


def _make_column(title: str) -> Column:
    return Column(title, lambda check: f"{check['evidence']['samples']:,}", "right", 110)


_COLUMNS = {
    "privacy": (
        _NAME,
        _VERDICT,
        _BASIS,
        Column("claim", lambda check: claim_of(check["claim"]).short),
        Column("certified ≥", lambda check: number(check["epsilon_lower_bound"])),
        Column("exact", lambda check: number(check["exact_epsilon"]), "right", 80),
        Column("resolution", lambda check: number(check["resolution"]), "right", 100),
        _make_column("outputs"),
    ),
    "stated": (
        _NAME,
        _VERDICT,
        _BASIS,
        Column("claim", lambda check: find_view(check).claimed, "left", 80, wraps=True),
        _FOUND,
        _make_column("drawn"),
    ),
}
