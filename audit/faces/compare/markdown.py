"""A comparison as Markdown, what it shows escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from audit.faces.compare.table import COLUMNS, law_sentences, legend, remarks
from audit.report.markdown import escape_markdown


def markdown_of(document: Mapping[str, Any]) -> str:
    """Render a comparison's plain data."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    yield "# Comparison of implementations"
    yield ""
    yield legend(document)
    for comparison in document["comparisons"]:
        yield ""
        yield f"## {escape_markdown(comparison['name'])}: {escape_markdown(comparison['claim'])}"
        yield ""
        yield _row(column.title for column in COLUMNS)
        yield _row("---" if column.is_text else "---:" for column in COLUMNS)
        for row in comparison["implementations"]:
            yield _row(escape_markdown(column.cell(row)) for column in COLUMNS)
        yield ""
        for sentence in [*remarks(comparison), *law_sentences(comparison)]:
            yield f"- {escape_markdown(sentence)}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
