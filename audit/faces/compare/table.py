"""The columns and sentences of a comparison, from its plain data: every renderer shows these."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.report.wording import count, number

_LONGEST = 100  # characters of an event in a sentence
LEGEND = (
    "certified: lower bound of epsilon from the outputs. exact: epsilon of the stated law. noise wasted: claimed "
    "epsilon over the exact one, or at most that over the certified one, on these pairs; 1 is tight. error: mean "
    "absolute error, ± its standard error (an estimate), or with an interval that holds in finite samples where errors "
    "are bounded; median: an interval that holds in finite samples for every law. Each interval misses with "
    "probability at most {misses:g}. × best: mean error over the least one among those not refuted, at the same "
    "claimed epsilon. outputs/s: one process, this machine, an estimate."
)


@dataclass(frozen=True)
class Column:
    """One column of the table of implementations."""

    title: str
    cell: Callable[[Mapping[str, Any]], str]
    is_text: bool = False


def verdict(row: Mapping[str, Any]) -> str:
    """The verdict, and what was expected where that is not PASS or did not come."""
    said = str(row["verdict"])
    return said if said == row["expected"] == "PASS" else f"{said} (expected {row['expected']})"


def wasted(row: Mapping[str, Any]) -> str:
    """Claimed epsilon over what the noise needs."""
    factor = row["wasted"]
    return "–" if factor is None else f"{'≤ ' if factor['at_most'] else ''}{number(factor['factor'], 3)}"


def mean_error(row: Mapping[str, Any]) -> str:
    """The mean with its interval where it has a valid one, else with its standard error."""
    errors = row["errors"]
    if errors is None:
        return "–"
    if errors["mean_interval"] is not None:
        return f"{number(errors['mean'])} {_interval(errors['mean_interval'])}"
    return f"{number(errors['mean'])} ± {number(errors['standard_error'], 2)}"


def median_error(row: Mapping[str, Any]) -> str:
    """The interval of the median."""
    return "–" if row["errors"] is None else _interval(row["errors"]["median_interval"])


def speed(row: Mapping[str, Any]) -> str:
    """Outputs a second, with the two digits that mean something."""
    if row["per_second"] is None:
        return "–"
    rounded = float(f"{row['per_second']:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


COLUMNS = (
    Column("implementation", lambda row: str(row["name"]), is_text=True),
    Column("verdict", verdict, is_text=True),
    Column("by", lambda row: row["basis"].replace("none", ""), is_text=True),
    Column("certified ε ≥", lambda row: number(row["certified_epsilon"])),
    Column("exact ε", lambda row: number(row["exact_epsilon"])),
    Column("noise wasted", wasted),
    Column("mean error", mean_error),
    Column("median error", median_error),
    Column("× best", lambda row: number(row["relative_error"], 3)),
    Column("outputs/s", speed),
)


def law_sentences(comparison: Mapping[str, Any]) -> list[str]:
    """What is known about the laws of the implementations, and what would have been seen."""
    said = [f"{laws['name']}: {_law(laws)}." for laws in comparison["laws"] if laws["tests"] or laws["why_not"]]
    tests = [test for laws in comparison["laws"] for test in laws["tests"] if not test["unreadable"]]
    if not tests:
        return said
    runs, variation = min(test["runs"] for test in tests), max(test["variation_resolution"] for test in tests)
    ratios = [test["ratio_resolution"] for test in tests]
    ratio = "no ratio" if None in ratios else f"a log-ratio of {number(max(ratios), 2)}"
    seen = (
        f"Seen in {count(runs)} runs, four times in five, would have been a total variation of {number(variation, 2)} "
        f"with the best events, and {ratio} on an event of probability 0.01."
    )
    return [*said, seen]


def _law(laws: Mapping[str, Any]) -> str:
    if laws["why_not"]:
        return f"nothing is said about errors and law, since {laws['why_not']}"
    parts = []
    for test in laws["tests"]:
        if test["unreadable"]:
            parts.append(f"its outputs cannot be held against those of {test['from']}, or are too few")
        elif test["differ"]:
            parts.append(f"another law than {test['from']}, total variation ≥ {number(test['variation'], 3)}")
        else:
            parts.append(f"not told from {test['from']}")
    last = laws["tests"][-1]
    by = f" (told by: {textwrap.shorten(last['event'], _LONGEST, placeholder=' …')})" if last["differ"] else ""
    return "; ".join(parts) + by


def remarks(comparison: Mapping[str, Any]) -> list[str]:
    """Why a row is not as expected, or has no sample; and what its note says."""
    said = []
    for row in comparison["implementations"]:
        if row["verdict"] != row["expected"]:
            said.append(f"{row['name']}: {row['reason']}")
        if row["sample_failed"]:
            said.append(f"{row['name']}: no sample, {row['sample_failed']}")
        if row["note"]:
            said.append(f"{row['name']}: {row['note']}")
    return said


def legend(document: Mapping[str, Any]) -> str:
    """What the columns mean, and which code ran."""
    ran = document["provenance"]
    versions = ", ".join(f"{name} {version}" for name, version in ran["packages"].items())
    columns = LEGEND.format(misses=document["settings"]["interval_misses"])
    return f"{columns} Seed {document['settings']['seed']}; Python {ran['python']}, {versions}."


def _interval(ends: tuple[float, float]) -> str:
    return f"[{number(ends[0])}, {number(ends[1])}]"
