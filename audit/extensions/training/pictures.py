"""Pictures of checks of training: the noise of a run, guesses about canaries, and stated epsilons."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from audit.api import (
    Axis,
    Claim,
    GaussianClaim,
    Mark,
    Plot,
    Points,
    PrivacyClaim,
    claim_of,
    proportion_interval,
)
from audit.extensions.training.canaries.one_run import least_wrong

_RATES = np.r_[np.geomspace(1e-9, 1e-3, 40), np.linspace(2e-3, 1 - 2e-3, 60), 1 - np.geomspace(1e-3, 1e-9, 40)]
_LABEL = 60  # characters of an event


def errors_of_guesses(record: Mapping[str, Any]) -> Plot | None:
    """Return errors of the guesses "was included", against the claimed trade-off curve and the certified one."""
    if not (rates := _rates(record)):
        return None
    claim, certified = _claimed(record), _certified(record)
    said = "A claim allows tests above its curve. The truth is certified to lie below the dashed curve somewhere."
    plot = Plot("Errors of guesses about canaries", said, Axis("taken for included, but left out"), Axis("missed"))
    curve = _curve(claim)
    plot.area([(0.0, 1.0), *curve, (1.0, 1.0)], "allowed", "allowed by the claim")
    plot.line(curve, "claim", "claimed limit")
    if certified is not None:
        plot.line(_curve(certified), "bound", f"certified: {certified.short}")
    for false, true in rates:
        plot.dot((false, 1 - true), "measured-dot", "thresholds on the scores")
    return plot


def stated_epsilons(record: Mapping[str, Any]) -> Plot | None:
    """Return the accountant's epsilon of each event, with the bracket of the truth."""
    parts = [part for part in record["evidence"].get("accounted", ()) if 0 < float(part["lower"]) < math.inf]
    if not parts:
        return None
    ends = [float(part[key]) for part in parts for key in ("stated", "lower", "upper")]
    axes = Axis.spanning("epsilon", ends, log=True), Axis("", high=float(len(parts)))
    plot = Plot("Stated epsilon and bounds of the true one", record["reason"], *axes)
    for place, part in enumerate(reversed(parts)):
        y, (stated, lower, upper) = place + 0.35, (float(part[key]) for key in ("stated", "lower", "upper"))
        plot.marks.append(Mark("row", "row", str(part["label"])[:_LABEL], [(plot.x.low, y)]))
        plot.line([(lower, y), (min(upper, plot.x.high), y)], "claim", "true epsilon, bounds")
        plot.dot((stated, y), "measured-dot", "stated epsilon")
    return plot


def noise_cells(record: Mapping[str, Any]) -> Plot | None:
    """Return the noise in cells of equal probability, each with its interval."""
    counts = record["evidence"]["noise"]["histogram"]
    if not sum(counts):
        return None
    total, cells, share = sum(counts), len(counts), record["settings"]["significance"] / (2 * len(counts))
    intervals = [proportion_interval(count, total, share) for count in counts]
    said = f"Of {total:,} values of the noise, each cell should hold 1/{cells}. Intervals are exact."
    heights = [cells * end for interval in intervals for end in interval]
    plot = Plot(
        "Noise against the claimed law", said, Axis("probability of less noise"), Axis.spanning("density", heights)
    )
    plot.line([(0.0, 1.0), (1.0, 1.0)], "claim", "claimed noise")
    for index, (count, interval) in enumerate(zip(counts, intervals, strict=True)):
        x = (index + 0.5) / cells
        plot.line([(x, cells * end) for end in interval], "measured")
        plot.dot((x, cells * count / total), "measured-dot", "measured, exact interval")
    return plot


def _claimed(record: Mapping[str, Any]) -> Claim:
    return claim_of(json.loads(record["claim"]["terms"]["claim"]))


def _certified(record: Mapping[str, Any]) -> Claim | None:
    """Return the claim that the guesses refute just so, or None."""
    lower = {part["quantity"].split()[0]: float(part["lower"]) for part in record["found"]}
    if lower.get("mu"):
        return GaussianClaim(lower["mu"])
    return PrivacyClaim(lower["epsilon"], float(record["claim"]["terms"]["delta"])) if lower.get("epsilon") else None


def _curve(claim: Claim) -> Points:
    """Return the trade-off curve of a claim: the least missed share, by the share that is taken wrongly."""
    missed = least_wrong(claim)(1 - _RATES)
    return list(zip(_RATES.tolist(), missed.tolist(), strict=True))


def _rates(record: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return the rates of false and of true positives at each threshold."""
    evidence = record["evidence"]
    included, out = evidence.get("included", 0), evidence.get("canaries", 0) - evidence.get("included", 0)
    if not included or not out:
        return []
    return [(point["false"] / out, point["true"] / included) for point in evidence["curve"]]
