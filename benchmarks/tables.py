"""Print tables with columns as wide as they need, chosen by name on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: its first column to the left, the others to the right."""
    widths = [max(len(row[at]) for row in [head, *rows] if at < len(row)) for at in range(len(head))]
    print(f"\n{title}")
    for first, *others in [head, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=False)]
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip(), flush=True)


def print_tables(tables: Mapping[str, Callable[[], None]], default: Sequence[str] = ()) -> None:
    """Print the tables that are named on the command line; the default ones, or all, where none is."""
    chosen = sys.argv[1:] or default or list(tables)
    if unknown := [name for name in chosen if name not in tables]:
        raise SystemExit(f"no table {unknown[0]!r}; there are {', '.join(tables)}")
    for name in chosen:
        tables[name]()
