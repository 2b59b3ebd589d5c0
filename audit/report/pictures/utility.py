"""Pictures of the utility checks: measured curves against their claims, cases against bounds, trials against beta."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from audit.checks.utility.curve import CurveEvidence
from audit.checks.utility.guarantee import look_share
from audit.checks.utility.plain import from_plain
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.report.pictures.frame import Axis, Picture, spanning
from audit.report.wording import number

_MOST_CASES = 250  # of an inequality; the worst of them are in the reason
_WIDE = 30.0  # a ratio of largest to smallest beyond which an axis is logarithmic


def consistency_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """The risk at every size against the Bayes risk, its tolerance, and stated bounds."""
    evidence, terms = _curve(record), record["claim"]["terms"]
    if not evidence.points:
        return []
    goal, allowed = float(terms["bayes_risk"]), float(terms["bayes_risk"]) + float(terms["tolerance"])
    picture = _sizes(record, "Risk at each sample size", evidence, "risk", [goal, allowed], log=False)
    picture.band(goal, allowed, "allowed", "within the tolerance")
    picture.across(goal, "claim", "Bayes risk")
    _reference(picture, evidence, "stated bound")
    _points(picture, record, evidence)
    return [picture]


def lower_bound_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """The risk at every size against the bound that no private learner gets below."""
    evidence = _curve(record)
    if not evidence.points:
        return []
    picture = _sizes(record, "Risk at each sample size", evidence, "risk", [], log=True)
    _reference(picture, evidence, "bound for private learners")
    _points(picture, record, evidence)
    return [picture]


def rate_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """The excess at every size on two logarithmic axes, with the fitted and the claimed slope."""
    evidence, terms = _curve(record), record["claim"]["terms"]
    if not evidence.points:
        return []
    scale = [point.reference or point.size for point in evidence.points]
    excess = [_middle(point.exact, point.sample.mean if point.sample else None) for point in evidence.points]
    positive = [(s, y) for s, y in zip(scale, excess, strict=True) if y > 0 and s > 0]
    picture = _sizes(record, "Excess at each sample size", evidence, "excess", [], log=True)
    if positive:
        centre = [sum(math.log(part) for part in parts) / len(positive) for parts in zip(*positive, strict=True)]
        sizes = [float(point.size) for point in evidence.points]
        fitted = next((part for part in record["found"] if part["quantity"] == "exponent"), None)
        slopes = [("claim slope", float(terms["exponent"]), "claimed exponent")]
        if fitted is not None:
            slopes.insert(0, ("law", (float(fitted["lower"]) + float(fitted["upper"])) / 2, "fitted exponent"))
        for style, exponent, meaning in slopes:
            line = [math.exp(centre[1] - exponent * (math.log(s) - centre[0])) for s in scale]
            picture.line(list(zip(sizes, line, strict=True)), style, meaning)
    _points(picture, record, evidence)
    return [picture]


def guarantee_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """The failure probability after every look, with exact intervals, against beta and the slack."""
    evidence, terms = record["evidence"], record["claim"]["terms"]
    looks = evidence["looks"]
    if not looks:
        return []
    beta, allowed = float(terms["beta"]), float(terms["beta"]) + float(terms["slack"])
    bounds = []
    for index, look in enumerate(looks):
        share = look_share(index, evidence["planned"], record["settings"]["significance"])
        counted = look["failures"], look["trials"], share
        bounds.append((proportion_lower_bound(*counted), proportion_upper_bound(*counted)))
    last = looks[-1]
    picture = Picture(
        "Failure probability after each look",
        f"{last['failures']} failures in {last['trials']} trials at the last look; claimed at most {number(beta)}.",
        spanning("trials", [look["trials"] for look in looks], log=True),
        Axis("failure probability", 0.0, min(1.0, 1.1 * max(allowed, *(high for _, high in bounds)))),
    )
    picture.band(beta, allowed, "allowed", "within the slack")
    picture.across(beta, "claim", "claimed beta")
    for look, (low, high) in zip(looks, bounds, strict=True):
        picture.whisker((look["trials"], look["trials"]), (low, high), "measured")
        picture.dot((look["trials"], look["failures"] / look["trials"]), "measured-dot", "measured, exact interval")
    return [picture]


def inequality_pictures(record: Mapping[str, Any]) -> list[Picture]:
    """Every case against its bound; or the mean against the bound, where losses were drawn."""
    cases = record["evidence"]["cases"][:_MOST_CASES]
    if cases:
        return [_cases(cases, record["claim"]["terms"]["sense"])]
    means = [part for part in record["found"] if part["quantity"] == "mean"]
    if not means or record["claim"]["terms"]["bound"] is None:
        return []
    bound = float(record["claim"]["terms"]["bound"])
    low, high = (float(means[0][side]) for side in ("lower", "upper"))
    picture = Picture(
        "The mean against its bound",
        f"The mean lies between {number(low)} and {number(high)}; the bound is {number(bound)}.",
        spanning("mean", [low, high, bound], margin=0.3),
        Axis("", 0.0, 1.0),
    )
    picture.upright(bound, "claim", "claimed bound")
    picture.whisker((low, high), (0.5, 0.5), "measured wide")
    return [picture]


def _cases(cases: list[Mapping[str, Any]], sense: str) -> Picture:
    points = [(float(case["bound"]), float(case["quantity"])) for case in cases]
    values = [value for point in points for value in point if math.isfinite(value)]
    positive = [value for value in values if value > 0]
    log = bool(positive) and min(values) >= 0 and max(positive) / min(positive) > _WIDE
    axis = spanning("bound", values, log)
    picture = Picture(
        "Every case against its bound",
        f"The quantity of each case is claimed to be {sense} the bound, which is the line.",
        axis,
        spanning("quantity", values, log),
    )
    low, high = axis.low, axis.high
    corner = {"<=": (high, low), ">=": (low, high)}.get(sense)
    if corner:
        picture.area([(low, low), (high, high), corner], "allowed", "what the claim allows")
    picture.line([(low, low), (high, high)], "claim", "quantity = bound")
    for point in points:
        picture.dot(point, "measured-dot", "cases")
    return picture


def _curve(record: Mapping[str, Any]) -> CurveEvidence:
    return from_plain(CurveEvidence, record["evidence"])


def _sizes(
    record: Mapping[str, Any], title: str, evidence: CurveEvidence, label: str, levels: list[float], *, log: bool
) -> Picture:
    """A picture over the sample sizes with room for all intervals and references."""
    intervals = evidence.intervals(record["settings"]["significance"])
    means = [_middle(point.exact, point.sample.mean if point.sample else None) for point in evidence.points]
    bounds = [point.reference for point in evidence.points if point.reference is not None and label == "risk"]
    ends = [end for interval in intervals for end in interval]
    if log:  # a lower end of 0 lies below every logarithmic axis
        ends = [end for end in ends if end >= min((mean for mean in means if mean > 0), default=0) / 100]
    return Picture(
        title,
        f"By {evidence.uses}: {record['reason']}",
        spanning("n", evidence.sizes, log=True),
        spanning(label, [*means, *levels, *bounds, *ends], log),
    )


def _points(picture: Picture, record: Mapping[str, Any], evidence: CurveEvidence) -> None:
    intervals = evidence.intervals(record["settings"]["significance"])
    meaning = "computed" if evidence.uses == "evaluator" else "measured, all intervals right together"
    for point, interval in zip(evidence.points, intervals, strict=True):
        if point.exact is None:
            picture.whisker((point.size, point.size), interval, "measured")
        mean = _middle(point.exact, point.sample.mean if point.sample else None)
        picture.dot((point.size, mean), "measured-dot", meaning)


def _reference(picture: Picture, evidence: CurveEvidence, meaning: str) -> None:
    line = [(float(point.size), point.reference) for point in evidence.points if point.reference is not None]
    picture.line(line, "bound", meaning)


def _middle(exact: float | None, mean: float | None) -> float:
    return exact if exact is not None else mean if mean is not None else math.nan
