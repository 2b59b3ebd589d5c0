"""Pictures of checks of utility: measured values against claimed ones, over sample sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audit.api import view

Record = Mapping[str, Any]
Measured = tuple[float, float, tuple[float, float]]  # size, value and its interval
Reference = tuple[str, str, view.Points]  # class, meaning and points of a line


def mean_losses(record: Record, evidence: Any) -> view.Plot | None:
    """Return the risk, or the excess of which a rate speaks, at every sample size."""
    points, terms, kind = evidence.points, record["claim"]["terms"], record["kind"]
    if not points:
        return None
    means = [point.sample.mean if point.exact is None and point.sample else float(point.exact or 0) for point in points]
    intervals = evidence.intervals(record["settings"]["significance"])
    measured = list(zip(evidence.sizes, means, intervals, strict=True))
    levels: dict[str, float] = {}
    what, stated = "risk", [(float(point.size), point.reference) for point in points if point.reference is not None]
    if kind == "rate":
        what, lines = "excess", _slopes(record, [point.reference or point.size for point in points], measured)
    elif kind == "consistency":
        lines = [("bound", "stated bound", stated)]
        levels = {"Bayes risk": terms["bayes_risk"], "within the tolerance": terms["bayes_risk"] + terms["tolerance"]}
    else:
        lines = [("bound", "bound for private learners", stated)]
    meaning = "computed" if evidence.uses == "evaluator" else "measured, all intervals right together"
    said = f"By {evidence.uses}: {record['reason']}"
    plot = view.Plot(
        f"{what.capitalize()} at each sample size", said, view.Axis("n"), view.Axis(what, log=kind != "consistency")
    )
    return _with_sizes(plot, measured, levels, lines, meaning)


def _slopes(record: Record, scale: Sequence[float], measured: Sequence[Measured]) -> list[Reference]:
    """Return the fitted and the claimed power of the scale, through the middle of the measured values."""
    positive = [(s, y) for s, (_, y, _) in zip(scale, measured, strict=True) if y > 0 and s > 0]
    if not positive:
        return []
    s_middle, y_middle = np.log(positive).mean(axis=0).tolist()

    def line(exponent: float) -> view.Points:
        heights = [math.exp(y_middle - exponent * (math.log(s) - s_middle)) for s in scale]
        return [(n, y) for (n, _, _), y in zip(measured, heights, strict=True)]

    fitted = [part for part in record["found"] if part["quantity"] == "exponent"]
    slopes = [("law", "fitted exponent", line((part["lower"] + part["upper"]) / 2)) for part in fitted[:1]]
    return [*slopes, ("claim slope", "claimed exponent", line(float(record["claim"]["terms"]["exponent"])))]


def _with_sizes(
    plot: view.Plot,
    measured: Sequence[Measured],
    levels: Mapping[str, float],  # the claimed level, and the end of the band that is tolerated; or nothing
    references: Sequence[Reference],  # of these lines, only the bounds take room on the axis
    meaning: str,
) -> view.Plot:
    """Add measured values with their intervals, over a logarithmic axis of sizes; the axes span all values shown."""
    values = [value for _, value, _ in measured]
    least = min((value for value in values if value > 0), default=0.0) / 100 if plot.y.log else -math.inf
    ends = [end for _, _, interval in measured for end in interval if end >= least]  # a log axis does not reach 0
    bounds = [y for style, _, line in references if style == "bound" for _, y in line]
    plot.x = view.Axis.spanning(plot.x.label, [n for n, _, _ in measured], log=True)
    plot.y = view.Axis.spanning(plot.y.label, [*values, *ends, *bounds, *levels.values()], plot.y.log)
    if levels:
        (claimed, level), (tolerated, end) = levels.items()
        left, right = plot.x.low, plot.x.high
        plot.area([(left, level), (right, level), (right, end), (left, end)], "allowed", tolerated)
        plot.line([(left, level), (right, level)], "claim", claimed)
    for style, name, points in references:
        plot.line(points, style, name)
    for n, value, interval in measured:
        if interval[0] < interval[1]:
            plot.line([(n, end) for end in interval], "measured")
        plot.dot((n, value), "measured-dot", meaning)
    return plot
