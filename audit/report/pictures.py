"""Pictures of a certificate's checks, computed from the record of the check and nothing else.

Privacy checks show the errors of tests between the two datasets: a claim forbids what lies below a curve, the stated
law has a curve of its own, and the game measured two tests. They also show the privacy profile and the wealth of a
sequential game. Utility checks show measured values against claimed ones, randomness checks the comparisons won.
Pictures are plain data, `audit.report.plots`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from audit.checks.plain import from_plain
from audit.claims import PrivacyClaim, claim_of
from audit.extensions.training.canary_pictures import errors_of_guesses, rates_of_guesses, stated_epsilons
from audit.extensions.utility.curve import CurveEvidence
from audit.extensions.utility.guarantee import look_share
from audit.game.guesses import GameCounts
from audit.game.intervals import proportion_lower_bound, proportion_upper_bound
from audit.report.plots import Axis, Mark, Plot, Points
from audit.report.wording import number, ways_of

_ALPHAS = (1 - np.cos(np.linspace(0, math.pi, 81))) / 2  # dense at both ends, where the curves bend
_MANY = 10  # lines: their corners are closer together than the grid
_CURVE_POINTS = 40  # of the claim's profile, where it implies a whole curve
_SMALL_DELTA = 0.02  # a claimed delta below this is visible on a logarithmic axis only
_BOUNDS = 8  # two tests, two errors, two ends
_MOST_CASES = 250  # of an inequality; the worst of them are in the reason
_WIDE = 30.0  # a ratio of largest to smallest beyond which an axis is logarithmic
_ALLOWED = "what the claim allows"

Record = Mapping[str, Any]
Measured = tuple[float, float, tuple[float, float]]  # size, value and its interval
Reference = tuple[str, str, Points]  # class, meaning and points of a line
Line = tuple[float, float, float]  # epsilon, and delta with the left and with the right law in the numerator


def pictures_of(record: Record) -> list[Plot]:
    """Return the pictures of a recorded check, those for which its evidence has something to show."""
    return [picture for draw in PICTURES.get(record["kind"], (_bounds,)) if (picture := draw(record)) is not None]


def trade_off(lines: Sequence[Line]) -> Points:
    """Return the highest function, (type I error, type II error), below which all lines of a profile keep."""
    corners = [max(0.0, 1 - max(left, right)) / (1 + math.exp(min(epsilon, 700.0))) for epsilon, left, right in lines]
    alphas = np.union1d(_ALPHAS, corners if len(corners) < _MANY else [])
    best = np.zeros_like(alphas)
    for epsilon, left, right in lines:  # b >= 1 - delta_right - e^eps a and b >= e^-eps (1 - delta_left - a)
        best = np.maximum(best, 1 - right - np.exp(min(epsilon, 700.0)) * alphas)
        best = np.maximum(best, np.exp(-epsilon) * (1 - left - alphas))
    return list(zip(alphas.tolist(), best.tolist(), strict=True))


def _curve(record: Record) -> Any:
    """Return the privacy profile of the worst pair by its stated law; None if there is none."""
    law = ways_of(record["evidence"]).get("stated law")
    return law and law["curve"]


def _errors_of_tests(record: Record) -> Plot | None:
    evidence, claim, bound = record["evidence"], claim_of(record["claim"]), record["epsilon_lower_bound"]
    game, curve = ways_of(evidence).get("guess game"), _curve(record)
    tested = evidence["tested"] or record["claim"]
    if not game and not curve:
        return None
    if isinstance(claim, PrivacyClaim):
        lines = [(claim.epsilon, claim.delta, claim.delta)]
    else:
        grid = np.linspace(0.0, 1.5 * claim.points[-1].epsilon, _CURVE_POINTS).tolist()
        lines = [(epsilon, claim.profile(epsilon), claim.profile(epsilon)) for epsilon in grid]
    shown = [f"The claim {claim.short} allows the shaded region."]
    plot = Plot("Errors of tests that tell the two datasets apart", "", Axis("type I error"), Axis("type II error"))
    plot.area([*(allowed := trade_off(lines)), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], "allowed", _ALLOWED)
    plot.line(allowed, "claim", "claimed limit")
    if curve:
        plot.line(trade_off(curve["profile"]), "law", "best test, by the stated law")
        shown.append("The curve is that of the best tests by the stated law.")
    if bound > 0:
        limit = bound, float(tested["delta"]), float(tested["delta"])
        plot.line(trade_off([limit]), "certified", "certified: some test touches it")
        shown.append(f"Some test is certified to touch the dashed line, of epsilon {number(bound)}.")
    if game:
        _add_measured_tests(plot, GameCounts(**game["counts"]), record["settings"]["significance"] / _BOUNDS)
        shown.append("Crosses are the tests that were measured, with exact intervals.")
    plot.description = " ".join(shown)
    return plot


def _add_measured_tests(plot: Plot, counts: GameCounts, share: float) -> None:
    """Add both tests of the game: reject left on "guess right" only, or on anything but "guess left"."""
    left = counts.left_plus + counts.left_minus + counts.left_abstain
    right = counts.right_plus + counts.right_minus + counts.right_abstain
    tests = (
        (counts.left_minus, counts.right_plus + counts.right_abstain),
        (counts.left_minus + counts.left_abstain, counts.right_plus),
    )
    for type_one, type_two in dict.fromkeys(tests):
        x, y = type_one / max(left, 1), type_two / max(right, 1)
        plot.line([(end, y) for end in _interval(type_one, left, share)], "measured")
        plot.line([(x, end) for end in _interval(type_two, right, share)], "measured")
        plot.dot((x, y), "measured-dot", "tests that were measured")


def _interval(count: int, trials: int, share: float) -> tuple[float, float]:
    if trials == 0:
        return 0.0, 1.0
    return proportion_lower_bound(count, trials, share), proportion_upper_bound(count, trials, share)


def _profile(record: Record) -> Plot | None:
    curve, claim = _curve(record), claim_of(record["claim"])
    tested = record["evidence"]["tested"] or record["claim"]
    if not curve:
        return None
    epsilons = [float(line[0]) for line in curve["profile"]]
    law = [(epsilon, max(left, right)) for epsilon, left, right in curve["profile"]]
    between = ((a + b) / 2 for a, b in pairwise(epsilons))  # lets the claim's curve bend where it should
    claimed = [(epsilon, claim.profile(epsilon)) for epsilon in sorted({*epsilons, *between})]
    at = float(tested["epsilon"]), float(tested["delta"])
    largest = max(delta for _, delta in (*law, *claimed))
    small = 0 < at[1] < _SMALL_DELTA
    y = Axis("delta", at[1] / 100, max(1.0, largest), True) if small else Axis("delta", 0.0, max(0.05, largest) * 1.05)
    used = "" if curve["tightness"] is None else f" The law uses {number(curve['tightness'])} of the claimed epsilon."
    said = f"Delta by the stated law and as claimed, {claim.short}.{used}"
    plot = Plot("Privacy profile: delta at every epsilon", said, Axis("epsilon", 0.0, max(epsilons)), y)
    plot.area([(0.0, y.low), *claimed, (max(epsilons), y.low)], "allowed", _ALLOWED)
    plot.line(claimed, "claim", "claimed limit")
    plot.line(law, "law", "by the stated law")
    plot.dot(at, "claim-dot", "where it was tested")
    return plot


def _wealth(record: Record) -> Plot | None:
    ways = ways_of(record["evidence"])
    game = ways.get("sequential game") or ways.get("early look")
    if not game:
        return None
    outcome = game["outcome"]
    wealth = [float(value) for value in outcome["grid_log_wealth"]]
    needed = -math.log(game.get("level") or record["settings"]["significance"])
    plot = Plot(
        "Wealth of the sequential game against each epsilon",
        f"After {outcome['steps']} pairs of outputs. Every epsilon whose wealth ever reached the line is refuted.",
        Axis.spanning("epsilon", outcome["grid"], margin=0.0),
        Axis.spanning("log wealth", [*wealth, needed, 0.0]),
    )
    plot.line([(x, needed) for x in (plot.x.low, plot.x.high)], "claim", "refuted above")
    plot.line(list(zip(outcome["grid"], wealth, strict=True)), "law", "wealth")
    return plot


def _comparisons(record: Record) -> Plot | None:
    told = [part for part in record["evidence"]["comparisons"] if part["won"] + part["lost"]]
    if not told:
        return None
    share = record["settings"]["significance"] / (2 * len(record["evidence"]["comparisons"]))
    said = "; ".join(f"{part['kind']}, {part['won']} won and {part['lost']} lost" for part in told)
    axes = Axis("share won of those not tied"), Axis("", high=float(len(told)))
    plot = Plot("Comparisons that were won", f"Independent outputs win half of them: {said}.", *axes)
    plot.line([(0.5, 0.0), (0.5, len(told))], "claim", "independent outputs")
    for place, part in enumerate(reversed(told)):
        trials, y = part["won"] + part["lost"], place + 0.35
        plot.marks.append(Mark("row", "row", part["kind"], [(plot.x.low, y)]))
        plot.line([(end, y) for end in _interval(part["won"], trials, share)], "measured")
        plot.dot((part["won"] / trials, y), "measured-dot", "won, with an exact interval")
    return plot


def _failures(record: Record) -> Plot | None:
    evidence, terms, measured, said = record["evidence"], record["claim"]["terms"], [], ""
    for index, look in enumerate(evidence["looks"]):
        failures, trials = look["failures"], look["trials"]
        share = look_share(index, evidence["planned"], record["settings"]["significance"])
        measured.append((trials, failures / trials, _interval(failures, trials, share)))
        said = f"{failures} failures in {trials} trials at the last look; claimed at most {number(terms['beta'])}."
    if not measured:
        return None
    levels = {"claimed beta": terms["beta"], "within the slack": terms["beta"] + terms["slack"]}
    plot = Plot("Failure probability after each look", said, Axis("trials"), Axis("failure probability"))
    return _with_sizes(plot, measured, levels)


def _mean_loss(record: Record) -> Plot | None:
    """The risk, or the excess of which a rate speaks, at every sample size."""
    evidence: CurveEvidence = from_plain(CurveEvidence, record["evidence"])
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
    plot = Plot(f"{what.capitalize()} at each sample size", said, Axis("n"), Axis(what, log=kind != "consistency"))
    return _with_sizes(plot, measured, levels, lines, meaning)


def _slopes(record: Record, scale: Sequence[float], measured: Sequence[Measured]) -> list[Reference]:
    """Return the fitted and the claimed power of the scale, through the middle of the measured values."""
    positive = [(s, y) for s, (_, y, _) in zip(scale, measured, strict=True) if y > 0 and s > 0]
    if not positive:
        return []
    s_middle, y_middle = np.log(positive).mean(axis=0).tolist()

    def line(exponent: float) -> Points:
        heights = [math.exp(y_middle - exponent * (math.log(s) - s_middle)) for s in scale]
        return [(n, y) for (n, _, _), y in zip(measured, heights, strict=True)]

    fitted = [part for part in record["found"] if part["quantity"] == "exponent"]
    slopes = [("law", "fitted exponent", line((part["lower"] + part["upper"]) / 2)) for part in fitted[:1]]
    return [*slopes, ("claim slope", "claimed exponent", line(float(record["claim"]["terms"]["exponent"])))]


def _with_sizes(
    plot: Plot,
    measured: Sequence[Measured],
    levels: Mapping[str, float],  # the claimed level, and the end of the band that is tolerated; or nothing
    references: Sequence[Reference] = (),  # of these lines, only the bounds take room on the axis
    meaning: str = "measured, exact interval",
) -> Plot:
    """Add measured values with their intervals, over a logarithmic axis of sizes; the axes span what is shown."""
    values = [value for _, value, _ in measured]
    least = min((value for value in values if value > 0), default=0.0) / 100 if plot.y.log else -math.inf
    ends = [end for _, _, interval in measured for end in interval if end >= least]  # a log axis does not reach 0
    bounds = [y for style, _, line in references if style == "bound" for _, y in line]
    plot.x = Axis.spanning(plot.x.label, [n for n, _, _ in measured], log=True)
    plot.y = Axis.spanning(plot.y.label, [*values, *ends, *bounds, *levels.values()], plot.y.log)
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


def _cases(record: Record) -> Plot | None:
    cases, sense = record["evidence"]["cases"][:_MOST_CASES], record["claim"]["terms"]["sense"]
    if not cases:
        return None
    points = [(float(case["bound"]), float(case["quantity"])) for case in cases]
    values = [value for point in points for value in point if math.isfinite(value)]
    positive = [value for value in values if value > 0]
    log = bool(positive) and min(values) >= 0 and max(positive) / min(positive) > _WIDE
    axes = Axis.spanning("bound", values, log), Axis.spanning("quantity", values, log)
    said = f"The quantity of each case is claimed to be {sense} the bound, which is the line."
    plot = Plot("Every case against its bound", said, *axes)
    low, high = plot.x.low, plot.x.high
    if corner := {"<=": (high, low), ">=": (low, high)}.get(sense):
        plot.area([(low, low), (high, high), corner], "allowed", _ALLOWED)
    plot.line([(low, low), (high, high)], "claim", "quantity = bound")
    for point in points:
        plot.dot(point, "measured-dot", "cases")
    return plot


def _mean(record: Record) -> Plot | None:
    means, bound = [part for part in record["found"] if part["quantity"] == "mean"], record["claim"]["terms"]["bound"]
    if record["evidence"]["cases"] or not means or bound is None:
        return None
    low, high, bound = (float(value) for value in (means[0]["lower"], means[0]["upper"], bound))
    said = f"The mean lies between {number(low)} and {number(high)}; the bound is {number(bound)}."
    plot = Plot("The mean against its bound", said, Axis.spanning("mean", [low, high, bound], margin=0.3), Axis(""))
    plot.line([(bound, 0.0), (bound, 1.0)], "claim", "claimed bound")
    plot.line([(low, 0.5), (high, 0.5)], "measured wide")
    return plot


def _epsilons(record: Record) -> Plot | None:
    """The accountant's epsilon over the steps of a training run: of the claim, and of the mechanism that was run."""
    claimed = [(float(steps), float(epsilon)) for steps, epsilon, _ in record["evidence"]["epsilons"]]
    run = [
        (float(steps), float(epsilon)) for steps, _, epsilon in record["evidence"]["epsilons"] if epsilon is not None
    ]
    run = [point for point in run if math.isfinite(point[1])]
    if not claimed:
        return None
    heights = [epsilon for _, epsilon in (*claimed, *run)]
    said = (
        f"Epsilon at delta {number(record['claim']['terms']['delta'])} by the accountant, after each number of steps."
    )
    plot = Plot(
        "Epsilon over the steps, by the accountant",
        said,
        Axis("steps", 0.0, claimed[-1][0]),
        Axis("epsilon", 0.0, 1.06 * max(heights) or 1.0),
    )
    plot.area([(0.0, 0.0), *claimed, (claimed[-1][0], 0.0)], "allowed", _ALLOWED)
    plot.line([(0.0, 0.0), *claimed], "claim", "as claimed")
    plot.line([(0.0, 0.0), *run], "law", "of what was run")
    return plot


def _noise_histogram(record: Record) -> Plot | None:
    """The noise in cells of equal probability, each with its interval."""
    counts = record["evidence"]["noise"]["histogram"]
    if not sum(counts):
        return None
    total, cells, share = sum(counts), len(counts), record["settings"]["significance"] / (2 * len(counts))
    intervals = [_interval(count, total, share) for count in counts]
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


def _bounds(record: Record) -> Plot | None:
    """The bounds that a verdict rests on, for a kind of check without a picture of its own."""
    found = [(part["quantity"], float(part["lower"]), float(part["upper"])) for part in record["found"]]
    shown = [part for part in found if math.isfinite(part[1]) and math.isfinite(part[2])]
    if not shown:
        return None
    axes = Axis.spanning("value", [end for _, *ends in shown for end in ends]), Axis("", high=float(len(shown)))
    plot = Plot("Bounds that the verdict rests on", record["reason"], *axes)
    for place, (quantity, low, high) in enumerate(reversed(shown)):
        y = place + 0.35
        plot.marks.append(Mark("row", "row", quantity, [(plot.x.low, y)]))
        plot.line([(low, y), (high, y)], "measured wide")
        plot.dot(((low + high) / 2, y), "measured-dot", "bounds, right together")
    return plot


PICTURES: Mapping[str, Sequence[Callable[[Record], Plot | None]]] = {
    **dict.fromkeys(("privacy", "precision", "interactive", "estimator"), (_errors_of_tests, _profile, _wealth)),
    **dict.fromkeys(("consistency", "lower-bound", "rate"), (_mean_loss,)),
    "randomness": (_comparisons,),
    **dict.fromkeys(("guarantee", "packing"), (_failures,)),
    "inequality": (_cases, _mean),
    "training": (_epsilons, _noise_histogram),
    "canaries": (errors_of_guesses, rates_of_guesses),
    "accounting": (stated_epsilons,),
}
