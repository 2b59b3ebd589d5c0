"""The columns and sentences of a comparison and their renderings, from plain data (`ComparisonReport.table`) alone."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from audit.report.renderers import environment
from audit.report.terminal import Column, print_table, verdict_text
from audit.report.wording import count, number

_LONGEST = 100  # characters of an event in a sentence
_LEGEND = (
    "certified: lower bound of epsilon from the outputs. exact: epsilon of the stated law. noise wasted: claimed "
    "epsilon over the exact one, or at most that over the certified one, on these pairs; 1 is tight. error: mean "
    "absolute error, ± its standard error (an estimate), or with an interval that holds in finite samples where errors "
    "are bounded; median: an interval that holds in finite samples for every law. Each interval misses with "
    "probability at most {misses:g}. × best: mean error over the smallest one among those not refuted, at the same "
    "claimed epsilon. outputs/s: one process, this machine, an estimate."
)

Part = Mapping[str, Any]


def wasted(row: Part) -> str:
    """Return claimed epsilon over what the noise needs, in words."""
    factor = row["wasted"]
    return "–" if factor is None else f"{'≤ ' if factor['at_most'] else ''}{number(factor['factor'], 3)}"


def mean_error(row: Part) -> str:
    """Return the mean error with its interval where it has a valid one, else with its standard error."""
    errors = row["errors"]
    if errors is None:
        return "–"
    if errors["mean_interval"] is not None:
        return f"{number(errors['mean'])} {_interval(errors['mean_interval'])}"
    return f"{number(errors['mean'])} ± {number(errors['standard_error'], 2)}"


def median_error(row: Part) -> str:
    """Return the interval of the median error."""
    return "–" if row["errors"] is None else _interval(row["errors"]["median_interval"])


def speed(row: Part) -> str:
    """Return outputs per second, rounded to the two digits that mean something."""
    if row["per_second"] is None:
        return "–"
    rounded = float(f"{row['per_second']:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


COLUMNS = (
    Column("implementation", lambda row: row["name"], "left", wraps=True),
    Column("verdict", verdict_text, "left"),
    Column("by", lambda row: row["basis"].replace("none", ""), "left"),
    Column("certified ε ≥", lambda row: number(row["certified_epsilon"])),
    Column("exact ε", lambda row: number(row["exact_epsilon"])),
    Column("noise wasted", wasted),
    Column("mean error", mean_error, wraps=True),
    Column("median error", median_error, wraps=True),
    Column("× best", lambda row: number(row["relative_error"], 3)),
    Column("outputs/s", speed),
)


def sentences(comparison: Part) -> list[str]:
    """Return what the table leaves out: unexpected verdicts, missing samples, notes, and what is known about laws."""
    said = []
    for row in comparison["implementations"]:
        if row["verdict"] != row["expected"]:
            said.append(f"{row['name']}: {row['reason']}")
        if row["sample_failed"]:
            said.append(f"{row['name']}: no sample, {row['sample_failed']}")
        if row["note"]:
            said.append(f"{row['name']}: {row['note']}")
    return said + law_sentences(comparison)


def law_sentences(comparison: Part) -> list[str]:
    """Return what is known about the laws of the implementations, and which differences would have been seen."""
    said = [f"{laws['name']}: {_law(laws)}." for laws in comparison["laws"] if laws["tests"] or laws["why_not"]]
    tests = [test for laws in comparison["laws"] for test in laws["tests"] if not test["unreadable"]]
    if not tests:
        return said
    runs, variation = min(test["runs"] for test in tests), max(test["variation_resolution"] for test in tests)
    ratios = [test["ratio_resolution"] for test in tests]
    ratio = "no ratio" if None in ratios else f"a log-ratio of {number(max(ratios), 2)}"
    seen = (
        f"With {count(runs)} guesses, these differences would have been found with probability 0.8: a total variation "
        f"of {number(variation, 2)} with the best events, and {ratio} on an event of probability 0.01."
    )
    return [*said, seen]


def _law(laws: Part) -> str:
    if laws["why_not"]:
        return f"nothing is said about errors and law, since {laws['why_not']}"
    parts = []
    for test in laws["tests"]:
        if test["unreadable"]:
            parts.append(f"its outputs cannot be compared with those of {test['from']}, or are too few")
        elif test["differ"]:
            parts.append(f"another law than {test['from']}, total variation ≥ {number(test['variation'], 3)}")
        else:
            parts.append(f"not told from {test['from']}")
    last = laws["tests"][-1]
    by = f" (told by: {textwrap.shorten(last['event'], _LONGEST, placeholder=' …')})" if last["differ"] else ""
    return "; ".join(parts) + by


def legend(table: Part) -> str:
    """Return what the columns mean, and which code ran."""
    ran = table["provenance"]
    versions = ", ".join(f"{name} {version}" for name, version in ran["packages"].items())
    columns = _LEGEND.format(misses=table["settings"]["interval_misses"])
    return f"{columns} Seed {table['settings']['seed']}; Python {ran['python']}, {versions}."


def comparison_html(table: Part) -> str:
    """Render a comparison as one HTML page: no network, no script, everything it shows escaped."""
    return _rendered("comparison.html.j2", table)


def comparison_markdown(table: Part) -> str:
    """Render a comparison as Markdown, everything it shows escaped."""
    return _rendered("comparison.md.j2", table)


TABLE_RENDERERS = {".md": comparison_markdown, ".html": comparison_html}


def print_comparisons(console: Console, table: Part) -> None:
    """Print every comparison: its table and its sentences."""
    for comparison in table["comparisons"]:
        console.print(Text(f"\n{comparison['name']}: {comparison['claim']}", style="bold"))
        print_table(console, COLUMNS, comparison["implementations"])
        for sentence in sentences(comparison):
            console.print(Text(f"- {sentence}"))
    console.print(Text(f"\n{legend(table)}", style="dim"))
    console.print(verdict_text(table))


def _rendered(template: str, table: Part) -> str:
    return (
        environment(__package__)
        .get_template(template)
        .render(table=table, columns=COLUMNS, legend=legend(table), sentences=sentences)
    )


def _interval(ends: tuple[float, float]) -> str:
    return f"[{number(ends[0])}, {number(ends[1])}]"
