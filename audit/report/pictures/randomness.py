"""The picture of a randomness check: how often each kind of comparison was won, with exact intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.report.pictures.frame import Axis, Picture


def randomness_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """Independent outputs win half of the comparisons that are not tied; reused noise wins nearly all."""
    told = [part for part in record["evidence"]["comparisons"] if part["won"] + part["lost"]]
    if not told:
        return []
    share = record["settings"]["significance"] / (2 * len(record["evidence"]["comparisons"]))
    picture = Picture(
        "Comparisons that were won",
        "Independent outputs win half of them: " + "; ".join(_said(part) for part in told) + ".",
        Axis("share won of those not tied", 0.0, 1.0),
        Axis("", 0.0, float(len(told))),
    )
    picture.upright(0.5, "claim", "independent outputs")
    for place, part in enumerate(reversed(told)):
        trials, level = part["won"] + part["lost"], place + 0.35
        ends = proportion_lower_bound(part["won"], trials, share), proportion_upper_bound(part["won"], trials, share)
        picture.row(level, part["kind"])
        picture.whisker(ends, (level, level), "measured")
        picture.dot((part["won"] / trials, level), "measured-dot", "won, with an exact interval")
    return [picture]


def _said(part: Mapping[str, Any]) -> str:
    return f"{part['kind']}, {part['won']} won and {part['lost']} lost"
