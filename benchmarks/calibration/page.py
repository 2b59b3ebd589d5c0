"""The table as data and as Markdown: the page is rendered from the data alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from itertools import groupby
from typing import Any

from benchmarks.calibration.cases import FACTORS, SIGNIFICANCE
from benchmarks.calibration.measure import CONFIDENCE, EDGE, Cell

Data = dict[str, Any]


def data_of(cells: Sequence[Cell]) -> Data:
    """Return the counts as plain data, one row per case."""
    rows = [_row(list(group)) for _, group in groupby(cells, key=lambda cell: cell.case)]
    return {"version": version("dp-audit"), "significance": SIGNIFICANCE, "confidence": CONFIDENCE, "rows": rows}


def _row(cells: Sequence[Cell]) -> Data:
    case = cells[0].case
    edge = next(cell for cell in cells if cell.factor == EDGE)
    low, high = edge.interval
    return {
        "method": case.method,
        "kind": case.kind,
        "mechanism": case.mechanism,
        "outputs": case.outputs,
        "audits": edge.audits,
        "alarms": edge.alarms,
        "rate_lower_bound": low,
        "rate_upper_bound": high,
        "power": [
            {"factor": cell.factor, "audits": cell.audits, "alarms": cell.alarms}
            for cell in cells
            if cell.factor != EDGE
        ],
    }


def holds(row: Mapping[str, Any], significance: float) -> bool:
    """Return whether the false alarms of a row are compatible with the significance."""
    return bool(row["rate_lower_bound"] <= significance)


def page_of(data: Mapping[str, Any]) -> str:
    """The page, from the data."""
    rows = "\n".join(_line(row, data["significance"]) for row in data["rows"])
    header = " | ".join(f"x {factor:g}" for factor in FACTORS)
    return _PAGE.format(
        version=data["version"],
        significance=data["significance"],
        confidence=f"{100 * data['confidence']:g}",
        audits=f"{sum(row['audits'] for row in data['rows']):,}",
        power=f"{sum(cell['audits'] for row in data['rows'] for cell in row['power']):,}",
        header=header,
        rules=" | ".join("---" for _ in FACTORS),
        rows=rows,
        catalogue=_catalogue(data.get("catalogue")),
    )


def _line(row: Mapping[str, Any], significance: float) -> str:
    power = " | ".join(
        f"{cell['alarms'] / cell['audits']:.2f} ({cell['audits']})" if cell["audits"] else "–" for cell in row["power"]
    )
    bounds = f"{row['rate_lower_bound']:.4f} to {row['rate_upper_bound']:.4f}"
    verdict = "yes" if holds(row, significance) else "**NO**"
    return (
        f"| {row['method']} | {row['kind']} | {row['mechanism']} | {row['outputs']} | {row['audits']:,} | "
        f"{row['alarms']} | {row['alarms'] / row['audits']:.4f} | {bounds} | {verdict} | {power} |"
    )


def _catalogue(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "Not measured: `python -m benchmarks.calibrate --decoys`."
    named = ", ".join(found["failed"]) or "none"
    return (
        f"Every check of `mechanisms` that is expected to PASS, {found['checks']} of them, was audited again and again "
        f"with small budgets ({found['budget']} outputs per dataset) at significance {found['significance']:g}: "
        f"{found['audits']:,} audits, {found['fails']} FAIL ({named})."
    )


_PAGE = """# Calibration: false alarms at the edge of the claim, and power beyond it

Made by `make calibrate` with dp-audit {version}; {audits} audits at the edge, {power} beyond it. Each row takes a
mechanism whose privacy is exactly the claim, so that a false alarm is as likely as it can be, and audits it at
significance {significance} with a seed of its own for every audit. The rate of alarms must not exceed the
significance. The interval is an exact binomial one (Clopper-Pearson, {confidence} %) over the randomness of the
audits; "holds" says that its lower end does not lie above the significance.

An alarm is FAIL; for the method "exact", which has no false FAIL by sampling, it is a false report that a sampler
disagrees with its own law; for bounds it is a bound above the claim. The method "delta bound" bounds delta at a given
epsilon. The last columns give the rate of alarms when the mechanism's parameter (epsilon, mu, rho, the Renyi
divergence, or delta where the claim has epsilon 0 or bounds delta) is that many times the claimed one, with the
number of audits; "exact" then convicts by the law, unless it reports that the sampler disagrees with it. These
budgets are small on purpose, and all of it is bounded by time: dear cells have fewer audits. Renyi and
zero-concentrated claims are refuted through the (epsilon, delta) that they imply, which leaves them slack: next to no
false alarms, and less power.

| method | claim | mechanism | outputs | audits | alarms | rate | interval | holds | {header} |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | {rules} |
{rows}

## The catalogue

{catalogue}
"""
