"""The certificate in a terminal: progress while it runs, a table at the end."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from audit.base.verdict import Verdict
from audit.claims import claim_label
from audit.report.wording import bounds, by_table, number, tally

_STYLES = {"PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow"}
_PIPED_WIDTH = 140  # a log has no terminal to fit
_LOG_EVERY = 30.0  # seconds between lines of progress in a log


def output_console() -> Console:
    """The console for results: as wide as the terminal, wide enough for the table when there is none."""
    console = Console()
    return console if console.is_terminal else Console(width=_PIPED_WIDTH)


def live_progress(total: int, done: int = 0) -> LiveProgress:
    """Return the progress of a run of `total` checks, shown on standard error."""
    return LiveProgress(Console(stderr=True), total, done)


class Started(Protocol):
    """What the progress line needs of a check."""

    @property
    def name(self) -> str: ...


class Finished(Protocol):
    """What the progress line needs of a result."""

    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> Verdict: ...
    @property
    def samples(self) -> int: ...
    @property
    def met(self) -> bool: ...
    @property
    def reason(self) -> str: ...


class LiveProgress:
    """A line that says which checks run, how many are done, what they drew, and how long it takes yet.

    A log, which cannot move a line, gets one now and then, and one for every check that is not as expected.
    """

    def __init__(self, console: Console, total: int, done: int = 0) -> None:
        self._console, self._total, self._done = console, total, done
        self._running: dict[str, None] = {}
        self._before, self._drawn = done, 0
        self._said = self._begun = time.monotonic()
        columns = (
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[drawn]} drawn"),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("{task.description}", markup=False),
        )
        self._bar = Progress(*columns, console=console, transient=True)
        self._task = self._bar.add_task("", total=total, completed=done, drawn="0")
        self._lock = threading.Lock()

    def __enter__(self) -> LiveProgress:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def started(self, check: Started) -> None:
        """A check begins."""
        with self._lock:
            self._running[check.name] = None
            self._show()

    def finished(self, result: Finished) -> None:
        """A check has its result."""
        with self._lock:
            self._running.pop(result.name, None)
            self._done, self._drawn = self._done + 1, self._drawn + result.samples
            self._bar.advance(self._task)
            self._show()
            if not self._console.is_terminal:
                self._log(result)

    def _show(self) -> None:
        self._bar.update(self._task, description=", ".join(self._running), drawn=f"{self._drawn:,}")

    def _log(self, result: Finished) -> None:
        """A line for a log: at once for what is not as expected, else when there was none for a while."""
        now = time.monotonic()
        if result.met and now - self._said < _LOG_EVERY:
            return
        self._said = now
        left = (now - self._begun) / (self._done - self._before) * (self._total - self._done)
        unmet = "" if result.met else f"; {result.name}: {result.verdict}, {result.reason}"
        said = f"{self._done} of {self._total} checks, {self._drawn:,} drawn, about {left:.0f} s left{unmet}"
        self._console.print(Text(said), soft_wrap=True)


def verdict_text(verdict: str, expected: str) -> Text:
    """The verdict in its colour; an expected FAIL says so."""
    met = verdict == expected
    style = "green" if met else _STYLES[verdict]
    return Text(verdict if expected == "PASS" else f"{verdict} (expected {expected})", style=style)


@dataclass(frozen=True)
class Column:
    """One column of a table: its title, its cell in a row of plain data, and the least width that shows it."""

    title: str
    cell: Callable[[Mapping[str, Any]], str | Text]
    justify: Literal["left", "right"] = "right"
    least_width: int = 0
    wraps: bool = False


def print_table(console: Console, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> None:
    """Print all columns where there is room; a narrow terminal keeps the ones that decide."""
    kept = [column for column in columns if console.width >= column.least_width]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in kept:
        table.add_column(column.title, justify=column.justify, overflow="fold", no_wrap=not column.wraps)
    for row in rows:
        cells = [column.cell(row) for column in kept]
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
    console.print(table)


def certificate_text(certificate: Mapping[str, Any]) -> str:
    """Return what `print_certificate` prints in a log, without colors."""
    text = io.StringIO()
    print_certificate(Console(file=text, width=_PIPED_WIDTH), certificate)
    return text.getvalue()


def print_certificate(console: Console, certificate: Mapping[str, Any]) -> None:
    """Print the table of checks, the reasons of those that are not as expected, and the verdict."""
    for table, rows in by_table(certificate["checks"]).items():
        if rows:
            print_table(console, _COLUMNS[table], rows)
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


def _by(check: Mapping[str, Any]) -> str:
    """What the verdict rests on; a precision check says that it looked at bits."""
    basis = check["basis"] if check["basis"] != "none" else ""
    return f"{basis}, bits".removeprefix(", ") if check["kind"] == "precision" else basis


def _claim(check: Mapping[str, Any]) -> str:
    return claim_label(check["claim"])


_NAME = Column("check", lambda check: check["name"], "left", wraps=True)
_VERDICT = Column("verdict", lambda check: verdict_text(check["verdict"], check["expected"]), "left")
_PRIVACY_COLUMNS = (
    _NAME,
    _VERDICT,
    Column("by", _by, "left", 100),
    Column("claim", _claim),
    Column("certified ≥", lambda check: number(check["epsilon_lower_bound"])),
    Column("exact", lambda check: number(check["exact_epsilon"]), "right", 80),
    Column("resolution", lambda check: number(check["resolution"]), "right", 100),
    Column("outputs", lambda check: f"{check['evidence']['samples']:,}", "right", 110),
)
_UTILITY_COLUMNS = (
    _NAME,
    _VERDICT,
    Column("by", lambda check: check["evidence"]["uses"], "left", 100),
    Column("claim", lambda check: check["claim"]["summary"], "left", 80, wraps=True),
    Column("found", lambda check: bounds(check["found"], most=1), "left", 0, wraps=True),
    Column("losses", lambda check: f"{check['evidence']['samples']:,}", "right", 110),
)
_RANDOMNESS_COLUMNS = (
    _NAME,
    _VERDICT,
    Column("claim", lambda check: check["claim"]["statement"], "left", 100, wraps=True),
    Column("found", lambda check: tally(check["evidence"]), "left", 0, wraps=True),
    Column("outputs", lambda check: f"{check['evidence']['samples']:,}", "right", 110),
)
_COLUMNS = {"privacy": _PRIVACY_COLUMNS, "randomness": _RANDOMNESS_COLUMNS, "utility": _UTILITY_COLUMNS}
