"""A comparison in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.faces.compare.table import COLUMNS, law_sentences, legend, remarks
from audit.report.terminal import verdict_text


def print_comparisons(console: Console, document: Mapping[str, Any]) -> None:
    """Print every comparison: its table, its remarks, and what is known about the laws."""
    for comparison in document["comparisons"]:
        console.print(Text(f"\n{comparison['name']}: {comparison['claim']}", style="bold"))
        console.print(_table(comparison))
        for sentence in [*remarks(comparison), *law_sentences(comparison)]:
            console.print(Text(f"- {sentence}"))
    console.print(Text(f"\n{legend(document)}", style="dim"))
    console.print(verdict_text(document["verdict"], "PASS"))


def _table(comparison: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in COLUMNS:
        table.add_column(column.title, justify="left" if column.is_text else "right", overflow="fold")
    for row in comparison["implementations"]:
        cells: list[Text] = [Text(column.cell(row)) for column in COLUMNS]
        cells[1] = verdict_text(row["verdict"], row["expected"])
        table.add_row(*cells)
    return table
